"""The pages of the planner."""

from typing import Any
from urllib.parse import urlencode

from django.core.validators import slug_re
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from aggregation.planner import blocks, forms, picture
from aggregation.planner.grid import Grid, caption, make_grid
from aggregation.planner.terms import Terms
from aggregation.releases.forms import LEVELS
from survey.design import BACKGROUND_EPSILON, DesignError
from survey.models import Survey
from survey.permissions import private_page, survey_or_403


@private_page
def plan(request: HttpRequest) -> HttpResponse:
    """Show a plan: two of people, ε and precision are given, and the third is found."""
    form, survey = read_plan(request)
    context: dict[str, Any] = {
        "form": form,
        "survey": survey,
        "may_add": request.user.has_perm("survey.add_survey"),
        "solve": forms.SOLVE,
        "levels": LEVELS,
        "looks": forms.LOOKS,
        "notation": "2 yes/no, choice of 4, scale of 5, number 0 to 60, of 10 pick 3",
    }
    if form.is_valid() and form.plan:
        terms = form.plan.terms
        grid = make_grid(terms)
        description = f"{describe(grid, terms)} The table below has the numbers."
        context |= {
            "plan": form.plan,
            "background_epsilon": BACKGROUND_EPSILON,
            "blocks": blocks.explain(terms.design, bool(terms.size or terms.ask)),
            "grid": grid,
            "rows": [
                (n, [c.half_widths[i] for c in grid.curves]) for i, n in enumerate(grid.people)
            ],
            "picture": picture.half_widths(grid, terms, description),
            "query": urlencode(form.shown()),
        }
    context["values"] = form.shown()
    return render(request, "aggregation/planner/planner.html", context)


def read_plan(request: HttpRequest) -> tuple[forms.PlanForm, Survey | None]:
    """Return the form of an address, and the survey that it names for its numbers."""
    slug = request.GET.get("survey", "")
    survey = survey_or_403(request, slug) if slug_re.match(slug) else None
    return forms.PlanForm((numbers_of(survey) if survey else {}) | request.GET.dict()), survey


@private_page
def plan_figure(request: HttpRequest) -> HttpResponse:
    """Return the picture of a plan as a file."""
    form, _ = read_plan(request)
    if not form.is_valid() or form.plan is None:
        text = "There is no plan for these numbers. The planner shows what to change."
        context = {"heading": "There is no such figure", "text": text}
        return render(request, "message.html", context, status=400)
    terms = form.plan.terms
    grid = make_grid(terms)
    drawn = picture.half_widths_file(grid, terms, describe(grid, terms), caption(terms))
    headers = {"Content-Disposition": 'attachment; filename="half-width.svg"'}
    return HttpResponse(drawn, content_type="image/svg+xml", headers=headers)


def numbers_of(survey: Survey) -> dict[str, str]:
    """Return the numbers of a survey, or only its ε if it is a draft without a design."""
    release = survey.releases.order_by("number").last()
    draft = survey.state == Survey.State.DRAFT
    try:
        design = survey.draft_design() if draft else survey.frozen_design()
    except DesignError:
        return {"epsilon": f"{survey.epsilon:.10g}"}
    return forms.of_survey(design, release.reports if release else 0)


def describe(grid: Grid, terms: Terms) -> str:
    """Describe the picture in words, without its numbers."""
    plain = not terms.forged and terms.looks == "one"
    return (
        f"Half-width against people, from {grid.people[0]:,} to {grid.people[-1]:,}: "
        f"{'at every ε it halves when four times as many people answer. ' if plain else ''}"
        f"The plan is at {terms.people:,} people, "
        f"ε = {terms.epsilon:.10g}: {100 * terms.half_width:.3g} points to either side."
    )
