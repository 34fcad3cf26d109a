"""Teams and their surveys, invitations, and the end of an account."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core import mail
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from people.models import (
    MOST_INVITES,
    Gone,
    Invite,
    RecoveryCode,
    Session,
    TooManyInvites,
    delete_account,
)
from survey.models import (
    ApiToken,
    LastOwner,
    Membership,
    Role,
    Survey,
    Team,
    TeamMembership,
    today,
)
from tests.support import builders
from tests.support.roles import PAGE, actions, roles
from tests.support.threads import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]

PASSWORD = "seven quiet herons"
HOSTILE = '<script>alert(1)</script>" onload=x {{ 7 }} \u202e ﷽'


@pytest.fixture
def survey() -> Survey:
    return builders.opened()


def team_roles(team: Team) -> dict[str, str]:
    return dict(TeamMembership.objects.filter(team=team).values_list("user__username", "role"))


# --- Teams ----------------------------------------------------------------------------------------


def test_team_roles_apply_to_the_teams_surveys(survey: Survey) -> None:
    people = {role: User.objects.create_user(role) for role in Role.values}
    team = builders.team(**people)
    other = builders.opened(slug="other")
    before = [actions(survey, user) for user in people.values()]
    assert before == [set(), set(), set()]
    Survey.objects.filter(pk=survey.pk).update(team=team)
    assert actions(survey, people["viewer"]) == {"see", "read"}
    assert actions(survey, people["researcher"]) == {"see", "read", "ask", "download"}
    assert actions(survey, people["owner"]) == {"see", "read", "ask", "download", "manage"}
    for user in (builders.charlie(), AnonymousUser()):
        assert actions(survey, user) == set()
    for user in people.values():
        assert actions(other, user) == set()
        assert list(Survey.objects.readable_by(user)) == [survey]


def test_the_stronger_of_two_roles_holds(survey: Survey) -> None:
    victor, alice = builders.victor(survey), builders.alice(survey)
    team = builders.team(owner=victor, viewer=alice)
    Survey.objects.filter(pk=survey.pk).update(team=team)
    assert "manage" in actions(survey, victor) and "download" in actions(survey, alice)


def test_checking_a_permission_takes_one_query(survey: Survey) -> None:
    alice = builders.alice(survey)
    builders.team(owner=alice)
    for ask in (lambda: survey.may(alice, "read"), lambda: list(Survey.objects.readable_by(alice))):
        with CaptureQueriesContext(connection) as asked:
            ask()
        assert len(asked) == 1


def test_the_last_owner_of_a_team_stays() -> None:
    olga = builders.olga()
    team = builders.team(owner=olga)
    for leave in (
        lambda: TeamMembership.objects.remove(team, olga),
        lambda: TeamMembership.objects.give(team, olga, Role.VIEWER),
    ):
        with pytest.raises(LastOwner):
            leave()
    page = builders.client(olga).post(f"/teams/{team.pk}/", {"name": "olga", "remove": "1"})
    assert page.status_code == 400 and "the last owner" in page.content.decode()
    with pytest.raises(IntegrityError), transaction.atomic():
        TeamMembership.objects.create(team=team, user=builders.charlie(), role="king")


@pytest.mark.postgresql  # SQLite has one writer at a time, and in memory it does not wait
@pytest.mark.django_db(transaction=True)
def test_when_both_team_owners_leave_at_once_one_stays() -> None:
    owners = [User.objects.create_user(f"owner{i}") for i in range(2)]
    team = builders.team()
    for user in owners:
        TeamMembership.objects.give(team, user, Role.OWNER)
    leave = TeamMembership.objects.remove
    raised = at_once(*(lambda user=user: leave(team, user) for user in owners))  # type: ignore[misc]
    assert [type(error) for error in raised] == [LastOwner] and len(team_roles(team)) == 1


def test_a_team_member_can_make_and_run_another_team() -> None:
    olga, charlie = builders.olga(), builders.charlie()
    builders.team(researcher=olga)
    hers = builders.client(olga)
    made = hers.post("/teams/", {"name": HOSTILE})
    team = Team.objects.get(name=HOSTILE)
    assert made["Location"] == f"/teams/{team.pk}/" and team_roles(team) == {"olga": "owner"}
    page = f"/teams/{team.pk}/"
    hers.post(page, {"name": "charlie", "role": "viewer", "add": "1"})
    assert team_roles(team) == {"olga": "owner", "charlie": "viewer"}
    his = builders.client(charlie)
    for path in ("/teams/", page):
        for client in (hers, his):
            shown = client.get(path).content.decode()
            assert "<script>alert" not in shown and "&lt;script&gt;alert" in shown
    assert "Revoke" not in his.get(page).content.decode()
    assert his.post(page, {"name": "charlie", "role": "owner"}).status_code == 403
    assert his.post("/teams/", {"name": "mine"}).status_code == 403
    hers.post(page, {"name": "Day shift", "rename": "1"})
    team.refresh_from_db()
    assert team.name == "Day shift"
    for name, said in (("", "Enter a name"), ("x" * 101, "at most 100"), ("\0", "Null")):
        refused = hers.post(page, {"name": name, "rename": "1"})
        assert refused.status_code == 400 and said in refused.content.decode()
    hers.post(page, {"name": "charlie", "role": "owner"})
    assert hers.post(page, {"name": "olga", "remove": "1"})["Location"] == "/teams/"
    assert hers.get(page).status_code == 403
    assert hers.get("/teams/999999/").status_code == 404


def test_a_survey_is_given_to_a_team_and_back(survey: Survey) -> None:
    olga = builders.olga(survey)
    mine, viewed = builders.team(owner=olga), builders.team("Viewed", viewer=olga)
    others = builders.team("Others", owner=builders.charlie())
    client = builders.client(olga)
    for refused in (viewed, others):
        assert client.post(PAGE, {"team": refused.pk, "set": "1"}).status_code == 400
    for nonsense in ("x", "0", "9" * 30):
        assert client.post(PAGE, {"team": nonsense, "set": "1"}).status_code == 400
    assert client.post(PAGE, {"team": mine.pk, "set": "1"})["Location"] == PAGE
    survey.refresh_from_db()
    assert survey.team == mine
    assert "Night shift" in client.get(PAGE).content.decode()
    team_page = f"/teams/{mine.pk}/"
    kept = client.post(team_page, {"delete": "1"})
    assert kept.status_code == 400 and "The team has surveys." in kept.content.decode()
    Membership.objects.all().delete()  # from before there were owners
    left = client.post(PAGE, {"team": "", "set": "1"})
    assert left.status_code == 400 and "owner of the survey itself" in left.content.decode()
    Membership.objects.give(survey, olga, Role.OWNER)
    client.post(PAGE, {"team": "", "set": "1"})
    survey.refresh_from_db()
    assert survey.team is None
    assert client.post(team_page, {"delete": "1"})["Location"] == "/teams/"
    assert not Team.objects.filter(pk=mine.pk).exists()


# --- Invitations ----------------------------------------------------------------------------------


def link(client: Client, page: str = PAGE, **given: str) -> str:
    """Create an invitation; return its path."""
    response = client.post(page, {"invite": "1", "role": "researcher"} | given)
    assert response.status_code == 200, response.content.decode()
    found: str = response.context["link"]
    assert found.startswith("http://testserver/join/")
    return found.removeprefix("http://testserver")


@pytest.fixture
def olga(survey: Survey) -> Client:
    return builders.client(builders.olga(survey))


def new_account(**changes: str) -> dict[str, str]:
    given = {"username": "nina", "email": "", "password1": PASSWORD, "password2": PASSWORD}
    return given | changes


def test_a_colleague_makes_an_account_and_has_the_role(survey: Survey, olga: Client) -> None:
    path = link(olga)
    token = path.split("/")[2]
    assert token not in str(Invite.objects.values())
    assert token not in olga.get(PAGE).content.decode()  # shown once
    nina = Client()
    page = nina.get(path)
    assert "A small survey" in page.content.decode()
    assert page["Cache-Control"].startswith("max-age=0")
    refused = nina.post(path, new_account(password2="another one here"))
    assert refused.status_code == 400 and not User.objects.filter(username="nina").exists()
    assert nina.post(path, new_account())["Location"] == "/surveys/small/"
    assert roles(survey) == {"olga": "owner", "nina": "researcher"}
    assert nina.get("/surveys/small/").status_code == 200
    user = User.objects.get(username="nina")
    assert not user.is_staff and not user.is_superuser
    for again in (Client().get(path), Client().post(path, new_account(username="second"))):
        assert again.status_code == 404 and "no longer works" in again.content.decode()
    assert User.objects.count() == 2


def test_an_account_that_accepts_keeps_a_stronger_role(survey: Survey, olga: Client) -> None:
    charlie = builders.client(builders.charlie())
    path = link(olga, role="viewer")
    assert f"?next={path}" in Client().get(path).content.decode()
    assert "Accept as charlie" in charlie.get(path).content.decode()
    assert charlie.post(path)["Location"] == "/surveys/small/"
    path = link(olga, role="researcher")
    charlie.post(path)
    assert roles(survey)["charlie"] == "researcher"
    weaker = link(olga, role="viewer")
    charlie.post(weaker)
    olga.post(link(olga, role="viewer"))
    assert roles(survey) == {"olga": "owner", "charlie": "researcher"}


def test_an_invitation_to_a_team_gives_the_role(olga: Client) -> None:
    team = builders.team(owner=User.objects.get(username="olga"))
    path = link(olga, f"/teams/{team.pk}/", role="owner")
    nina = Client()
    assert "Night shift" in nina.get(path).content.decode()
    assert nina.post(path, new_account())["Location"] == f"/teams/{team.pk}/"
    assert team_roles(team)["nina"] == "owner"


def test_an_invitation_is_taken_back_or_runs_out(
    survey: Survey, olga: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = link(olga, email="nina@example.org")
    assert "nina@example.org" in olga.get(PAGE).content.decode()
    other = builders.opened(slug="other")
    hers = builders.client(builders.person("dora", Role.OWNER, other))
    number = str(Invite.objects.get().pk)
    hers.post("/surveys/other/people/", {"revoke": number})
    assert Client().get(path).status_code == 200  # she may not revoke it
    for nonsense in ("x", "9" * 40, ""):
        assert olga.post(PAGE, {"revoke": nonsense}).status_code == 302
    olga.post(PAGE, {"revoke": number})
    assert Client().get(path).status_code == 404
    path = link(olga)
    monkeypatch.setattr("people.models.today", lambda: today() + timedelta(days=15))
    assert Client().get(path).status_code == 404
    assert Client().post(path, new_account()).status_code == 404
    assert not User.objects.filter(username="nina").exists()


def test_an_invitation_ends_when_its_maker_is_no_longer_owner(survey: Survey, olga: Client) -> None:
    path = link(olga)
    other = builders.person("other", Role.OWNER, survey)
    builders.client(other).post(PAGE, {"name": "olga", "role": "researcher"})
    assert Client().get(path).status_code == 404
    invite = Invite.objects.get()
    with pytest.raises(Gone):
        invite.accept(builders.charlie())
    assert "charlie" not in roles(survey)


def test_only_owners_invite(survey: Survey) -> None:
    for user in (builders.alice(survey), builders.victor(survey), builders.charlie()):
        client = builders.client(user)
        assert client.post(PAGE, {"invite": "1", "role": "owner"}).status_code == 403
    assert not Invite.objects.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"role": "king"}, "not one of the available choices"),
        ({"role": ""}, "Choose a role."),
        ({"email": "nowhere"}, "Enter an e-mail address"),
        ({"email": "a@b.example\nBcc: c@d.example"}, "Enter an e-mail address"),
        ({"email": "x" * 250 + "@example.org"}, "at most 254"),
    ],
)
def test_a_bad_invitation_is_refused(olga: Client, given: dict[str, str], said: str) -> None:
    response = olga.post(PAGE, {"invite": "1", "role": "viewer"} | given)
    assert response.status_code == 400 and said in response.content.decode()
    assert not Invite.objects.exists()


def test_open_invitations_are_limited(survey: Survey, olga: Client) -> None:
    user = User.objects.get(username="olga")
    rows = [Invite(survey=survey, role="viewer", made_by=user, until=today(), digest=str(i))
            for i in range(MOST_INVITES)]  # fmt: skip
    Invite.objects.bulk_create(rows)
    with pytest.raises(TooManyInvites):
        Invite.objects.make(survey, Role.VIEWER, user)
    assert olga.post(PAGE, {"invite": "1", "role": "viewer"}).status_code == 400
    Invite.objects.update(until=today() - timedelta(days=1))  # expired ones do not count
    link(olga)
    assert Invite.objects.count() == 1


def test_mail_is_sent_where_the_site_has_mail(survey: Survey, olga: Client, settings: Any) -> None:
    shown = olga.post(PAGE, {"invite": "1", "role": "viewer", "email": "nina@example.org"})
    assert shown.context["link"] and not mail.outbox
    settings.EMAIL_URL = "smtp://127.0.0.1:1"
    sent = olga.post(PAGE, {"invite": "1", "role": "viewer", "email": "nina@example.org"})
    assert "Sent to nina@example.org." in sent.content.decode()
    assert "/join/" not in sent.content.decode()
    (letter,) = mail.outbox
    assert letter.to == ["nina@example.org"] and "A small survey" in letter.body
    path = letter.body.split("http://testserver")[1].split()[0]
    assert Client().get(path).status_code == 200


def test_an_invitation_that_cannot_be_mailed_still_has_a_link(olga: Client, settings: Any) -> None:
    settings.EMAIL_URL = "smtp://127.0.0.1:1"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    page = olga.post(PAGE, {"invite": "1", "role": "viewer", "email": "nina@example.org"})
    assert page.status_code == 200 and "could not be sent" in page.content.decode()
    assert Client().get(page.context["link"]).status_code == 200


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_an_invitation_used_twice_at_once_works_once() -> None:
    survey = builders.opened()
    token = Invite.objects.make(survey, Role.VIEWER, builders.olga(survey))
    people = [User.objects.create_user(f"guest{i}") for i in range(2)]
    invite = Invite.objects.find(token)
    raised = at_once(*(lambda user=user: invite.accept(user) for user in people))  # type: ignore[misc]
    assert [type(error) for error in raised] == [Gone]
    assert sorted(roles(survey).values()) == ["owner", "viewer"]


# --- The end of an account ------------------------------------------------------------------------


def deletable(name: str = "nina") -> tuple[User, Client]:
    user = User.objects.create_user(name, password=PASSWORD)
    return user, builders.client(user)


def test_deleting_an_account_deletes_all_that_belongs_to_it(survey: Survey) -> None:
    nina, client = deletable()
    builders.olga(survey)
    Membership.objects.give(survey, nina, Role.OWNER)
    team = builders.team(owner=User.objects.get(username="olga"), viewer=nina)
    Invite.objects.make(survey, Role.VIEWER, nina)
    ApiToken.objects.issue(nina)
    RecoveryCode.fresh(nina)
    wrong = client.post("/account/delete/", {"password": "wrong"})
    assert wrong.status_code == 400 and "Wrong password" in wrong.content.decode()
    gone = client.post("/account/delete/", {"password": PASSWORD})
    assert gone.status_code == 200 and "is deleted" in gone.content.decode()
    assert roles(survey) == {"olga": "owner"} and team_roles(team) == {"olga": "owner"}
    for kind in (ApiToken, Invite, RecoveryCode, Session):
        assert not kind.objects.exists(), kind
    assert client.get("/account/").status_code == 302
    assert not User.objects.filter(username="nina").exists()


def test_the_last_owner_cannot_delete_the_account_and_learns_why(survey: Survey) -> None:
    nina, client = deletable()
    Membership.objects.give(survey, nina, Role.OWNER)
    builders.team("Night shift", owner=nina)
    page = client.get("/account/delete/").content.decode()
    assert "A small survey" in page and "the team Night shift" in page
    refused = client.post("/account/delete/", {"password": PASSWORD})
    assert refused.status_code == 400 and User.objects.filter(pk=nina.pk).exists()
    assert roles(survey) == {"nina": "owner"}


@pytest.mark.django_db(transaction=True)
def test_pages_hold_no_row_outside_a_transaction() -> None:
    """Run them without a test's transaction, as in operation."""
    survey = builders.opened()
    nina, client = deletable()
    Membership.objects.give(survey, nina, Role.OWNER)
    team = builders.team(owner=nina)
    pages = ["/account/delete/", "/account/", "/account/factor/", "/account/sessions/",
             "/account/password/", "/teams/", f"/teams/{team.pk}/", PAGE]  # fmt: skip
    for page in pages:
        assert client.get(page).status_code == 200, page
    for page in (PAGE, f"/teams/{team.pk}/"):
        guest = Client()
        assert guest.post(link(client, page), new_account(username=f"guest{len(page)}"))
        for leave in ({"role": "viewer"}, {"remove": "1"}):
            assert client.post(page, {"name": "nina"} | leave).status_code == 400
    refused = client.post("/account/delete/", {"password": PASSWORD})
    assert refused.status_code == 400 and "A small survey" in refused.content.decode()
    Membership.objects.give(survey, User.objects.get(username=f"guest{len(PAGE)}"), Role.OWNER)
    client.post(f"/teams/{team.pk}/", {"delete": "1"})
    assert client.post("/account/delete/", {"password": PASSWORD}).status_code == 200
    assert not User.objects.filter(pk=nina.pk).exists()


def test_the_only_admin_stays() -> None:
    root = builders.root()
    with pytest.raises(ValidationError, match="only admin"):
        delete_account(root)
    User.objects.create_superuser("second")
    delete_account(root)
    assert [user.username for user in User.objects.all()] == ["second"]


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_when_both_owners_delete_their_accounts_at_once_one_stays() -> None:
    survey = builders.opened()
    owners = [builders.person(f"owner{i}", Role.OWNER, survey) for i in range(2)]
    raised = at_once(*(lambda user=user: delete_account(user) for user in owners))  # type: ignore[misc]
    assert [type(error) for error in raised] == [ValidationError]
    assert len(roles(survey)) == 1 and User.objects.count() == 1
