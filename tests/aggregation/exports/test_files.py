"""The files of a release: what they contain, what they never contain, and who may have them."""

import csv
import io
import json
import math
import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import numpy as np
import pytest
from django.test import Client

from aggregation.counting import planes
from aggregation.exports import codebook, estimate_files, files, reports
from aggregation.models import Batch, Estimate, Release
from aggregation.releases.publish import make_release
from survey import spreadsheets
from survey.models import Survey
from tests.support import builders
from tests.support.exports import EVERY_KIND, HOSTILE, OF_REPORTS, get, hostile, table
from tests.support.services import ROOT

pytestmark = pytest.mark.django_db

PUBLIC = sorted(name for name, file in files.FILES.items() if file.public)
PRIVATE = sorted(files.FILES.keys() - set(PUBLIC))
TWO_BLOCKS: dict[str, Any] = {"blocks": [["q1"], ["q2"]], "ask": 1}


def texts_of(data: bytes, sheet: int) -> list[list[Any]]:
    """Return the texts and numbers in the cells of a sheet; fail on a formula."""
    space = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    with ZipFile(io.BytesIO(data)) as book:
        found = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{sheet}.xml"))
        assert not [name for name in book.namelist() if "externalLink" in name or "vba" in name]
    assert found.findall(".//m:f", space) == [] and found.findall(".//m:hyperlink", space) == []
    rows = []
    for row in found.iterfind(".//m:row", space):
        cells = [(one.get("t"), "".join(one.itertext())) for one in row.iterfind("m:c", space)]
        rows.append([text if kind == "inlineStr" else float(text) for kind, text in cells])
    return rows


@pytest.fixture
def survey() -> Survey:
    return builders.finished(**TWO_BLOCKS)


@pytest.fixture
def alice(survey: Survey) -> Client:
    return builders.client(builders.alice(survey))


# --- Who may have what ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", *files.FILES])
def test_a_release_is_for_the_researchers_of_its_survey(survey: Survey, name: str) -> None:
    alice, charlie = builders.client(builders.alice(survey)), builders.client(builders.charlie())
    page, api = f"/surveys/small/releases/2/{name}", f"/api/v1/surveys/small/releases/2/{name}"
    assert alice.get(page).status_code == 200
    assert charlie.get(page).status_code == 403
    stranger = Client().get(page)
    assert stranger.status_code == 302 and stranger["Location"].startswith("/login/?next=")
    if name:
        statuses = [client.get(api).status_code for client in (alice, charlie, Client())]
        assert statuses == [200, 403, 401]


@pytest.mark.parametrize("name", ["", *files.FILES])
def test_public_results_include_estimates_but_no_reports(survey: Survey, name: str) -> None:
    Survey.objects.update(results_public=True)
    public = not name or name in PUBLIC
    for client, refused in ((Client(), 302), (builders.client(builders.charlie()), 403)):
        assert client.get(f"/surveys/small/releases/2/{name}").status_code == (
            200 if public else refused
        )
    if name:
        status = Client().get(f"/api/v1/surveys/small/releases/2/{name}").status_code
        assert status == (200 if public else 401)


def test_every_file_is_documented() -> None:
    text = (ROOT / "docs/protocol.md").read_text()
    for name in files.FILES:
        stem, form = name.split(".")
        assert f"`{name}`" in text or re.search(rf"`{stem}\.\w+`.*`\.{form}`", text), name


def test_no_file_of_reports_is_public() -> None:
    assert set(PRIVATE) == {*OF_REPORTS, "everything.zip", "README.txt"}


@pytest.mark.parametrize(
    ("number", "status"),
    [("9", 404), ("0", 404), ("x", 400), ("-1", 400), ("1.0", 400), ("9" * 40, 400), ("²", 400)],
)
def test_bad_release_numbers_are_refused_in_words(alice: Client, number: str, status: int) -> None:
    for name in ("", "estimates.csv", "reports.csv", "nothing.csv"):
        response = alice.get(f"/surveys/small/releases/{number}/{name}")
        assert response.status_code == status and "elease" in response.content.decode()
    response = alice.get(f"/api/v1/surveys/small/releases/{number}/estimates.csv")
    assert response.status_code == status and "release" in json.dumps(response.json())


@pytest.mark.parametrize("name", ["nothing.csv", "estimates", "estimates.CSV", "%00", "a" * 3000])
def test_unknown_file_names_are_refused_in_words(alice: Client, name: str) -> None:
    response = alice.get(f"/surveys/small/releases/2/{name}")
    assert response.status_code == 404 and "estimates.csv" in response.content.decode()
    response = alice.get(f"/api/v1/surveys/small/releases/2/{name}")
    assert response.status_code == 404 and "estimates.csv" in response.json()["detail"]
    assert alice.get("/surveys/nowhere/releases/2/estimates.csv").status_code == 404
    assert alice.get("/api/v1/surveys/nowhere/releases/2/estimates.csv").status_code == 404


