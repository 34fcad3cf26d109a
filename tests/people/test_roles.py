"""Roles in a survey: what each may do, and the page where the owner manages them."""

import json
from functools import partial
from pathlib import Path
from typing import get_args

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client

from survey.models import ROLE_ACTIONS, Action, LastOwner, Membership, Role, Survey
from tests.support import builders
from tests.support.roles import PAGE, actions, roles
from tests.support.threads import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


# --- Who may do what ------------------------------------------------------------------------------


def test_each_role_may_do_more_than_the_one_before() -> None:
    survey, other = builders.opened(), builders.opened(slug="other")
    victor, alice, olga = builders.victor(survey), builders.alice(survey), builders.olga(survey)
    assert actions(survey, victor) == {"see", "read"}
    assert actions(survey, alice) == {"see", "read", "ask", "download"}
    assert actions(survey, olga) == {"see", "read", "ask", "download", "manage"}
    assert actions(survey, builders.root()) == set(ROLE_ACTIONS) == set(get_args(Action))
    for nobody in (builders.charlie(), AnonymousUser()):
        assert actions(survey, nobody) == set()
    for member in (victor, alice, olga):
        assert actions(other, member) == set()


def test_public_results_let_everybody_see_them_and_no_more() -> None:
    survey = builders.opened(slug="open")
    Survey.objects.update(results_public=True)
    survey.refresh_from_db()
    for user in (AnonymousUser(), builders.charlie()):
        assert actions(survey, user) == {"see"}
        assert not Survey.objects.readable_by(user).exists()


def test_a_draft_is_never_public() -> None:
    survey = builders.draft()
    Survey.objects.update(results_public=True)
    assert actions(survey, AnonymousUser()) == set()


def test_the_database_knows_three_roles() -> None:
    survey = builders.draft()
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(survey=survey, user=builders.charlie(), role="king")


# --- The last owner -------------------------------------------------------------------------------


def test_the_last_owner_stays() -> None:
    survey = builders.opened()
    olga, alice = builders.olga(survey), builders.alice(survey)
    for role in (Role.VIEWER, Role.RESEARCHER):
        with pytest.raises(LastOwner):
            Membership.objects.give(survey, olga, role)
    with pytest.raises(LastOwner):
        Membership.objects.remove(survey, olga)
    Membership.objects.give(survey, olga, Role.OWNER)
    Membership.objects.give(survey, alice, Role.OWNER)
    User.objects.filter(pk=alice.pk).update(is_active=False)  # a disabled account owns nothing
    with pytest.raises(LastOwner):
        Membership.objects.remove(survey, olga)
    assert Membership.objects.names_owned_alone(olga) == [str(survey)]
    User.objects.filter(pk=alice.pk).update(is_active=True)
    Membership.objects.give(survey, olga, Role.VIEWER)
    Membership.objects.remove(survey, olga)
    assert roles(survey) == {"alice": "owner"}


@pytest.mark.postgresql  # SQLite has one writer at a time, and in memory it does not wait
@pytest.mark.django_db(transaction=True)
def test_when_both_owners_leave_at_once_one_stays() -> None:
    survey = builders.opened()
    owners = [builders.person(f"owner{i}", Role.OWNER, survey) for i in range(2)]
    leave = Membership.objects.remove
    raised = at_once(*(partial(leave, survey, user) for user in owners))
    assert [type(error) for error in raised] == [LastOwner] and len(roles(survey)) == 1


# --- The page -------------------------------------------------------------------------------------


@pytest.fixture
def survey() -> Survey:
    return builders.opened()


@pytest.fixture
def olga(survey: Survey) -> Client:
    return builders.client(builders.olga(survey))


