"""A release taken home: what is in its files, who may have them, and what never is in them."""

import csv
import io
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import numpy as np
import pytest
from django.test import Client

from aggregation import batches, codebook, exports, reports, sheets
from aggregation.models import Batch, Estimate, Release
from survey.models import Survey
from tests.support import builders
from tests.support.exports import HOSTILE, OF_REPORTS, get, table
from tests.support.services import ROOT

pytestmark = pytest.mark.django_db

PUBLIC = sorted(name for name, file in exports.FILES.items() if file.public)
PRIVATE = sorted(exports.FILES.keys() - set(PUBLIC))
TWO_BLOCKS: dict[str, Any] = {"blocks": [["q1"], ["q2"]], "ask": 1}


def texts_of(data: bytes, sheet: int) -> list[list[Any]]:
    """The cells of a sheet, texts and numbers, read as XML; a formula is an error."""
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


@pytest.mark.parametrize("name", ["", *exports.FILES])
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


@pytest.mark.parametrize("name", ["", *exports.FILES])
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
    for name in exports.FILES:
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
    assert header == exports.HEADER == list(lines[0])
    assert len(rows) == len(lines) == len(cells) == len(document["estimates"])
    for row, line, numbers in zip(rows, lines, cells, strict=True):
        assert (line["question"], line["option"]) == (row.question, row.option)
        assert line["suppressed"] == str(int(row.suppressed))
        figures = [line[name] for name in ("n", "estimate", "low", "method")]
        if row.suppressed:
            assert figures == ["", "", "", ""] and len(numbers) < len(header)
        else:
            assert float(line["estimate"]) == row.value and int(line["count"]) == row.count
            assert numbers[header.index("estimate")] == pytest.approx(row.value, rel=1e-14)
            assert len(numbers) == len(header)


def test_suppressed_rows_stay_rows_without_figures() -> None:
    survey = builders.finished(25)
    alice = builders.client(builders.alice(survey))
    data = get(alice, "estimates.csv")
    hidden = [line for line in table(data) if line["suppressed"] == "1"]
    assert len(hidden) == Estimate.objects.filter(release__number=2, n=None).count() > 0
    after = exports.HEADER.index("suppressed") + 1
    assert {value for line in hidden for value in list(line.values())[after:]} == {""}
    assert b"size" not in data and '"size"' not in get(alice, "estimates.json").decode()


def test_an_earlier_release_can_be_downloaded_without_its_reports(alice: Client) -> None:
    lines = table(get(alice, "estimates.csv", number=1))
    assert {line["release"] for line in lines} == {"1"}
    assert alice.get("/api/v1/surveys/small/releases/1/reports.csv").status_code == 409


# --- The codebook ---------------------------------------------------------------------------------


def test_the_codebook_has_the_channel_of_every_variable(survey: Survey, alice: Client) -> None:
    design = survey.frozen_design()
    document = json.loads(get(alice, "codebook.json"))
    assert document["design"] == survey.design_hash and document["mechanism"] == "replace/1"
    assert document["scale"] == 2**32 and "(x / n - b) / (a - b)" in document["debias"]
    first, second, age = document["variables"]
    assert [one["key"] for one in document["variables"]] == ["q1", "q2", "age"]
    for entry, block in zip((first, second), design.blocks, strict=True):
        assert (entry["block"], entry["keep"]) == (block.key, block.keep)
        assert (entry["a"], entry["b"]) == block.mechanism.channel(0)
    assert first["options"][1] == {"position": 1, "key": "yes", "text": "Yes"}
    assert (age["kind"], age["a"], age["b"], age["block"]) == ("stratum", 1.0, 0.0, None)
    lines = table(get(alice, "codebook.csv"))
    assert len(lines) == 2 + 4 + 2 and list(lines[0]) == codebook.HEADER
    assert texts_of(get(alice, "estimates.xlsx"), 2)[0] == codebook.HEADER
    assert {line["a"] for line in lines if line["key"] == "q1"} == {repr(first["a"])}