def test_a_download_accepts_any_format_header_and_only_reads(alice: Client) -> None:
    for root in ("/surveys", "/api/v1/surveys"):
        url = f"{root}/small/releases/2/estimates.csv"
        assert alice.get(url, headers={"accept": "text/csv"}).status_code == 200
        assert alice.head(url).content == b""
        assert alice.post(url).status_code == 405


# --- Estimates ------------------------------------------------------------------------------------


def test_the_forms_of_the_estimates_have_the_same_figures(alice: Client) -> None:
    rows = list(Estimate.objects.filter(release__number=2))
    document = json.loads(get(alice, "estimates.json"))
    assert document == alice.get("/api/v1/surveys/small/estimates/?release=2").json()
    lines = table(get(alice, "estimates.csv"))
    header, *cells = texts_of(get(alice, "estimates.xlsx"), 1)
    assert header == estimate_files.HEADER == list(lines[0])
    assert len(rows) == len(lines) == len(cells) == len(document["estimates"])
    for row, line, values, entry in zip(rows, lines, cells, document["estimates"], strict=True):
        names = {"question": row.question, "option": row.option, "by": row.by, "group": row.group}
        assert names == {name: line[name] for name in names}
        assert names == {name: entry[name] or "" for name in names}
        assert (line["group_text"] != "") == (row.by != "")
        for name, value in (("n", row.n), ("count", row.count), ("estimate", row.value),
                            ("standard_error", row.standard_error), ("low", row.low)):  # fmt: skip
            assert line[name] == ("" if value is None else repr(value))
        assert {row.value, row.low} - {None} <= {entry["estimate"], entry["low"]}
        given = [float(line[name]) for name in ("n", "count", "low", "high") if line[name]]
        assert all(pytest.approx(value, rel=1e-14) in values for value in given)


def test_every_question_is_estimated_over_everybody_and_by_background(alice: Client) -> None:
    lines = table(get(alice, "estimates.csv"))
    found = Counter((line["question"], line["by"]) for line in lines)
    assert found == {("q1", ""): 2, ("q2", ""): 4, ("age", ""): 3,
                     ("q1", "age"): 2 * 3, ("q2", "age"): 4 * 3}  # fmt: skip
    assert all(line["low"] and line["high"] and line["n"] for line in lines)


# --- The codebook ---------------------------------------------------------------------------------


def test_the_codebook_has_the_channel_of_every_variable(survey: Survey, alice: Client) -> None:
    design = survey.frozen_design()
    document = json.loads(get(alice, "codebook.json"))
    assert document["design"] == survey.design_hash and document["mechanism"] == "cells/1"
    assert (document["epsilon"], document["report_epsilon"]) == (2, 5)
    assert document["scale"] == 2**32 and "(x / n - b) / (a - b)" in document["debias"]
    assert "R = sum(u g) / sum(t g)" in document["by_group"] and "Fieller" in document["by_group"]
    entries = document["variables"]
    assert [(one["key"], one["background"]) for one in entries] == [
        ("q1", False), ("q2", False), ("age", True)
    ]  # fmt: skip
    for entry, block in zip(entries, design.blocks, strict=True):
        assert [one["block"] for one in entry["blocks"]] == [block.key]
        coin = entry["blocks"][0]
        assert (coin["keep"], coin["epsilon"]) == (block.keep, block.epsilon)
        assert coin["cells"] == block.mechanism.cells
        for channel in coin["channels"]:
            assert (channel["a"], channel["b"]) == block.mechanism.channel(0)
    yes = {"value": 1, "option": "yes", "text": "Yes", "number": None}
    assert entries[0]["values"][1] == yes
    assert entries[2]["values"][2]["option"] == "prefer-not-to-say"
    lines = table(get(alice, "codebook.csv"))
    assert len(lines) == 2 + 4 + 3 and list(lines[0]) == codebook.HEADER
    assert texts_of(get(alice, "estimates.xlsx"), 2)[0] == codebook.HEADER
    a = entries[0]["blocks"][0]["channels"][0]["a"]
    assert {line["a"] for line in lines if line["key"] == "q1"} == {repr(a)}
    assert {line["key"] for line in lines if line["background"] == "1"} == {"age"}


