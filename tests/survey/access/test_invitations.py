"""The invitations page: codes as a file and a sheet, e-mails, reminders, revoking."""

import csv
import html
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from aggregation.releases.publish import make_release
from survey.access import invitations, letters
from survey.models import Invitation, Survey, digest, today
from survey.words import CATALOGUES
from tests.support import builders
from tests.support.passes import blinded, errors, fetched, post
from tests.support.services import free_port

pytestmark = pytest.mark.django_db

PAGE = "/surveys/small/invitations/"
LETTER = {"do": "letters", "subject": "Please", "text": "Dear all,\n{link}\nThank you."}


@pytest.fixture
def survey() -> Survey:
    return builders.opened(access="invited")


@pytest.fixture
def olga(survey: Survey) -> Client:
    return builders.client(builders.olga(survey))


@pytest.fixture(autouse=True)
def set_up(settings: Any) -> None:
    settings.EMAIL_URL = "memory://"


def days_later(survey: Survey) -> None:
    yesterday = today() - timedelta(days=1)
    Invitation.objects.filter(survey=survey).exclude(mailed_on=None).update(mailed_on=yesterday)


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def codes_of(message: Any) -> str:
    found = re.search(r"/s/small/#([0-9A-Z]{16})\.([\w-]{27})\n", message.body)
    assert found
    return found[1]


# --- Codes ----------------------------------------------------------------------------------------


