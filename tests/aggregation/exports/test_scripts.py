"""The scripts that compute a release again, and the programs that debias it in Stata and SPSS."""

import csv
import io
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import pytest

from aggregation.exports import files
from aggregation.models import Release
from aggregation.releases.publish import make_release
from aggregation.statistics import mean, proportion, sequence
from aggregation.statistics.channel import Channel
from survey import simulation
from tests.support import builders, stata
from tests.support.exports import EVERY_KIND, OF_REPORTS, get, hostile, table

pytestmark = pytest.mark.django_db

LIMITS = ["low_once", "high_once", "low_always", "high_always"]
TWO_BLOCKS: dict[str, Any] = {"blocks": [["q1"], ["q2"]], "ask": 1}
PYTHON = [sys.executable, "-I", "estimate.py"]
R = ["Rscript", "--vanilla", "estimate.R"]
SCRIPTS = [
    pytest.param(PYTHON, id="Python"),
    # R takes a while to start.
    pytest.param(R, id="R", marks=[pytest.mark.r, pytest.mark.slow]),
]


def unpack(data: bytes, folder: Path) -> Path:
    with ZipFile(io.BytesIO(data)) as bundle:
        assert bundle.testzip() is None
        bundle.extractall(folder)  # noqa: S202
    return folder


def unpacked(release: Release, folder: Path) -> Path:
    """Put all files of a release but its figures into a folder."""
    export = files.Export(release, "http://testserver/")
    for name, file in files.FILES.items():
        if name != files.EVERYTHING:
            (folder / name).write_bytes(b"".join(file.make(export)))
    return folder


