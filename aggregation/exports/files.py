"""The files of a release: estimates, codebook, scripts, citation, figures and reports.

Every file is made when it is requested, in pieces, so that a large one does not fill the memory. In
a large survey, a worker makes the files with reports (large_exports.py). All files are computed
from randomized reports and are as private as they are. `File.public` says who may download which,
and the callers of delivery.py check it.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from aggregation.exports import (
    citation,
    codebook,
    estimate_files,
    figures,
    reports,
    spss,
    stata,
    syntax,
)
from aggregation.exports.columns import Column, Piece, Table
from aggregation.models import Release
from aggregation.releases.choice import IntervalChoice
from survey.models import Action, Survey
from survey.spreadsheets import csv_parts, workbook

FOLDER = Path(__file__).parent / "scripts"
SCRIPTS = [f"{name}.{form}" for form in ("py", "R") for name in ("estimate", "means", "shares")]


@dataclass(frozen=True)
class Export:
    """A release, and the address where it can be found."""

    release: Release
    address: str
    # Called with the progress if a worker writes the reports; raises if nobody wants them.
    watch: Callable[[float], None] = lambda _: None
    choice: IntervalChoice | None = None  # the intervals of figures; None: the default of the page

    @property
    def intervals(self) -> IntervalChoice:
        return self.choice or IntervalChoice.headline(self.release.final)

    @property
    def sentence(self) -> str:
        return citation.sentence(self.release, self.address)

    @cached_property
    def lines(self) -> reports.Lines:
        """The reports, merged only once for all files that contain them."""
        return reports.Lines(self.release, self.watch)


@dataclass(frozen=True)
class File:
    """A kind of file, and how it is made for a release."""

    content_type: str
    make: Callable[[Export], Iterable[bytes]]
    public: bool = True  # for anyone, if the results are public
    may_be_large: bool = False  # because it contains the reports

    @property
    def action(self) -> Action:
        """The action that people must be allowed to download it."""
        return "see" if self.public else "download"


# --- Estimates and codebook -----------------------------------------------------------------------


def _estimates_xlsx(export: Export) -> Iterable[bytes]:
    release = export.release
    both = {"Estimates": estimate_files.lines(release), "Codebook": codebook.lines(release.survey)}
    return workbook(both, release.made_at)


def _estimates_table(export: Export) -> Table:
    return estimate_files.table(export.release, export.sentence)


def _json(value: Any) -> list[bytes]:
    return [(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()]


def _script(name: str) -> File:
    return File(TEXT, lambda export: [(FOLDER / name).read_bytes()])


def _citation(export: Export) -> Iterable[bytes]:
    return [citation.bibtex(export.release, export.address).encode()]


def _figure(question: str, by: str, export: Export) -> Iterable[bytes]:
    return [figures.draw_one(export.release, question, by, export.intervals)]


# --- Reports --------------------------------------------------------------------------------------


def _reports_csv(export: Export) -> Iterator[bytes]:
    found = codebook.variables(export.release.survey.frozen_design())
    yield from reports.csv_parts(export.lines, [variable.name for variable in found])


WEIGHT = "Each row is a distinct report; count says how many there are: a frequency weight"


def _reports_table(export: Export) -> Table:
    """Return the reports for statistics programs: the lines of reports.csv."""
    release, lines = export.release, export.lines
    survey = release.survey
    pieces: Iterator[Piece] = ([*values.T, counts] for values, counts in lines.pieces())
    return Table(
        survey.title,
        release.made_at,
        [export.sentence, f"{WEIGHT}.", *codebook.notes(survey)],
        [
            *codebook.columns(survey.frozen_design()),
            Column("count", "whole", "How many respondents sent this report"),
        ],
        lines.rows,
        pieces,
        weight="count",
    )


# --- Everything -----------------------------------------------------------------------------------

EXPLANATION = """\
{survey.title}: release {release.number} of {release.made_at:%Y-%m-%d}

{cite}

estimates.csv, .json, .xlsx, .dta, .sav   What was published. "measure" says
               what is estimated: "share" of people, "share_of_concerned" (among
               those whom a follow-up concerns), "mean" of a number or of scores,
               or "picks" (the mean number of options picked). "estimate" may
               leave the possible range: compute with it. "bounded" does not:
               show it. Rows with "by" and "group" are about people in a group;
               there, "n" are the reports to both questions, and "count" those
               with this option and this group as reported.
codebook.json, .csv   Every question, background questions included: its kind,
               what its values mean, the blocks that it is in, and the channel
               (a, b) of every value; and the formulas of the estimates.
estimate.py, means.py, shares.py and estimate.R, means.R, shares.R   Compute the
               published estimates and intervals again from reports.csv and the
               codebook: python3 estimate.py, Rscript estimate.R. They need only
               Python 3.10 or base R. Without reports.csv they use the counts in
               estimates.csv, which suffice for all but means of numbers and some
               follow-ups by group; they say for which.
