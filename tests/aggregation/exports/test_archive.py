"""The archive of a finished survey, which explains itself."""

import csv
import hashlib
import io
import json
import os
import re
import stat
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.management import CommandError

from aggregation.exports import archive
from aggregation.models import Batch
from aggregation.releases.collect import collect
from aggregation.releases.publish import make_release
from aggregation.statistics import proportion
from survey import files
from survey.models import Survey
from tests.support import builders
from tests.support.commands import run
from tests.support.exports import EVERY_KIND

pytestmark = pytest.mark.django_db

TWO_BLOCKS: dict[str, Any] = {"blocks": [["q1"], ["q2"]], "ask": 1}


def unzip(file: Path) -> dict[str, str]:
    with ZipFile(file) as found:
        return {name: found.read(name).decode() for name in found.namelist()}


def test_the_published_estimates_follow_from_the_archive_alone(tmp_path: Path) -> None:
    builders.finished(**TWO_BLOCKS)
    run("archive_survey", "small", tmp_path / "small.zip")
    found = unzip(tmp_path / "small.zip")
    design = json.loads(found["design.json"])
    header, *lines = csv.reader(io.StringIO(found["reports.csv"]))
    last = json.loads(found["releases.json"])[-1]
    assert header == ["q1", "q2", "age", "count"] and last["final"]
    compared = 0
    for block in design["blocks"]:
        for question in block["questions"]:
            column, size = header.index(question["key"]), len(question["options"])
            a = Fraction(block["keep"], design["scale"])
            b = (1 - a) / size  # nothing depends on an answer here
            channel = proportion.Channel(float(a + b), float(b))
            assert f"a = {channel.a!r}, b = {channel.b!r}" in found["README.txt"]
            for row in last["estimates"]:
                if row["question"] != question["key"]:
                    continue
                asked = [line for line in lines if line[column]]
                n = sum(int(line[-1]) for line in asked)
                count = sum(
                    int(line[-1]) for line in asked
                    if line[column] == row["option"] and row["group"] in (None, line[2])
                )  # fmt: skip
                assert (row["n"], row["count"]) == (n, count)
                if row["by"]:
                    continue  # test_exports computes these again
                again = proportion.estimate(count, n, channel)
                assert row["estimate"] == pytest.approx(again.value, abs=1e-12)
                assert row["standard_error"] == pytest.approx(again.standard_error, abs=1e-12)
                assert (row["low"], row["high"]) == (row["low_once"], row["high_once"])
                assert (row["low"], row["high"]) == pytest.approx((again.low, again.high), abs=1e-9)
                compared += 1
    assert compared == 2 + 4 + 3


def test_every_kind_of_question_can_be_estimated_from_the_archive_alone(tmp_path: Path) -> None:
    """By the formula in README.txt, with the channels that are listed there."""
    builders.finished(400, **EVERY_KIND)
    run("archive_survey", "small", tmp_path / "small.zip")
    found = unzip(tmp_path / "small.zip")
    header, *lines = csv.reader(io.StringIO(found["reports.csv"]))
    cells = {name: {line[i] for line in lines} for i, name in enumerate(header)}
    assert cells["who"] <= {"", "boss", "colleague", "patient", "prefer-not-to-say", "(not asked)"}
    assert cells["days"] == {"", "0", "1", "2", "prefer-not-to-say"}
    assert "(nothing picked)" in cells["pills"] and "(not asked)" in cells["often"]
    chances: dict[str, dict[str, float]] = {}
    numbers: dict[str, float] = {}
    for line in found["README.txt"].splitlines():
        if name := re.fullmatch(r"  (\w+) \(\w+\)", line):
            question = name[1]
        elif value := re.fullmatch(r"    (\S+|\(.*\))(?: = (\S+))?: a = \S+, b = (\S+)", line):
            chances.setdefault(question, {})[value[1]] = float(value[3])
            if value[2]:
                numbers[value[1]] = float(value[2])
    assert numbers["1"] == 30 and numbers["2"] == 60
    counts: Counter[str] = Counter()
    for line in lines:
        counts[line[header.index("days")]] += int(line[-1])
    n = sum(counts.values()) - counts[""]
    excess = {value: counts[value] / n - b for value, b in chances["days"].items()}
    levels = [value for value in excess if value in numbers]
    mean = sum(numbers[value] * excess[value] for value in levels) / sum(
        excess[value] for value in levels
    )
    rows = json.loads(found["releases.json"])[-1]["estimates"]
    published = next(
        row for row in rows if row["measure"] == "mean" and row["question"] == "days"
    )  # fmt: skip
    assert published["by"] is None and published["estimate"] == pytest.approx(mean, abs=1e-9)


