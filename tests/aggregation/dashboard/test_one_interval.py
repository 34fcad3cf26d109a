"""Every page and file of a release says the same interval of a share: its headline."""

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import pyreadstat
import pytest
from django.test import Client

from aggregation.dashboard import readers
from aggregation.models import Release
from aggregation.releases import display
from aggregation.releases.publish import make_release
from survey.models import Survey
from tests.support import analysis_jobs, builders

pytestmark = pytest.mark.django_db

HERE = "/surveys/every-kind/"
API = "/api/v1/surveys/every-kind/"
TRUTH = {
    "harassed": [0.5, 0.5], "who": [0.7, 0.1, 0.1, 0.1], "often": [0.2, 0.2, 0.6],
    "ill": [0.8, 0.2], "content": [0.1, 0.1, 0.7, 0.1], "took": [0.6, 0.4, 0.1, 0.1, 0.05],
    "saw": [0.6, 0.3, 0.1],
}  # fmt: skip
KEYS = [one["key"] for one in builders.EVERY_KIND["questions"]] + ["job"]
KINDS = {"interim": ("low_always", "high_always"), "final": ("low_once", "high_once")}
NUMBER = r"−?\d[\d,]*\.\d+"
INTERVAL = re.compile(rf"(?<![\d.+])({NUMBER})\s?%? to ({NUMBER})")
# Differences between groups, and totals, are no shares.
OTHERS = re.compile(
    r'<p class="(?:differences|finding)">.*?</p>|<details id="pairs-.*?</details>', re.DOTALL
)

BOOK = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"

