"""Protocol 1: every status, batches, known ids, and fuzzing."""

import json
import logging
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aggregation.releases.collect import collect
from survey.collect import door, throttle
from survey.collect.protocol import Refused
from survey.collect.validator import Validator
from survey.design import ABSENT
from survey.models import Report, Survey
from tests.support import builders
from tests.support.site import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def survey() -> Survey:
    return builders.opened()


@pytest.fixture
def good(survey: Survey) -> dict[str, Any]:
    return builders.report(survey.frozen_design(), blocks={"b1": [1, 3], "g1": [1]})


def post(body: Any, slug: str = "small", path: str = "reports/", **options: Any) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body)
    options = {"content_type": "application/json"} | options
    return Client().post(f"/api/v1/surveys/{slug}/{path}", data, **options)


def test_a_report_is_stored_as_one_byte_per_question(good: Any) -> None:
    response = post(good)
    assert (response.status_code, response.json()) == (201, {"id": good["id"]})
    assert bytes(Report.objects.get().content) == bytes([1, 3, 1])
    assert not response.cookies


def test_a_question_that_was_not_asked_is_stored_as_absent() -> None:
    survey = builders.opened(slug="two", blocks=[["q1"], ["q2"]], ask=1)
    post(builders.report(survey.frozen_design(), blocks={"b2": [2], "g1": [2]}), slug="two")
    assert bytes(Report.objects.get().content) == bytes([ABSENT, 2, 2])


def test_the_same_report_again_is_200_and_stored_once(good: Any) -> None:
    assert [post(good).status_code for _ in range(3)] == [201, 200, 200]
    assert Report.objects.count() == 1


def test_ids_are_compared_without_regard_to_case(good: Any) -> None:
    post(good)
    assert post(good | {"id": good["id"].upper()}).status_code == 200


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "id no text": ({"id": 5}, "id"),
    "id no UUID": ({"id": "x"}, "id"),
    "id of version 1": ({"id": "6fa459ea-ee8a-1ca4-894e-db77e160355e"}, "id"),
    "id in braces": ({"id": "{6fa459ea-ee8a-4ca4-894e-db77e160355e}"}, "id"),
    "other design": ({"design": "sha256:" + "0" * 64}, "design"),
    "design no text": ({"design": None}, "design"),
    "blocks no object": ({"blocks": [1, 0]}, "blocks"),
    "no block": ({"blocks": {}}, "blocks"),
    "no block but background": ({"blocks": {"g1": [0]}}, "blocks"),
    "unknown block": ({"blocks": {"b9": [1, 0], "g1": [0]}}, "blocks.b9"),
    "too many blocks": ({"blocks": {"b1": [1, 0], "b2": [1], "g1": [0]}}, "blocks"),
    "too few values": ({"blocks": {"b1": [1], "g1": [0]}}, "blocks.b1"),
    "too many values": ({"blocks": {"b1": [1, 0, 0], "g1": [0]}}, "blocks.b1"),
    "values no list": ({"blocks": {"b1": {"0": 1}, "g1": [0]}}, "blocks.b1"),
    "value out of range": ({"blocks": {"b1": [2, 0], "g1": [0]}}, "blocks.b1.0"),
    "value negative": ({"blocks": {"b1": [1, -1], "g1": [0]}}, "blocks.b1.1"),
    "value true": ({"blocks": {"b1": [True, 0], "g1": [0]}}, "blocks.b1.0"),
    "value 1.0": ({"blocks": {"b1": [1.0, 0], "g1": [0]}}, "blocks.b1.0"),
    "value text": ({"blocks": {"b1": ["1", 0], "g1": [0]}}, "blocks.b1.0"),
    "value null": ({"blocks": {"b1": [None, 0], "g1": [0]}}, "blocks.b1.0"),
    "value 255": ({"blocks": {"b1": [255, 0], "g1": [0]}}, "blocks.b1.0"),
    "background missing": ({"blocks": {"b1": [1, 0]}}, "blocks.g1"),
    "background unknown": ({"blocks": {"b1": [1, 0], "g1": [0], "g2": [1]}}, "blocks.g2"),
    "background twice": ({"blocks": {"b1": [1, 0], "g1": [0, 0]}}, "blocks.g1"),
    "background out of range": ({"blocks": {"b1": [1, 0], "g1": [3]}}, "blocks.g1.0"),
    "background not given": ({"blocks": {"b1": [1, 0], "g1": [None]}}, "blocks.g1.0"),
    "background true": ({"blocks": {"b1": [1, 0], "g1": [True]}}, "blocks.g1.0"),
    "background in clear": ({"background": {"age": 1}}, "background"),
    "unknown key": ({"answer": {"q1": 1}}, "answer"),
}


