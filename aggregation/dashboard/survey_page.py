"""The links and messages of a survey's pages, in each state."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django.urls import reverse
from django.utils.formats import date_format

from aggregation.dashboard.sections import Section
from aggregation.models import Job, Release
from survey.design import Design, Question
from survey.models import Action, Survey

DAY = "j M Y"
CHART, TABLE = "chart", "table"
VIEWS = {CHART: "Chart", TABLE: "Table"}
ASKED, LARGEST, CERTAIN = "asked", "largest", "certain"
ORDERS = {ASKED: "As asked", LARGEST: "Largest first", CERTAIN: "Most certain first"}


@dataclass(frozen=True)
class Link:
    href: str
    text: str
    current: bool = False
    about: str = ""


# --- Settings -------------------------------------------------------------------------------------


def settings(survey: Survey, actions: Collection[Action]) -> list[Link]:
    """Return the links to what can be done with a survey, for somebody with these actions."""
    draft = survey.state == Survey.State.DRAFT

    def to(name: str, text: str, about: str) -> Link:
        return Link(reverse(name, args=[survey.slug]), text, about=about)

    found = []
    if "manage" in actions:
        opening = {
            Survey.State.DRAFT: (
                "Check and open",
                "Check the survey, then open it for responses.",
            ),
            Survey.State.OPEN: (
                "Share or close",
                "Get the link for respondents, or close the survey.",
            ),
            Survey.State.CLOSED: (
                "Archive or delete",
                "Hide the survey from your list, or delete it.",
            ),
        }[Survey.State(survey.state)]
        found.append(to("studio-open", *opening))
        if draft:
            found.append(to("studio", "Edit the draft", "Questions, texts, languages, privacy."))
        else:
            found.append(
                to("studio", "Design", "Questions, blocks and texts; copy or export them.")
            )
        if survey.access == Survey.Access.INVITED:
            found.append(to("invitations", "Invitations", "Make codes and send them by e-mail."))
        about = (
            "Who can see results, run analyses and manage the survey, and whether results are "
            "public."
        )
        found.append(to("people", "People and publication", about))
        found.append(to("survey-log", "Log", "Who changed or downloaded what."))
    if not draft:
        about = "What was fixed when the survey opened. Anyone can read it."
        found.append(to("design", "Public design", about))
    plan = f"{reverse('plan')}?survey={survey.slug}"
    about = "Plan another survey, starting from this one."
    return [*found, Link(plan, "Plan with these numbers", about=about)]


# --- Choices of the reader ------------------------------------------------------------------------


def chosen(given: Mapping[str, str], name: str, known: Mapping[str, str]) -> str:
    """Return what an address says about one choice; the first one is the default."""
    value = given.get(name, "")
    return value if value in known else next(iter(known))


def choice_links(
    name: str, known: Mapping[str, str], current: str, kept: Mapping[str, Any]
) -> list[Link]:
    """Return a link for every value of a choice. All others stay as they are."""
    default, *_ = known
    links = []
    for value, text in known.items():
        given = {key: one for key, one in kept.items() if key != name and one}
        if value != default:
            given[name] = value
        links.append(Link(f"?{urlencode(given)}", text, value == current))
    return links


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


def in_order(sections: Sequence[Section], order: str) -> list[Section]:
    """Return the sections for the list of findings: shares, then means on their own axes.

    The largest of those that say something come first.
    """
    shares = [one for one in sections if one.headline.estimate.option]
    means = [one for one in sections if not one.headline.estimate.option]
    if order == ASKED:
        return [*sections]
    keys = {
        LARGEST: lambda one: (one.headline.says_nothing, -(one.headline.estimate.bounded or 0.0)),
        CERTAIN: lambda one: one.headline.estimate.high - one.headline.estimate.low,
    }
    return [*sorted(shares, key=keys[order]), *means]


# --- Messages -------------------------------------------------------------------------------------


def asked_words(design: Design) -> str:
    """Say how much of the survey each person saw."""
    blocks = design.sensitive_blocks
    single = all(len(block.questions) == 1 for block in blocks)
    whats = "questions" if single else "blocks of questions"
    if design.ask == len(blocks):
        if len(blocks) == 1:
            return f"each saw {'the question' if single else 'all questions'}"
        return f"each saw all {len(blocks)} {whats}"
    return f"each saw {design.ask} of {len(blocks)} {whats}"


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
        f"at a time. The last {survey.crowd} or more responses always wait until the survey closes."
    )


def why_nothing(survey: Survey) -> str:
    """Say why there is no release yet, or why there will be none."""
    if survey.state == Survey.State.CLOSED:
        return (
            f"This survey closed with fewer than {survey.crowd} responses. That is too few to "
            "publish safely, so nothing is shown."
        )
    return f"Results appear automatically once {2 * survey.crowd} responses are in."
