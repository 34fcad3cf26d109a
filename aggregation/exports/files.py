"""The files of a release: its estimates, what they mean, how to compute and to cite them, reports.

Every file is made of the release when it is asked for, in pieces, so that a large one does not
stand in memory; a worker makes those of a large survey (copies.py). All of them are computed from
randomized reports, so there is nothing to hide in any. Who may have which is said here
(`File.public`) and checked in downloads.py.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from aggregation.exports import citation, codebook, estimate_files, figures, reports, spss, stata
from aggregation.exports.columns import Column, Piece, Table
from aggregation.models import Release
from aggregation.releases.intervals import Choice
from survey import spreadsheets
from survey.models import Action, Survey

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True)
class Export:
    """A release, and the address at which it can be found again."""

    release: Release
    address: str
    # Told how much of the reports is written, where a worker does; raises if nobody wants it.
    watch: Callable[[float], None] = lambda _: None
    choice: Choice | None = None  # which intervals figures have; none: those of the page

    @property
    def intervals(self) -> Choice:
        return self.choice or Choice.default(self.release)

    @property
    def sentence(self) -> str:
        return citation.sentence(self.release, self.address)

    @cached_property
    def lines(self) -> reports.Lines:
        """The reports, merged once for all files of them."""
        return reports.Lines(self.release, self.watch)


@dataclass(frozen=True)
class File:
    """One file of an export, and how it is made."""

    content_type: str
    make: Callable[[Export], Iterable[bytes]]
    public: bool = True  # for anyone, where the results are
    may_be_large: bool = False  # it holds the reports

    @property
    def action(self) -> Action:
        """What one must be allowed to do with the survey to have it."""
        return "see" if self.public else "download"


# --- Estimates, what they mean, and how to cite them ----------------------------------------------


def _estimates_csv(export: Export) -> Iterable[bytes]:
    return spreadsheets.csv_parts(estimate_files.lines(export.release))


def _estimates_json(export: Export) -> Iterable[bytes]:
    return [_json(estimate_files.document(export.release))]


def _estimates_xlsx(export: Export) -> Iterable[bytes]:
    release = export.release
    both = {"Estimates": estimate_files.lines(release), "Codebook": codebook.lines(release.survey)}
    return spreadsheets.workbook(both, release.made_at)


def _estimates_dta(export: Export) -> Iterator[bytes]:
    yield from stata.parts(estimate_files.table(export.release, export.sentence))


def _estimates_sav(export: Export) -> Iterator[bytes]:
    yield from spss.parts(estimate_files.table(export.release, export.sentence))


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def _codebook_json(export: Export) -> Iterable[bytes]:
    return [_json(codebook.document(export.release.survey))]


def _codebook_csv(export: Export) -> Iterable[bytes]:
    return spreadsheets.csv_parts(codebook.lines(export.release.survey))


def _citation(export: Export) -> Iterable[bytes]:
    return [citation.bibtex(export.release, export.address).encode()]


def _script(name: str) -> Callable[[Export], Iterable[bytes]]:
    return lambda export: [(SCRIPTS / name).read_bytes()]


def _figure(question: str, by: str, export: Export) -> Iterable[bytes]:
    return [figures.one(export.release, question, by, export.intervals)]


# --- Reports --------------------------------------------------------------------------------------


def _reports_csv(export: Export) -> Iterator[bytes]:
    found = codebook.variables(export.release.survey.frozen_design())
    yield from reports.csv_parts(export.lines, [variable.name for variable in found])


WEIGHT = "Each row is a distinct report, and count how many there are: use it as a frequency weight"


def _reports_table(export: Export) -> Table:
    """The reports for statistics programs: the lines of reports.csv."""
    release, lines = export.release, export.lines
    survey = release.survey
    pieces: Iterator[Piece] = ([*values.T, counts] for values, counts in lines.pieces())
    return Table(
        survey.title,
        release.made_at,
        [export.sentence, f"{WEIGHT}.", *codebook.notes(survey)],
        [
            *codebook.columns(survey.frozen_design()),
            Column("count", "whole", "How many sent this report"),
        ],
        lines.rows,
        pieces,
        weight="count",
    )


def _reports_dta(export: Export) -> Iterator[bytes]:
    yield from stata.parts(_reports_table(export))


def _reports_sav(export: Export) -> Iterator[bytes]:
    yield from spss.parts(_reports_table(export))


# --- Everything -----------------------------------------------------------------------------------

EXPLANATION = """\
{survey.title}: release {release.number} of {release.made_at:%Y-%m-%d}