def test_columns_have_names_that_every_program_takes() -> None:
    keys = ["q-1", "q_1", "Q_1", "1st", "count", "if", "a" * 50, "a" * 49 + "b", "str5", "age"]
    questions = [{"key": key, "text": "?", "kind": "yes_no"} for key in keys]
    survey = builders.opened(questions=questions, blocks=[], epsilon=4)
    found = codebook.variables(survey.frozen_design())
    names = [variable.name for variable in found]
    assert len({name.lower() for name in names}) == len(keys) + 1  # the stratum is "age" as well
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name) for name in names)
    assert not {name.lower() for name in names} & {*codebook.TAKEN, "str5"}
    assert names[-1] == "age_2" and {one.asked.key for one in found} == set(keys)


# --- The reports ----------------------------------------------------------------------------------


def test_exported_reports_equal_the_batches_in_neutral_order(survey: Survey, alice: Client) -> None:
    header, *lines = csv.reader(io.StringIO(get(alice, "reports.csv").decode()))
    assert header[:2] == ["q1", "q2"] and header[-1] == "count"
    stored: Counter[tuple[str, ...]] = Counter()
    for batch in Batch.objects.all():
        for report in batch.unpack()[:2].T.tolist():
            stored[tuple("" if value == 255 else str(value) for value in report)] += 1
    taken: Counter[tuple[str, ...]] = Counter()
    for line in lines:
        taken[tuple(line[:2])] += int(line[-1])
    assert taken == stored
    codes = {"": 255, "999": 254}
    places = [[codes[value] if value in codes else int(value) for value in line[:-1]]
              for line in lines]  # fmt: skip
    assert places == sorted(places) and len({tuple(place) for place in places}) == len(places)
    assert sum(stored.values()) == Release.objects.get(number=2).reports == 307


