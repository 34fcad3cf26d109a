"""A release to take home: its estimates, what they mean, how to compute them, how to cite them.

Every file is made of the release when it is asked for, in pieces, so that a large one does not
stand in memory; of a large survey a worker makes it (copies.py). Who may have which is decided here
(`File.public`) and checked in downloads.py.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np

from aggregation import codebook, columns, figures, reports, sheets, spss, stata
from aggregation.api import EstimatesSerializer
from aggregation.codebook import Variable
from aggregation.columns import Column, Kind, Piece, Table
from aggregation.models import NOT_GIVEN, Estimate, Release, group_keys
from aggregation.sections import Choice
from aggregation.sheets import Line
from survey.design import Design
from survey.models import Deed, Survey

SCRIPTS = Path(__file__).parent / "scripts"
ABOUT: dict[str, tuple[Kind, str]] = {  # the columns of the estimates, and what they are
    "release": ("whole", "Number of the release"),
    "as_of": ("whole", "Release in which these figures first appeared"),
    "question": ("text", "Key of the question"),
    "question_text": ("text", "Text of the question"),
    "option": ("text", "Key of the option"),
    "option_text": ("text", "Text of the option"),
    "stratum": ("text", "Key of the background question; none: everybody"),
    "group": ("text", "Key of the group; none: everybody"),
    "group_text": ("text", "Text of the group"),
    "suppressed": ("code", "Whether the figures are hidden"),
    "n": ("whole", "Reports to the question in the group"),
    "count": ("whole", "Of these, reports of the option"),
    "estimate": ("real", "Unbiased share; may leave 0 to 1: compute with it"),
    "bounded": ("real", "Share within 0 to 1: show it"),
    "standard_error": ("real", "Standard error of the estimate"),
    "sampling_error": ("real", "Its part from sampling"),
    "privacy_error": ("real", "Its part from the noise"),
    "misfit": ("real", "p-value: some share explains the count"),
    "low": ("real", "Lower limit of the interval"),
    "high": ("real", "Upper limit of the interval"),
    "level": ("real", "Level of the interval"),
    "method": ("text", "Method of the interval"),
}
HEADER = [*ABOUT]


class Withheld(Exception):
    """Why a file that exists cannot be had now."""


@dataclass(frozen=True)
class Export:
    """A release, and the address at which it can be found again."""

    release: Release
    address: str
    # Told how much of the reports is written, where a worker does; raises if nobody wants it.
    watch: Callable[[float], None] | None = None
    choice: Choice | None = None  # which intervals figures have; none: those of the page

    @property
    def intervals(self) -> Choice:
        return self.choice or Choice.default(self.release)

    @cached_property
    def withheld(self) -> str:
        return reports.withheld(self.release)

    @cached_property
    def variables(self) -> list[Variable]:
        """The columns of the reports."""
        if self.withheld:
            raise Withheld(self.withheld)
        design = self.release.survey.frozen_design()
        chosen = [one.stratum for one in reports.backgrounds(self.release)]
        found = codebook.variables(design)
        return [one for one in found if one.kind == "question" or one.asked in chosen]

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
    of_reports: bool = False  # only where `Export.withheld` says nothing
    may_be_large: bool = False  # it holds the reports

    @property
    def deed(self) -> Deed:
        """What one must be allowed to do with the survey to have it."""
        return "see" if self.public else "take"


# --- Estimates ------------------------------------------------------------------------------------


def estimate_lines(release: Release) -> Iterator[Line]:
    """The estimates with their texts; a suppressed one is a line without figures."""
    design = release.survey.frozen_design()
    texts = _texts(design)
    yield HEADER
    for row in release.estimates.iterator():
        question, options = texts["question", row.question]
        groups = texts["stratum", row.stratum][1] if row.stratum else {}
        yield [
            *(release.number, row.as_of, row.question, question, row.option, options[row.option]),
            *(row.stratum, row.group, groups.get(row.group, ""), int(row.suppressed)),
            *([None] * 12 if row.suppressed else _figures(row)),
        ]


def _figures(row: Estimate) -> Line:
    return [
        *(row.n, row.count, row.value, row.bounded),
        *(row.standard_error, row.sampling_error, row.privacy_error),
        *(row.misfit, row.low, row.high, row.level, row.method),
    ]


def _texts(design: Design) -> dict[tuple[str, str], tuple[str, dict[str, str]]]:
    """Of every question and stratum: its text, and those of its options by their keys."""
    found = {
        ("question", one.key): (one.text, {option.key: option.text for option in one.options})
        for one in design.questions
    }
    for one in design.strata:
        names = [*(option.text for option in one.options), NOT_GIVEN]
        groups = dict(zip(group_keys(design, one.key), names, strict=True))
        found["stratum", one.key] = (one.text, groups)
    return found


def _estimates_csv(export: Export) -> Iterable[bytes]:
    return sheets.csv_parts(estimate_lines(export.release))


def _estimates_json(export: Export) -> Iterable[bytes]:
    return [_json(EstimatesSerializer(export.release).data)]


def _estimates_xlsx(export: Export) -> Iterable[bytes]:
    release = export.release
    both = {"Estimates": estimate_lines(release), "Codebook": codebook.lines(release.survey)}
    return sheets.workbook(both, release.made_at)


def _estimates_table(export: Export) -> Table:
    """The estimates for statistics programs; of each column, no more bytes than it needs."""
    release = export.release
    _, *lines = estimate_lines(release)
    by_column = [list(column) for column in zip(*lines, strict=True)]
    found, piece = [], []
    for (name, (kind, label)), values in zip(ABOUT.items(), by_column, strict=True):
        column = Column(name, kind, label)
        if kind == "text":
            texts = [str(value or "") for value in values]
            column = replace(column, width=columns.width(texts))
            piece.append(columns.text_array(texts, column.width))
        elif kind == "code":
            column = replace(column, values={0: "Shown", 1: "Suppressed"})
            piece.append(np.array(values, dtype=np.uint8))
        else:
            nothing, number = (-1, np.int64) if kind == "whole" else (np.nan, np.float64)
            piece.append(np.array([nothing if v is None else v for v in values], dtype=number))
        found.append(column)
    design = release.survey.frozen_design()
    notes = [sentence(export), *codebook.notes(release.survey, codebook.variables(design))]
    return Table(release.survey.title, release.made_at, notes, found, len(lines), [piece])


def _estimates_dta(export: Export) -> Iterator[bytes]:
    yield from stata.parts(_estimates_table(export))


def _estimates_sav(export: Export) -> Iterator[bytes]:
    yield from spss.parts(_estimates_table(export))


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


# --- What they mean, and how to cite them ---------------------------------------------------------


def _codebook_json(export: Export) -> Iterable[bytes]:
    return [_json(codebook.document(export.release.survey))]


def _codebook_csv(export: Export) -> Iterable[bytes]:
    return sheets.csv_parts(codebook.lines(export.release.survey))


def sentence(export: Export) -> str:
    release = export.release
    return (
        f"{release.survey.title}. Release {release.number} of {release.made_at:%-d %B %Y}, "
        f"{release.reports:,} reports under local differential privacy "
        f"(ε = {release.survey.epsilon:g}), made with Candor. Design {release.survey.design_hash}. "
        f"{export.address}"
    )


def bibtex(export: Export) -> str:
    release, survey = export.release, export.release.survey
    members = {
        "title": f"{{{{{_latex(survey.title)}}}}}",
        "year": f"{{{release.made_at:%Y}}}",
        "month": f"{release.made_at:%b}".lower(),
        "howpublished": "{Survey with local differential privacy, made with Candor}",
        "note": f"{{Release {release.number} of {release.made_at:%Y-%m-%d}, "
        f"{release.reports} reports, design {survey.design_hash}}}",
        "url": f"{{{export.address}}}",
    }
    lines = [f"  {name} = {value}" for name, value in members.items()]
    return f"@misc{{{survey.slug}-release-{release.number},\n" + ",\n".join(lines) + "\n}\n"


LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\\": "\\textbackslash{}"}
    | {"\n": " ", "\t": " "}
)


def _latex(text: str) -> str:
    return text.translate(LATEX)


def _citation(export: Export) -> Iterable[bytes]:
    return [bibtex(export).encode()]


def _script(name: str) -> Callable[[Export], Iterable[bytes]]:
    return lambda export: [(SCRIPTS / name).read_bytes()]


def _figure(question: str, stratum: str, export: Export) -> Iterable[bytes]:
    return [figures.one(export.release, question, stratum, export.intervals)]


# --- Reports --------------------------------------------------------------------------------------


def _reports_csv(export: Export) -> Iterator[bytes]:
    names = [variable.name for variable in export.variables]
    yield from reports.csv_parts(export.lines, names)


WEIGHT = "Each row is a distinct report, and count how many there are: use it as a frequency weight"


def _reports_table(export: Export) -> Table:
    """The reports for statistics programs: the lines of reports.csv."""
    release, lines = export.release, export.lines
    survey = release.survey
    pieces: Iterator[Piece] = ([*values.T, counts] for values, counts in lines.pieces())
    return Table(
        survey.title,
        release.made_at,
        [sentence(export), f"{WEIGHT}.", *codebook.notes(survey, export.variables)],
        [
            *codebook.columns(export.variables),
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

estimates.csv, .json, .xlsx, .dta, .sav   What was published. "estimate" is
               unbiased and may leave 0 to 1: compute with it. "bounded" does
               not: show it. Rows with suppressed = 1 have no figures: too few
               reports, there or in a group that they would give away.
codebook.json, .csv   Every question and background question: texts, options and
               their positions, block, and the channel (a, b) of the noise.
estimate.py, estimate.R   Compute the published estimates again from the other
               files: python3 estimate.py, Rscript estimate.R. They need Python
               3.10 or base R, and nothing else.
citation.bib   How to cite this release.
figures        Every question as a picture, of everybody and by each background
               question: SVG, which every browser and drawing program opens.

{about_reports}

In CSV files, an apostrophe before = + - @ or another apostrophe, at the
beginning of a text or after a semicolon or line break in it, is not part of the
text; it keeps spreadsheets from computing.
"""
WITH_REPORTS = """\
reports.csv    The reports. Chance may have changed every answer in it before it
               left its sender's device, so no line tells what anybody thinks. A
               line is one distinct report, "count" says how many sent it, and
               the lines are sorted: in which order they came is not known.
               Values are positions of options in the codebook; empty means not
               asked or, for background questions, not given, and 999 a group
               that was too small to be told apart. Background questions, which
               are not noise: {strata}.
reports.dta, reports.sav   The same lines for Stata (14 or later) and SPSS, with
               labels and the channel of every variable. Stata has . for empty
               and .a for 999: tabulate q [fweight=count]. SPSS weights by count
               by itself."""