def test_every_file_matches_the_readme(tmp_path: Path) -> None:
    survey = builders.finished()
    out = run("archive_survey", "small", tmp_path / "small.zip")
    found = unzip(tmp_path / "small.zip")
    names = ["survey.json", "design.json", "releases.json", "reports.csv", "README.txt"]
    assert list(found) == [*names, "SHA256SUMS"]
    sums = {name: hashlib.sha256(found[name].encode()).hexdigest() for name in names}
    assert found["SHA256SUMS"] == "".join(f"{sums[name]}  {name}\n" for name in names)
    assert f"sha256:{sums['design.json']}" == survey.design_hash
    whole = hashlib.sha256((tmp_path / "small.zip").read_bytes()).hexdigest()
    assert out[-1] == f"{whole}  {tmp_path / 'small.zip'}"

    told = json.loads(found["survey.json"])
    added = {key: told.pop(key) for key in told.keys() - files.dump(survey).keys()}
    assert told == files.dump(survey)
    assert added == {
        "format": 1, "state": "closed", "opened_on": str(survey.opened_on),
        "closed_on": str(survey.closed_on), "design_hash": survey.design_hash, "reports": 307,
    }  # fmt: skip
    for text in (survey.title, survey.design_hash, str(survey.closed_on), *names[:4]):
        assert text in found["README.txt"]
    assert "{" not in found["README.txt"]


def test_reports_are_counted_and_sorted(tmp_path: Path) -> None:
    builders.finished(**TWO_BLOCKS)
    run("archive_survey", "small", tmp_path / "small.zip")
    _, *lines = csv.reader(io.StringIO(unzip(tmp_path / "small.zip")["reports.csv"]))
    stored: Counter[tuple[str, ...]] = Counter()
    keys = (["no", "yes"], ["red", "green", "blue", "prefer-not-to-say"],
            ["under-30", "30-and-over", "prefer-not-to-say"])  # fmt: skip
    for batch in Batch.objects.all():
        for report in builders.rows(batch).tolist():
            stored[tuple("" if i == 255 else k[i] for k, i in zip(keys, report, strict=True))] += 1
    assert {tuple(line[:-1]): int(line[-1]) for line in lines} == stored
    places = [[k.index(v) if v else 255 for k, v in zip(keys, line, strict=False)]
              for line in lines]  # fmt: skip
    assert places == sorted(places)


def test_releases_are_those_of_the_api(tmp_path: Path) -> None:
    survey = builders.finished(40)
    survey.results_public = True
    survey.save()
    run("archive_survey", "small", tmp_path / "small.zip")
    releases = json.loads(unzip(tmp_path / "small.zip")["releases.json"])
    assert [one["release"] for one in releases] == [1, 2]
    for one in releases:
        address = f"/api/v1/surveys/small/estimates/?release={one['release']}"
        assert one == builders.client().get(address).json()