def test_many_batches_are_merged_with_little_in_memory(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = survey.frozen_design()
    places = reports.columns(design, design.strata)
    whole = list(reports.distinct(Batch.objects.parts(survey), design, places))
    rows = np.concatenate([batch.unpack().T for batch in Batch.objects.all()])
    parts = [(batches.pack(some, design), len(some)) for some in np.array_split(rows, 13)]
    monkeypatch.setattr(reports, "IN_MEMORY", 100)
    monkeypatch.setattr(reports, "AT_ONCE", 3)
    assert list(reports.distinct(parts, design, places)) == whole
    assert sum(count for _, count in whole) == 307
    assert list(reports.distinct([], design, places)) == []


def test_reports_cannot_be_downloaded_before_the_final_release() -> None:
    survey = builders.opened()
    alice = builders.client(builders.alice(survey))
    builders.send(survey, 100)
    Batch.objects.collect(survey)
    Release.objects.publish(survey)

    def refused(number: int) -> list[str]:
        found = []
        for name in OF_REPORTS:
            response = alice.get(f"/api/v1/surveys/small/releases/{number}/{name}")
            page = alice.get(f"/surveys/small/releases/{number}/{name}")
            if response.status_code == page.status_code == 200:
                continue
            assert response.status_code == page.status_code == 409
            found.append(response.json()["detail"])
        with ZipFile(io.BytesIO(get(alice, "everything.zip", number=number))) as bundle:
            assert ("reports.csv" in bundle.namelist()) == (not found)
            assert not found or found[0] in bundle.read("README.txt").decode()
        return found

    assert len(refused(1)) == 3 and "when the survey is closed" in refused(1)[0]
    builders.send(survey, 3, seed=2)
    survey.close()
    assert "still being counted" in refused(1)[0]
    Batch.objects.collect(survey)
    assert "still being counted" in refused(1)[0]
    Release.objects.publish(survey)
    assert "with the last release only" in refused(1)[0]
    assert refused(2) == []
    assert "Stata" in alice.get("/surveys/small/").content.decode()


STRATA = [
    {"key": "age", "text": "Age?", "options": ["Young", "Old"]},
    {"key": "town", "text": "Town?", "options": ["A", "B"]},
]


def answered(groups: dict[tuple[int | None, ...], int], **changes: Any) -> Release:
    """The last release of a survey in which so many people of each group took part."""
    from survey.collect import door

    survey = builders.opened(strata=STRATA, **changes)
    design = survey.frozen_design()
    keys = [stratum.key for stratum in design.strata]
    sent = [
        builders.report(design, strata=dict(zip(keys, group, strict=True)))
        for group, people in groups.items()
        for _ in range(people)
    ]
    door.accept("small", {"reports": sent})
    survey.close()
    Batch.objects.collect(survey)
    release = Release.objects.publish(survey)
    assert release
    return release


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        # an empty combination is none
        ({(0, 0): 20, (1, 0): 20, (1, 1): 30}, {"age": {"0", "1"}, "town": {"0", "1"}}),
        # one combination below the crowd
        ({(0, 0): 19, (0, 1): 30, (1, 0): 30}, {"age": {"0", "1"}}),
        # too few are young, so who is old is not told either
        ({(0, 0): 19, (1, 0): 30, (1, 1): 30}, {"town": {"0", "1"}}),
        # few did not say, and the smallest group hides them
        ({(0, 0): 60, (1, 0): 30, (None, 0): 5}, {"age": {"0", "999"}, "town": {"0"}}),
        ({(0, 0): 60, (1, 0): 30, (None, 0): 20}, {"age": {"0", "1", ""}, "town": {"0"}}),
        ({(0, 0): 60, (1, 1): 5}, {}),
    ],
)
def test_background_answers_are_exported_only_in_crowds(
    groups: dict[tuple[int | None, ...], int], told: dict[str, set[str]]
) -> None:
    release = answered(groups)
    alice = builders.client(builders.alice(release.survey))
    lines = table(get(alice, "reports.csv", number=1))
    assert list(lines[0]) == ["q1", "q2", *told, "count"]
    assert {key: {line[key] for line in lines} for key in told} == told
    sizes: Counter[tuple[str, ...]] = Counter()
    for line in lines:
        sizes[tuple(line[key] for key in told)] += int(line["count"])
    assert min(sizes.values()) >= 20 and sum(sizes.values()) == release.reports


@pytest.mark.parametrize("seed", range(12))
def test_no_distinguishable_set_is_smaller_than_the_crowd(seed: int) -> None:
    """By the reports alone, and by their groups less those that the release shows."""
    random = Random(seed)
    groups = {
        (age, town): random.choice([0, 0, 3, 12, 19, 20, 35])
        for age in (0, 1, None)
        for town in (0, 1, None)
    }
    groups[0, 0] += 20
    release = answered(groups)
    alice = builders.client(builders.alice(release.survey))
    lines = table(get(alice, "reports.csv", number=1))
    told = [key for key in ("age", "town") if key in lines[0]]
    for some in ([], *([key] for key in told), told):
        sizes: Counter[tuple[str, ...]] = Counter()
        for line in lines:
            sizes[tuple(line[key] for key in some)] += int(line["count"])
        assert min(sizes.values()) >= 20
    shown = release.estimates.filter(question="q1", option="yes", n__isnull=False)
    for key in told:
        column = {line[key] for line in lines}
        published = {row.group: row.n for row in shown.filter(stratum=key)}
        assert len(column - {"999"}) <= len(published)
        rest = release.reports - sum(published.values())
        assert rest == 0 or rest >= 20


