"""Invitations, passes and proofs of work, from the code to the stored report."""

import json
import logging
from typing import Any
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aggregation.releases.collect import collect
from survey import files, simulation
from survey.access import invitations
from survey.access.codes import shown
from survey.collect import throttle
from survey.collect.validator import is_proof_of_work
from survey.design import Design, passes
from survey.models import Invitation, PassKey, Report, Survey
from tests.support import builders
from tests.support.passes import blinded, errors, fetched, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def invited() -> Survey:
    return builders.opened(access="invited")


def spent(survey: Survey, one: passes.Pass, **changes: Any) -> dict[str, Any]:
    more = {"id": one.id, "pass": one.as_text()}
    return builders.report(survey.frozen_design(), **(more | changes))


# --- The key --------------------------------------------------------------------------------------


def test_the_key_is_made_on_opening_and_pinned_in_the_design(invited: Survey) -> None:
    draft = builders.draft(slug="draft", access="invited")
    assert not PassKey.objects.filter(survey=draft).exists()
    assert "passes" not in draft.draft_design().canonical
    pinned = json.loads(invited.design)["passes"]
    private = passes.private_key(bytes(PassKey.objects.get().private))
    assert pinned == passes.public_text(private.public_key())
    definition = Client().get("/api/v1/surveys/small/").json()
    assert definition["design"]["passes"] == pinned
    assert Design.from_json(invited.design).hash == invited.design_hash


def test_an_open_design_has_neither_passes_nor_work() -> None:
    survey = builders.opened()
    assert {"passes", "work"}.isdisjoint(json.loads(survey.design))