def test_the_same_survey_gives_the_same_bytes(tmp_path: Path) -> None:
    builders.finished()
    for name in ("a.zip", "b.zip"):
        run("archive_survey", "small", tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_only_its_owner_can_read_the_archive(tmp_path: Path) -> None:
    builders.finished()
    run("archive_survey", "small", tmp_path / "small.zip")
    assert stat.S_IMODE((tmp_path / "small.zip").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["small.zip"]


@pytest.mark.parametrize("people", [0, 5])
def test_a_survey_that_never_reached_a_crowd_is_archived_too(tmp_path: Path, people: int) -> None:
    survey = builders.opened()
    builders.send(survey, people)
    survey.close()
    make_release(survey)
    run("archive_survey", "small", tmp_path / "small.zip")
    found = unzip(tmp_path / "small.zip")
    assert json.loads(found["releases.json"]) == []
    assert found["reports.csv"] == "q1,q2,age,count\n"
    assert "fewer reports than a crowd" in found["README.txt"]


class TestRefused:
    def test_an_unfinished_survey_is_not_archived(self, tmp_path: Path) -> None:
        file = tmp_path / "small.zip"
        survey = builders.draft()
        for change, why in (
            (lambda: None, "is a draft"),
            (survey.open, "close it first"),
            (lambda: (builders.send(survey, 30), survey.close()), "Reports still wait"),
            (lambda: collect(survey), "release is still to be made"),
        ):
            change()
            with pytest.raises(CommandError, match=why):
                run("archive_survey", "small", file)
        make_release(survey)
        run("archive_survey", "small", file)

    def test_another_file_is_not_overwritten(self, tmp_path: Path) -> None:
        builders.finished()
        file = tmp_path / "small.zip"
        file.write_text("precious")
        with pytest.raises(CommandError, match="already exists"):
            run("archive_survey", "small", file)
        assert file.read_text() == "precious" and os.listdir(tmp_path) == ["small.zip"]

    def test_two_archives_are_not_written_at_once(self, tmp_path: Path) -> None:
        builders.finished()
        (tmp_path / "small.zip.part").write_text("half")
        with pytest.raises(CommandError, match="part already exists"):
            run("archive_survey", "small", tmp_path / "small.zip")
        assert (tmp_path / "small.zip.part").read_text() == "half"

    def test_an_unknown_folder_or_survey_is_refused(self, tmp_path: Path) -> None:
        builders.finished()
        with pytest.raises(CommandError, match="cannot be written"):
            run("archive_survey", "small", tmp_path / "nowhere" / "small.zip")
        with pytest.raises(CommandError, match="no survey"):
            run("archive_survey", "other", tmp_path / "small.zip")

    def test_a_failed_archive_leaves_no_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        builders.finished()

        def full(survey: Survey) -> bytes:
            raise OSError("no space left")

        monkeypatch.setattr(archive, "_readme", full)
        with pytest.raises(CommandError, match="no space left"):
            run("archive_survey", "small", tmp_path / "small.zip")
        assert os.listdir(tmp_path) == []


def test_a_survey_with_hostile_texts_is_archived_completely(tmp_path: Path) -> None:
    question = builders.FILE["questions"][1]
    options = ['=HYPERLINK("http://x")', "a,b;c\td", "-2+3", 'say "hi"\nthere', "{0}"]
    survey = builders.finished(
        40, title="{title} %s", questions=[question | {"options": options}], blocks=[["q2"]]
    )
    file = tmp_path / "small.zip"
    run("archive_survey", "small", file)
    found = unzip(file)
    assert found["README.txt"].startswith("{title} %s\n")
    cells = {value for line in csv.reader(io.StringIO(found["reports.csv"])) for value in line}
    assert cells >= {option.key for option in survey.frozen_design().questions[0].options}
    assert not [value for value in cells if value.startswith(("=", "+", "-", "@"))]
    archive.check(survey, file)


class TestCheck:
    @pytest.fixture
    def survey(self) -> Survey:
        return builders.finished()

    def rewrite(self, file: Path, name: str, content: str | None, honest: bool = False) -> None:
        """Change or omit one file; `honest` also updates the checksums."""
        found = unzip(file)
        found.pop(name, None)
        if content is not None:
            found[name] = content
        if honest:
            found.pop("SHA256SUMS")
            sums = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in found.items()}
            found["SHA256SUMS"] = "".join(f"{sum}  {name}\n" for name, sum in sums.items())
        with ZipFile(file, "w") as changed:
            for each, text in found.items():
                changed.writestr(each, text)

    def test_a_whole_archive_passes(self, survey: Survey, tmp_path: Path) -> None:
        made = archive.write(survey, tmp_path / "a.zip")
        assert archive.check(survey, tmp_path / "a.zip") == made

    def test_an_archive_with_another_readme_passes(self, survey: Survey, tmp_path: Path) -> None:
        archive.write(survey, tmp_path / "a.zip")
        self.rewrite(tmp_path / "a.zip", "README.txt", "Older words.", honest=True)
        archive.check(survey, tmp_path / "a.zip")

    @pytest.mark.once  # of files
    @pytest.mark.parametrize(
        ("name", "content", "honest", "why"),
        [
            ("reports.csv", "q1,q2,age,count\n", False, "is damaged"),
            ("reports.csv", "q1,q2,age,count\n", True, "reports.csv in"),
            ("releases.json", "[]", True, "releases.json in"),
            ("design.json", "{}", True, "design.json in"),
            ("README.txt", None, True, "does not contain the files"),
            ("more.txt", "x", True, "does not contain the files"),
            ("SHA256SUMS", None, False, "is damaged"),
        ],
    )
    def test_a_changed_archive_fails(
        self, survey: Survey, tmp_path: Path, name: str, content: str, honest: bool, why: str
    ) -> None:
        archive.write(survey, tmp_path / "a.zip")
        self.rewrite(tmp_path / "a.zip", name, content, honest)
        with pytest.raises(archive.ArchiveError, match=why):
            archive.check(survey, tmp_path / "a.zip")

    def test_the_archive_of_another_survey_fails(self, survey: Survey, tmp_path: Path) -> None:
        other = builders.finished(slug="other")
        archive.write(other, tmp_path / "a.zip")
        with pytest.raises(archive.ArchiveError, match="survey.json in .* does not match 'small'"):
            archive.check(survey, tmp_path / "a.zip")

    def test_a_cut_missing_or_foreign_file_fails(self, survey: Survey, tmp_path: Path) -> None:
        archive.write(survey, tmp_path / "a.zip")
        whole = (tmp_path / "a.zip").read_bytes()
        for content in (whole[:-30], whole[: len(whole) // 2], b"", b"hello"):
            (tmp_path / "b.zip").write_bytes(content)
            with pytest.raises(archive.ArchiveError, match="cannot be read"):
                archive.check(survey, tmp_path / "b.zip")
        with pytest.raises(archive.ArchiveError, match="cannot be read"):
            archive.check(survey, tmp_path / "c.zip")

    def test_every_damaged_byte_of_the_contents_is_noticed(
        self, survey: Survey, tmp_path: Path
    ) -> None:
        archive.write(survey, tmp_path / "a.zip")
        whole = (tmp_path / "a.zip").read_bytes()
        for place in range(60, len(whole) // 2, 97):
            (tmp_path / "b.zip").write_bytes(
                whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
            )
            try:
                archive.check(survey, tmp_path / "b.zip")
            except archive.ArchiveError:
                continue
            assert unzip(tmp_path / "b.zip") == unzip(tmp_path / "a.zip")
