"""The content of the page where a survey is opened and closed, for each state."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone

from aggregation.releases.due import unfinished
from studio import checklist, dial
from studio.findings import Finding, Look
from survey.design import Design
from survey.models import Survey
from survey.qr_codes import qr_code
from survey.respondent import preview

Given = Mapping[str, str]  # the fields of the form that was posted, if any


def context(request: HttpRequest, survey: Survey, given: Given) -> dict[str, Any]:
    """Return the context for the template; `given` is the form that was posted, if any."""
    shown = {"survey": survey, "given": given, "now": timezone.now()}
    if survey.state == Survey.State.DRAFT:
        return shown | draft(request, survey, given)
    if survey.state == Survey.State.OPEN:
        return shown | handed_out(request, survey, given)
    return shown | {"invitations": _invitations(survey), "unfinished": unfinished(survey)}


# --- A draft --------------------------------------------------------------------------------------


def draft(request: HttpRequest, survey: Survey, given: Given) -> dict[str, Any]:
    found, design, seen = checklist.of(survey), Look(survey).design, survey.content_hash()
    stopped = blocked(found)
    return {
        "checklist": _checklist(survey, found),
        "design": design,
        "costs": dial.costs(design) if design else [],
        "frozen": _frozen(survey, design) if design else None,
        "seen": seen,
        "preview": request.build_absolute_uri(preview.address(survey)),
        "days": preview.DAYS,
        "opening": {
            "blocked": stopped,
            "to_read": 0 if stopped else to_read(found),
            "changed_since": survey.approved_hash != seen,
            "time": _time(survey.opens_at, given, "open-at"),
        },
        "closing": _closing(survey, given),
    }


def blocked(found: list[Finding]) -> bool:
    return settings.CHECKLIST and any(one.level == "blocks" for one in found)


def to_read(found: list[Finding]) -> int:
    """Return how many findings to read before opening, if none blocks on this site."""
    return sum(one.level in ("blocks", "warns") for one in found)


def _checklist(survey: Survey, found: list[Finding]) -> dict[str, Any]:
    blocks = sum(one.level == "blocks" for one in found)
    warns = to_read(found) - blocks
    more = [f"{warns} thing{pluralize(warns)} to think about."] if warns else []
    if blocks and not blocked(found):
        more.append("This site lets you open it anyway.")
    return {
        "stops": f"{blocks} thing{pluralize(blocks)} must be fixed first." if blocks else "",
        "more": more,
        "findings": [(one, _href(survey, one)) for one in found],
    }


def _href(survey: Survey, finding: Finding) -> str:
    """Return the link to the place to fix a finding, in the editor or on this page."""
    if not finding.place:
        return ""
    page = "" if finding.place == "closes_at" else reverse("studio", args=[survey.slug])
    return f"{page}#{quote(finding.place)}"


def _frozen(survey: Survey, design: Design) -> dict[str, str]:
    """Describe what opening makes permanent."""
    invited = survey.access == Survey.Access.INVITED
    blocks, background = len(design.sensitive_blocks), len(design.background)
    questions = (
        f"{len(survey.sensitive_questions())}; each person is asked {design.ask} of {blocks} "
        f"block{pluralize(blocks)}"
    )
    if background:
        questions += f", and {background} background question{pluralize(background)}"
    who = "people with an invitation, which you create once it is open"
    if not invited:
        work = f", whose browser does {survey.work} bits of work" if survey.work else ""
        who = f"anyone with the link{work}"
    days = _days(survey)
    return {
        "questions": questions,
        "deleted": f"{days} after it closes" if days else "only when somebody deletes it",
        "who_may_answer": who,
        "fingerprint": "" if invited else design.hash,  # which needs the key made by opening
    }


# --- An open survey -------------------------------------------------------------------------------


def handed_out(request: HttpRequest, survey: Survey, given: Given) -> dict[str, Any]:
    address = request.build_absolute_uri(reverse("respond", args=[survey.slug]))
    # Invited people each have their own address with a code.
    invited = survey.access == Survey.Access.INVITED
    return {
        "address": address,
        "invited": invited,
        "code": "" if invited else qr_code(address, omitsize=True),
        "design": survey.frozen_design(),
        "closing": _closing(survey, given),
    }


# --- Closing --------------------------------------------------------------------------------------


def _closing(survey: Survey, given: Given) -> dict[str, Any]:
    consequences = []
    if survey.access == Survey.Access.INVITED:
        consequences.append(
            "All invitations are deleted, used or not, and their links no longer work."
        )
    if days := _days(survey):
        consequences.append(f"{days} later everything is deleted.")
    return {"consequences": consequences, "time": _time(survey.closes_at, given, "close-at")}


def _invitations(survey: Survey) -> str:
    """Describe what happened to the invitations of a closed survey."""
    if survey.access != Survey.Access.INVITED:
        return ""
    return (
        f"Of {survey.invited:,} invitation{pluralize(survey.invited)}, {survey.fetched:,} fetched "
        "a pass. All of them were deleted when the survey closed. "
    )


def _days(survey: Survey) -> str:
    """Describe how long a survey is kept, or return "" if there is no limit."""
    days = survey.retention_days
    return f"{days:,} day{pluralize(days)}" if days else ""


def _time(at: datetime | None, given: Given, action: str) -> str:
    """Return the value for a time's field: what was just posted, or the scheduled time."""
    if given.get("do") == action:
        return given.get("at", "")
    return f"{at:%Y-%m-%dT%H:%M}" if at else ""