@pytest.mark.parametrize(("change", "where"), BAD.values(), ids=BAD.keys())
def test_a_malformed_report_is_400_and_says_where(good: Any, change: Any, where: str) -> None:
    response = post(good | change)
    assert response.status_code == 400
    assert where in response.json()["errors"]
    assert not Report.objects.exists()


@given(data=st.data())
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_quick_check_accepts_only_what_the_thorough_one_does(
    good: Any, survey: Survey, data: st.DataObject
) -> None:
    """Change one or two members of well-formed reports to other or invalid values."""
    validator = Validator(survey.frozen_design())
    value = st.sampled_from([0, 1, 3, 4, -1, 255, True, None, 1.0, "1", [], {}])
    report = json.loads(json.dumps(good))
    for _ in range(data.draw(st.integers(0, 2))):
        where = data.draw(st.sampled_from([report, report.get("blocks")]))
        if isinstance(where, dict):
            keys = st.sampled_from(["id", "design", "blocks", "b1", "b2", "g1", "g2", "x"])
            what = st.one_of(value, st.lists(value, max_size=3))
            where[data.draw(keys)] = data.draw(what)
    quick = validator.quick(report)
    try:
        thorough = validator.thorough(report)
    except Refused:
        assert quick is None
    else:
        assert quick == thorough


@pytest.mark.parametrize("key", ["id", "design", "blocks"])
def test_a_missing_key_is_400(good: Any, key: str) -> None:
    del good[key]
    response = post(good)
    assert (response.status_code, response.json()) == (400, {"errors": {key: ["missing"]}})


@pytest.mark.parametrize(
    "body",
    [b" ", b"{", b"null", b"[]", b"5", b"\xff\xfe", b"NaN", b"[" * 16_000, b"9" * 16_000,
     '{"id": "ü'.encode("utf-16")],
)  # fmt: skip
def test_a_body_that_is_no_report_is_400(survey: Any, body: bytes) -> None:
    assert post(body).status_code == 400


def test_every_place_that_is_wrong_is_named_at_once(survey: Any) -> None:
    errors = post({"id": 1, "design": 2, "blocks": 3, "more": 5}).json()["errors"]
    assert set(errors) == {"id", "design", "blocks", "more"}
    errors = post({"id": 1, "design": 2, "blocks": {"b1": [5, 5], "b2": 0}}).json()["errors"]
    places = {"blocks", "blocks.b1.0", "blocks.b1.1", "blocks.b2", "blocks.g1"}
    assert set(errors) == {"id", "design"} | places


def test_an_unknown_or_unopened_survey_is_404(good: Any) -> None:
    builders.draft(slug="draft")
    assert post(good, slug="nowhere").status_code == 404
    assert post(good, slug="draft").status_code == 404


def test_a_survey_opened_later_is_found_then(good: Any) -> None:
    draft = builders.draft(slug="draft")
    post(good, slug="draft")
    draft.open()
    assert post(builders.report(draft.frozen_design()), slug="draft").status_code == 201


def test_a_closed_survey_is_410_but_a_repeated_report_is_200(good: Any, survey: Survey) -> None:
    post(good)
    survey.close()
    assert post(good | {"id": str(uuid4())}).status_code == 410
    assert post(good).status_code == 200
    assert Report.objects.count() == 1


def test_a_body_over_16_kib_is_413(good: Any) -> None:
    body = json.dumps(good).encode()
    assert post(body.ljust(16 * 1024)).status_code == 201
    assert post(body.ljust(16 * 1024 + 1)).status_code == 413


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_that_is_not_json_is_415(good: Any, kind: str) -> None:
    assert post(good, content_type=kind).status_code == 415


def test_json_with_a_charset_is_taken(good: Any) -> None:
    assert post(good, content_type="application/json; charset=utf-8").status_code == 201


def test_too_many_requests_from_one_address_are_429(good: Any, settings: Any) -> None:
    settings.INGEST_PER_MINUTE = 3
    statuses = [post(good, REMOTE_ADDR="192.0.2.1").status_code for _ in range(5)]
    assert statuses == [201, 200, 200, 429, 429]
    assert post(good, REMOTE_ADDR="192.0.2.1")["Retry-After"] == "60"
    assert post(good, REMOTE_ADDR="192.0.2.2").status_code == 200