Row = dict[str, Any]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give pages more time, because the machine may be busy."""
    monkeypatch.setattr(readers, "COMPUTE_SECONDS", 60)


@pytest.fixture(params=list(KINDS))
def release(request: pytest.FixtureRequest) -> Release:
    """Return the last release of a public survey, which is open or closed."""
    survey = builders.opened(**builders.EVERY_KIND)
    Survey.objects.update(results_public=True)
    builders.send(survey, 2_500, **TRUTH)
    release = make_release(survey)
    if request.param == "final":
        survey.close()
        release = make_release(survey)
    assert release and release.final == (request.param == "final")
    return release


@pytest.fixture
def alice(release: Release) -> Client:
    return builders.client(builders.alice(release.survey))


@pytest.fixture
def headlines(release: Release, alice: Client) -> list[Row]:
    """Return the estimates of the API, which are checked first."""
    rows: list[Row] = alice.get(f"{API}estimates/").json()["estimates"]
    kind = "final" if release.final else "interim"
    other = "interim" if release.final else "final"
    for row in rows:
        assert row["interval"]["kind"] == kind
        assert (row["low"], row["high"]) == tuple(row[name] for name in KINDS[kind])
        assert all(row[name] is not None for name in KINDS[other])
    assert any(row["low"] != row[KINDS[other][0]] for row in rows)
    return rows


def said(release: Release, row: Row) -> tuple[str, str]:
    """Return the limits of an estimate as pages and figures write them."""
    questions = release.survey.frozen_design().questions
    question = next(one for one in questions if one.key == row["question"])
    quantity = display.quantity_of(question, row["measure"])
    return quantity.plain(row["low"]), quantity.plain(row["high"])


def shown(rows: list[Row], by: str | None, question: str = "") -> list[Row]:
    """Return the rows on a page; of a plain yes/no question only yes."""
    return [
        row for row in rows
        if row["by"] in (None, by) and question in ("", row["question"])
        and not (row["question"] == "harassed" and row["option"] == "no")
    ]  # fmt: skip


def intervals(text: str) -> set[tuple[str, str]]:
    """Return every interval that a page or picture says, also to screen readers."""
    text = html.unescape(OTHERS.sub("", text)).replace("\u202f", " ").replace("\u00a0", " ")
    return {(low, high) for low, high in INTERVAL.findall(text)}


def parts(page: str) -> Iterator[tuple[str, str]]:
    """Yield the key of each question on a page and the card about it."""
    for key in KEYS:
        start = page.index(f'aria-labelledby="q-{key}"')
        yield key, page[start : page.index("</section>", start)]


# --- Pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [None, "job"])
@pytest.mark.parametrize("page", [HERE, "/results/every-kind/"])
def test_a_page_says_only_headline_intervals(
    release: Release, alice: Client, headlines: list[Row], page: str, by: str | None
) -> None:
    text = alice.get(page, {"by": by} if by else {}).content.decode()
    for key, card in parts(text):
        expected = {said(release, row) for row in shown(headlines, by, key)}
        assert intervals(card) == expected, key
    everything = {said(release, row) for row in shown(headlines, by)}
    plain, mark, rest = text.partition('<details class="researchers">')
    assert intervals(rest or text) == everything
    if mark:  # in plain words, limits are rounded outward
        rows = shown(headlines, by)
        for low, high in intervals(plain):
            step = 10.0 ** -len(low.partition(".")[2])
            ends = float(low.replace(",", "")), float(high.replace(",", ""))
            assert any(
                -1e-9 <= row["low"] - ends[0] < step and -1e-9 <= ends[1] - row["high"] < step
                for row in rows
            ), (low, high)
    assert f"interval, {'final' if release.final else 'interim'}" in text


def test_the_overview_says_only_headline_intervals(
    release: Release, alice: Client, headlines: list[Row]
) -> None:
    text = alice.get("/surveys/").content.decode()
    found = intervals(text)
    assert len(found) == 4 and found <= {said(release, row) for row in shown(headlines, None)}
    assert f'class="quiet">{"final" if release.final else "interim"}<' in text


def test_the_last_point_over_time_has_the_headline_interval(
    release: Release, alice: Client, headlines: list[Row]
) -> None:
    for key in KEYS:
        text = alice.get(f"{HERE}trend/", {"question": key}).content.decode()
        expected = {said(release, row) for row in shown(headlines, None, key)}
        earlier = release.survey.releases.filter(number__lt=release.number).exists()
        assert intervals(text) >= expected if earlier else intervals(text) == expected, key


def test_raw_shares_of_an_analysis_have_no_second_interval(
    release: Release, alice: Client, messages: Any
) -> None:
    margins = "question,group,share\njob,Nurse,0.6\njob,Other,0.4\n"
    asked = {"kind": "weights", "margins": margins}
    address = alice.post(f"{HERE}analyses/", asked)["Location"]
    analysis_jobs.work_off(messages)
    text = alice.get(address).content.decode()
    for table in re.findall(r"<thead>.*?</thead>", text, re.DOTALL):
        assert table.count("interval") == 1
    result = alice.get(f"{address}result.json").json()["result"]
    for question in result["questions"]:
        for row in question.get("estimates", []):
            assert row["raw"] is None or row["raw"].keys() == {"estimate", "standard_error"}


# --- Files ----------------------------------------------------------------------------------------


def test_a_figure_says_only_headline_intervals(
    release: Release, alice: Client, headlines: list[Row]
) -> None:
    for key in KEYS:
        for by in (None, *(["job"] if key != "job" else [])):
            name = f"figure-{key}.by-{by}.svg" if by else f"figure-{key}.svg"
            drawn = alice.get(f"{HERE}releases/{release.number}/{name}").getvalue().decode()
            mine = [row for row in shown(headlines, by, key) if row["by"] == by]
            assert intervals(drawn) == {said(release, row) for row in mine}, name
            assert f"intervals, {'final' if release.final else 'interim'}, " in drawn


def records(name: str, data: bytes, path: Path) -> list[Row]:
    """Return the rows of a file of estimates, with the names of its columns."""
    if name.endswith(".csv"):
        return list(csv.DictReader(io.StringIO(data.decode())))
    if name.endswith(".json"):
        rows = json.loads(data)["estimates"]
        return [row | {"interval": row["interval"]["kind"]} for row in rows]
    if name.endswith(".xlsx"):
        sheet = ElementTree.fromstring(ZipFile(io.BytesIO(data)).read("xl/worksheets/sheet1.xml"))
        header, *lines = (
            {
                cell.get("r", "").rstrip("0123456789"): "".join(cell.itertext())
                for cell in row.iterfind(f"{BOOK}c")
            }
            for row in sheet.iter(f"{BOOK}row")
        )
        return [{header[place]: text for place, text in line.items()} for line in lines]
    (path / name).write_bytes(data)
    read = pyreadstat.read_dta if name.endswith(".dta") else pyreadstat.read_sav
    columns, _ = read(str(path / name), output_format="dict")
    return [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("form", ["csv", "json", "xlsx", "dta", "sav", "zip"])
def test_a_file_has_the_headline_interval_and_both_kinds(
    release: Release, alice: Client, headlines: list[Row], form: str, tmp_path: Path
) -> None:
    name = "everything.zip" if form == "zip" else f"estimates.{form}"
    response = alice.get(f"{HERE}releases/{release.number}/{name}")
    data = response.getvalue()
    if form == "zip":
        name = "estimates.csv"
        data = ZipFile(io.BytesIO(data)).read(name)
    found = records(name, data, tmp_path)
    assert len(found) == len(headlines)
    for row, expected in zip(found, headlines, strict=True):
        assert row["question"] == expected["question"]
        assert row["interval"] == ("final" if release.final else "interim")
        for column in ("low", "high", *KINDS["interim"], *KINDS["final"]):
            assert float(row[column]) == pytest.approx(expected[column], abs=1e-12), column