def test_codes_come_as_a_file_once_and_stay_as_digests(olga: Client, survey: Survey) -> None:
    response = olga.post(PAGE, {"do": "codes", "form": "csv", "count": "250"})
    assert response.status_code == 200 and "no-store" in response["Cache-Control"]
    assert "attachment" in response["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(response.getvalue().decode())))
    codes = [row["code"].replace("-", "") for row in rows]
    assert len(set(codes)) == 250
    assert set(Invitation.objects.values_list("digest", flat=True)) == {*map(digest, codes)}
    assert {row["link"] for row in rows} == {
        f"http://testserver/s/small/#{code}.{invitations.fingerprint(survey)}" for code in codes
    }
    assert fetched(survey, codes[7])
    assert "Created 250 Pass fetched 1 Not used 249" in text(olga.get(PAGE))


def test_codes_come_as_a_sheet_to_print(olga: Client) -> None:
    page = olga.post(PAGE, {"do": "codes", "form": "sheet", "count": "3"}).content.decode()
    assert page.count("<svg") == 3 == Invitation.objects.count()
    shown = re.sub(r"</?(span|wbr)>", "", page)
    assert len(re.findall(r"[0-9A-Z]{4}(-[0-9A-Z]{4}){3}", shown)) == 3
    assert "style=" not in page


@pytest.mark.parametrize(
    ("given", "said"),
    [({"count": "0"}, "1 or more"), ({"count": "100001"}, "at most 100,000"),
     ({"count": "x"}, "whole number"), ({}, "how many"),
     ({"count": "501", "form": "sheet"}, "room for 500")],
)  # fmt: skip
def test_a_wrong_number_of_codes_is_refused(olga: Client, given: dict[str, str], said: str) -> None:
    response = olga.post(PAGE, {"do": "codes", "form": "csv"} | given)
    assert (response.status_code, Invitation.objects.count()) == (400, 0)
    assert said in text(response)


def test_unused_codes_can_be_revoked(olga: Client, survey: Survey) -> None:
    used, unused = invitations.make(survey, 2)
    fetched(survey, used)
    assert olga.post(PAGE, {"do": "revoke"}).status_code == 400  # not without confirmation
    assert Invitation.objects.count() == 2
    assert olga.post(PAGE, {"do": "revoke", "sure": "on"}).status_code == 302
    assert Invitation.objects.get().digest == digest(used)
    _, asked, _ = blinded(survey)
    assert errors(post(asked | {"code": unused}, "passes/")) == (403, {"code"})


def test_drafts_open_and_closed_surveys_take_no_invitations(olga: Client, survey: Survey) -> None:
    survey.close()
    for slug, state in (("open", "open"), ("draft", "draft"), ("small", "closed")):
        if slug != "small":
            made = builders.opened(slug=slug) if state == "open" else builders.draft(slug=slug)
            builders.Membership.objects.create(
                survey=made, user=builders.User.objects.get(), role="owner"
            )
        page = f"/surveys/{slug}/invitations/"
        assert olga.get(page).status_code == 200
        for action in ("codes", "letters", "remind", "revoke", "nonsense", ""):
            sent = olga.post(page, LETTER | {"do": action, "count": "1", "form": "csv"})
            assert sent.status_code == 400 and "Nothing was done" in text(sent)
    assert Invitation.objects.count() == 0 and mail.outbox == []


# --- Letters --------------------------------------------------------------------------------------


def test_each_person_gets_one_letter_with_a_working_code(olga: Client, survey: Survey) -> None:
    given = LETTER | {"addresses": "a@example.org, B@example.org;\nb@example.org"}
    assert "2 sent." in text(olga.post(PAGE, given))
    assert sorted(message.to[0] for message in mail.outbox) == ["a@example.org", "b@example.org"]
    codes = [codes_of(message) for message in mail.outbox]
    stored = str(list(Invitation.objects.values()))
    assert not any(code in stored for code in codes)
    fetched(survey, codes[0])
    assert "None sent." in text(olga.post(PAGE, given))  # nobody is invited twice
    assert len(mail.outbox) == 2 == Invitation.objects.count()


def test_an_address_is_deleted_when_its_code_is_used(olga: Client, survey: Survey) -> None:
    olga.post(PAGE, LETTER | {"addresses": "a@example.org b@example.org"})
    codes = {message.to[0]: codes_of(message) for message in mail.outbox}
    fetched(survey, codes["a@example.org"])
    assert set(Invitation.objects.values_list("email", flat=True)) == {"", "b@example.org"}
    mail.outbox.clear()
    assert "1 was sent an e-mail today." in text(olga.get(PAGE))
    assert "None sent." in text(olga.post(PAGE, LETTER | {"do": "remind"}))
    days_later(survey)
    page = text(olga.get(PAGE))
    assert "Remind 1 person" in page and "does not work any more; this one does" in page
    assert "1 sent." in text(olga.post(PAGE, LETTER | {"do": "remind"}))
    assert "None sent." in text(olga.post(PAGE, LETTER | {"do": "remind"}))  # no two in a day
    (message,) = mail.outbox
    assert message.to == ["b@example.org"]
    _, asked, _ = blinded(survey)
    old, new = codes["b@example.org"], codes_of(message)
    assert errors(post(asked | {"code": old}, "passes/")) == (403, {"code"})
    assert post(asked | {"code": new}, "passes/").status_code == 200
    survey.close()
    assert Invitation.objects.count() == 0


def test_a_reminder_that_is_cut_short_goes_on_with_the_others(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    invitations.add_people(survey, [f"p{i}@example.org" for i in range(4)])
    letter = invitations.Letter("Please", "{link}")
    invitations.send(survey, letter, "http://x/")
    days_later(survey)
    mail.outbox.clear()
    calls = iter([0.0, 1.0, 1.0, 99.0])  # two e-mails, then the time is up
    with monkeypatch.context() as patch:
        patch.setattr(invitations.time, "monotonic", lambda: next(calls))
        assert invitations.send(survey, letter, "http://x/", remind=True).sent == 2
    assert invitations.send(survey, letter, "http://x/", remind=True).sent == 2
    assert len({message.to[0] for message in mail.outbox}) == len(mail.outbox) == 4


def test_a_letter_says_who_asks_in_every_known_language() -> None:
    german = {"title": "Eine Umfrage", "asked_by": "Olgas Büro"}
    told = {"asked_by": "Olga’s office", "purpose": "To know.", "contact": "olga@example.org"}
    survey = builders.opened(
        access="invited", **told, translations={"de": german, "sv": {"title": "En enkät"}}
    )
    client = builders.client(builders.olga(survey))
    page = html.unescape(client.get(PAGE).content.decode())
    for words in ("Who asks: Olga’s office", "Why: To know.", "Questions to: olga@example.org",
                  "„Eine Umfrage“", "Wer fragt: Olgas Büro"):  # fmt: skip
        assert words in page
    assert "En enkät" not in letters.text(survey)
    assert (
        letters.text(survey).count("{link}")
        == 2
        == letters.text(survey, again=True).count("{link}")
    )
    given = {"subject": letters.subject(survey), "text": letters.text(survey)}
    client.post(PAGE, LETTER | given | {"addresses": "a@example.org"})
    (message,) = mail.outbox
    assert message.reply_to == ["olga@example.org"]
    assert survey.title not in message.subject and message.body.count(codes_of(message)) == 2
    sheet = client.post(PAGE, {"do": "codes", "form": "sheet", "count": "1"}).content.decode()
    assert "Olga’s office" in sheet and "Questions to: olga@example.org" in sheet


@pytest.mark.parametrize("tag", CATALOGUES)
def test_letters_and_cards_are_in_every_language(tag: str) -> None:
    words = CATALOGUES[tag]
    survey = builders.opened(access="invited", language=tag, title="{braces} {link}")
    letter = letters.text(survey)
    assert letter.startswith(words["letter"]["hello"]) and "{braces} {link}" in letter
    client = builders.client(builders.olga(survey))
    sheet = client.post(PAGE, {"do": "codes", "form": "sheet", "count": "1"}).content.decode()
    assert f'lang="{tag}" dir="{words.direction}"' in sheet
    assert words["letter"]["card"] in html.unescape(sheet)


@pytest.mark.parametrize(
    ("epsilon", "grade"), [(1, "hardly"), (2, "guess"), (2.2, "guess"), (2.5, "nearly")]
)
def test_a_letter_promises_no_more_than_the_epsilon_allows(epsilon: float, grade: str) -> None:
    survey = builders.opened(access="invited", epsilon=epsilon, language="de")
    protection = CATALOGUES["de"]["protection"]
    letter = letters.text(survey)
    for name, text in protection["grades"].items():
        assert (text in letter) is (name == grade), name
    for name in ("change", "nobody", "background"):  # true at every epsilon
        assert protection[name] in letter


def test_a_contact_that_is_no_address_is_no_reply_address(survey: Survey) -> None:
    assert invitations.contact(survey) == ""
    assert invitations.Letter("s", "{link}").to("a@example.org", "x").reply_to == []


def test_a_crash_while_sending_sends_nothing_twice(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        pass

    sent: list[str] = []

    def crashing(self: Any, email: str, address: str) -> Any:
        if len(sent) == 2:
            raise Crash
        sent.append(email)
        return mail.EmailMessage("Please", address, to=[email])

    invitations.add_people(survey, [f"p{i}@example.org" for i in range(5)])
    letter = invitations.Letter("Please", "{link}")
    with monkeypatch.context() as patch, pytest.raises(Crash):
        patch.setattr(invitations.Letter, "to", crashing)
        invitations.send(survey, letter, "http://x/")
    outcome = invitations.send(survey, letter, "http://x/")
    assert (outcome.sent, outcome.failed) == (2, 0)  # the one in between waits for a reminder
    got = [message.to[0] for message in mail.outbox]
    assert len(got) == len(set(got)) == 4


def test_a_letter_that_is_refused_can_be_sent_again(
    survey: Survey, olga: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> None:
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
        response = olga.post(PAGE, LETTER | {"addresses": "a@example.org"})
    assert "The mail server refused 1." in text(response)
    assert "1 still to send" in text(response)
    assert "1 sent." in text(olga.post(PAGE, LETTER))
    assert len(mail.outbox) == 1 == Invitation.objects.count()


def test_letters_wait_for_a_mail_server_that_does_not_answer(olga: Client, settings: Any) -> None:
    backend = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
    response = olga.post(PAGE, LETTER | {"addresses": "a@example.org"})
    assert response.status_code == 503 and "does not answer" in text(response)
    settings.EMAIL_BACKEND = backend
    assert "1 sent." in text(olga.post(PAGE, LETTER))


def test_sending_stops_after_a_while_and_goes_on_next_time(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    invitations.add_people(survey, ["a@example.org", "b@example.org"])
    letter = invitations.Letter("Please", "{link}")
    monkeypatch.setattr(invitations, "MAIL_SECONDS", -1)
    assert invitations.send(survey, letter, "http://x/").sent == 0
    monkeypatch.setattr(invitations, "MAIL_SECONDS", 20)
    assert invitations.send(survey, letter, "http://x/").sent == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [({"addresses": "a@example.org nobody"}, "“nobody” is not an e-mail address"),
     ({"addresses": "a@example.org\nb@example.org\nBcc: c@example.org"}, "“Bcc:” is not an e-mail"),
     ({"text": "no link"}, "Write {link}"), ({"subject": ""}, "Enter a subject"),
     ({"subject": "one\nBcc: x@example.org"}, "one line of plain text"),
     ({"subject": "one\x0bX: y"}, "one line of plain text"),
     ({"subject": "one\u2028two"}, "one line of plain text"),
     ({"subject": "a\u202eb"}, "one line of plain text"),
     ({"addresses": "a@example.org " * 10_001}, "at most 10,000")],
)  # fmt: skip
def test_a_wrong_letter_is_not_sent(olga: Client, change: dict[str, str], said: str) -> None:
    response = olga.post(PAGE, LETTER | {"addresses": "a@example.org"} | change)
    assert said in text(response).replace("&#x27;", "'")
    assert mail.outbox == []


def test_the_page_says_that_there_is_no_mail_server(olga: Client, settings: Any) -> None:
    settings.EMAIL_URL = ""
    assert "E-mail is not set up on this site" in text(olga.get(PAGE))
    assert olga.post(PAGE, LETTER | {"addresses": "a@example.org"}).status_code == 400
    assert Invitation.objects.count() == 0


@pytest.mark.slow
def test_pages_say_who_could_answer(survey: Survey) -> None:
    other = builders.opened(slug="open")
    client = builders.client(builders.olga(survey, other))
    for one, said in ((survey, "each pass works once"), (other, "not safe from manipulation")):
        assert said in text(client.get(f"/surveys/{one.slug}/"))  # before the first release
        builders.send(one, 40)
        make_release(one)
        Survey.objects.filter(pk=one.pk).update(results_public=True)
        for page in (f"/surveys/{one.slug}/", f"/results/{one.slug}/"):
            assert said in text(client.get(page))
    assert "not safe from manipulation" in text(client.get("/studio/open/open/"))
    contrast = other.frozen_design().blocks[0].keep / 2**32
    found = re.search(r"by up to ([\d.]+) percentage points", text(client.get("/results/open/")))
    assert found and 1 / contrast <= float(found[1]) <= 1.1 / contrast


def test_hostile_titles_stay_text(settings: Any) -> None:
    hostile = '<script>alert(1)</script>{{7*7}}{link}"'
    survey = builders.opened(slug="hostile", title=hostile, access="invited")
    client = builders.client(builders.olga(survey))
    page = "/surveys/hostile/invitations/"
    for response in (
        client.get(page),
        client.post(page, {"do": "codes", "form": "sheet", "count": "1"}),
    ):
        assert response.status_code == 200 and "<script>alert" not in response.content.decode()