@pytest.mark.parametrize("bad", [False, True])
def test_a_batch_counts_as_the_reports_that_it_lists(good: Any, settings: Any, bad: bool) -> None:
    """Valid or not, because each takes work."""
    settings.INGEST_PER_MINUTE = 3
    several = {"reports": [5 if bad else good | {"id": str(uuid4())} for _ in range(5)]}
    assert post(several, path="reports/batch/").status_code == 200
    assert post(several, path="reports/batch/").status_code == 429 == post(good).status_code


def test_batches_that_arrive_together_share_one_limit(settings: Any) -> None:
    """A batch is not checked once another has used up the limit."""
    settings.INGEST_PER_MINUTE = 10
    senders = [throttle.spend("192.0.2.1", "") for _ in range(3)]
    throttle.charge(senders[0], 1000)
    for sender in senders[1:]:
        with pytest.raises(Refused):
            throttle.charge(sender, 1000)
    throttle.spend("192.0.2.2", "")  # somebody else


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("::not", "an address:", False),
    ],
)
def test_ipv6_addresses_are_counted_by_network(
    good: Any, settings: Any, first: str, second: str, together: bool
) -> None:
    settings.INGEST_PER_MINUTE = 1
    statuses = [post(good, REMOTE_ADDR=one).status_code for one in (first, second)]
    assert statuses == [201, 429 if together else 200]


def test_only_our_own_proxies_are_trusted_for_the_address(good: Any, settings: Any) -> None:
    settings.INGEST_PER_MINUTE, settings.TRUSTED_PROXIES = 1, 1
    first = {"HTTP_X_FORWARDED_FOR": "198.51.100.1, 192.0.2.7"}
    forged = {"HTTP_X_FORWARDED_FOR": "198.51.100.2, 192.0.2.7"}
    assert [post(good, **first).status_code, post(good, **forged).status_code] == [201, 429]


def test_without_a_store_it_is_503_and_no_body_is_logged(
    good: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: Any) -> None:
        raise OperationalError(f"DETAIL: {good}")

    monkeypatch.setattr(type(Report.objects), "record", broken)
    with caplog.at_level(logging.DEBUG):
        response = post(good)
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert good["id"] not in caplog.text + response.content.decode()


