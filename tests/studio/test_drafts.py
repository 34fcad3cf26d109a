"""The draft as one document: saving, undo, refused and unfinished drafts."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from studio import dial, drafts
from studio.topics import topics
from survey import files
from survey.design import KINDS, DesignError
from survey.models import Draft, DraftRevision, Question, Removed, Survey, today
from tests.support import builders

pytestmark = pytest.mark.django_db


class Window:
    """A stand-in for the page: it holds a document and the number it is based on."""

    def __init__(self, client: Client, slug: str = "small") -> None:
        self.client, self.address = client, f"/studio/{slug}/draft/"
        self.take(client.get(self.address).json())

    def take(self, answer: dict[str, Any]) -> None:
        self.answer, self.number = answer, answer["number"]
        self.document = answer.get("document", getattr(self, "document", None))

    def post(self, status: int = 200, **body: Any) -> dict[str, Any]:
        text = json.dumps({"number": self.number} | body)
        response = self.client.post(self.address, text, content_type="application/json")
        assert response.status_code == status, response.content
        answer: dict[str, Any] = response.json()
        if status == 200:
            self.take(answer)
        return answer

    def save(self, status: int = 200, step: str = "", **changes: Any) -> dict[str, Any]:
        document = self.document | changes
        answer = self.post(status, document=document, step=step)
        if status == 200:
            self.document = document
        return answer


@pytest.fixture
def survey() -> Survey:
    return builders.draft()


@pytest.fixture
def window(survey: Survey) -> Window:
    return Window(builders.client(builders.olga(survey)))


def asked(**changes: Any) -> dict[str, Any]:
    return {"key": "q1", "text": "Did you?", "kind": "yes_no", "prefer_not_to_say": False} | changes


def choice(*options: str, **changes: Any) -> dict[str, Any]:
    return asked(**{"kind": "choice", "options": list(options)} | changes)


# --- Saving ---------------------------------------------------------------------------------------


def test_a_saved_draft_can_be_read_back_and_opened(window: Window, survey: Survey) -> None:
    window.save(
        title="Another", epsilon=1.5, questions=[asked(), choice("A", "B", key="q9")], blocks=[],
        translations={"de": {"title": "Eine andere", "questions": {"q1": {"text": "Hast du?"}}}},
    )  # fmt: skip
    survey.refresh_from_db()
    assert survey.title == "Another" and survey.epsilon == 1.5
    assert [q.key for q in survey.questions.all()] == ["q1", "q9", "age"]
    assert window.answer["wrong"] == {}
    assert Window(window.client).document["translations"]["de"]["title"] == "Eine andere"
    survey.open()
    assert survey.frozen_design().translations["de"]["questions"]["q1"]["text"] == "Hast du?"


def test_an_unfinished_draft_is_saved_with_its_errors(window: Window) -> None:
    answer = window.save(
        title="", blocks=[], background=[{"key": "b1", "text": "", "options": ["A"]}],
        questions=[asked(text=" "), choice("A", "A", "", key="q2")],
    )  # fmt: skip
    assert set(answer["wrong"]) == {
        "title", "questions[0].text", "questions[1].options[1]", "questions[1].options[2]",
        "background[0].text", "background[0].options",
    }  # fmt: skip
    again = Window(window.client)
    assert again.document["questions"][1]["options"] == ["A", "A", ""]
    assert again.answer["wrong"] == answer["wrong"]
    assert window.save(questions=[])["wrong"]["questions"] == "Add a question."
    with pytest.raises(DesignError):
        Survey.objects.get().open()


def test_errors_of_the_design_are_shown(window: Window) -> None:
    assert set(window.save(ask=3)["wrong"]) == {"ask"}
    window.save(ask=None)
    assert set(window.save(blocks=[["q1"]])["wrong"]) == {"blocks"}
    assert window.save(blocks=[["q7"]])["wrong"] == {"blocks": "There is no question 'q7'."}
    half = {"de": {"questions": {"q2": {"text": "Welche?", "options": ["Rot", "", "Blau"]}}}}
    wrong = window.save(blocks=[], translations=half)["wrong"]
    assert wrong == {"translations.de.questions.q2.options[1]": "The text is empty."}
    assert Window(window.client).document["translations"] == half


EVERY_KIND: list[dict[str, Any]] = [
    asked(key="harm"),
    choice("Boss", "Patient", key="who", shuffled=True, prefer_not_to_say=True,
           only_if={"question": "harm", "options": ["yes"]}),
    choice("Once", "Often", key="often", kind="scale", scores=[0, 2.5],
           only_if={"question": "harm", "options": ["yes"]}),
    asked(key="days", kind="number", least=0, most=60, unit="days"),
    choice("A", "B", "C", key="pills", kind="several", picks=2),
]  # fmt: skip
HARM = ["harm", "who"], ["harm", "often"], ["days"], ["pills"]


def test_every_kind_of_question_is_kept_as_it_was_written(window: Window) -> None:
    german = {"days": {"text": "Tage?", "unit": "Tage"}}
    written = {
        "questions": EVERY_KIND, "blocks": [list(block) for block in HARM], "shuffled": True,
        "fillers": True, "population": 4000, "translations": {"de": {"questions": german}},
    }  # fmt: skip
    answer = window.save(**written)
    assert answer["wrong"] == {}
    document = Window(window.client).document
    assert {name: document[name] for name in written} == written
    assert answer["ways"]["harm"]["blocks"] == [1, 2]
    Survey.objects.get().open()
    design = Survey.objects.get().frozen_design()
    assert [q.kind for q in design.questions][:3] == ["yes_no", "choice", "scale"]
    assert design.shuffled and design.fillers


def test_the_page_gets_the_name_of_every_kind(window: Window) -> None:
    assert window.answer["kinds"] == {name: kind.label for name, kind in KINDS.items()}


def follow_up(question: str = "q1", *options: str, **changes: Any) -> dict[str, Any]:
    return asked(key="q2", only_if={"question": question, "options": list(options)}) | changes


NUMBER = {"kind": "number", "least": 0, "most": 10}
SCALE = {"kind": "scale", "options": ["A", "B", "C"]}
SEVERAL = {"kind": "several", "options": ["A", "B"], "picks": 1}
WRONG: dict[str, tuple[list[dict[str, Any]], dict[str, str]]] = {
    "no bounds": (
        [asked(kind="number")],
        {"questions[0].least": "Give a whole number.", "questions[0].most": "Give a whole number."},
    ),
    "one bound": ([asked(kind="number", least=3)], {"questions[0].most": "Give a whole number."}),
    "reversed bounds": (
        [asked(kind="number", least=9, most=3)],
        {"questions[0].most": "This must be above the least number, 9, not 3."},
    ),
    "a bound too large": (
        [asked(kind="number", least=0, most=2**40)],
        {"questions[0].most": "This must be within ±2,147,483,648, not 1,099,511,627,776."},
    ),
    "a unit too long": ([asked(**NUMBER, unit="x" * 31)], {"questions[0].unit": "At most 30"}),
    "a missing score": (
        [asked(**SCALE, scores=[1, None, 3])], {"questions[0].scores[1]": "Give a number."},
    ),
    "scores out of order": (
        [asked(**SCALE, scores=[1, 3, 2])], {"questions[0].scores": "Each must be above the one"},
    ),
    "too few scores": (
        [asked(**SCALE, scores=[1, 3])], {"questions[0].scores": "Give one score per option: 3"},
    ),
    "too many picks": (
        [asked(**SEVERAL | {"picks": 3})], {"questions[0].picks": "This must be from 1 to 2"},
    ),
    "no picks": (
        [asked(kind="several", options=["A", "B"])], {"questions[0].picks": "Give a whole number."},
    ),
    "a scale without options": (
        [asked(kind="scale", options=["A"])],
        {"questions[0].options": "Add options: at least two are needed."},
    ),
    "a follow-up on a later question": (
        [follow_up("q1", "yes"), asked()],
        {"questions[0].only_if": "Move this below “Did you?”, on which it depends"},
    ),
    "a follow-up on itself": (
        [follow_up("q2", "yes")], {"questions[0].only_if": "Move this below “Did you?”"},
    ),
    "a follow-up on a deleted question": (
        [follow_up("q7", "yes")], {"questions[0].only_if": "The question that this depends on was"},
    ),
    "a follow-up on a number": (
        [asked(**NUMBER), follow_up("q1", "0")],
        {"questions[1].only_if": "“Did you?” has no answers to choose from."},
    ),
    "a follow-up without answers": (
        [asked(), follow_up("q1")], {"questions[1].only_if": "Choose at least one answer of"},
    ),
    "a follow-up on a deleted option": (
        [asked(**SCALE), follow_up("q1", "a", "often-")],
        {"questions[1].only_if": "“Did you?” no longer has the answer “often”. Untick it here."},
    ),
    "multiple choice as a follow-up": (
        [asked(), follow_up("q1", "yes", **SEVERAL)],
        {"questions[1].only_if": "Multiple choice cannot be a follow-up. Ask everybody"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_question_is_said_at_its_place(window: Window, name: str) -> None:
    questions, wanted = WRONG[name]
    wrong = window.save(questions=questions, blocks=[], background=[])["wrong"]
    assert wrong.keys() == wanted.keys()
    for where, what in wanted.items():
        assert wrong[where].startswith(what), wrong
        assert wrong[where].endswith("."), wrong
    assert Window(window.client).document["questions"] == questions  # and nothing is lost


def test_too_many_combinations_are_said_at_the_question_or_the_block(window: Window) -> None:
    gate = asked(key="gate")
    many = [
        choice(*map(str, range(20)), key=f"q{i}",
               only_if={"question": "gate", "options": ["yes"]})
        for i in range(5)
    ]  # fmt: skip
    window.save(questions=[gate, *many], blocks=[], ask=2)
    wrong = window.answer["wrong"]
    assert wrong.keys() == {"questions[0]"}
    assert wrong["questions[0]"].startswith("With its follow-ups it has more than 1,048,576")
    keys = [one["key"] for one in [gate, *many]]
    window.save(questions=[gate, *many], blocks=[keys], ask=None)
    assert window.answer["wrong"].keys() == {"blocks"}


IMPOSSIBLE: dict[str, tuple[dict[str, Any], str]] = {
    "epsilon text": ({"epsilon": "2"}, "epsilon"),
    "epsilon nothing": ({"epsilon": None}, "epsilon"),
    "epsilon 0": ({"epsilon": 0}, "epsilon"),
    "crowd": ({"crowd": 1}, "crowd"),
    "ask": ({"ask": 0}, "ask"),
    "ask true": ({"ask": True}, "ask"),
    "title no text": ({"title": 5}, "title"),
    "title too long": ({"title": "x" * 201}, "title"),
    "language": ({"language": "english"}, "language"),
    "translations": ({"translations": []}, "translations"),
    "own language": ({"translations": {"en": {}}}, "translations.en"),
    "no tag": ({"translations": {"deutsch!": {}}}, "translations"),
    "unknown": ({"colour": "red"}, ""),
    "no list": ({"questions": {}}, "questions"),
    "no object": ({"questions": [5]}, "questions[0]"),
    "kind": ({"questions": [asked(kind="essay")]}, "questions[0].kind"),
    "a bound that is a text": (
        {"questions": [asked(kind="number", least="0")]},
        "questions[0].least",
    ),
    "scores that are no list": (
        {"questions": [choice("A", "B", kind="scale", scores=5)]},
        "questions[0].scores",
    ),
    "a member of another kind": ({"questions": [asked(picks=2)]}, "questions[0]"),
    "a condition that is a text": ({"questions": [asked(only_if="q1")]}, "questions[0].only_if"),
    "random order that is a number": ({"questions": [asked(shuffled=1)]}, "questions[0].shuffled"),
    "no key": ({"questions": [asked(key="")]}, "questions[0].key"),
    "odd key": ({"questions": [asked(key="a b")]}, "questions[0].key"),
    "key twice": ({"questions": [asked(), asked()]}, "questions[1].key"),
    "text no text": ({"questions": [asked(text=None)]}, "questions[0].text"),
    "options no texts": ({"questions": [choice("A", 5)]}, "questions[0].options"),  # type: ignore[arg-type]
    "21 options": ({"questions": [choice(*map(str, range(21)))]}, "questions[0].options"),
    "101 questions": ({"questions": [asked(key=f"q{i}") for i in range(101)]}, "questions[100]"),
    "101 questions with those of the background": (
        {"background": [{"key": f"b{i}", "text": "?", "options": []} for i in range(99)]},
        "background[98]",
    ),
    "a background key twice": (
        {"background": [{"key": "q1", "text": "?", "options": []}]},
        "background[0].key",
    ),
    "a background epsilon that is a text": (
        {"background": [{"key": "b1", "text": "?", "options": [], "epsilon": "3"}]},
        "background[0].epsilon",
    ),
    "a background question of another kind": (
        {"background": [{"key": "b1", "text": "?", "options": [], "kind": "yes_no"}]},
        "background[0]",
    ),
    "a block that is a number": ({"blocks": [5]}, "blocks[0]"),
    "a block without questions": ({"blocks": [[]]}, "blocks[0]"),
    "declined": ({"questions": [asked(prefer_not_to_say=1)]}, "questions[0].prefer_not_to_say"),
}


@pytest.mark.once  # refused before any database is asked
@pytest.mark.parametrize("name", IMPOSSIBLE)
@pytest.mark.slow
def test_an_impossible_draft_is_refused_and_changes_nothing(window: Window, name: str) -> None:
    before = files.dump(Survey.objects.get())
    changes, where = IMPOSSIBLE[name]
    document = window.document | {"blocks": []} | changes
    refused = window.post(400, document=document)["refused"]
    assert refused["where"] == where and refused["what"]
    assert files.dump(Survey.objects.get()) == before
    window.save(title="Still alive")


def test_malformed_requests_are_refused(window: Window) -> None:
    client, address = window.client, window.address
    for body in (b"", b"{", b"[]", b"5", b"\xff\xfe", b"[" * 100_000, b'{"number": NaN}'):
        response = client.post(address, body, content_type="application/json")
        assert response.status_code == 400 and response.json()["refused"]["what"], body
    window.post(400, document=[])
    window.post(400, go=2)
    window.post(400, go="x")
    window.post(400, number="1", document={})
    window.post(400)
    window.post(400, document={"title": "x" * 1_100_000})


def test_two_windows_do_not_overwrite_each_other(window: Window) -> None:
    other = Window(window.client)
    window.save(title="First")
    newer = other.save(409, title="Second")
    assert newer["document"]["title"] == "First" and Survey.objects.get().title == "First"
    other.number = newer["number"]
    other.save(title="Second")
    assert Survey.objects.get().title == "Second"


def test_changes_made_elsewhere_are_not_overwritten(window: Window) -> None:
    """A page that did not see a command's change does not overwrite it."""
    Question.objects.filter(key="q1").update(text="From elsewhere")
    newer = window.save(409, title="Mine")
    assert newer["document"]["questions"][0]["text"] == "From elsewhere"
    window.take(newer)
    window.post(go=-1)
    assert window.document["questions"][0]["text"] == "Did you?"


