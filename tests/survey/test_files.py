"""Survey files and their commands."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from survey import files
from survey.models import ApiToken, Report, Survey
from tests.support import builders

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=StringIO())
    return out.getvalue().splitlines()


def write(folder: Path, data: Any) -> str:
    file = folder / "survey.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return str(file)


def test_import_prints_the_slug_on_its_last_line(tmp_path: Path) -> None:
    assert run("import_survey", write(tmp_path, builders.FILE), "--open")[-1] == "small"
    assert Survey.objects.get().state == "open"


def test_an_imported_survey_stays_a_draft_without_the_open_option(tmp_path: Path) -> None:
    run("import_survey", write(tmp_path, builders.FILE))
    assert Survey.objects.get().state == "draft"


def test_export_writes_back_what_import_read(tmp_path: Path) -> None:
    run("import_survey", write(tmp_path, builders.FILE))
    exported = json.loads("\n".join(run("export_survey", "small")))
    wanted = builders.FILE | {
        "language": "en",
        "translations": {},
        "questions": [
            builders.FILE["questions"][0] | {"prefer_not_to_say": False},
            builders.FILE["questions"][1],
        ],
    }
    assert exported == wanted
    again = files.load(json.dumps(exported | {"slug": "again"}))
    assert again.draft_design() == Survey.objects.get(slug="small").draft_design()


def test_option_keys_are_made_from_their_texts() -> None:
    design = builders.draft().draft_design()
    assert [o.key for o in design.questions[0].options] == ["no", "yes"]
    assert [o.key for o in design.questions[1].options] == [
        "red", "green", "blue", "prefer-not-to-say"
    ]  # fmt: skip


def test_without_blocks_the_least_variance_is_chosen() -> None:
    questions = [{"key": f"q{i}", "text": "?", "kind": "yes_no"} for i in range(10)]
    data = {"slug": "ten", "title": "Ten", "epsilon": 2, "questions": questions}
    design = files.load(json.dumps(data)).draft_design()
    assert [len(block.questions) for block in design.blocks] == [2] * 5
    assert design.ask == 1
    assert {block.keep for block in design.blocks} == {2641316663}


def test_a_file_may_set_ask() -> None:
    survey = builders.draft(blocks=[["q1"], ["q2"]], ask=2)
    design = survey.draft_design()
    assert design.ask == 2 and [block.epsilon for block in design.sensitive_blocks] == [1, 1]
    assert files.dump(survey)["ask"] == 2


Q = builders.FILE["questions"]
WRONG: dict[str, tuple[Any, str]] = {
    "no object": ([], "an object"),
    "no title": ({"title": None}, "title"),
    "unknown key": ({"epsilonn": 1}, "'epsilonn'"),
    "epsilon text": ({"epsilon": "2"}, "epsilon"),
    "epsilon true": ({"epsilon": True}, "epsilon"),
    "epsilon 0": ({"epsilon": 0}, "epsilon"),
    "epsilon negative": ({"epsilon": -1}, "epsilon"),
    "epsilon over 8 in one block": ({"epsilon": 8.5}, "epsilon"),
    "crowd text": ({"crowd": "20"}, "crowd"),
    "crowd 1": ({"crowd": 1}, "crowd"),
    "slug with spaces": ({"slug": "a b"}, "slug"),
    "questions no list": ({"questions": {}}, "questions"),
    "no questions": ({"questions": [], "blocks": []}, "questions"),
    "question no object": ({"questions": ["q1"]}, "questions[0]"),
    "question without kind": ({"questions": [{"key": "q1", "text": "?"}]}, "questions[0]"),
    "unknown kind": ({"questions": [{"key": "q1", "text": "?", "kind": "x"}]}, "questions[0].kind"),
    "bad key": ({"questions": [Q[0] | {"key": "a b"}]}, "questions[0].key"),
    "same key twice": ({"questions": [Q[0], Q[0]]}, "questions[1]"),
    "one option": ({"questions": [Q[1] | {"options": ["A"]}]}, "questions[0].options"),
    "21 options": (
        {"questions": [Q[1] | {"options": [str(i) for i in range(21)]}]},
        "questions[0].options",
    ),
    "empty option": ({"questions": [Q[1] | {"options": ["A", " "]}]}, "questions[0].options"),
    "options of yes/no": ({"questions": [Q[0] | {"options": ["A", "B"]}]}, "questions[0].options"),
    "text no text": ({"questions": [Q[0] | {"text": 5}]}, "questions[0].text"),
    "options null": ({"questions": [Q[1] | {"options": None}]}, "questions[0].options"),
    "key a list": ({"questions": [Q[0] | {"key": ["q1"]}, Q[1]]}, "questions[0].key"),
    "groups missing": ({"background": [{"key": "a", "text": "?"}]}, "background[0]"),
    "unknown list": ({"groups": [{"key": "a", "text": "?"}]}, "'groups' is not a known key"),
    "block of an unknown question": ({"blocks": [["q1", "q2", "q9"]]}, "'q9'"),
    "question in two blocks": ({"blocks": [["q1"], ["q1", "q2"]]}, "'q1'"),
    "question in no block": ({"blocks": [["q1"]]}, "blocks"),
    "blocks no lists": ({"blocks": ["q1"]}, "blocks[0]"),
    "ask more than there are": ({"ask": 2}, "ask"),
    "ask 0": ({"ask": 0}, "ask"),
    "crowd without end": ({"crowd": 10**12}, "crowd"),
    "epsilon NaN": ({"epsilon": float("nan")}, "NaN"),
    "epsilon of 400 digits": ({"epsilon": 10**400}, "epsilon"),
    "language no text": ({"language": 5}, "language"),
    "language no tag": ({"language": "English"}, "the survey.language"),
    "a text that turns its direction": ({"title": "a\u202eb"}, "the survey.title"),
    "half a character": ({"title": "\ud800"}, "the survey.title"),
    "a NUL": ({"questions": [Q[0] | {"text": "a\0b"}]}, "questions[0].text"),
    "declined twice": (
        {"questions": [Q[1] | {"options": ["A", "Prefer not to say"]}]},
        "questions[0].options",
    ),
    "declined under another spelling": (
        {"questions": [Q[1] | {"options": ["A", "Prefer not to say!"]}]},
        "questions[0].options",
    ),
    "declined twice in German": (
        {"language": "de", "questions": [Q[1] | {"options": ["A", "Keine Angabe"]}]},
        "questions[0].options",
    ),
    "empty block": ({"blocks": [["q1", "q2"], []]}, "blocks[1]"),
    "too many cells": (
        {
            "questions": [{"key": f"q{i}", "text": "?", "kind": "yes_no"} for i in range(21)],
            "blocks": [[f"q{i}" for i in range(21)]],
        },
        "at most 1,048,576",
    ),
}


@pytest.mark.parametrize(("change", "where"), WRONG.values(), ids=WRONG.keys())
def test_a_bad_file_is_refused_with_the_place(tmp_path: Path, change: Any, where: str) -> None:
    data = builders.FILE | change if isinstance(change, dict) else change
    with pytest.raises(CommandError) as refused:
        run("import_survey", write(tmp_path, data))
    assert where in str(refused.value)
    assert not Survey.objects.exists()


def test_a_key_that_is_missing_is_named(tmp_path: Path) -> None:
    data = {key: value for key, value in builders.FILE.items() if key != "title"}
    with pytest.raises(CommandError, match="title is missing"):
        run("import_survey", write(tmp_path, data))


def test_a_slug_that_is_taken_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, builders.FILE)
    run("import_survey", file)
    with pytest.raises(CommandError, match="slug"):
        run("import_survey", file)


def test_a_missing_file_or_bad_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Cannot read"):
        run("import_survey", str(tmp_path / "nowhere.json"))
    for text in ("{", "[" * 100_000):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(CommandError, match="not JSON"):
            run("import_survey", str(tmp_path / "x.json"))


def test_a_token_opens_the_api_for_its_surveys_only() -> None:
    builders.opened()
    builders.opened(slug="other")
    token = run("api_token", "dora", "--create", "--survey", "small")[-1]
    header = {"HTTP_AUTHORIZATION": f"Token {token}"}
    assert [s["slug"] for s in Client().get("/api/v1/surveys/", **header).json()] == ["small"]
    assert Client().get("/api/v1/surveys/small/releases/", **header).status_code == 200
    assert Client().get("/api/v1/surveys/other/releases/", **header).status_code == 403
    assert not ApiToken.objects.filter(digest__contains=token).exists()


def test_a_wrong_token_is_401() -> None:
    response = Client().get("/api/v1/surveys/", HTTP_AUTHORIZATION="Token nonsense")
    assert response.status_code == 401


def test_a_token_for_an_unknown_account_or_survey_is_refused() -> None:
    with pytest.raises(CommandError, match="--create"):
        run("api_token", "nobody")
    with pytest.raises(CommandError, match="no survey"):
        run("api_token", "dora", "--create", "--survey", "nowhere")


def test_simulated_people_go_through_ingest() -> None:
    survey = builders.opened()
    out = run(
        "simulate", "small", "--people", "700", "--seed", "1", "--truth", "q1=0.1,q2=0.5/0.3/0.2/0"
    )
    assert out[-1] == "700 reports stored for small."
    assert Report.objects.filter(survey=survey, content__isnull=False).count() == 700


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nowhere", "--people", "5"], "no survey"),
        (["small", "--people", "0"], "1 or more"),
        (["small", "--people", "5", "--truth", "q9=0.1"], "no question"),
        (["small", "--people", "5", "--truth", "q1=x"], "key=share"),
        (["small", "--people", "5", "--truth", "q1=1.5"], "in \\[0, 1\\]"),
        (["small", "--people", "5", "--truth", "q2=0.5"], "needs 4 shares"),
    ],
)
def test_a_bad_simulation_is_refused(arguments: list[str], why: str) -> None:
    builders.opened()
    with pytest.raises(CommandError, match=why):
        run("simulate", *arguments)
    assert not Report.objects.exists()


def test_outside_a_demo_simulation_needs_an_explicit_option(settings: Any) -> None:
    settings.DEMO = False
    builders.opened()
    with pytest.raises(CommandError, match="--into-a-real-survey"):
        run("simulate", "small", "--people", "5")
    with pytest.raises(CommandError, match="not a demo"):
        run("load_demo")
    assert not Report.objects.exists()
    run("simulate", "small", "--people", "5", "--into-a-real-survey")
    assert Report.objects.count() == 5


def test_a_token_is_revoked_in_the_admin_pages() -> None:
    builders.opened()
    token = run("api_token", "dora", "--create", "--survey", "small")[-1]
    header = {"HTTP_AUTHORIZATION": f"Token {token}"}
    assert Client().get("/api/v1/surveys/", **header).status_code == 200
    admin = builders.client(builders.root())
    url = f"/admin/survey/apitoken/{ApiToken.objects.get().pk}/"
    assert token not in admin.get(f"{url}change/").content.decode()
    admin.post(f"{url}delete/", {"post": "yes"})
    assert Client().get("/api/v1/surveys/", **header).status_code == 401


def test_a_draft_takes_no_simulated_people() -> None:
    builders.draft()
    with pytest.raises(CommandError, match="is draft"):
        run("simulate", "small", "--people", "5")


def test_deeply_nested_json_is_refused() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = {"a": deep}
    text = json.dumps(builders.FILE | {"translations": {"de": deep}})
    with pytest.raises(files.FileError, match="too deeply"):
        files.parse(text)
