"""The researcher's pages: the overview of surveys, a survey's dashboard and its trend."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.validators import slug_re
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe

from aggregation import charts, figures, forms
from aggregation import plan as planning
from aggregation import trend as trends
from aggregation.api import JobSerializer
from aggregation.central import central
from aggregation.downloads import take_home
from aggregation.glance import glances
from aggregation.sections import ALWAYS, Choice, sections
from aggregation.work import Job
from survey.design import DesignError
from survey.models import Survey
from survey.permitted import permitted


@login_required
@cache_control(private=True, no_store=True)
@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """The surveys that this person may read; archived ones only for who asks for them."""
    surveys = Survey.objects.readable_by(request.user).order_by("slug")
    managed = Survey.objects.where_may(request.user, "manage").values_list("pk", flat=True)
    asked = "archived" in request.GET
    context = {
        "rows": glances(surveys if asked else surveys.filter(archived_on=None)),
        "archived": surveys.exclude(archived_on=None).count(),
        "asked": asked,
        "managed": set(managed),
        "may_add": request.user.has_perm("survey.add_survey"),
    }
    return render(request, "overview.html", context)


@login_required
@cache_control(private=True, no_store=True)
@require_http_methods(["GET", "HEAD", "POST"])
def dashboard(request: HttpRequest, slug: str) -> HttpResponse:
    """A survey's latest release, by one background question if it is named; POST asks for one."""
    survey = get_object_or_404(Survey, slug=slug)
    deeds = survey.deeds(request.user)
    if ("ask" if request.method == "POST" else "read") not in deeds:
        raise PermissionDenied
    if request.method == "POST":
        here = reverse("dashboard", args=[slug])
        if survey.state == Survey.State.DRAFT:
            return redirect(here)
        # Named in the address, because a fast worker may be done before the page is there.
        return redirect(f"{here}?job={Job.objects.request(survey, by=request.user).pk}")
    release = survey.releases.order_by("number").last()
    job = survey.jobs.filter(analysis=None, copy=None).order_by("made_at").last()
    context: dict[str, Any] = {
        "survey": survey,
        "release": release,
        "waiting": survey.waiting(),
        "may_ask": "ask" in deeds,
        "may_manage": "manage" in deeds,
        "job": job,
        "follow": job and (job.active or str(job.pk) == request.GET.get("job")),
    }
    if survey.state != Survey.State.DRAFT:
        context["design"] = design = survey.frozen_design()
        wanted = request.GET.get("by", "")
        by = context["by"] = next((one for one in design.background if one.key == wanted), None)
        if release:
            form = forms.IntervalForm(request.GET.dict(), Choice.default(release))
            choice = form.choice
            context |= {
                "form": form,
                "choice": choice,
                "kept": f"&{urlencode(form.given)}" if form.given else "",
                "levels": forms.LEVELS,
                "intervals": forms.INTERVALS,
                "most_forged": forms.MOST_FORGED,
                "sections": sections(release, by, choice),
                "central": central(release),
                "home": take_home(request, release, deeds),
            }
    return render(request, "dashboard.html", context)


@login_required
@cache_control(private=True, no_store=True)
@require_safe
def trend(request: HttpRequest, slug: str) -> HttpResponse:
    """The estimates of a question over all releases, with intervals valid at every look."""
    survey = permitted(request, slug)
    release = survey.releases.order_by("number").last()
    context: dict[str, Any] = {"survey": survey, "release": release, "levels": forms.LEVELS}
    if release:
        questions = survey.frozen_design().questions
        wanted = request.GET.get("question", "")
        question = next((one for one in questions if one.key == wanted), questions[0])
        form = forms.IntervalForm(request.GET.dict(), Choice(interval=ALWAYS))
        context |= {
            "form": form,
            "choice": form.choice,
            "questions": questions,
            "question": question,
            "trends": trends.trends(survey, question, release.number, form.choice.level),
            "shown": len(trends.chosen(release.number)),
        }
    return render(request, "trend.html", context)


@login_required
@cache_control(private=True, no_store=True)
@require_safe
def now(request: HttpRequest, slug: str) -> HttpResponse:
    """What may have changed since a dashboard was shown, in a few bytes for its script."""
    survey = permitted(request, slug)
    last = survey.releases.order_by("number").last()
    jobs = survey.jobs.filter(analysis=None, copy=None).order_by("-made_at")
    wanted = request.GET.get("job")
    job = next((one for one in jobs[:20] if one.active or str(one.pk) == wanted), None)
    return JsonResponse(
        {
            "state": survey.state,
            "release": last.number if last else 0,
            "waiting": survey.waiting(),
            "job": JobSerializer(job, context={"request": request}).data if job else None,
        }
    )


# --- The planner ----------------------------------------------------------------------------------


@login_required
@cache_control(private=True, no_store=True)
@require_safe
def plan(request: HttpRequest) -> HttpResponse:
    """Before a survey: people, ε and precision, two of which fix the third. All in the address."""
    form, survey = asked_plan(request)
    context: dict[str, Any] = {
        "form": form,
        "survey": survey,
        "may_add": request.user.has_perm("survey.add_survey"),
        "solve": forms.SOLVE,
        "levels": forms.LEVELS,
        "looks": forms.LOOKS,
    }
    if form.is_valid() and form.plan:
        grid = planning.grid(form.plan.terms)
        context |= {
            "plan": form.plan,
            "grid": grid,
            "rows": [
                (n, [c.half_widths[i] for c in grid.curves]) for i, n in enumerate(grid.people)
            ],
            "picture": charts.half_widths(
                grid,
                form.plan.terms,
                f"{described(grid, form.plan)} The table below has the numbers.",
            ),
            "query": urlencode(form.shown()),
        }
    context["values"] = form.shown()
    return render(request, "plan.html", context)


def asked_plan(request: HttpRequest) -> tuple[forms.PlanForm, Survey | None]:
    """The plan of an address, and the survey whose numbers it starts from."""
    given: dict[str, str] = request.GET.dict()
    survey = permitted(request, given["survey"]) if slug_re.match(given.get("survey", "")) else None
    return forms.PlanForm((numbers_of(survey) if survey else {}) | given), survey


@login_required
@cache_control(private=True, no_store=True)
@require_safe
def plan_figure(request: HttpRequest) -> HttpResponse:
    """The picture of the plan of the same address, as a file that stands alone."""
    form, _ = asked_plan(request)
    if not form.is_valid() or form.plan is None:
        text = "There is no plan for these numbers. The planner says beside each field why."
        context = {"heading": "There is no such figure", "text": text}
        return render(request, "refused.html", context, status=400)
    terms = form.plan.terms
    grid = planning.grid(terms)
    drawn = figures.half_widths(grid, terms, described(grid, form.plan), planning.words(terms))
    headers = {"Content-Disposition": 'attachment; filename="half-width.svg"'}
    return HttpResponse(drawn, content_type="image/svg+xml", headers=headers)


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
    """The picture in words, without its numbers."""
    terms = plan.terms
    plain = not terms.forged and terms.looks == "one"
    return (
        f"Half-width against people, from {grid.people[0]:,} to {grid.people[-1]:,}: "
        f"{'at every ε it halves when four times as many people answer. ' if plain else ''}"
        f"The plan is at {terms.people:,} people, "
        f"ε = {terms.epsilon:.10g}: {100 * terms.half_width:.3g} points to either side."
    )