{cite}

estimates.csv, .json, .xlsx, .dta, .sav   What was published. "estimate" may
               leave 0 to 1: compute with it. "bounded" does not: show it. Rows
               with "by" and "group" are shares within a group; there, "n" are
               the reports to both questions, and "count" those with this option
               and this group as reported.
codebook.json, .csv   Every question, background questions included: texts,
               options and their positions, block, and the channel (a, b) of the
               noise; and the formulas of the estimates.
estimate.py, estimate.R   Compute the published estimates again from the other
               files: python3 estimate.py, Rscript estimate.R. They need Python
               3.10 or base R, and nothing else.
citation.bib   How to cite this release.
figures        Every question as a picture, of everybody and by each background
               question: SVG, which every browser and drawing program opens.
reports.csv    The reports. Every answer in it, background answers included, may
               have been changed at random before it left its sender's device,
               so no line tells what anybody thinks or who sent it. A line is
               one distinct report, "count" says how many sent it, and the lines
               are sorted: in which order they came is not known. Values are
               positions of options in the codebook; empty means not asked.
reports.dta, reports.sav   The same lines for Stata (14 or later) and SPSS, with
               labels and the channel of every variable. Stata: tabulate q
               [fweight=count]. SPSS weights by count by itself.

In CSV files, an apostrophe before = + - @ or another apostrophe, at the
beginning of a text or after a semicolon or line break in it, is not part of the
text; it keeps spreadsheets from computing.
"""


def _explanation(export: Export) -> Iterable[bytes]:
    release = export.release
    text = EXPLANATION.format(survey=release.survey, release=release, cite=export.sentence)
    return [text.encode()]


class _Pipe:
    """A file that a zip is written to and that is read at the same time."""

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
    """A file in a zip; it carries no time, so that the same content gives the same bytes."""
    info = ZipInfo(name)
    info.compress_type, info.external_attr = ZIP_DEFLATED, mode << 16
    return info


def _everything(export: Export) -> Iterator[bytes]:
    pipe = _Pipe()
    others = {name: file for name, file in FILES.items() if name != EVERYTHING}
    export.lines.forms = sum(file.may_be_large for file in others.values())
    with ZipFile(pipe, "w") as archive:  # type: ignore[call-overload]
        for name, file in others.items():
            with archive.open(entry(name, 0o644), "w", force_zip64=True) as member:
                for part in file.make(export):
                    member.write(part)
                    yield pipe.take()
        for name, drawn in figures.every(export.release, export.intervals):
            archive.writestr(entry(f"figures/{name}", 0o644), drawn)
            yield pipe.take()
    yield pipe.take()


EVERYTHING = "everything.zip"
CSV, TEXT = "text/csv; charset=utf-8; header=present", "text/plain; charset=utf-8"
STATA, SPSS = "application/x-stata-dta", "application/x-spss-sav"
FILES = {
    "README.txt": File(TEXT, _explanation, public=False),
    "estimates.csv": File(CSV, _estimates_csv),
    "estimates.json": File("application/json", _estimates_json),
    "estimates.xlsx": File(
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", _estimates_xlsx
    ),
    "estimates.dta": File(STATA, _estimates_dta),
    "estimates.sav": File(SPSS, _estimates_sav),
    "codebook.json": File("application/json", _codebook_json),
    "codebook.csv": File(CSV, _codebook_csv),
    "estimate.py": File(TEXT, _script("estimate.py")),
    "estimate.R": File(TEXT, _script("estimate.R")),
    "citation.bib": File("application/x-bibtex; charset=utf-8", _citation),
    "reports.csv": File(CSV, _reports_csv, public=False, may_be_large=True),
    "reports.dta": File(STATA, _reports_dta, public=False, may_be_large=True),
    "reports.sav": File(SPSS, _reports_sav, public=False, may_be_large=True),
    EVERYTHING: File("application/zip", _everything, public=False, may_be_large=True),
}


def find(survey: Survey, name: str) -> File | None:
    """The file of this name that a release of the survey has, if there is one."""
    if not name.startswith("figure-") or survey.state == Survey.State.DRAFT:
        return FILES.get(name)
    known = figures.names(survey.frozen_design()).get(name)
    return File("image/svg+xml", partial(_figure, *known)) if known else None