class TestCodebookOfEveryKind:
    @pytest.fixture
    def entries(self) -> dict[str, Any]:
        survey = builders.opened(**EVERY_KIND)
        return {one["key"]: one for one in codebook.document(survey)["variables"]}

    def test_each_question_is_there_once_with_its_values(self, entries: dict[str, Any]) -> None:
        assert list(entries) == [
            "harassed", "who", "often", "days", "mood", "pills", "more", "job"
        ]  # fmt: skip
        told = {
            key: [(one["text"], one["number"]) for one in entry["values"]]
            for key, entry in entries.items()
        }
        assert told["often"] == [
            ("Once", 0.0), ("Sometimes", 1.0), ("Often", 4.0), ("Not asked", None)
        ]  # fmt: skip
        assert told["days"] == [
            ("0 days", 0.0), ("30 days", 30.0), ("60 days", 60.0), ("Prefer not to say", None)
        ]  # fmt: skip
        assert told["pills"][-2:] == [("E", None), ("Nothing picked", None)]
        assert entries["pills"]["picks"] == 3 and entries["days"]["unit"] == "days"
        assert entries["who"]["only_if"] == {"question": "harassed", "options": ["yes"]}

    def test_what_is_shown_by_chance_and_what_is_kept_add_up(self, entries: dict[str, Any]) -> None:
        """Of the random cells, each shows one value; so the chances add up to 1 - c."""
        for entry in entries.values():
            for coin in entry["blocks"]:
                c = coin["keep"] / 2**32
                assert math.fsum(one["b"] for one in coin["channels"]) == pytest.approx(1 - c)
                slots = entry["picks"] if entry["kind"] == "several" else 1
                options = coin["channels"][: -1 if entry["kind"] == "several" else None]
                for one in options:
                    assert one["a"] - one["b"] == pytest.approx(c / slots)

    def test_a_gate_in_several_blocks_has_a_channel_in_each(self, entries: dict[str, Any]) -> None:
        coins = entries["harassed"]["blocks"]
        assert [(one["block"], one["cells"]) for one in coins] == [("b1", 5), ("b2", 4)]
        for coin in coins:  # yes is in all cells but one
            no, yes = coin["channels"]
            assert yes["b"] == pytest.approx((coin["cells"] - 1) * no["b"])


def test_columns_have_names_that_every_program_takes() -> None:
    keys = ["q-1", "q_1", "Q_1", "1st", "count", "if", "a" * 50, "a" * 49 + "b", "str5", "Age"]
    questions = [{"key": key, "text": "?", "kind": "yes_no"} for key in keys]
    survey = builders.opened(questions=questions, blocks=[], epsilon=4)
    found = codebook.variables(survey.frozen_design())
    names = [variable.name for variable in found]
    assert len({name.lower() for name in names}) == len(keys) + 1  # the background question is age
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name) for name in names)
    assert not {name.lower() for name in names} & {*codebook.TAKEN, "str5"}
    assert names[-1] == "age_2" and {one.asked.key for one in found} == {*keys, "age"}


# --- The reports ----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2])
def test_exported_reports_equal_the_batches_of_the_release_in_neutral_order(
    alice: Client, number: int
) -> None:
    release = Release.objects.get(number=number)
    header, *lines = csv.reader(io.StringIO(get(alice, "reports.csv", number=number).decode()))
    assert header == ["q1", "q2", "age", "count"]
    stored: Counter[tuple[str, ...]] = Counter()
    for batch in Batch.objects.filter(pk__in=release.batch_keys()):
        for report in builders.rows(batch).tolist():
            stored[tuple("" if value == 255 else str(value) for value in report)] += 1
    assert {tuple(line[:-1]): int(line[-1]) for line in lines} == stored
    places = [[int(value or 255) for value in line[:-1]] for line in lines]
    assert places == sorted(places) and len(places) == len(stored)
    assert sum(stored.values()) == release.reports == {1: 280, 2: 307}[number]