def test_the_key_cannot_be_replaced_and_is_deleted_on_closing(invited: Survey) -> None:
    other = passes.private_bytes(passes.new_key())
    key = PassKey.objects.get()
    for change in (
        lambda: PassKey.objects.update(private=other),
        lambda: PassKey.objects.all().delete(),
        lambda: PassKey.objects.create(survey=builders.opened(slug="open"), private=other),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()
    assert PassKey.objects.get().private == key.private
    invitations.make(invited, 3)
    invited.close()
    assert (PassKey.objects.count(), Invitation.objects.count()) == (0, 0)
    assert (invited.invited, invited.fetched) == (3, 0)
    with pytest.raises(IntegrityError), transaction.atomic():
        PassKey.objects.create(survey=invited, private=other)


def test_the_approved_hash_covers_who_may_answer() -> None:
    survey = builders.draft()
    seen = survey.content_hash()
    survey.access = "invited"
    assert survey.content_hash() != seen


def test_an_invited_survey_cannot_ask_for_work(invited: Survey) -> None:
    survey = builders.draft(slug="draft")
    survey.access, survey.work = "invited", 4
    with pytest.raises(ValidationError):
        survey.full_clean()
    with pytest.raises(IntegrityError), transaction.atomic():
        survey.save()


def test_files_carry_access_and_work() -> None:
    for more in ({"access": "invited"}, {"work": 7}, {}):
        survey = builders.draft(slug=f"s{len(str(more))}", **more)
        dumped = files.dump(survey)
        assert {name: dumped[name] for name in ("access", "work") if name in dumped} == more
    for wrong, where in (
        ({"access": "secret"}, "access"), ({"access": 1}, "access"), ({"work": 23}, "work"),
        ({"work": True}, "work"), ({"work": "3"}, "work"), ({"work": -1}, "work"),
        ({"access": "invited", "work": 3}, "work"),
    ):  # fmt: skip
        with pytest.raises(files.FileError, match=where):
            builders.draft(slug="wrong", **wrong)  # type: ignore[arg-type]


# --- The exchange ---------------------------------------------------------------------------------


def test_a_code_gets_one_pass_and_the_pass_one_report(invited: Survey) -> None:
    (code,) = invitations.make(invited, 1)
    one = fetched(invited, code)
    report = spent(invited, one, blocks={"b1": [1, 3], "g1": [0]})
    assert post(report).status_code == 201
    assert post(report).status_code == 200
    other = {"blocks": {"b1": [0, 3], "g1": [0]}}
    assert post(report | other).status_code == 200  # and is not stored
    stored = Report.objects.get()
    assert (str(stored.pk), bytes(stored.content)[:2]) == (one.id, bytes([1, 3]))


def test_a_lost_pass_can_be_fetched_again_but_no_other(invited: Survey) -> None:
    (code,) = invitations.make(invited, 1)
    _, asked, _ = blinded(invited)
    first, again = (post(asked | {"code": code}, "passes/") for _ in range(2))
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    _, other, _ = blinded(invited)
    assert errors(post(other | {"code": code}, "passes/")) == (409, {"code"})
    assert not first.cookies and first["Cache-Control"] == "no-store"


def test_a_code_is_accepted_as_people_type_it(invited: Survey) -> None:
    (code,) = invitations.make(invited, 1)
    _, asked, _ = blinded(invited)
    assert post(asked | {"code": shown(code).lower()}, "passes/").status_code == 200


WRONG: dict[str, tuple[dict[str, Any], int, str]] = {
    "unknown": ({"code": "0" * 16}, 403, "code"),
    "no code": ({"code": "short"}, 400, "code"),
    "other letters": ({"code": "U" * 16}, 400, "code"),
    "a typing error": ({"code": "0" * 15 + "1"}, 400, "code"),
    "no text": ({"code": 5}, 400, "code"),
    "no blinded": ({"blinded": None}, 400, "blinded"),
    "not base64url": ({"blinded": "+" * 342}, 400, "blinded"),
    "too short": ({"blinded": "AA"}, 400, "blinded"),
    "zero": ({"blinded": "A" * 342}, 400, "blinded"),
    "above the key": ({"blinded": "_" * 341 + "w"}, 400, "blinded"),
    "unknown key": ({"more": "1"}, 400, "more"),
}


@pytest.mark.parametrize(("change", "status", "where"), WRONG.values(), ids=WRONG.keys())
def test_a_bad_exchange_names_the_wrong_field(
    invited: Survey, change: Any, status: int, where: str
) -> None:
    (code,) = invitations.make(invited, 1)
    _, asked, _ = blinded(invited)
    assert errors(post(asked | {"code": code} | change, "passes/")) == (status, {where})
    assert Invitation.objects.get().used_with == ""


def test_the_exchange_answers_every_error_with_its_status(invited: Survey, settings: Any) -> None:
    (code,) = invitations.make(invited, 1)
    _, asked, _ = blinded(invited)
    body = asked | {"code": code}
    builders.opened(slug="open")
    assert errors(post(body, "passes/", "open")) == (404, {"survey"})
    assert errors(post(body, "passes/", "nowhere")) == (404, {"survey"})
    assert post(b"{", "passes/").status_code == 400
    assert post(b"[]", "passes/").status_code == 400
    assert post(b" " * 5000, "passes/").status_code == 413
    assert post(body, "passes/", content_type="text/plain").status_code == 415
    assert Client().get("/api/v1/surveys/small/passes/").status_code == 405
    settings.INGEST_PER_MINUTE = 1
    assert post(body, "passes/", REMOTE_ADDR="192.0.2.1").status_code == 200
    assert post(body, "passes/", REMOTE_ADDR="192.0.2.1").status_code == 429
    settings.INGEST_PER_MINUTE = 0
    invited.close()
    assert errors(post(body, "passes/")) == (410, {"survey"})


def test_a_code_of_another_survey_gets_nothing(invited: Survey) -> None:
    other = builders.opened(slug="other", access="invited")
    (code,) = invitations.make(other, 1)
    _, asked, _ = blinded(invited)
    assert errors(post(asked | {"code": code}, "passes/")) == (403, {"code"})


def test_nothing_of_an_exchange_is_logged(
    invited: Survey, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = invitations.make(invited, 1)
    _, asked, _ = blinded(invited)

    def broken(*args: Any) -> None:
        raise ZeroDivisionError(f"{code} {asked}")

    with caplog.at_level(logging.DEBUG):
        post(asked | {"code": code}, "passes/")
        monkeypatch.setattr(passes, "blind_sign", broken)
        assert post(asked | {"code": code}, "passes/").status_code == 500
    assert code not in caplog.text and asked["blinded"] not in caplog.text


# --- Spending -------------------------------------------------------------------------------------


def test_a_missing_or_bad_pass_is_403(invited: Survey) -> None:
    (code,) = invitations.make(invited, 1)
    one = fetched(invited, code)
    good = spent(invited, one)
    message, signature = one.as_text().values()
    second = passes.sign(passes.new_key(), one.prepared).as_text()
    another = passes.sign(passes.private_key(bytes(PassKey.objects.get().private)), b"x" * 45)
    for wrong in (
        None, "pass", {}, {"message": message}, {"message": message, "signature": 5},
        {"message": message, "signature": signature, "more": ""},
        {"message": message, "signature": signature[:-4] + "AAAA"},
        {"message": message + "=", "signature": signature},
        {"message": message[:-1], "signature": signature},
        {"message": message, "signature": signature + "\n"},
        second, another.as_text(),
    ):  # fmt: skip
        assert errors(post(good | {"pass": wrong})) == (403, {"pass"}), wrong
    assert errors(post(good | {"id": str(uuid4())})) == (403, {"pass"})
    del good["pass"]
    assert post(good).json() == {"errors": {"pass": ["missing"]}}
    assert errors(post(good | {"blocks": {}})) == (400, {"pass", "blocks", "blocks.g1"})
    assert Report.objects.count() == 0


def test_a_pass_of_another_survey_is_refused(invited: Survey) -> None:
    other = builders.opened(slug="other", access="invited")
    (code,) = invitations.make(other, 1)
    assert errors(post(spent(invited, fetched(other, code)))) == (403, {"pass"})


def test_an_open_survey_takes_no_pass() -> None:
    survey = builders.opened()
    report = builders.report(survey.frozen_design()) | {"pass": {}}
    assert errors(post(report)) == (400, {"pass"})


def test_a_batch_checks_every_pass(invited: Survey) -> None:
    one, two = (fetched(invited, code) for code in invitations.make(invited, 2))
    listed = [spent(invited, one), spent(invited, one), spent(invited, two, id=str(uuid4()))]
    rows = post({"reports": listed}, "reports/batch/").json()["reports"]
    assert [row["status"] for row in rows] == [201, 200, 403]


def test_after_the_move_a_pass_is_still_spent(invited: Survey) -> None:
    (code,) = invitations.make(invited, 1)
    one = fetched(invited, code)
    post(spent(invited, one))
    waiting = invited.pending().filter(pk=one.id)
    while waiting.exists():  # on PostgreSQL, chance decides who stays behind
        builders.send(invited, 40)
        collect(invited)
    assert post(spent(invited, one, blocks={"b1": [1, 1], "g1": [0]})).status_code == 200
    assert not waiting.exists()


texts = st.text(max_size=50) | st.sampled_from(["A" * 60, "A" * 342, "_" * 342, "=", "\0"])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    given=st.none() | st.integers() | texts | st.lists(texts, max_size=2)
    | st.dictionaries(st.sampled_from(["message", "signature", "x"]), texts | st.none())
)  # fmt: skip
@pytest.mark.slow
def test_any_other_pass_or_code_is_refused(invited: Survey, given: Any) -> None:
    report = builders.report(invited.frozen_design()) | {"pass": given}
    assert errors(post(report)) == (403, {"pass"})
    _, asked, _ = blinded(invited)
    assert post({"code": given, "blinded": asked["blinded"]}, "passes/").status_code in (400, 403)
    assert post({"code": "0" * 16, "blinded": given}, "passes/").status_code in (400, 403)


# --- Work -----------------------------------------------------------------------------------------


def test_a_report_needs_its_proof_of_work() -> None:
    survey = builders.opened(work=8)
    design = survey.frozen_design()
    assert json.loads(survey.design)["work"] == 8
    good = simulation.admitted(builders.report(design), design)
    assert post(good).status_code == 201
    another = next(
        one for one in (str(uuid4()) for _ in range(1000))
        if not is_proof_of_work(design.hash, one, good["work"], 8)
    )  # fmt: skip
    assert errors(post(good | {"id": another})) == (403, {"work"})
    assert errors(post(good | {"work": "zzzzzzzz"})) == (403, {"work"})
    assert errors(post(good | {"work": 5})) == (403, {"work"})
    wrong = next(
        nonce for nonce in (f"{i:08x}" for i in range(1000))
        if not is_proof_of_work(design.hash, good["id"], nonce, 8)
    )  # fmt: skip
    assert errors(post(good | {"work": wrong})) == (403, {"work"})
    del good["work"]
    assert errors(post(good)) == (403, {"work"})


def test_zero_bits_are_counted_from_the_front() -> None:
    """About 1 in 2^bits of 4,000 nonces has that many, within 5 sigma; none has 256."""
    nonces = [f"{n:08x}" for n in range(4000)]
    counts = [sum(is_proof_of_work("d", "i", n, bits) for n in nonces) for bits in (1, 4, 22)]
    assert abs(counts[0] - 2000) < 160 and abs(counts[1] - 250) < 77 and counts[2] < 3


# --- Counting requests ----------------------------------------------------------------------------


def test_the_request_counters_hold_no_address(settings: Any, monkeypatch: Any) -> None:
    settings.INGEST_PER_MINUTE = 5
    throttle.spend("192.0.2.77", "")
    (name,) = throttle._counts
    assert b"192.0.2.77" not in name and len(name) == 16
    before = throttle._key
    monkeypatch.setattr(throttle, "_minute", -1)
    throttle.spend("192.0.2.77", "")
    assert throttle._key != before and name not in throttle._counts


# --- The database ---------------------------------------------------------------------------------


def test_invitations_are_stored_in_the_order_of_their_digests(invited: Survey) -> None:
    invitations.make(invited, 50)
    place = "ctid" if connection.vendor == "postgresql" else "rowid"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT digest FROM survey_invitation ORDER BY {place}")
        found = [row[0] for row in cursor.fetchall()]
    assert found == sorted(found)


def test_rewriting_invitations_changes_no_values(invited: Survey) -> None:
    codes = invitations.make(invited, 5)
    for code in codes[:3]:
        fetched(invited, code)
    before = sorted(Invitation.objects.values_list())
    Invitation.objects.rewrite(invited.pk)
    assert sorted(Invitation.objects.values_list()) == before
