"""A finished survey as one zip file: what was asked, what was published, and the reports.

The archive is for somebody who finds it in twenty years, without this program, so README.txt
explains the other files. It contains the randomized reports without ids, and what was published
from them. Its bytes depend only on the survey, so an archive can be compared with the survey before
that is removed.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import IO
from zipfile import BadZipFile, ZipFile

from django.db.models import Sum

from aggregation.exports import reports
from aggregation.exports.codebook import BY_GROUP, DEBIAS, POOLED, Variable, variables
from aggregation.exports.estimate_files import document
from aggregation.exports.files import entry
from aggregation.releases.due import unfinished
from survey import files
from survey.design import ABSENT, Design
from survey.design.mechanism import SCALE
from survey.models import Survey
from survey.spreadsheets import Line, cell, csv_of_cells

FORMAT = 1
README, SUMS = "README.txt", "SHA256SUMS"


class ArchiveError(ValueError):
    """The reason why there is no archive, or why a file is not the archive of a survey."""


def write(survey: Survey, path: Path) -> str:
    """Write the archive to a new file, completely or not at all, and return its SHA-256."""
    if reason := unfinished(survey):
        raise ArchiveError(reason)
    part = path.with_name(path.name + ".part")
    try:
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise ArchiveError(
            f"{part} already exists: another archive is being made there, or one was interrupted. "
            "In that case, delete it."
        ) from None
    try:
        with os.fdopen(descriptor, "w+b") as file:
            if os.path.lexists(path):  # nobody else can make it now, because we hold its part
                raise ArchiveError(f"{path} already exists. Choose another name.")
            _fill(survey, file)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        os.rename(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)
    return sha256


def check(survey: Survey, path: Path) -> str:
    """Return the SHA-256 of the file at `path` if it contains all of this survey as it is now.

    Everything is made again and compared, so a damaged file is refused, and so is the archive of
    another survey or of an earlier state.
    """
    if reason := unfinished(survey):
        raise ArchiveError(reason)
    try:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            found = _digests(file)
    except (OSError, EOFError, ValueError, RuntimeError, BadZipFile, zlib.error) as error:
        raise ArchiveError(f"{path} cannot be read as an archive: {error}") from None
    listed = _digest([_sums({name: found[name] for name in found if name != SUMS})])
    if found.get(SUMS) != listed:
        raise ArchiveError(f"{path} is damaged: its files do not match {SUMS}.")
    wanted = {name: _digest(parts) for name, parts in _data(survey)}
    if found.keys() != wanted.keys() | {README, SUMS}:
        raise ArchiveError(f"{path} does not contain the files of an archive.")
    for name, digest in wanted.items():
        if found[name] != digest:
            raise ArchiveError(
                f"{name} in {path} does not match {survey.slug!r} as it is now. "
                "Make the archive again, under another name."
            )
    return sha256


def _fill(survey: Survey, file: IO[bytes]) -> None:
    """Write the files of the archive; without times in the zip, the bytes are always the same."""
    with ZipFile(file, "w") as archive:
        sums = {
            name: _store(archive, name, parts)
            for name, parts in (*_data(survey), (README, [_readme(survey)]))
        }
        _store(archive, SUMS, [_sums(sums)])


def _store(archive: ZipFile, name: str, parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    with archive.open(entry(name, 0o600), "w", force_zip64=True) as member:
        for part in parts:
            member.write(part)
            digest.update(part)
    return digest.hexdigest()


def _digests(file: IO[bytes]) -> dict[str, str]:
    found = {}
    with ZipFile(file) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                found[name] = _digest(iter(partial(member.read, 1 << 20), b""))
    return found


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _sums(digests: dict[str, str]) -> bytes:
    """Return the sums in the format that `sha256sum -c` reads."""
    return "".join(f"{digest}  {name}\n" for name, digest in digests.items()).encode()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- The files ------------------------------------------------------------------------------------


def _data(survey: Survey) -> tuple[tuple[str, Iterable[bytes]], ...]:
    """Return all files except README.txt, whose words may differ in another version."""
    return (
        ("survey.json", [_survey(survey)]),
        ("design.json", [survey.design.encode()]),
        ("releases.json", _releases(survey)),
        ("reports.csv", csv_of_cells(_table(survey))),
    )


def _survey(survey: Survey) -> bytes:
    data = {
        "format": FORMAT,
        **files.dump(survey),
        "state": survey.state,
        "opened_on": survey.opened_on and survey.opened_on.isoformat(),
        "closed_on": survey.closed_on and survey.closed_on.isoformat(),
        "design_hash": survey.design_hash,
        "reports": counted(survey),
    }
    return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode()


def _releases(survey: Survey) -> Iterator[bytes]:
    """Yield every release as the API gives it, one per line, with only one in memory."""
    between = b"[\n"
    for pk in survey.releases.order_by("number").values_list("pk", flat=True):
        release = survey.releases.select_related("survey").get(pk=pk)
        shown = json.dumps(document(release), ensure_ascii=False, allow_nan=False)
        yield between + shown.encode()
        between = b",\n"
    yield b"\n]\n" if between == b",\n" else b"[]\n"


def _table(survey: Survey) -> Iterator[Line]:
    """Yield the distinct reports with their number, sorted, so that no order is left."""
    design = survey.frozen_design()
    yield [*(cell(question.key) for question in design.questions), "count"]
    values = [_values(variable) for variable in variables(design)]
    keys = list(survey.batches.order_by("pk").values_list("pk", flat=True))
    found = 0
    for content, count in reports.distinct(reports.read(keys), design):
        yield [*(value[i] for value, i in zip(values, content, strict=True)), count]
        found += count
    if found != counted(survey):
        raise ArchiveError("The batches have changed, or do not contain all of their reports.")


def counted(survey: Survey) -> int:
    """Return how many reports the batches contain."""
    return survey.batches.aggregate(reports=Sum("reports"))["reports"] or 0


def _values(variable: Variable) -> dict[int, str]:
    """Return what a report's bytes mean: keys of options, levels, and the two kinds of nothing."""
    found = {
        value.position: cell(value.option)
        or (str(value.position) if value.number is not None else f"({value.text.lower()})")
        for value in variable.values
    }
    return found | {ABSENT: ""}