def test_many_batches_are_merged_with_little_in_memory(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = survey.frozen_design()
    rows = np.concatenate([builders.rows(batch) for batch in Batch.objects.all()])
    counted = Counter(row.tobytes() for row in rows)
    parts = [(planes.pack(some, design), len(some)) for some in np.array_split(rows, 13)]
    assert list(reports.distinct(parts, design)) == sorted(counted.items())
    monkeypatch.setattr(reports, "IN_MEMORY", 100)
    monkeypatch.setattr(reports, "AT_ONCE", 3)
    for size in (1, 50, 100):
        monkeypatch.setattr(reports, "RUN", size)
        assert list(reports.distinct(parts, design)) == sorted(counted.items())
    assert list(reports.distinct([], design)) == []


def test_the_reports_of_an_open_survey_can_be_downloaded_with_every_release() -> None:
    survey = builders.opened()
    alice = builders.client(builders.alice(survey))
    sizes = []
    for number in (1, 2):
        builders.send(survey, 60, seed=number)
        make_release(survey)
        for name in OF_REPORTS:
            assert get(alice, name, number=number)
        lines = table(get(alice, "reports.csv", number=number))
        sizes.append(sum(int(line["count"]) for line in lines))
        with ZipFile(io.BytesIO(get(alice, "everything.zip", number=number))) as bundle:
            assert set(OF_REPORTS) < set(bundle.namelist())
            assert table(bundle.read("reports.csv")) == lines
    assert sizes == [40, 100]


def test_copies_of_two_releases_differ_by_at_least_a_crowd() -> None:
    """The last two as well, although the survey closes after one more report."""
    survey = builders.opened()
    builders.send(survey, 60)
    make_release(survey)
    builders.send(survey, 1, seed=2)
    survey.close()
    make_release(survey)
    alice = builders.client(builders.alice(survey))
    first, last = (
        Counter({tuple(line.values())[:-1]: int(line["count"]) for line in lines})
        for lines in (table(get(alice, "reports.csv", number=number)) for number in (1, 2))
    )
    assert first <= last and (last - first).total() == 21


# --- Hostile texts --------------------------------------------------------------------------------


def looks_like_a_formula(value: str) -> bool:
    """Check every cell, with a comma, a semicolon or a tab as separator."""
    for part in re.split(r"[;\t\r\n]", value):
        if part.strip()[:1] in tuple("=+-@＝＋－＠"):
            try:
                float(part)
            except ValueError:
                return True
    return False


@pytest.mark.parametrize("text", HOSTILE[:11])
def test_a_cell_is_never_a_formula(text: str) -> None:
    assert text.startswith("'") or looks_like_a_formula(text)
    assert not looks_like_a_formula(spreadsheets.cell(text))
    assert spreadsheets.cell(text).replace("'", "") == text.replace("'", "")


def test_a_harmless_cell_stays_as_it_is() -> None:
    for text in ("no", "30-and-over", "ü=1", "a; b", "it's", "", "x\ny"):
        assert spreadsheets.cell(text) == text


def test_no_file_of_a_hostile_survey_has_a_formula() -> None:
    survey = hostile()
    alice = builders.client(builders.alice(survey))
    for name in ("estimates.csv", "codebook.csv", "reports.csv"):
        cells = {
            cell for line in csv.reader(io.StringIO(get(alice, name).decode())) for cell in line
        }
        assert [cell for cell in cells if looks_like_a_formula(cell)] == []
    for sheet in (1, 2):  # texts stay as they are
        found = {cell for row in texts_of(get(alice, "estimates.xlsx"), sheet) for cell in row}
        assert set(HOSTILE) <= found
    texts = {variable["text"] for variable in json.loads(get(alice, "codebook.json"))["variables"]}
    assert set(HOSTILE) <= texts


# --- Citing ---------------------------------------------------------------------------------------


def test_a_release_can_be_cited(survey: Survey, alice: Client) -> None:
    release = Release.objects.get(number=2)
    address = "http://testserver/surveys/small/releases/2/"
    bibtex = get(alice, "citation.bib").decode()
    assert bibtex.startswith("@misc{small-release-2,\n  title = {{A small survey}},\n")
    for path in ("/surveys/small/files/", "/surveys/small/releases/2/"):
        page = alice.get(path).content.decode()
        for text in ("Cite this release", "Release 2 of", survey.design_hash, address, "@misc{"):
            assert text in page
        assert f"{release.made_at:%-d %B %Y}" in page and "style=" not in page
    for text in (address, survey.design_hash, f"{release.made_at:%Y-%m-%d}", "307 reports"):
        assert text in bibtex


def test_a_hostile_title_stays_inside_its_braces() -> None:
    title = r"100 % {of} us_all & \input{x} ~^$ #1"
    survey = builders.finished(40, title=title)
    bibtex = get(builders.client(builders.alice(survey)), "citation.bib").decode()
    line = next(line for line in bibtex.splitlines() if "title" in line)
    assert r"100 \% \{of\} us\_all \& \textbackslash{}input\{x\}" in line
    inside = re.sub(r"\\[{}]", "", line)
    assert inside.count("{") == inside.count("}")


def test_a_title_ends_no_comment_of_a_program() -> None:
    """A line that ends with a full stop ends a comment of SPSS; /* begins one of Stata."""
    survey = builders.finished(40, title="A. " + "b" * 90 + " /* HOST COMMAND='x'.")
    alice = builders.client(builders.alice(survey))
    for name in ("reports.sps", "reports.do"):
        program = get(alice, name).decode()
        assert survey.slug in program and "bbb" not in program and "HOST" not in program


def test_the_pages_link_only_files_that_can_be_downloaded(survey: Survey, alice: Client) -> None:
    Survey.objects.update(results_public=True)
    pages = {"alice": alice, "anyone": Client()}
    for who, client in pages.items():
        page = client.get("/surveys/small/releases/2/").content.decode()
        links = set(re.findall(r'href="/surveys/small/releases/2/([\w.]+)"', page))
        assert links <= files.FILES.keys()
        assert ("everything.zip" in links) == ("reports.csv" in links) == (who == "alice")
        for name in links:
            assert client.get(f"/surveys/small/releases/2/{name}").status_code == 200