citation.bib   How to cite this release.
figures        Every question as a picture, of everybody and by each background
               question: SVG, which every browser and drawing program opens.
reports.csv    The reports. Every answer in it, background answers included, may
               have been changed at random before it left its sender's device,
               so no line shows what anybody thinks or who sent it. A line is
               one distinct report, "count" says how many sent it, and the lines
               are sorted: in which order they came is not known. Values are
               those of the codebook: positions of options or levels, and one
               more for "not asked" or "nothing picked". Empty: this block of
               questions was not asked.
reports.dta, reports.sav   The same lines for Stata (14 or later) and SPSS, with
               labels, which begin with "[randomized]", and the channels of every
               variable. Stata: tabulate q [fweight=count]. SPSS weights by count
               by itself. Frequencies of reports are not results.
reports.do, reports.sps   Compute results from them in Stata and SPSS: shares,
               means, numbers of picks and shares of those concerned, over
               everybody and by group, each with its standard error, and list
               them.

In CSV files, an apostrophe before = + - @ or another apostrophe, at the
beginning of a text or after a semicolon or line break in it, is not part of the
text; it keeps spreadsheets from computing.
"""


def _explanation(export: Export) -> Iterable[bytes]:
    release = export.release
    text = EXPLANATION.format(survey=release.survey, release=release, cite=export.sentence)
    return [text.encode()]


class _Pipe:
    """A file to which a zip is written while it is read."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._written.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def take(self) -> bytes:
        found = b"".join(self._written)
        self._written.clear()
        return found


def entry(name: str, mode: int) -> ZipInfo:
    """Return the header of a file in a zip, without a time: equal content has equal bytes."""
    info = ZipInfo(name)
    info.compress_type, info.external_attr = ZIP_DEFLATED, mode << 16
    return info


def _everything(export: Export) -> Iterator[bytes]:
    pipe = _Pipe()
    others = {name: file for name, file in FILES.items() if name != EVERYTHING}
    export.lines.formats = sum(file.may_be_large for file in others.values())
    with ZipFile(pipe, "w") as archive:  # type: ignore[call-overload]
        for name, file in others.items():
            with archive.open(entry(name, 0o644), "w", force_zip64=True) as member:
                for part in file.make(export):
                    member.write(part)
                    yield pipe.take()
        for name, figure in figures.draw_all(export.release, export.intervals):
            archive.writestr(entry(f"figures/{name}", 0o644), figure)
            yield pipe.take()
    yield pipe.take()


def _with_reports(content_type: str, make: Callable[[Export], Iterable[bytes]]) -> File:
    return File(content_type, make, public=False, may_be_large=True)


EVERYTHING = "everything.zip"
CSV, TEXT = "text/csv; charset=utf-8; header=present", "text/plain; charset=utf-8"
JSON, STATA, SPSS = "application/json", "application/x-stata-dta", "application/x-spss-sav"
FILES = {
    "README.txt": File(TEXT, _explanation, public=False),
    "estimates.csv": File(CSV, lambda export: csv_parts(estimate_files.lines(export.release))),
    "estimates.json": File(JSON, lambda export: _json(estimate_files.document(export.release))),
    "estimates.xlsx": File(
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", _estimates_xlsx
    ),
    "estimates.dta": File(STATA, lambda export: stata.parts(_estimates_table(export))),
    "estimates.sav": File(SPSS, lambda export: spss.parts(_estimates_table(export))),
    "codebook.json": File(JSON, lambda export: _json(codebook.document(export.release.survey))),
    "codebook.csv": File(CSV, lambda export: csv_parts(codebook.lines(export.release.survey))),
    **{name: _script(name) for name in SCRIPTS},
    "reports.do": File(TEXT, lambda export: syntax.stata_program(export.release.survey)),
    "reports.sps": File(TEXT, lambda export: syntax.spss_program(export.release.survey)),
    "citation.bib": File("application/x-bibtex; charset=utf-8", _citation),
    "reports.csv": _with_reports(CSV, _reports_csv),
    "reports.dta": _with_reports(STATA, lambda export: stata.parts(_reports_table(export))),
    "reports.sav": _with_reports(SPSS, lambda export: spss.parts(_reports_table(export))),
    EVERYTHING: _with_reports("application/zip", _everything),
}


def find(survey: Survey, name: str) -> File | None:
    """Return the file of this name, or None if a release of the survey has none."""
    if not name.startswith("figure-") or survey.state == Survey.State.DRAFT:
        return FILES.get(name)
    known = figures.names(survey.frozen_design()).get(name)
    return File("image/svg+xml", partial(_figure, *known)) if known else None