@override_settings(CHECKLIST=True, MAX_EPSILON=4.0, MAX_BACKGROUND_EPSILON=5.0)
def test_the_editor_shows_what_the_checklist_would_refuse(window: Window) -> None:
    def places(answer: dict[str, Any]) -> list[str]:
        return [one["place"] for one in answer["blocks"]]

    window = Window(window.client)
    assert set(places(window.answer)) == {"expected", "asked_by", "contact"}
    assert "how many people" in window.answer["blocks"][0]["what"]
    assert places(window.save(**builders.READY)) == []
    assert places(window.save(expected=100)) == ["expected"]
    # Errors of the document are listed only once.
    same = {"key": "age", "text": "How old?", "options": ["A", "A", "B"]}
    twice = window.save(expected=5000, background=[same])
    assert set(twice["wrong"]) == {"background[0].options[1]"} and places(twice) == []
    weak = window.save(background=[same | {"options": ["A", "B"], "epsilon": 5.5}])
    assert weak["wrong"] == {"background[0].epsilon": "At most 5 on this site, not 5.5."}
    assert places(weak) == []
    assert set(window.save(background=[], epsilon=4.5)["wrong"]) == {"epsilon"}
    assert places(window.answer) == []
    assert window.save(blocks=[["q7"]])["wrong"] == {"blocks": "There is no question 'q7'."}
    half = {"de": {"questions": {"q2": {"options": ["Rot", "", "Blau"]}}}}
    assert set(window.save(epsilon=2, translations=half)["wrong"]) == {
        "translations.de.questions.q2.options[1]"
    }
    assert places(window.answer) == []
    assert places(window.save(translations={"de": {}})) == ["language-de"]
    with override_settings(CHECKLIST=False):
        assert places(window.save(title="This site does not insist")) == []