def _readme(survey: Survey) -> bytes:
    design = survey.frozen_design()
    return EXPLANATION.format(
        survey=survey,
        design=design,
        blocks=len(design.sensitive_blocks),
        scale=SCALE,
        reports=counted(survey),
        releases=survey.releases.count() or "none: there were fewer reports than a crowd",
        channels="\n".join(_channels(design)),
        background=", ".join(question.key for question in design.background) or "none",
        formulas="\n\n".join(fill(text, 80) for text in (DEBIAS, POOLED, BY_GROUP)),
    ).encode()


def _channels(design: Design) -> Iterator[str]:
    known = {variable.asked.key: variable for variable in variables(design)}
    for block in design.blocks:
        kind = ", background" if block.background else ""
        yield (
            f"block {block.key}{kind}: epsilon = {block.epsilon!r}, keep = {block.keep}, "
            f"{block.mechanism.cells} combinations"
        )
        for position, question in enumerate(block.questions):
            variable = known[question.key]
            yield f"  {question.key} ({question.kind})"
            names = _values(variable)
            channels = variable.channels(block, position)
            for value, channel in zip(variable.values, channels, strict=True):
                number = "" if value.number is None else f" = {value.number:.15g}"
                name = names[value.position]
                yield f"    {name}{number}: a = {channel.a!r}, b = {channel.b!r}"


EXPLANATION = """\
{survey.title}

This is the archive of a survey that was made with Candor, a program for surveys
with local differential privacy. It can be read without that program.

  address        {survey.slug}
  opened         {survey.opened_on}
  closed         {survey.closed_on}
  reports        {reports}
  releases       {releases}
  crowd          {survey.crowd}
  epsilon        {design.epsilon!r} for the sensitive answers of one respondent,
                 {design.report_epsilon!r} for a whole report with its background answers
  blocks asked   {design.ask} of {blocks}, and every background question
  design         {survey.design_hash}


NOBODY EVER HELD THE ANSWERS

Each respondent's own device changed the answers at random, as described below,
and sent only the outcome: a report. That includes the background answers
({background}). A report reveals no more about its sender than
epsilon allows, whoever reads it, and neither does anything in these files. A
line of reports.csv can come from one respondent, but does not show what they
think. A survey with fewer reports than a crowd shows nothing and has no
reports here.


THE FILES

survey.json    What was asked, in the words and languages of its author, and
               when. Without the members format, state, opened_on, closed_on,
               design_hash and reports, Candor can import this file.
design.json    What was promised to respondents: the exact texts, which
               questions were randomized together, and how. The SHA-256 of this
               file, as it is, is the hash of the design above, which every
               report named and every respondent could read.
releases.json  Everything that was published, in order; the last release is the
               final one. "measure" says what is estimated: "share" of people,
               "share_of_concerned" (among those whom a follow-up concerns),
               "mean" of a number or of scores, or "picks" (the mean number of
               options picked). "estimate" may leave the possible range,
               "bounded" does not. "by" and "group" name a group of a background
               question; both are null for everybody. By group, "n" are the
               reports to both questions, and "count" those with this option and
               this group as reported.
reports.csv    The reports, in UTF-8. A line is one distinct report, and its
               last column says how many respondents sent it. The lines are
               sorted: in which order they came is not known. The columns are
               the questions in the order of design.json, then the count. A
               value is the key of an option in design.json, or the position of
               a level to which a number was rounded at random; the numbers that
               levels stand for are below. "(not asked)" is a value, too: a
               follow-up that did not apply. So is "(nothing picked)", a blank
               slot of a multiple choice question. Empty means that the
               question's block was not asked. An apostrophe before = + - @ or
               another apostrophe is not part of a key; it keeps spreadsheets
               from computing.
SHA256SUMS     The sums of the other files; sha256sum -c SHA256SUMS checks them.


HOW THE REPORTS WERE MADE

Questions were asked in blocks. For each block, the device tossed one coin: with
probability c = keep / {scale} the answers to all questions of the block
stayed as they were; otherwise they were replaced together by one of all the
combinations of answers that the block allows, drawn uniformly at random. A
number was first rounded at random to one of a few levels, so that it is right on
average. Of a multiple choice question, the picks were first padded with blanks
to the number of picks that was allowed, and one of these slots was drawn. So a
value was reported with probability a by those for whom it is true, and with
probability b by the others:

{channels}


HOW TO COMPUTE THE ESTIMATES AGAIN

{formulas}
"""