def test_an_internal_error_is_500_and_no_body_is_logged(
    good: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError(str(good))

    monkeypatch.setattr(type(Report.objects), "record", broken)
    with caplog.at_level(logging.DEBUG):
        response = post(good)
    assert response.status_code == 500
    assert good["id"] not in caplog.text + response.content.decode()


@pytest.mark.parametrize("path", ["reports/", "reports/batch/"])
@pytest.mark.parametrize("method", ["get", "head", "put", "patch", "delete", "options"])
def test_only_post_is_allowed(survey: Any, path: str, method: str) -> None:
    response = getattr(Client(), method)(f"/api/v1/surveys/small/{path}")
    assert (response.status_code, response["Allow"]) == (405, "POST")


# --- A known id -----------------------------------------------------------------------------------

# Every content that the small survey allows: a yes/no question, a choice of four, three ages.
CONTENTS = list(product(range(2), range(4), range(3)))


def every_reply(report: dict[str, Any], slug: str = "small") -> set[Any]:
    """Return the reply to each content under one id, alone and in a batch."""
    replies = []
    for first, second, age in CONTENTS:
        one = report | {"blocks": {"b1": [first, second], "g1": [age]}}
        alone, many = post(one, slug), post({"reports": [one]}, slug, "reports/batch/")
        replies.append(tuple((r.status_code, r.content, str(r.headers)) for r in (alone, many)))
    return set(replies)


def test_a_known_id_gets_the_same_reply_whatever_comes_with_it(good: Any, survey: Survey) -> None:
    """Before and after its content has left the inbox, and when the survey is closed."""
    post(good)
    (waiting,) = every_reply(good)
    (status, body, _), (_, row, _) = waiting
    assert (status, json.loads(body)) == (200, {"id": good["id"]})
    assert json.loads(row) == {"reports": [{"id": good["id"], "status": 200}]}
    assert bytes(Report.objects.get().content) == bytes([1, 3, 1])
    builders.send(survey, 30)
    survey.close()
    assert every_reply(good) == {waiting}
    assert collect(survey) == 31
    assert every_reply(good) == {waiting}
    assert Report.objects.filter(content__isnull=False).count() == 0


def test_an_id_of_another_survey_gets_the_same_reply_too(good: Any) -> None:
    other = builders.opened(slug="other", title="Another")
    post(good)
    (here,) = every_reply(good)
    assert every_reply(good | {"design": other.frozen_design().hash}, "other") == {here}
    assert Report.objects.count() == 1


# --- Many at once ---------------------------------------------------------------------------------


def test_a_batch_gets_a_status_for_each_in_order(good: Any, survey: Survey) -> None:
    other = builders.report(survey.frozen_design())
    bad = good | {"id": str(uuid4()), "blocks": {"b1": [7, 0], "g1": [0]}}
    changed = good | {"blocks": {"b1": [0, 0], "g1": [0]}}
    listed = [good, bad, "nonsense", other, good, changed, {"id": "no id"}]
    response = post({"reports": listed}, path="reports/batch/")
    assert response.status_code == 200
    rows = response.json()["reports"]
    assert [row["status"] for row in rows] == [201, 400, 400, 201, 200, 200, 400]
    assert [row["id"] for row in rows] == [
        good["id"], bad["id"], None, other["id"], good["id"], good["id"], None
    ]  # fmt: skip
    assert "blocks.b1.0" in rows[1]["errors"]
    assert Report.objects.count() == 2


def test_a_batch_of_a_closed_survey_is_410_for_each(good: Any, survey: Survey) -> None:
    survey.close()
    rows = post({"reports": [good]}, path="reports/batch/").json()["reports"]
    assert [row["status"] for row in rows] == [410]


@pytest.mark.parametrize(
    "body", [{}, [], {"reports": {}}, {"reports": [], "more": 1}, {"reports": [{}] * 1001}]
)
def test_a_malformed_batch_is_400(survey: Any, body: Any) -> None:
    assert post(body, path="reports/batch/").status_code == 400


def test_a_batch_of_a_thousand_is_taken(survey: Survey) -> None:
    design = survey.frozen_design()
    listed = [builders.report(design) for _ in range(1000)]
    response = post({"reports": listed}, path="reports/batch/")
    assert {row["status"] for row in response.json()["reports"]} == {201}
    assert Report.objects.count() == 1000


def test_an_oversized_batch_is_413_and_an_unknown_survey_404(survey: Any) -> None:
    large = b'{"reports": []}'.ljust(door.MAX_BATCH_BODY + 1)
    assert post(large, path="reports/batch/").status_code == 413
    assert post({"reports": []}, slug="no", path="reports/batch/").status_code == 404


# --- Anything at all ------------------------------------------------------------------------------

small = st.integers(0, 4)
numbers = st.integers() | st.integers(-1, 5) | st.floats() | st.booleans() | st.none()
words = st.sampled_from(["b1", "b2", "g1", "id", "blocks", "design"]) | st.text()
anything = st.recursive(
    numbers | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
nearly = st.fixed_dictionaries(
    {
        "id": st.uuids(version=4).map(str) | anything,
        "design": st.just("HASH") | anything,
        "blocks": st.dictionaries(words, st.lists(numbers, max_size=3), max_size=3)
        | st.fixed_dictionaries({"b1": st.tuples(small, small), "g1": st.tuples(small)})
        | anything,
    },
    optional={"more": anything},
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    body=st.one_of(anything, nearly, st.lists(nearly, max_size=3).map(lambda r: {"reports": r})),
    raw=st.none() | st.binary(max_size=200),
    path=st.sampled_from(["reports/", "reports/batch/"]),
    kind=st.sampled_from(["application/json"] * 5 + ["text/plain"]),
)
@pytest.mark.slow
def test_any_body_gets_a_documented_status(
    survey: Survey, body: Any, raw: bytes | None, path: str, kind: str
) -> None:
    data = raw if raw is not None else json.dumps(body).replace("HASH", survey.design_hash)
    response = Client().post(f"/api/v1/surveys/small/{path}", data, content_type=kind)
    assert response.status_code in {200, 201, 400, 413, 415}
    document = response.json()
    assert ("errors" in document) == (response.status_code >= 400)
    if response.status_code == 201:
        stored = bytes(Report.objects.get(pk=document["id"]).content)
        assert stored[0] < 2 and stored[1] < 4 and stored[2] < 3