def test_an_owner_adds_changes_and_removes_people(survey: Survey, olga: Client) -> None:
    builders.charlie()
    add = {"name": "charlie", "role": "viewer", "add": "1"}
    assert olga.post(PAGE, add)["Location"] == PAGE
    assert roles(survey) == {"olga": "owner", "charlie": "viewer"}
    page = olga.get(PAGE).content.decode()
    assert "charlie" in page and '<option value="viewer" selected>' in page
    olga.post(PAGE, {"name": "charlie", "role": "researcher"})
    assert roles(survey)["charlie"] == "researcher"
    olga.post(PAGE, {"name": "charlie", "role": "researcher", "remove": "1"})
    assert roles(survey) == {"olga": "owner"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "nobody", "role": "viewer", "add": "1"}, "no account with that name"),
        ({"name": "", "role": "viewer", "add": "1"}, "Enter an account name."),
        ({"name": "x" * 151, "role": "viewer", "add": "1"}, "at most 150 characters"),
        ({"name": "a\0b", "role": "viewer"}, "Null characters are not allowed."),
        ({"name": "olga", "role": "king"}, "not one of the available choices"),
        ({"name": "olga"}, "Choose a role."),
        ({"name": "olga", "role": "viewer"}, "the last owner"),
        ({"name": "olga", "remove": "1"}, "the last owner"),
        ({"results": "perhaps"}, "Enter an account name."),
        ({}, "Enter an account name."),
    ],
)
def test_bad_input_is_explained_and_changes_nothing(
    survey: Survey, olga: Client, given: dict[str, str], said: str
) -> None:
    response = olga.post(PAGE, given)
    assert response.status_code == 400 and said in response.content.decode()
    assert roles(survey) == {"olga": "owner"}
    survey.refresh_from_db()
    assert not survey.results_public


def test_names_of_accounts_are_text_on_the_page(survey: Survey, olga: Client) -> None:
    builders.person("<b>bold</b>", Role.VIEWER, survey)
    page = olga.get(PAGE).content.decode()
    assert "<b>" not in page and "&lt;b&gt;bold" in page


def test_an_owner_who_steps_down_is_redirected(survey: Survey, olga: Client) -> None:
    builders.alice(survey)
    olga.post(PAGE, {"name": "alice", "role": "owner"})
    assert olga.post(PAGE, {"name": "olga", "role": "viewer"})["Location"] == "/surveys/"
    assert olga.get(PAGE).status_code == 403


def test_nobody_below_an_owner_changes_anything(survey: Survey, olga: Client) -> None:
    before = roles(survey) | {"alice": "researcher", "victor": "viewer"}
    for user in (builders.alice(survey), builders.victor(survey)):
        client = builders.client(user)
        assert client.get(PAGE).status_code == 403
        for given in ({"name": user.username, "role": "owner"}, {"results": "on"}):
            assert client.post(PAGE, given).status_code == 403
    assert roles(survey) == before
    survey.refresh_from_db()
    assert not survey.results_public


def test_an_admin_can_give_a_survey_an_owner(survey: Survey) -> None:
    root, alice = builders.client(builders.root()), builders.alice(survey)
    root.post(PAGE, {"name": alice.username, "role": "owner"})
    assert roles(survey) == {"alice": "owner"}


def test_results_are_switched_on_and_off_in_every_state() -> None:
    survey = builders.draft()
    olga = builders.client(builders.olga(survey))
    for turn in (lambda: None, survey.open, survey.close):
        turn()
        for switch in ("on", "off"):
            assert olga.post(PAGE, {"results": switch})["Location"] == f"{PAGE}#results"
            survey.refresh_from_db()
            assert survey.results_public == (switch == "on")


# --- Whose a survey is ----------------------------------------------------------------------------


def test_an_imported_survey_belongs_to_the_named_owner(tmp_path: Path) -> None:
    builders.charlie()
    file = tmp_path / "survey.json"
    file.write_text(json.dumps(builders.FILE))
    call_command("import_survey", str(file), owner="charlie")
    assert roles(Survey.objects.get()) == {"charlie": "owner"}
    file.write_text(json.dumps(builders.FILE | {"slug": "other"}))
    with pytest.raises(CommandError, match="no account 'nobody'"):
        call_command("import_survey", str(file), owner="nobody")
    assert not Survey.objects.filter(slug="other").exists()
    call_command("import_survey", str(file))
    assert roles(Survey.objects.get(slug="other")) == {}


def test_viewers_are_not_shown_what_they_may_not_do(survey: Survey) -> None:
    builders.finished(40, slug="over")
    over = Survey.objects.get(slug="over")
    people = {
        "victor": builders.victor(survey, over),
        "alice": builders.alice(survey, over),
        "olga": builders.olga(survey, over),
    }
    for name, user in people.items():
        client = builders.client(user)
        page = client.get("/surveys/small/").content.decode()
        assert ("Release now" in page) == (name != "victor")
        settings = client.get("/surveys/small/settings/").content.decode()
        assert (PAGE in settings) == (name == "olga") and (PAGE in page) <= (name == "olga")
        home = client.get("/surveys/over/files/").content.decode()
        for file in ("reports.csv", "everything.zip"):
            assert (file in home) == (name != "victor")
        assert "estimates.csv" in home