def run(command: list[str], folder: Path) -> tuple[int, list[dict[str, str]], str]:
    """Run a script in the folder where it was unpacked."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, table(done.stdout.encode()), done.stderr


TRUTH = {
    "harassed": [0.7, 0.3], "days": [0.8, 0.2], "mood": [0.2, 0.3, 0.5],
    "pills": [0.5, 0.3, 0.1, 0.1, 0.0], "more": [0.5, 0.3, 0.1, 0.1],
}  # fmt: skip


def released(people: int, **changes: Any) -> Release:
    """Return the release of a survey with every kind of question; nothing is too rare to tell."""
    survey = builders.opened(**EVERY_KIND | changes)
    truth = {key: TRUTH[key] for key in survey.frozen_design().places.keys() & TRUTH.keys()}
    builders.send(survey, people, **truth)
    survey.close()
    found = make_release(survey)
    assert found
    return found


def answered(people: int = 90) -> Release:
    """Return a release by two background questions; nobody reports one of the groups."""
    background = [
        {"key": "age", "text": "Age?", "options": ["Young", "Old"]},
        {"key": "town", "text": "Town?", "options": ["A", "B", "C"], "epsilon": 2},
    ]
    survey = builders.opened(background=background, **TWO_BLOCKS)
    design = survey.frozen_design()
    sent = [
        builders.report(
            design, blocks={f"b{1 + i % 2}": [i % 3 % 2], "g1": [i % 2], "g2": [i // 2 % 3 % 2]}
        )
        for i in range(people)
    ]
    simulation.accept("small", {"reports": sent})
    survey.close()
    found = make_release(survey)
    assert found and found.reports == people
    return found


NAMED = "{row.question} {row.measure} by {row.by}"
MEANS_OF_NUMBERS = ["days mean", "days mean by job"]
# How many reports of a group are "not asked" is not known: the gate is in other blocks as well.
APART = [
    f"{question} {measure} by job"
    for question, measures in (
        ("who", ("share", "share_of_concerned")), ("often", ("share", "share_of_concerned", "mean"))
    )
    for measure in measures
]  # fmt: skip


def noisy() -> Release:
    """Return a release by groups with much noise: noise of the others hides some people asked."""
    town = {"key": "town", "text": "Town?", "options": [*"ABCD"], "epsilon": 1}
    some = [
        one for one in EVERY_KIND["questions"] if one["key"] in "harassed who often mood".split()
    ]
    blocks = [["harassed", "who", "often"], ["mood"]]
    return released(500, questions=some, background=[town], blocks=blocks, ask=2)


@pytest.mark.parametrize("command", SCRIPTS)
class TestComputedAgain:
    def check(
        self, command: list[str], folder: Path, release: Release, needed: Iterable[str] = ()
    ) -> None:
        """Run a script; `needed` are the estimates for which it says that it needs the reports."""
        status, found, told = run(command, folder)
        assert status == 0 and "estimates: as published" in told, told
        more = re.search(r"(\d+) more need reports.csv: (.*)\.\n", told)
        assert set(more[2].split(", ") if more else ()) == set(needed)
        again = {tuple(line[name] for name in KEYS): line for line in found}
        rows = [row for row in release.estimates.all() if row.n]
        if more:
            rest = [row for row in rows if NAMED.format(row=row).removesuffix(" by ") in needed]
            assert len(rest) == int(more[1])
            rows = [row for row in rows if row not in rest]
        assert len(rows) == len(again) == len(found) > 5
        for row in rows:
            line = again[row.question, row.measure, row.option, row.by, row.group]
            for name, value in {
                "estimate": row.value, "standard_error": row.standard_error,
                **{name: getattr(row, name) for name in LIMITS},
            }.items():  # fmt: skip
                if value is None:
                    assert line[name] == ""
                else:
                    assert float(line[name]) == pytest.approx(value, rel=1e-6, abs=1e-6)

    @pytest.mark.parametrize(
        ("people", "changes"),
        [
            (2500, {}),
            (2500, {"population": 4000}),
            (120, {"population": 120}),  # everybody took part
            (60, {}),  # too few to tell much
            (400, {"blocks": [["harassed", "who", "often"], ["days", "mood"], ["pills"], ["more"]],
                   "ask": 2}),
            (400, {"blocks": [["harassed", "who", "often", "days"], ["mood"], ["pills"], ["more"]],
                   "ask": 1, "epsilon": 0.7, "population": 500}),
        ],
        ids=["open", "population", "census", "few", "two blocks", "large block"],
    )  # fmt: skip
    def test_every_kind_of_estimate_and_interval_follows_from_the_reports(
        self, command: list[str], tmp_path: Path, people: int, changes: dict[str, Any]
    ) -> None:
        release = released(people, **changes)
        measures = {row.measure for row in release.estimates.all()}
        assert measures == {"share", "share_of_concerned", "mean", "picks"}
        self.check(command, unpacked(release, tmp_path), release)

    @pytest.mark.parametrize(
        ("people", "changes", "needed"),
        [
            (2500, {"population": 4000}, [*MEANS_OF_NUMBERS, *APART]),
            (120, {"population": 120}, [*MEANS_OF_NUMBERS, *APART]),
            # The gate is in the same block as its follow-ups, and not everybody was asked.
            (400, {"blocks": [["harassed", "who", "often"], ["days", "mood"], ["pills"], ["more"]],
                   "ask": 2}, MEANS_OF_NUMBERS),
            # Everybody was asked everything.
            (400, {"blocks": [["harassed", "who", "often", "days"], ["mood"], ["pills"], ["more"]],
                   "ask": 4}, MEANS_OF_NUMBERS),
        ],
        ids=["population", "census", "one block", "all asked"],
    )  # fmt: skip
    def test_without_reports_estimates_follow_from_their_public_counts(
        self,
        command: list[str],
        tmp_path: Path,
        people: int,
        changes: dict[str, Any],
        needed: list[str],
    ) -> None:
        release = released(people, **changes)
        folder = unpacked(release, tmp_path)
        for name in OF_REPORTS:
            (folder / name).unlink()
        self.check(command, folder, release, needed)

    def test_without_reports_and_estimates_there_is_nothing_to_compute(
        self, command: list[str], tmp_path: Path
    ) -> None:
        folder = unpacked(answered(), tmp_path)
        (folder / "reports.csv").unlink()
        (folder / "estimates.csv").unlink()
        status, found, told = run(command, folder)
        assert (status, found) == (1, []) and "Put reports.csv or estimates.csv into" in told

    def test_a_number_with_two_levels_follows_from_the_reports(
        self, command: list[str], tmp_path: Path
    ) -> None:
        days = {"key": "days", "text": "?", "kind": "number", "least": -20, "most": 180_000}
        release = released(
            300, questions=[days], blocks=[["days"]], epsilon=0.9, population=301
        )  # fmt: skip
        assert release.survey.frozen_design().questions[0].size == 2
        self.check(command, unpacked(release, tmp_path), release)

    @pytest.mark.parametrize("number", [1, 2])
    def test_estimates_follow_from_the_reports(
        self, command: list[str], tmp_path: Path, number: int
    ) -> None:
        alice = builders.client(builders.alice(builders.finished(**TWO_BLOCKS)))
        folder = unpack(get(alice, "everything.zip", number=number), tmp_path)
        self.check(command, folder, Release.objects.get(number=number))

    def test_group_estimates_follow_from_the_reports(
        self, command: list[str], tmp_path: Path
    ) -> None:
        release = answered()
        rows = release.estimates.filter(by="town")
        assert rows.filter(standard_error=None).exists()  # too few to tell
        assert rows.exclude(standard_error=None).exists()
        self.check(command, unpacked(release, tmp_path), release)

    def test_nothing_but_the_reports_and_the_codebook_is_needed(
        self, command: list[str], tmp_path: Path
    ) -> None:
        folder = unpacked(answered(), tmp_path)
        (folder / "estimates.csv").unlink()
        status, found, told = run(command, folder)
        assert status == 0 and len(found) > 5 and "no estimates.csv to compare" in told

    @pytest.mark.once  # the files are on the disk by then
    @pytest.mark.parametrize(
        ("name", "column"),
        [("reports.csv", "count"), ("estimates.csv", "estimate"), ("estimates.csv", "low_once"),
         ("estimates.csv", "high_always"), ("codebook.csv", "b")],
    )  # fmt: skip
    def test_a_changed_file_is_noticed(
        self, command: list[str], tmp_path: Path, name: str, column: str
    ) -> None:
        file = unpacked(answered(), tmp_path) / name
        lines = list(csv.reader(io.StringIO(file.read_text())))
        place = lines[0].index(column)
        changed = 999 if name == "reports.csv" else float(lines[1][place]) + 1e-4
        lines[1][place] = str(changed)
        with file.open("w", newline="") as out:
            csv.writer(out).writerows(lines)
        status, _, told = run(command, tmp_path)
        assert status == 1 and "NOT as published" in told

    def test_the_script_runs_with_hostile_texts(self, command: list[str], tmp_path: Path) -> None:
        survey = hostile()
        alice = builders.client(builders.alice(survey))
        folder = unpack(get(alice, "everything.zip"), tmp_path)
        self.check(command, folder, Release.objects.get(number=2))


KEYS = ("question", "measure", "option", "by", "group")


# --- The intervals of the Python script -----------------------------------------------------------


@pytest.fixture(scope="module")
def scripts() -> dict[str, ModuleType]:
    """Return the modules as the script imports them, not as part of the program."""
    sys.path.insert(0, str(files.FOLDER))
    try:
        import means
        import shares

        return {"means": means, "shares": shares}
    finally:
        sys.path.remove(str(files.FOLDER))


def surveys(number: int, seed: int) -> list[tuple[int, int, float, float]]:
    """Return counts, sizes and channels (b and c) of many kinds, impossible counts included."""
    random = Random(seed)
    found = []
    for _ in range(number):
        n = random.choice([1, 2, 5, 20, 100, 500, 3000])
        c = random.choice([0.02, 0.2, 0.5, 0.8, 0.99, random.random()])
        b = (1 - c) * random.choice([0.5, 0.25, 0.02, random.random()])
        share = random.random() ** 2
        count = sum(random.random() < b + c * share for _ in range(n))
        found.append((random.choice([count, count, random.randint(0, n)]), n, b, c))
    return found


def test_limits_for_shares_are_those_of_the_program(scripts: dict[str, ModuleType]) -> None:
    shares = scripts["shares"]
    for count, n, b, c in surveys(150, seed=1):
        channel = Channel(b + c, b)
        once = proportion.interval(count, n, channel)
        assert shares.share_once(count, n, b, c, 0.95) == pytest.approx(once, abs=1e-9)
        always = sequence.interval(count, n, channel)
        assert shares.share_always(count, n, b, c, 0.95) == pytest.approx(always, abs=1e-9)
        for population in (n, n + 1, 3 * n) if n <= 500 else ():
            found = proportion.estimate(count, n, channel, population=population)
            again = shares.share_of_population(count, n, b, c, 0.95, population)
            assert again == pytest.approx((found.low, found.high), abs=1e-9)


def test_limits_for_means_are_those_of_the_program(scripts: dict[str, ModuleType]) -> None:
    means, random = scripts["means"], Random(2)
    for _ in range(120):
        values, n = random.randint(3, 6), random.choice([2, 10, 40, 300, 2000])
        scores: list[float | None] = sorted(random.sample(range(50), values))  # type: ignore[assignment]
        if random.random() < 0.5:
            scores[-1] = None
        c, stray = random.choice([0.1, 0.5, 0.9]), [random.random() for _ in scores]
        stray = [(1 - c) * one / sum(stray) for one in stray]
        truth = [random.random() ** 3 for _ in scores]
        rates = [b + c * one / sum(truth) for b, one in zip(stray, truth, strict=True)]
        counts = [0] * values
        for value in random.choices(range(values), rates, k=n):
            counts[value] += 1
        channels = [Channel(b + c, b) for b in stray]
        population = random.choice([None, n, 2 * n])
        found = mean.estimate(counts, scores, channels, population=population)
        s = means.Scores.of(scores, c, stray)
        again = means.mean_once(counts, s, 0.95, population, False)
        assert (again.low, again.high) == pytest.approx((found.low, found.high), abs=1e-8)
        if found.clear:
            assert again.value == pytest.approx(found.value, abs=1e-9)
            assert again.error == pytest.approx(found.standard_error, abs=1e-9)
        always = mean.sequence(counts, scores, channels)
        assert means.mean_always(counts, s, 0.95) == pytest.approx(always, abs=1e-8)


# --- Programs for Stata and SPSS ------------------------------------------------------------------

Key = tuple[str, str, str, str, str]
Listed = dict[Key, tuple[float, float, float]]  # n, estimate, standard error


def check_listed(listed: Listed, release: Release, tolerance: float) -> None:
    """Compare with all estimates, except those of groups that no report names."""
    rows = {
        (row.question, row.measure, row.option, row.by, row.group): row
        for row in release.estimates.all()
    }
    assert rows.keys() >= listed.keys()
    assert all(rows[key].value is None for key in rows.keys() - listed.keys())
    assert {key[0] for key in listed} == {key[0] for key in rows}
    background = [one.key for one in release.survey.frozen_design().background]
    assert {key[3] for key in listed} == {"", *background} and len(listed) > 20
    for key, (n, value, error) in listed.items():
        row = rows[key]
        assert n == row.n
        if row.value is None:
            assert math.isnan(value) and math.isnan(error)
            continue
        assert value == pytest.approx(row.value, abs=tolerance), key
        assert error == pytest.approx(row.standard_error, abs=tolerance), key


def listed_from(lines: Iterable[dict[str, Any]]) -> Listed:
    def number(found: Any) -> float:
        return float(found) if str(found).strip() not in (".", "") else math.nan

    return {
        tuple(line[name].strip() for name in SHOWN[:5]): tuple(number(line[x]) for x in SHOWN[5:])  # type: ignore[misc]
        for line in lines
    }


SHOWN = "question measure option grouped_by group n estimate standard_error".split()


def in_stata(folder: Path) -> Listed:
    """Return what our reading of Stata lists."""
    reports = table((folder / "reports.csv").read_bytes())
    return listed_from(stata.run((folder / "reports.do").read_text(), reports))


def in_spss(folder: Path) -> Listed:
    """Return what PSPP lists; it stands in for SPSS."""
    done = subprocess.run(
        ["pspp", "-O", "format=csv", "reports.sps"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and "error:" not in done.stdout, done.stderr + done.stdout[-2000:]
    start = done.stdout.index("Table: Data List")
    lines = list(csv.DictReader(io.StringIO(done.stdout[start:].partition("\n")[2])))
    assert list(lines[0]) == SHOWN
    return listed_from(lines)


DEBIASED: list[Callable[[], Release]] = [
    lambda: released(1500),
    lambda: released(60),  # too few concerned to tell, in some cases
    lambda: released(400, blocks=[], ask=None),
    answered,  # with two background questions, and a group that nobody reports
    noisy,
    lambda: released(300, background=[]),
]


@pytest.mark.parametrize("made", DEBIASED)
def test_the_program_for_stata_debiases_every_kind(
    made: Callable[[], Release], tmp_path: Path
) -> None:
    release = made()
    folder = unpacked(release, tmp_path)
    program = (folder / "reports.do").read_text()
    assert max(map(len, program.splitlines())) < 250
    check_listed(in_stata(folder), release, 1e-9)


@pytest.mark.slow
@pytest.mark.pspp
@pytest.mark.parametrize("made", DEBIASED)
def test_the_program_for_spss_debiases_every_kind(
    made: Callable[[], Release], tmp_path: Path
) -> None:
    release = made()
    folder = unpacked(release, tmp_path)
    assert max(map(len, (folder / "reports.sps").read_bytes().splitlines())) < 250
    check_listed(in_spss(folder), release, 1e-7)


@pytest.mark.slow
@pytest.mark.pspp
def test_the_programs_run_with_hostile_texts_and_keys(tmp_path: Path) -> None:
    survey = hostile()
    release = Release.objects.get(survey=survey, number=2)
    folder = unpacked(release, tmp_path)
    check_listed(in_spss(folder), release, 1e-7)
    program = (folder / "reports.do").read_text()
    assert "`=" not in program and "$" not in program  # nothing is a macro
    check_listed(in_stata(folder), release, 1e-9)
