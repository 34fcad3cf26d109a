"""The links and messages of a survey's pages, in each state."""

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote

from django.urls import reverse
from django.utils.formats import date_format

from aggregation.models import Job, Release
from survey.design import Design, Question
from survey.models import Action, Survey

DAY = "j M Y"


@dataclass(frozen=True)
class Link:
    href: str
    text: str
    current: bool = False


def links(survey: Survey, release: Release | None, actions: Collection[Action]) -> list[Link]:
    """Return the links to the other pages of a survey, for somebody with these actions."""
    draft = survey.state == Survey.State.DRAFT

    def to(name: str, text: str) -> Link:
        return Link(reverse(name, args=[survey.slug]), text)

    found = []
    if release and not draft:
        found.append(to("trend", "Trend"))
    if not draft:
        found.append(to("analyses", "Explore"))
    found.append(Link(f"{reverse('plan')}?survey={survey.slug}", "Plan with these numbers"))
    if "manage" in actions:
        opening = {
            Survey.State.DRAFT: "Check and open",
            Survey.State.OPEN: "Hand out and close",
            Survey.State.CLOSED: "Archive or delete",
        }[Survey.State(survey.state)]
        found.append(to("studio", "Edit the draft" if draft else "Design"))
        found.append(to("people", "People and publication"))
        found.append(to("studio-open", opening))
        if survey.access == Survey.Access.INVITED:
            found.append(to("invitations", "Invitations"))
    return found


def group_links(design: Design, by: Question | None, everybody: str, kept: str = "") -> list[Link]:
    """Return the links to the results of everybody and by each background question, if any.

    `kept` is the rest of the address, which stays.
    """
    if not design.background:
        return []
    return [
        Link(everybody, "Everybody", by is None),
        *(
            Link(f"?by={quote(one.key)}{kept}", one.text, by is not None and by.key == one.key)
            for one in design.background
        ),
    ]


def job_status(survey: Survey, release: Release | None, job: Job | None) -> str:
    """Describe the last job, or say when results appear."""
    if job and job.active:
        return "Making a release …"
    if job and job.state == Job.State.FAILED:
        return f"The last release failed. {job.error}"
    if survey.state == Survey.State.CLOSED:
        sentences = []
        if survey.closed_on:
            sentences.append(f"Closed on {date_format(survey.closed_on, DAY)}.")
        if survey.delete_on:
            sentences.append(f"Everything is deleted on {date_format(survey.delete_on, DAY)}.")
        if release and release.final:
            sentences.append(f"Release {release.number} is the last one.")
        return " ".join(sentences)
    return (
        f"Results appear after {2 * survey.crowd} responses and change by at least {survey.crowd} "
        "at a time. As many always wait until the survey closes."
    )


def why_nothing(survey: Survey, appear: str = "Results appear") -> str:
    """Say why there is no release yet, or why there will be none."""
    if survey.state == Survey.State.CLOSED:
        return (
            f"This survey closed with fewer than {survey.crowd} responses. That is too few to "
            "publish safely, so nothing is shown."
        )
    return f"{appear} once {2 * survey.crowd} responses are in."
