"""What the page of a survey's opening and closing shows, in each of its states."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

import segno
from django.conf import settings
from django.http import HttpRequest
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from aggregation.releases.due import unfinished
from studio import checklist, dial
from studio.findings import Finding
from survey.design import Design, DesignError
from survey.models import Survey
from survey.respondent import preview

Given = Mapping[str, str]


@dataclass(frozen=True)
class Item:
    """A finding of the checklist, with the link to where it is fixed, if it is."""

    level: str
    what: str
    why: str
    href: str


@dataclass(frozen=True)
class Checklist:
    stops: str  # what must be fixed first, in a sentence; empty where nothing must
    more: list[str]
    items: list[Item]


@dataclass(frozen=True)
class Frozen:
    """What opening fixes for good, in words."""

    questions: str
    deleted: str
    who_may_answer: str
    fingerprint: str  # empty for invited surveys: it is known once there is a key


@dataclass(frozen=True)
class Opening:
    blocked: bool
    to_read: int  # what the owner confirms to have read; nothing while something blocks
    changed_since: bool  # since the time of opening was set
    time: str  # as its field has it


@dataclass(frozen=True)
class Closing:
    consequences: list[str]
    time: str
    now: bool  # whether it can be closed at once


def context(request: HttpRequest, survey: Survey, given: Given) -> dict[str, Any]:
    """Return what the template of the survey's state shows, after a form that gave `given`."""
    shown = {"survey": survey, "given": given, "now": timezone.now()}
    match survey.state:
        case Survey.State.DRAFT:
            return shown | draft(request, survey, given)
        case Survey.State.OPEN:
            return shown | handed_out(request, survey, given)
        case _:
            return shown | {"invitations": _invitations(survey), "unfinished": unfinished(survey)}


# --- A draft --------------------------------------------------------------------------------------


def draft(request: HttpRequest, survey: Survey, given: Given) -> dict[str, Any]:
    found, design, seen = checklist.of(survey), _design(survey), survey.content_hash()
    stopped = blocked(found)
    return {
        "checklist": _checklist(survey, found),
        "design": design,
        "costs": dial.costs(design) if design else [],
        "frozen": _frozen(survey, design) if design else None,
        "seen": seen,
        "preview": request.build_absolute_uri(preview.address(survey)),
        "days": preview.DAYS,
        "opening": Opening(
            blocked=stopped,
            to_read=0 if stopped else to_read(found),
            changed_since=survey.approved_hash != seen,
            time=_time(survey.opens_at, given, "open-at"),
        ),
        "closing": _closing(survey, given),
    }


def blocked(found: list[Finding]) -> bool:
    return settings.CHECKLIST and any(one.level == "blocks" for one in found)


def to_read(found: list[Finding]) -> int:
    """How much there is to think about before opening: what warns, and what blocks nothing here."""
    return sum(one.level in ("blocks", "warns") for one in found)


def _design(survey: Survey) -> Design | None:
    try:
        return survey.draft_design()
    except DesignError:
        return None


def _checklist(survey: Survey, found: list[Finding]) -> Checklist:
    blocks = sum(one.level == "blocks" for one in found)
    warns = sum(one.level == "warns" for one in found)
    more = [f"{warns} thing{pluralize(warns)} to think about."] if warns else []
    if blocks and not blocked(found):
        more.append("This site does not insist.")
    return Checklist(
        stops=f"{blocks} thing{pluralize(blocks)} must be fixed first." if blocks else "",
        more=more,
        items=[Item(one.level, one.what, one.why, _href(survey, one)) for one in found],
    )


def _href(survey: Survey, finding: Finding) -> str:
    """Return where a finding is fixed: a field of the editor, or of this page."""
    if not finding.place:
        return ""
    page = "" if finding.place == "closes_at" else reverse("studio", args=[survey.slug])
    return f"{page}#{quote(finding.place)}"


def _frozen(survey: Survey, design: Design) -> Frozen:
    invited = survey.access == Survey.Access.INVITED
    blocks, background = len(design.sensitive_blocks), len(design.background)
    questions = (
        f"{len(survey.sensitive_questions())}; each person is asked {design.ask} of {blocks} "
        f"block{pluralize(blocks)}"
    )
    if background:
        questions += f", and {background} background question{pluralize(background)}"
    who = "people with an invitation, which are made once it is open"
    if not invited:
        work = f", whose browser does {survey.work} bits of work" if survey.work else ""
        who = f"anyone with the link{work}"
    days = _days(survey)
    return Frozen(
        questions=questions,
        deleted=f"{days} after the closing" if days else "only when somebody does it",
        who_may_answer=who,
        fingerprint="" if invited else design.hash,
    )


# --- An open survey -------------------------------------------------------------------------------


def handed_out(request: HttpRequest, survey: Survey, given: Given) -> dict[str, Any]:
    address = request.build_absolute_uri(reverse("respond", args=[survey.slug]))
    # Invited people have an address each, with a code of its own.
    invited = survey.access == Survey.Access.INVITED
    return {
        "address": address,
        "invited": invited,
        "code": "" if invited else qr_code(address),
        "design": survey.frozen_design(),
        "closing": _closing(survey, given),
    }


def qr_code(address: str) -> SafeString:
    """The address as a QR code: dark on light in every scheme, or cameras do not find it."""
    drawn = segno.make(address, error="m", micro=False)
    return SafeString(drawn.svg_inline(dark="#000", light="#fff", border=4, omitsize=True))  # noqa: S308


# --- Closing and what is left ---------------------------------------------------------------------


def _closing(survey: Survey, given: Given) -> Closing:
    consequences = []
    if survey.access == Survey.Access.INVITED:
        consequences.append(
            "All invitations are deleted, used or not, and their links no longer work."
        )
    if days := _days(survey):
        consequences.append(f"{days} later everything is deleted.")
    return Closing(
        consequences=consequences,
        time=_time(survey.closes_at, given, "close-at"),
        now=survey.state == Survey.State.OPEN,
    )


def _invitations(survey: Survey) -> str:
    """Say what became of the invitations of a closed survey."""
    if survey.access != Survey.Access.INVITED:
        return ""
    return (
        f"Of {survey.invited:,} invitation{pluralize(survey.invited)}, {survey.fetched:,} fetched "
        "a pass; all of them were deleted at the closing. "
    )


def _days(survey: Survey) -> str:
    """Say how long a survey is kept; empty for ever."""
    days = survey.retention_days
    return f"{days:,} day{pluralize(days)}" if days else ""


def _time(at: datetime | None, given: Given, action: str) -> str:
    """Return what a field for a time has: what was just given, or the time that is set."""
    if given.get("do") == action:
        return given.get("at", "")
    return f"{at:%Y-%m-%dT%H:%M}" if at else ""
