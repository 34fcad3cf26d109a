"""The audit log: its entries, its chain, and finding changes."""

import csv
import hashlib
import io
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.http import HttpResponseBase

from aggregation.exports import archive
from aggregation.jobs import removal
from aggregation.models import Analysis, Job
from aggregation.releases.publish import make_release
from people import totp
from people.models import Factor
from survey.models import ApiToken, Membership, Role, Survey
from survey.models.log import FIRST, Entry, head, record
from tests.support import builders
from tests.support.site import Client
from tests.support.threads import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]

CHANGES: dict[str, list[str]] = {
    "changed": ["UPDATE survey_entry SET actor = 'somebody else' WHERE number = 3"],
    "detail changed": ["UPDATE survey_entry SET detail = '{}' WHERE number = 3"],
    "time changed": ["UPDATE survey_entry SET time = '2020-01-01 00:00:00' WHERE number = 3"],
    "deleted": ["DELETE FROM survey_entry WHERE number = 3"],
    "first deleted": ["DELETE FROM survey_entry WHERE number = 1"],
    "inserted": [
        "INSERT INTO survey_entry (number, time, actor, what, survey, detail, previous, hash)"
        f" VALUES (7, '2026-01-01 00:00:00', 'olga', 'nothing', '', '{{}}', '{FIRST}', 'x')"
    ],
    "swapped": [
        "UPDATE survey_entry SET number = 100 WHERE number = 3",
        "UPDATE survey_entry SET number = 3 WHERE number = 4",
        "UPDATE survey_entry SET number = 4 WHERE number = 100",
    ],
}


def six_entries() -> None:
    for number in range(6):
        record(None, "counted", number=number)


