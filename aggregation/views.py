"""The researcher's pages: the overview of surveys and a survey's dashboard."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.validators import slug_re
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe

from aggregation import charts, forms
from aggregation import plan as planning
from aggregation.downloads import take_home
from aggregation.models import NOT_GIVEN, Estimate, Release, group_keys
from aggregation.work import Job
from survey.design import Design, DesignError, Question
from survey.models import Deed, Survey

MISFIT = 0.001  # below this, the reports do not look like what the channel can produce


@dataclass(frozen=True)
class Row:
    """One estimate with the words for it."""

    label: str
    estimate: Estimate
    picture: SafeString

    @property
    def misfit(self) -> bool:
        return self.estimate.misfit is not None and self.estimate.misfit < MISFIT


@dataclass(frozen=True)
class Table:
    """The estimates of a question over everybody, or by one stratum."""

    title: str
    as_of: int
    groups: list[tuple[str, list[Row]]]


@dataclass(frozen=True)
class Section:
    question: Question
    block: str
    a: float
    b: float
    everybody: Table
    groups: Table | None


@login_required
@cache_control(private=True, no_store=True)
@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """The surveys that this person may read."""
    surveys = Survey.objects.readable_by(request.user).order_by("slug")
    rows = [
        {
            "survey": survey,
            "release": survey.releases.order_by("number").last(),
            "waiting": survey.pending().count(),
        }
        for survey in surveys
    ]
    return render(request, "overview.html", {"rows": rows})


def readable(request: HttpRequest, slug: str, deed: Deed = "read") -> Survey:
    """The survey of this name, if the person may read it, or do what is said with it."""
    survey = get_object_or_404(Survey, slug=slug)
    if not survey.may(request.user, deed):
        raise PermissionDenied
    return survey


@login_required
@cache_control(private=True, no_store=True)
@require_http_methods(["GET", "HEAD", "POST"])
def dashboard(request: HttpRequest, slug: str) -> HttpResponse:
    """A survey's latest release, by a stratum if one is named; POST asks for a new release."""
    survey = readable(request, slug, "ask" if request.method == "POST" else "read")
    if request.method == "POST":
        here = reverse("dashboard", args=[slug])
        if survey.state == Survey.State.DRAFT:
            return redirect(here)
        # Named in the address, because a fast worker may be done before the page is there.
        return redirect(f"{here}?job={Job.objects.request(survey).pk}")
    release = survey.releases.order_by("number").last()
    job = survey.jobs.filter(analysis=None).order_by("made_at").last()
    context: dict[str, Any] = {
        "survey": survey,
        "release": release,
        "waiting": survey.pending().count(),
        "may_ask": survey.may(request.user, "ask"),
        "may_manage": survey.may(request.user, "manage"),
        "job": job,
        "follow": job and (job.active or str(job.pk) == request.GET.get("job")),
    }
    if survey.state != Survey.State.DRAFT:
        context["design"] = design = survey.frozen_design()
        by = request.GET.get("by", "")
        context["by"] = next((stratum for stratum in design.strata if stratum.key == by), None)
        if release:
            context["sections"] = list(sections(release, context["by"]))
            context["home"] = take_home(request, release)
    return render(request, "dashboard.html", context)


def sections(release: Release, by: Question | None) -> Iterator[Section]:
    """The estimates of a release, by question: over everybody, and by one stratum.

    One and not all: with ten strata a page of all would be megabytes that nobody reads.
    """
    design = release.survey.frozen_design()
    places = {
        question.key: (block, i)
        for block in design.blocks
        for i, question in enumerate(block.questions)
    }
    wanted = release.estimates.filter(stratum__in=["", by.key] if by else [""])
    for key, rows in groupby(wanted, key=lambda row: row.question):
        block, position = places[key]
        question = block.questions[position]
        tables = [
            _table(design, question, stratum, list(table))
            for stratum, table in groupby(rows, key=lambda row: row.stratum)
        ]
        a, b = block.mechanism.channel(position)
        yield Section(question, block.key, a, b, tables[0], tables[1] if by else None)


def _table(design: Design, question: Question, stratum: str, rows: list[Estimate]) -> Table:
    title, names = "Everybody", {"": ""}
    if stratum:
        found = next(s for s in design.strata if s.key == stratum)
        title = found.text
        texts = [option.text for option in found.options]
        names = dict(zip(group_keys(design, stratum), [*texts, NOT_GIVEN], strict=True))
    groups = [
        (names[group], [_row(question, names[group], row) for row in members])
        for group, members in groupby(shown_options(question, rows), key=lambda row: row.group)
    ]
    return Table(title, rows[0].as_of, groups)


def shown_options(question: Question, rows: list[Estimate]) -> list[Estimate]:
    """All options, but of a plain yes/no question only “yes”: “no” is the rest."""
    if [option.key for option in question.options] == ["no", "yes"]:
        return [row for row in rows if row.option == "yes"]
    return rows


def _row(question: Question, group: str, row: Estimate) -> Row:
    label = next(option.text for option in question.options if option.key == row.option)
    if row.bounded is None or row.low is None or row.high is None:
        return Row(label, row, SafeString(""))
    where = f"{label}, {group}" if group else label
    description = (
        f"{where}: {row.bounded:.1%}, {row.level:.0%} interval {row.low:.1%} to {row.high:.1%}"
    )
    picture = charts.dot_and_whisker(row.bounded, row.low, row.high, description)
    return Row(label, row, picture)


# --- The planner ----------------------------------------------------------------------------------


@login_required
@cache_control(private=True, no_store=True)
@require_safe
def plan(request: HttpRequest) -> HttpResponse:
    """Before a survey: people, ε and precision, two of which fix the third. All in the address."""
    given: dict[str, str] = request.GET.dict()
    survey = readable(request, given["survey"]) if slug_re.match(given.get("survey", "")) else None
    form = forms.PlanForm((numbers_of(survey) if survey else {}) | given)
    context: dict[str, Any] = {
        "form": form,
        "survey": survey,
        "may_add": request.user.is_staff and request.user.has_perm("survey.add_survey"),
        "solve": forms.SOLVE,
        "levels": forms.LEVELS,
    }
    if form.is_valid() and form.plan:
        grid = planning.grid(form.plan.terms)
        context |= {
            "plan": form.plan,
            "grid": grid,
            "rows": [
                (n, [c.half_widths[i] for c in grid.curves]) for i, n in enumerate(grid.people)
            ],
            "picture": charts.half_widths(grid, form.plan.terms, described(grid, form.plan)),
        }
    context["values"] = form.shown()
    return render(request, "plan.html", context)


def numbers_of(survey: Survey) -> dict[str, str]:
    """What to plan with, from a survey; of a draft that cannot open yet, its ε alone."""
    release = survey.releases.order_by("number").last()
    draft = survey.state == Survey.State.DRAFT
    try:
        design = survey.draft_design() if draft else survey.frozen_design()
    except DesignError:
        return {"epsilon": f"{survey.epsilon:.10g}"}
    return forms.of_survey(design, release.reports if release else 0)


def described(grid: planning.Grid, plan: planning.Plan) -> str:
    """The picture in words; the table after it has every number."""
    terms = plan.terms
    return (
        f"Half-width against people, from {grid.people[0]:,} to {grid.people[-1]:,}: at every ε it "
        f"halves when four times as many people answer. The plan is at {terms.people:,} people, "
        f"ε = {terms.epsilon:.10g}: {100 * terms.half_width:.3g} points to either side. "
        "The table below has the numbers."
    )