def _explanation(export: Export) -> Iterable[bytes]:
    about = export.withheld
    if not about:
        strata = [one.asked.key for one in export.variables if one.kind == "stratum"]
        about = WITH_REPORTS.format(strata=", ".join(strata) or "none are in this file")
    release = export.release
    text = EXPLANATION.format(
        survey=release.survey, release=release, cite=sentence(export), about_reports=about
    )
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
    if not export.withheld:
        export.lines.forms = sum(file.of_reports for file in FILES.values())
    with ZipFile(pipe, "w") as archive:  # type: ignore[call-overload]
        for name, file in FILES.items():
            if name == EVERYTHING or (file.of_reports and export.withheld):
                continue
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
    "reports.csv": File(CSV, _reports_csv, public=False, of_reports=True, may_be_large=True),
    "reports.dta": File(STATA, _reports_dta, public=False, of_reports=True, may_be_large=True),
    "reports.sav": File(SPSS, _reports_sav, public=False, of_reports=True, may_be_large=True),
    EVERYTHING: File("application/zip", _everything, public=False, may_be_large=True),
}


def find(survey: Survey, name: str) -> File | None:
    """The file of this name that a release of the survey has, if there is one."""
    if not name.startswith("figure-") or survey.state == Survey.State.DRAFT:
        return FILES.get(name)
    known = figures.names(survey.frozen_design()).get(name)
    return File("image/svg+xml", partial(_figure, *known)) if known else None