def test_the_editor_says_whether_a_planned_opening_still_holds(window: Window) -> None:
    assert window.answer["opens"] is None
    survey = Survey.objects.get()
    at = datetime(2031, 11, 17, 14, 46, tzinfo=UTC)
    Survey.objects.update(opens_at=at, approved_hash=survey.content_hash())
    assert Window(window.client).answer["opens"] == {"at": "17 Nov 2031, 14:46 UTC", "holds": True}
    assert window.save(title="Another")["opens"]["holds"] is False
    assert window.post(go=-1)["opens"]["holds"] is True
    assert window.save(questions=[], blocks=[])["opens"]["holds"] is False


# --- Undo -----------------------------------------------------------------------------------------


def titles(window: Window, *ways: int) -> list[str]:
    found = []
    for way in ways:
        window.post(go=way)
        found.append(window.document["title"])
    return found


def test_undo_and_redo_work_after_a_reload(window: Window) -> None:
    assert not window.answer["undo"] and not window.answer["redo"]
    for title in ("One", "Two", "Three"):
        window.save(title=title)
    again = Window(window.client)
    assert again.answer["undo"] and not again.answer["redo"]
    assert titles(again, -1, -1, -1, -1) == ["Two", "One", "A small survey", "A small survey"]
    assert not again.answer["undo"] and again.answer["redo"]
    assert titles(again, 1, 1, -1) == ["One", "Two", "One"]
    assert Survey.objects.get().title == "One"
    again.save(title="Other")  # what was undone is gone
    assert not again.answer["redo"]
    assert titles(again, 1, -1) == ["Other", "One"]