@contextmanager
def without_triggers() -> Iterator[None]:
    """Disable the triggers, as someone with full database rights could."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET session_replication_role = replica")
            yield
            cursor.execute("SET session_replication_role = DEFAULT")
            return
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE tbl_name = 'survey_entry'")
        triggers = [(name, sql) for name, sql in cursor.fetchall() if "TRIGGER" in (sql or "")]
        assert len(triggers) == 3
        for name, _ in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        yield
        for _, sql in triggers:
            cursor.execute(sql)


def run(statements: list[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def verify(*arguments: str) -> str:
    out = io.StringIO()
    call_command("verify_log", *arguments, stdout=out)
    return out.getvalue()


# --- The chain ------------------------------------------------------------------------------------


def test_an_empty_log_is_valid() -> None:
    assert "OK, 0 entries" in verify() and verify().endswith(f"{FIRST}\n")


def test_each_entry_holds_the_hash_of_the_one_before() -> None:
    six_entries()
    entries = list(Entry.objects.order_by("number"))
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert [entry.previous for entry in entries] == [FIRST, *(e.hash for e in entries[:-1])]
    assert verify().splitlines()[-1] == entries[-1].hash
    assert "6 entries" in verify("--head", entries[2].hash)


def test_the_hash_can_be_computed_elsewhere() -> None:
    """As docs/decisions/0027-log.md says: the members of a line, without `hash`, sorted."""
    survey = builders.opened()
    olga = builders.olga(survey)
    lines = body(builders.client(olga).get("/surveys/small/log/log.jsonl")).splitlines()
    assert lines
    for line in lines:
        said = json.loads(line)
        claimed = said.pop("hash")
        text = json.dumps(said, sort_keys=True, separators=(",", ":"))
        assert hashlib.sha256(text.encode()).hexdigest() == claimed


@pytest.mark.parametrize("statements", CHANGES.values(), ids=CHANGES.keys())
def test_tampering_is_refused_by_the_database_and_found_by_the_check(statements: list[str]) -> None:
    six_entries()
    if "INSERT" not in statements[0]:
        with pytest.raises(IntegrityError), transaction.atomic():
            run(statements)
    verify()
    with without_triggers():
        run(statements)
    with pytest.raises(CommandError, match=r"[Ee]ntry"):
        verify()


@pytest.mark.parametrize("number", [3, 6])
def test_an_entry_is_not_replaced_nor_the_log_emptied(number: int) -> None:
    six_entries()
    same = (
        "number, time, actor, actor_number, 'x', survey, survey_number, detail, previous, hash"
        f" FROM survey_entry WHERE number = {number}"
    )
    statement = f"REPLACE INTO survey_entry SELECT {same}"  # noqa: S608
    if connection.vendor == "postgresql":
        statement = "TRUNCATE survey_entry"
    with pytest.raises(IntegrityError), transaction.atomic():
        run([statement])
    assert "6 entries" in verify()


def test_a_noted_head_reveals_a_log_that_was_cut_short() -> None:
    six_entries()
    noted = head()
    assert noted
    with without_triggers():
        run(["DELETE FROM survey_entry WHERE number > 4"])
    assert "4 entries" in verify()  # a shorter chain is still valid
    with pytest.raises(CommandError, match="is not in the log"):
        verify("--head", noted.hash)


def test_a_noted_head_reveals_a_log_that_was_rewritten() -> None:
    six_entries()
    noted = head()
    assert noted
    with without_triggers():
        run(["DELETE FROM survey_entry"])
    for number in (0, 1, 2, 3, 40, 5, 6):
        record(None, "counted", number=number)
    assert "7 entries" in verify()
    with pytest.raises(CommandError, match="is not in the log"):
        verify("--head", noted.hash)


def test_a_rolled_back_action_is_not_logged() -> None:
    six_entries()
    with pytest.raises(RuntimeError), transaction.atomic():
        record(None, "never done")
        raise RuntimeError
    assert not Entry.objects.filter(what="never done").exists()
    assert "6 entries" in verify()


@pytest.mark.postgresql  # SQLite has one writer
@pytest.mark.django_db(transaction=True)
def test_writers_at_the_same_time_keep_one_chain() -> None:
    writers, each = 6, 15

    def write(name: int) -> None:
        for number in range(each):
            with transaction.atomic():
                record(None, f"writer {name}", number=number)

    assert at_once(*(partial(write, name) for name in range(writers))) == []
    assert f"OK, {writers * each} entries" in verify()
    mixed = [entry.what for entry in Entry.objects.order_by("number")]
    assert mixed != sorted(mixed)  # they did write concurrently


# --- What comes into it ---------------------------------------------------------------------------


def written(action: Callable[[], Any]) -> list[tuple[str, str, str]]:
    """Return who did what to which survey in the entries of an action."""
    last = head()
    action()
    fresh = Entry.objects.filter(number__gt=last.number if last else 0).order_by("number")
    verify()
    return [(entry.actor, entry.what, entry.survey) for entry in fresh]


def body(response: HttpResponseBase) -> str:
    assert response.status_code == 200
    content = b"".join(response) if response.streaming else response.content  # type: ignore[attr-defined]
    return bytes(content).decode()


def test_importing_opening_and_closing_a_survey_are_logged() -> None:
    assert written(builders.draft) == [("", "survey imported", "small")]
    survey = Survey.objects.get()
    olga = builders.olga(survey)
    assert written(lambda: survey.open(by=olga)) == [("olga", "survey opened", "small")]
    assert json.loads(head().detail) == {"design": survey.design_hash}  # type: ignore[union-attr]
    assert written(lambda: survey.close(by=olga)) == [("olga", "survey closed", "small")]
    with pytest.raises(Exception, match="only an open one"):
        survey.close(by=olga)
    assert written(lambda: None) == []


def test_archiving_and_removing_a_survey_are_logged(tmp_path: Any) -> None:
    survey = builders.finished(people=40)
    path = tmp_path / "small.zip"
    assert written(lambda: call_command("archive_survey", "small", path, stdout=io.StringIO())) == [
        ("", "archive written", "small")
    ]
    number = survey.pk
    assert written(lambda: removal.remove(survey, path)) == [("", "survey removed", "small")]
    entry = head()
    assert entry and entry.survey_number == number
    assert json.loads(entry.detail) == {"archive": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert archive.ArchiveError  # the module that made it
    draft = builders.draft(slug="another")
    assert written(lambda: removal.remove_draft(draft)) == [("", "draft removed", "another")]


def test_changes_of_roles_and_publication_are_logged() -> None:
    survey = builders.opened()
    olga, charlie = builders.olga(survey), builders.charlie()
    here = builders.client(olga)

    def post(**given: str) -> Callable[[], HttpResponseBase]:
        return lambda: here.post("/surveys/small/people/", given)

    assert written(post(name="charlie", role="viewer")) == [("olga", "role given", "small")]
    assert written(post(name="charlie", role="viewer")) == []  # nothing changed
    assert written(post(name="charlie", role="owner")) == [("olga", "role changed", "small")]
    assert written(post(name="charlie", remove="1")) == [("olga", "role taken", "small")]
    assert written(post(name="charlie", remove="1")) == []
    assert written(post(name="olga", remove="1")) == []  # the last owner stays
    assert written(post(results="on")) == [("olga", "results made public", "small")]
    assert written(post(results="on")) == []
    assert written(post(results="off")) == [("olga", "results hidden", "small")]
    assert not Membership.objects.filter(user=charlie).exists()


def test_making_and_revoking_tokens_are_logged() -> None:
    olga = builders.olga()
    here = builders.client(olga)
    made = lambda: here.post("/account/tokens/", {"label": "for R"})  # noqa: E731
    assert written(made) == [("olga", "token made", "")]
    token = ApiToken.objects.get()
    assert token.digest not in head().detail  # type: ignore[union-attr]
    revoked = lambda: here.post("/account/tokens/", {"revoke": token.pk})  # noqa: E731
    assert written(revoked) == [("olga", "token revoked", "")]
    assert written(revoked) == []
    made = lambda: call_command("api_token", "olga", stdout=io.StringIO())  # noqa: E731
    assert written(made) == [("", "token made", "")]


def test_requests_for_releases_analyses_and_files_are_logged() -> None:
    survey = builders.opened()
    builders.send(survey, 60)
    make_release(survey)
    alice = builders.alice(survey)
    here = builders.client(alice)
    asked = {"kind": "crosstab", "questions": ["q1", "q2"]}
    api = "/api/v1/surveys/small"
    post = lambda path, data: lambda: here.post(path, data, "application/json")  # noqa: E731
    assert written(post("/surveys/small/", {})) == [("alice", "release asked for", "small")]
    assert written(post(f"{api}/releases/", {})) == [("alice", "release asked for", "small")]
    assert written(post(f"{api}/analyses/", asked)) == [("alice", "analysis asked for", "small")]
    assert written(lambda: Job.objects.request(survey)) == []  # the beat
    job = Job.objects.get(analysis=Analysis.objects.get())
    cancelled = lambda: here.delete(f"/api/v1/jobs/{job.pk}/")  # noqa: E731
    assert written(cancelled) == [("alice", "work cancelled", "small")]
    assert written(cancelled) == []
    taken = [("alice", "file downloaded", "small")]
    for path in ("/surveys/small/releases/1/estimates.csv", f"{api}/releases/1/codebook.json"):
        assert written(lambda: body(here.get(path))) == taken  # noqa: B023
        assert written(lambda: here.head(path)) == []  # noqa: B023
    assert json.loads(head().detail) == {"file": "codebook.json", "release": 1}  # type: ignore[union-attr]
    analysis = f"/surveys/small/analyses/{job.analysis_id}"
    assert written(lambda: here.get(f"{analysis}/result.json")) == taken
    assert written(lambda: here.get(f"{analysis}/progress.json")) == []


def test_strangers_who_read_public_results_are_not_logged() -> None:
    survey = builders.opened()
    builders.send(survey, 60)
    make_release(survey)
    survey.publish_results(True)
    charlie = builders.client(builders.charlie())  # an account, and no part in it
    for client in (Client(), charlie):
        path = "/surveys/small/releases/1/estimates.csv"
        assert written(lambda: body(client.get(path))) == []  # noqa: B023


def test_reports_are_not_logged() -> None:
    survey = builders.opened()

    def answered() -> None:
        report = builders.report(survey.frozen_design())
        path = "/api/v1/surveys/small/reports/"
        assert Client().post(path, report, "application/json").status_code == 201
        assert Client().post(path, {}, "application/json").status_code == 400
        assert Client().get("/s/small/").status_code == 200
        builders.send(survey, 40)
        make_release(survey)

    assert written(answered) == []


def test_logins_are_logged() -> None:
    olga = builders.olga()
    olga.set_password("a long word or two")
    assert written(olga.save) == [("", "password changed", "")]
    client = Client()

    def log_in(name: str, password: str) -> Callable[[], HttpResponseBase]:
        return lambda: client.post("/login/", {"username": name, "password": password})

    assert written(log_in("olga", "wrong")) == [("", "login failed", "")]
    assert json.loads(head().detail) == {"account": "olga"}  # type: ignore[union-attr]
    assert written(log_in("olga", "wrong")) == []  # at most one a minute
    assert written(log_in("a long word or two", "olga")) == []  # a password in the wrong place
    assert written(log_in("olga", "a long word or two")) == [("olga", "logged in", "")]
    assert written(lambda: client.post("/logout/")) == [("olga", "logged out", "")]
    assert written(lambda: client.post("/logout/")) == []


def test_making_and_deleting_accounts_are_logged() -> None:
    made = lambda: User.objects.create_superuser("eve", password="x")  # noqa: E731, S106
    assert written(made) == [("", "account made", "")]
    detail = json.loads(head().detail)  # type: ignore[union-attr]
    assert detail == {"account": "eve", "powers": ["staff", "superuser"]}
    eve = User.objects.get()
    eve.first_name = "Eve"
    assert written(eve.save) == []
    assert written(eve.delete) == [("", "account deleted", "")]


def test_changes_in_the_admin_pages_are_logged() -> None:
    survey = builders.draft()
    root = builders.client(builders.root())
    add = {"username": "eve", "password1": "a long word or two", "password2": "a long word or two"}
    add["usable_password"] = "true"
    assert written(lambda: root.post("/admin/auth/user/add/", add)) == [
        ("", "account made", ""),
        ("root", "added in the admin pages", ""),
    ]
    eve = User.objects.get(username="eve")
    password = {"password1": "another long word", "password2": "another long word"}
    password["usable_password"] = "true"
    change = lambda: root.post(f"/admin/auth/user/{eve.pk}/password/", password)  # noqa: E731
    assert [what for _, what, _ in written(change)] == [
        "password changed",
        "changed in the admin pages",
    ]
    assert "another long word" not in "".join(Entry.objects.values_list("detail", flat=True))
    Membership.objects.give(survey, eve, Role.OWNER)
    # Bulk deletion would not log each row, so it is not offered.
    many = {"action": "delete_selected", "_selected_action": [eve.pk], "post": "yes"}
    root.post("/admin/auth/user/", many)
    assert User.objects.filter(pk=eve.pk).exists()


def test_actions_in_the_studio_are_logged() -> None:
    olga = builders.person("olga", Role.VIEWER)
    olga.user_permissions.add(Permission.objects.get(codename="add_survey"))
    here = builders.client(User.objects.get(pk=olga.pk))
    made = written(lambda: here.post("/studio/new/", {"blank": "1"}))
    slug = Survey.objects.get().slug
    assert made == [("olga", "survey created", slug), ("olga", "role given", slug)]
    file = SimpleUploadedFile("a.json", json.dumps(builders.FILE).encode())
    made = written(lambda: here.post("/studio/new/", {"file": file}))
    assert made[0] == ("olga", "survey imported", "small")
    made = written(lambda: here.post("/studio/small/copy/"))
    assert made[0] == ("olga", "survey copied", "small-copy")
    moved = lambda: here.post("/studio/small-copy/", {"slug": "elsewhere"})  # noqa: E731
    assert written(moved) == [("olga", "address changed", "elsewhere")]
    gone = lambda: here.post("/studio/elsewhere/open/", {"do": "delete"})  # noqa: E731
    assert written(gone) == [("olga", "draft removed", "elsewhere")]


def test_opening_closing_and_deleting_in_the_studio_are_logged() -> None:
    survey = builders.draft()
    Membership.objects.give(survey, olga := builders.olga(), Role.OWNER)
    here = builders.client(olga)
    at, read = {"at": "2027-01-01T09:00"}, {"read": "on"}

    def do(action: str, **given: str) -> list[str]:
        fresh = written(lambda: here.post("/studio/small/open/", {"do": action, **given}))
        assert {(actor, slug) for actor, _, slug in fresh} <= {("olga", "small")}
        return [what for _, what, _ in fresh]

    seen = Survey.objects.get().content_hash()
    assert do("open", seen="something else") == []  # refused
    assert do("open-at", seen=seen, **at, **read) == ["opening set"]
    assert json.loads(head().detail) == {"at": "2027-01-01 09:00 UTC"}  # type: ignore[union-attr]
    assert do("open-later") == ["opening cancelled"]
    assert do("open-later") == []
    assert do("open", seen=Survey.objects.get().content_hash(), **read) == ["survey opened"]
    assert do("close-at", **at) == ["closing set"]
    assert do("close-by-hand") == ["closing cancelled"]
    assert do("close-by-hand") == []
    assert do("close") == []  # its address was not typed
    assert do("close", slug="small") == ["survey closed"]
    make_release(survey)
    assert do("archive") == ["survey archived"]
    assert do("archive") == []
    assert do("bring-back") == ["survey unarchived"]
    assert do("delete", slug="other") == []
    assert do("delete", slug="small") == ["deletion requested"]


def test_making_and_revoking_invitations_are_logged() -> None:
    survey = builders.opened(access="invited")
    here = builders.client(builders.olga(survey))

    def do(action: str, **given: str) -> list[tuple[str, str, str]]:
        page = "/surveys/small/invitations/"
        return written(lambda: here.post(page, {"do": action, **given}))

    assert do("codes", count="3", form="csv") == [("olga", "invitations made", "small")]
    assert json.loads(head().detail) == {"number": 3}  # type: ignore[union-attr]
    assert do("codes", count="0", form="csv") == []
    assert do("revoke", sure="on") == [("olga", "invitations revoked", "small")]
    assert do("revoke", sure="on") == []


def test_switching_second_factors_is_logged(still_clock: None) -> None:
    olga, secret = builders.olga(), b"twenty random bytes!"
    given = totp.code(secret, totp.step_at(time.time()))
    on = lambda: Factor.switch_on(olga, secret, given)  # noqa: E731
    assert written(on) == [("olga", "second factor switched on", "")]
    assert written(lambda: Factor.switch_off(olga)) == [("", "second factor switched off", "")]


# --- Pages and files ------------------------------------------------------------------------------


def test_an_owner_reads_only_the_log_of_their_survey() -> None:
    survey, _ = builders.opened(), builders.opened(slug="secret-one")
    olga = builders.olga(survey)
    page = body(builders.client(olga).get("/surveys/small/log/"))
    assert "survey opened" in page and survey.design_hash in page
    assert "secret-one" not in page and "logged in" not in page
    assert head().hash in page  # type: ignore[union-attr]
    whole = body(builders.client(builders.root()).get("/log/"))
    assert "secret-one" in whole and "logged in" in whole


def test_a_new_draft_at_an_old_address_has_a_log_of_its_own() -> None:
    draft = builders.draft()
    Membership.objects.give(draft, builders.alice(), Role.OWNER)
    removal.remove_draft(draft)
    olga = builders.olga(builders.draft())
    page = body(builders.client(olga).get("/surveys/small/log/"))
    assert "alice" not in page and "draft removed" not in page


def test_the_log_has_pages() -> None:
    for number in range(120):
        record(None, "counted", number=number)
    root = builders.client(builders.root())
    first, last = body(root.get("/log/")), body(root.get("/log/?page=3"))
    assert first.count("<li>") == 50 and "Older" in first and "Newer" not in first
    assert "Page 3 of 3" in last and "Newer" in last and "Older" not in last
    assert "Page 1 of 3" in body(root.get("/log/?page=x"))


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "@x", "<script>alert(1)</script>"])
def test_hostile_texts_do_nothing_in_page_and_files(text: str) -> None:
    olga = builders.olga()
    ApiToken.objects.issue(olga, label=text, by=olga)
    record(olga, text[:50])
    root = builders.client(builders.root())
    assert "<script>alert" not in body(root.get("/log/"))
    rows = list(csv.reader(io.StringIO(body(root.get("/log/log.csv")))))
    assert rows[0][:5] == ["number", "time", "actor", "actor_number", "what"]
    assert [row for row in rows for cell in row if cell.startswith(("=", "+", "@"))] == []
    lines = body(root.get("/log/log.jsonl")).splitlines()
    assert any(json.loads(line)["what"] == text for line in lines)
    assert head().what == "log downloaded"  # type: ignore[union-attr]