def asked(groups: dict[tuple[int | None, str], int]) -> Release:
    """The last release of a survey in which so many people of each age were asked each block."""
    from survey.collect import door

    survey = builders.opened(**TWO_BLOCKS)
    design = survey.frozen_design()
    sent = [
        builders.report(design, strata={"age": age}, blocks={block: [0]})
        for (age, block), people in groups.items()
        for _ in range(people)
    ]
    door.accept("small", {"reports": sent})
    survey.close()
    Batch.objects.collect(survey)
    release = Release.objects.publish(survey)
    assert release
    return release


def test_every_block_needs_its_own_crowd() -> None:
    """25 of each age, but only some of them were asked the second block."""
    release = asked({(0, "b1"): 25, (0, "b2"): 10, (1, "b1"): 25, (1, "b2"): 30})
    assert reports.backgrounds(release) == []


# --- Computed again -------------------------------------------------------------------------------


def unpack(data: bytes, folder: Path) -> Path:
    with ZipFile(io.BytesIO(data)) as bundle:
        assert bundle.testzip() is None
        bundle.extractall(folder)  # noqa: S202
    return folder


def run(command: list[str], folder: Path) -> tuple[int, list[dict[str, str]], str]:
    """Run a script where it was unpacked."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, table(done.stdout.encode()), done.stderr


PYTHON = [sys.executable, "-I", "estimate.py"]
R = ["Rscript", "--vanilla", "estimate.R"]
SCRIPTS = [
    pytest.param(PYTHON, id="Python"),
    # R takes a while to start.
    pytest.param(R, id="R", marks=[pytest.mark.r, pytest.mark.slow]),
]


@pytest.mark.parametrize("command", SCRIPTS)
class TestComputedAgain:
    def check(self, command: list[str], folder: Path, release: Release, source: str) -> None:
        status, found, told = run(command, folder)
        assert status == 0, told
        assert f"from {source}: as published" in told
        rows = [row for row in release.estimates.all() if not row.suppressed]
        assert len(rows) == len(found) > 5
        for row, again in zip(rows, found, strict=True):
            names = (again["question"], again["option"], again["stratum"], again["group"])
            assert names == (row.question, row.option, row.stratum, row.group)
            assert (int(again["n"]), int(again["count"])) == (row.n, row.count)
            assert float(again["estimate"]) == pytest.approx(row.value, abs=1e-12)
            assert float(again["standard_error"]) == pytest.approx(row.standard_error, abs=1e-12)

    def test_estimates_follow_from_the_reports(
        self, command: list[str], alice: Client, tmp_path: Path
    ) -> None:
        folder = unpack(get(alice, "everything.zip"), tmp_path)
        self.check(command, folder, Release.objects.get(number=2), "reports")

    @pytest.mark.parametrize(
        ("columns", "people"),
        [(["age", "town"], (60, 25, 40)), (["age"], (60, 5, 40)), ([], (60, 5, 0))],
    )
    def test_group_estimates_follow_from_the_reports(
        self, command: list[str], tmp_path: Path, columns: list[str], people: tuple[int, ...]
    ) -> None:
        groups: list[tuple[int | None, ...]] = [(0, 0), (1, 1), (None, 0)]
        release = answered(dict(zip(groups, people, strict=True)))
        alice = builders.client(builders.alice(release.survey))
        folder = unpack(get(alice, "everything.zip", number=1), tmp_path)
        assert list(table((folder / "reports.csv").read_bytes())[0])[2:-1] == columns
        self.check(command, folder, release, "reports")

    def test_estimates_follow_from_the_published_counts(
        self, command: list[str], alice: Client, tmp_path: Path
    ) -> None:
        folder = unpack(get(alice, "everything.zip", number=1), tmp_path)
        self.check(command, folder, Release.objects.get(number=1), "published counts")

    def test_the_script_runs_when_every_estimate_is_hidden(
        self, command: list[str], tmp_path: Path
    ) -> None:
        """Twenty people, but ten for each block: every estimate is suppressed."""
        release = asked({(0, "b1"): 10, (0, "b2"): 10})
        alice = builders.client(builders.alice(release.survey))
        folder = unpack(get(alice, "everything.zip", number=1), tmp_path)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        assert done.stderr.startswith("0 estimates from reports: as published")
        assert done.stdout.replace('"', "").startswith("question,option,stratum,group,n,count,")

    @pytest.mark.once  # the files are on the disk by then
    @pytest.mark.parametrize("name", ["reports.csv", "estimates.csv", "codebook.csv"])
    def test_a_changed_file_is_noticed(
        self, command: list[str], alice: Client, tmp_path: Path, name: str
    ) -> None:
        folder = unpack(get(alice, "everything.zip"), tmp_path)
        file = folder / name
        lines = list(csv.reader(io.StringIO(file.read_text())))
        column = {"reports.csv": "count", "estimates.csv": "estimate", "codebook.csv": "a"}[name]
        place = lines[0].index(column)
        lines[1][place] = str(float(lines[1][place]) * 0.9 if name != "reports.csv" else 999)
        if name == "codebook.csv":
            lines = [line if line[2] != "q1" else [*line[:place], "0.7", *line[place + 1 :]]
                     for line in lines]  # fmt: skip
        with file.open("w", newline="") as out:
            csv.writer(out).writerows(lines)
        status, _, told = run(command, folder)
        assert status == 1 and "NOT as published" in told

    def test_the_script_runs_with_hostile_texts(self, command: list[str], tmp_path: Path) -> None:
        survey = hostile()
        alice = builders.client(builders.alice(survey))
        folder = unpack(get(alice, "everything.zip"), tmp_path)
        self.check(command, folder, Release.objects.get(number=2), "reports")


# --- Hostile texts --------------------------------------------------------------------------------


def hostile() -> Survey:
    question = {"key": "q2", "text": HOSTILE[0], "kind": "choice", "options": HOSTILE}
    others = [{"key": f"h{i}", "text": text, "kind": "yes_no"} for i, text in enumerate(HOSTILE)]
    stratum = {"key": "age", "text": HOSTILE[2], "options": HOSTILE[:2]}
    return builders.finished(
        300, title=HOSTILE[0], questions=[question, *others], strata=[stratum], blocks=[],
        epsilon=8,
    )  # fmt: skip


def looks_like_a_formula(value: str) -> bool:
    """In a cell as some program may see it, with a comma, a semicolon or a tab between cells."""
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
    assert not looks_like_a_formula(sheets.cell(text))
    assert sheets.cell(text).replace("'", "") == text.replace("'", "")


def test_a_harmless_cell_stays_as_it_is() -> None:
    for text in ("no", "30-and-over", "ü=1", "a; b", "it's", "", "x\ny"):
        assert sheets.cell(text) == text


def test_no_file_of_a_hostile_survey_has_a_formula() -> None:
    survey = hostile()
    alice = builders.client(builders.alice(survey))
    for name in ("estimates.csv", "codebook.csv", "reports.csv"):
        cells = {
            cell for line in csv.reader(io.StringIO(get(alice, name).decode())) for cell in line
        }
        assert [cell for cell in cells if looks_like_a_formula(cell)] == []
    for sheet in (1, 2):  # as texts, so as they are
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
    for path in ("/surveys/small/", "/surveys/small/releases/2/"):
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


def test_the_pages_link_only_files_that_can_be_downloaded(survey: Survey, alice: Client) -> None:
    Survey.objects.update(results_public=True)
    pages = {"alice": alice, "anyone": Client()}
    for who, client in pages.items():
        page = client.get("/surveys/small/releases/2/").content.decode()
        links = set(re.findall(r'href="/surveys/small/releases/2/([\w.]+)"', page))
        assert links <= exports.FILES.keys()
        assert ("everything.zip" in links) == ("reports.csv" in links) == (who == "alice")
        for name in links:
            assert client.get(f"/surveys/small/releases/2/{name}").status_code == 200