def test_undo_brings_back_what_was_deleted(window: Window, survey: Survey) -> None:
    before = files.dump(survey)
    window.save(questions=[], background=[], blocks=[])
    window.post(go=-1)
    assert files.dump(Survey.objects.get()) == before


def test_edits_in_one_field_are_one_step(window: Window) -> None:
    for title in ("A", "Ab", "Abc"):
        window.save(title=title, step="title")
    window.save(introduction="x", step="introduction")
    assert titles(window, -1, -1) == ["Abc", "A small survey"]


def test_saving_the_same_content_is_no_change(window: Window) -> None:
    number = window.save(title="A")["number"]
    assert window.save(title="A")["number"] == number
    assert DraftRevision.objects.count() == 2


@pytest.mark.slow
def test_undo_keeps_a_hundred_steps(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tested with a limit of twelve steps."""
    assert drafts.HISTORY_LENGTH == 100
    monkeypatch.setattr(drafts, "HISTORY_LENGTH", 12)
    for i in range(drafts.HISTORY_LENGTH + 20):
        window.save(title=f"Title {i}")
    assert DraftRevision.objects.count() == drafts.HISTORY_LENGTH
    for _ in range(drafts.HISTORY_LENGTH + 5):
        window.post(go=-1)
    assert window.document["title"] == "Title 20" and not window.answer["undo"]


def test_the_history_is_deleted_when_the_survey_opens(window: Window, survey: Survey) -> None:
    window.save(title="Nobody needs to know what I wrote first")
    assert Draft.objects.exists()
    Survey.objects.get().open()
    assert not Draft.objects.exists() and not DraftRevision.objects.exists()
    assert window.save(409, title="Too late") == {"opened": True}
    assert window.client.get(window.address).status_code == 409
    assert not Draft.objects.exists()


def test_a_draft_history_outlives_the_account_that_saved_it(window: Window) -> None:
    window.save(title="A")
    user = DraftRevision.objects.get(place=1).saved_by
    assert user and user.username == "olga"
    user.delete()
    assert DraftRevision.objects.get(place=1).saved_by is None


# --- New surveys ----------------------------------------------------------------------------------


@pytest.fixture
def admin() -> Client:
    return builders.client(builders.root())


def made(response: Any) -> Survey:
    assert response.status_code == 302, response.content.decode()
    return Survey.objects.get(slug=response["Location"].split("/")[2])


def test_a_blank_survey_belongs_to_its_maker(admin: Client) -> None:
    survey = made(admin.post("/studio/new/", {"blank": "1"}))
    assert survey.title == "" and survey.epsilon == 2 and survey.state == "draft"
    assert [str(user) for user in survey.researchers.all()] == ["root"]
    assert admin.get(f"/studio/{survey.slug}/").status_code == 200
    assert survey.slug in admin.get("/surveys/").content.decode()


def test_a_new_survey_takes_the_planners_numbers(admin: Client) -> None:
    page = admin.get("/studio/new/?epsilon=1.25&people=800").content.decode()
    assert "ε = 1.25 and 800 people" in page
    response = admin.post("/studio/new/", {"blank": "1", "epsilon": "1.25", "people": "800"})
    assert (made(response).epsilon, made(response).expected) == (1.25, 800)
    assert admin.get("/studio/new/?epsilon=x&people=-5").status_code == 200


def test_who_asks_and_who_may_answer_are_part_of_the_document(window: Window) -> None:
    told = {"asked_by": "The council", "purpose": "To act.", "contact": "nina@example.org"}
    numbers = {"expected": 800, "retention_days": 90}
    window.save(title="First", **told, **numbers, access="invited")
    survey = Survey.objects.get()
    assert survey.disclosures() == {**told, "retention_days": 90}
    assert (survey.expected, survey.access, survey.work) == (800, "invited", 0)
    window.post(200, go=-1)
    survey.refresh_from_db()
    assert survey.disclosures() == {} and (survey.expected, survey.access) == (None, "open")
    window.post(200, go=1)
    survey.refresh_from_db()
    assert survey.disclosures() == {**told, "retention_days": 90} and survey.access == "invited"
    for wrong in (
        {"access": "all"},
        {"work": 23},
        {"expected": "many"},
        {"contact": 3},
        {"work": 9},
    ):
        where = window.save(400, **wrong)["refused"]["where"]
        assert where == next(iter(wrong))


@pytest.mark.parametrize("key", sorted(topics()))
def test_every_topic_can_open_as_it_is(admin: Client, key: str) -> None:
    survey = made(admin.post("/studio/new/", {"topic": key}))
    assert survey.slug == key and drafts.problems(survey) == {}
    assert survey.epsilon <= 2 and 1 <= len(survey.background_questions()) <= 2
    assert all(2 <= len(one.options) <= 3 for one in survey.background_questions())
    second = made(admin.post("/studio/new/", {"topic": key, "epsilon": "0.5"}))
    assert second.slug.startswith(key) and second.slug != key and second.epsilon == 0.5
    survey.open()
    german = survey.frozen_design().translations["de"]
    assert len(german["questions"]) == survey.questions.count()


def upload(client: Client, content: bytes) -> Any:
    return client.post("/studio/new/", {"file": SimpleUploadedFile("survey.json", content)})


def test_an_exported_draft_can_be_imported_unchanged(admin: Client, survey: Survey) -> None:
    exported = admin.get("/studio/small/survey.json")
    assert exported["Content-Disposition"] == 'attachment; filename="small.json"'
    again = made(upload(admin, exported.content))
    assert again.slug.startswith("small-")
    assert drafts.content(again) == drafts.content(survey)
    unfinished = made(admin.post("/studio/new/", {"blank": "1"}))
    exported = admin.get(f"/studio/{unfinished.slug}/survey.json")
    assert drafts.content(made(upload(admin, exported.content))) == drafts.content(unfinished)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "this is not JSON"),
        (b"PK\x03\x04", "this is not JSON"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b"[]", "an object"),
        (b"{}", "is missing"),
        (b'{"title": "A", "epsilon": 2, "questions": [{}]}', "Question 1: key is missing"),
        (b'{"title": "\\u0000", "epsilon": 2, "questions": []}', "title: contains the character"),
        (
            b'{"title": "A", "epsilon": 2, "questions": [{"key": "a", "text": "", "kind": "zzz"}]}',
            "Question 1: kind must be one of yes_no, choice, scale, number, several, not zzz",
        ),
        (
            b'{"title": "A", "epsilon": 2, "questions": [], "background": [{"key": "a",'
            b' "text": "?", "options": ["A", "\\u0000"]}]}',
            "Background question 1, option 2: contains the character",
        ),
        (b'{"title": "A", "epsilon": "2", "questions": []}', "created. epsilon: must be a number"),
        (b"[" * 500_000, "this is not JSON"),
        (b" " * 1_100_000, "larger than a megabyte"),
    ],
)
def test_a_file_that_is_no_survey_is_refused(admin: Client, content: bytes, words: str) -> None:
    response = upload(admin, content)
    assert response.status_code == 400 and words in response.content.decode()
    assert not Survey.objects.exists()


def test_a_copy_of_an_opened_survey_is_a_draft(admin: Client) -> None:
    survey = builders.opened(title="T" * 200)
    page = admin.get("/studio/small/").content.decode()
    assert "frozen" in page and "Did you?" in page and survey.design_hash in page
    copy = made(admin.post("/studio/small/copy/"))
    assert copy.slug == "small-copy" and copy.state == "draft" and copy.title.endswith("(copy)")
    assert copy.draft_design() == survey.frozen_design()
    other = made(admin.post("/studio/new/", {"copy": "small"}))
    assert other.slug.startswith("small-copy-")
    assert admin.post("/studio/new/", {"copy": "none"}).status_code == 400


def test_a_copy_of_a_copy_is_numbered(admin: Client) -> None:
    builders.draft(title="A survey")
    found = []
    slug = "small"
    for _ in range(3):
        copy = made(admin.post(f"/studio/{slug}/copy/"))
        slug = copy.slug
        found.append(copy.title)
        assert re.fullmatch(r"small-copy(-[0-9a-f]{6})?", slug)
    assert found == ["A survey (copy)", "A survey (copy 2)", "A survey (copy 3)"]


def test_an_owner_copies_only_if_they_may_make_surveys() -> None:
    survey = builders.opened()
    olga = builders.client(builders.olga(survey))
    assert olga.post("/studio/small/copy/").status_code == 403
    assert "Copy as" not in olga.get("/studio/small/").content.decode()


# --- Addresses ------------------------------------------------------------------------------------


def test_a_draft_gets_another_address(window: Window) -> None:
    response = window.client.post("/studio/small/", {"slug": "better"})
    assert response["Location"] == "/studio/better/"
    assert Survey.objects.get().slug == "better"
    Window(window.client, "better").save(title="Goes on")


def test_an_address_that_nobody_chose_follows_the_title(admin: Client) -> None:
    survey = made(admin.post("/studio/new/", {"blank": "1"}))
    window = Window(admin, survey.slug)
    window.address += f"?id={survey.pk}"  # as the page has it: the slug may change
    follow = {"follow": survey.slug}

    def titled(title: str, **more: Any) -> str:
        document = window.document | {"title": title}
        return str(window.post(document=document, **more)["slug"])

    assert window.answer["follows"]
    assert titled("Half a wo") == survey.slug
    assert titled("", **follow) == titled("الصحة", **follow) == survey.slug
    assert titled("How we sleep", **follow) == "how-we-sleep"
    assert titled("How we sleep", follow="how-we-sleep") == "how-we-sleep"
    builders.draft(slug="how-we-dream")
    assert re.fullmatch("how-we-dream-[0-9a-f]{6}", titled("How we dream", follow="how-we-sleep"))
    # Another window has chosen an address: it stays.
    admin.post(f"/studio/{window.answer['slug']}/", {"slug": "chosen"})
    assert titled("How we wake", follow="how-we-dream") == "chosen"
    assert not Window(admin, "chosen").answer["follows"]
    # Nor does it change once an opening is scheduled.
    survey = made(admin.post("/studio/new/", {"blank": "1"}))
    Survey.objects.filter(pk=survey.pk).update(opens_at=datetime(2031, 1, 1, tzinfo=UTC))
    window = Window(admin, survey.slug)
    assert titled("Later", follow=survey.slug) == survey.slug
    for odd in ("x", "-1", "9" * 30, "0", ""):
        assert admin.get(f"/studio/{survey.slug}/draft/?id={odd}").status_code == 200


def test_the_id_of_another_survey_is_refused(window: Window) -> None:
    other = builders.draft(slug="other")
    assert window.client.get(f"/studio/small/draft/?id={other.pk}").status_code == 403


@pytest.mark.parametrize("slug", ["", "a b", "x" * 51, "new", "other", "gone", "ä", "../x", "\0"])
@pytest.mark.slow
def test_a_bad_or_taken_address_is_refused(window: Window, slug: str) -> None:
    builders.draft(slug="other")
    other = builders.finished(0, slug="gone")
    Removed.objects.create(
        id=other.pk, slug="gone", title="?", design_hash=other.design_hash, reports=0, archive="",
        removed_on=today(),
    )  # fmt: skip
    response = window.client.post("/studio/small/", {"slug": slug})
    assert response.status_code == 400 and "slug-error" in response.content.decode()
    assert Survey.objects.filter(slug="small").exists()
    assert not drafts.free_slug(slug).strip("-_0123456789abcdefghijklmnopqrstuvwxyz")
    assert not drafts.taken(drafts.free_slug(slug))


def test_the_address_of_an_opened_survey_stays() -> None:
    olga = builders.client(builders.olga(builders.opened()))
    assert olga.post("/studio/small/", {"slug": "other"}).status_code == 200
    assert Survey.objects.get().slug == "small"


# --- The limit of the site ------------------------------------------------------------------------


@override_settings(MAX_EPSILON=4)
def test_no_survey_opens_above_the_limit_of_the_site(window: Window, survey: Survey) -> None:
    assert window.save(epsilon=4)["wrong"] == {}
    answer = window.save(epsilon=4.5)
    assert answer["wrong"] == {"epsilon": "At most 4 on this site, not 4.5."}
    survey.refresh_from_db()
    with pytest.raises(DesignError, match="at most 4 on this site"):
        survey.open()
    assert Survey.objects.get().state == "draft"
    assert [preset["epsilon"] for preset in dial.presets(2)] == [0.5, 1, 2]
