"""The pages for researchers: the overview, the dashboard and the trend."""

from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from aggregation.dashboard import survey_page
from aggregation.dashboard import trend as trends
from aggregation.dashboard.downloads import download_section
from aggregation.dashboard.overview import overview_rows
from aggregation.dashboard.readers import central
from aggregation.dashboard.sections import sections
from aggregation.jobs.serializers import JobSerializer
from aggregation.models import Job
from aggregation.releases import forms
from aggregation.releases.choice import ALWAYS, IntervalChoice
from survey.models import Survey
from survey.permissions import private_form, private_page, survey_or_403


@private_page
def overview(request: HttpRequest) -> HttpResponse:
    """List the surveys that this user may read, archived ones only on request."""
    surveys = Survey.objects.readable_by(request.user).order_by("slug")
    managed = Survey.objects.where_may(request.user, "manage").values_list("pk", flat=True)
    asked = "archived" in request.GET
    rows = overview_rows(surveys if asked else surveys.filter(archived_on=None), set(managed))
    archived = surveys.exclude(archived_on=None).count()
    may_add = request.user.has_perm("survey.add_survey")
    context = {
        "rows": rows,
        "archived": archived,
        "asked": asked,
        "may_add": may_add,
        "new_survey": may_add and bool(rows or archived),  # otherwise it is in the text
    }
    return render(request, "aggregation/dashboard/overview.html", context)


@private_form
def dashboard(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the latest release of a survey. POST requests a new one."""
    survey = get_object_or_404(Survey, slug=slug)
    actions = survey.actions(request.user)
    if ("ask" if request.method == "POST" else "read") not in actions:
        raise PermissionDenied
    if request.method == "POST":
        here = reverse("dashboard", args=[slug])
        if survey.state == Survey.State.DRAFT:
            return redirect(here)
        # In the address, because a fast worker may finish before the page is loaded.
        return redirect(f"{here}?job={Job.objects.request(survey, by=request.user).pk}")
    release = survey.releases.order_by("number").last()
    job = survey.jobs.filter(analysis=None, copy=None).order_by("made_at").last()
    context: dict[str, Any] = {
        "survey": survey,
        "release": release,
        "waiting": survey.waiting(),
        "may_ask": "ask" in actions,
        "may_manage": "manage" in actions,
        "links": survey_page.links(survey, release, actions),
        "job": job,
        "job_status": survey_page.job_status(survey, release, job),
        "follow": job and (job.active or str(job.pk) == request.GET.get("job")),
    }
    if survey.state != Survey.State.DRAFT:
        context["design"] = design = survey.frozen_design()
        wanted = request.GET.get("by", "")
        by = context["by"] = next((one for one in design.background if one.key == wanted), None)
        if not release:
            context["why_nothing"] = survey_page.why_nothing(survey, "Results appear automatically")
        else:
            form = forms.IntervalForm(request.GET.dict(), IntervalChoice.headline(release.final))
            choice = form.choice
            kept = urlencode(form.given)
            context |= {
                "form": form,
                "choice": choice,
                "kept": kept,
                "group_links": survey_page.group_links(
                    design, by, f"?{kept}", f"&{kept}" if kept else ""
                ),
                "levels": forms.LEVELS,
                "intervals": forms.INTERVALS,
                "most_forged": forms.MOST_FORGED,
                "sections": sections(release, by, choice),
                "central": central(release),
                "home": download_section(request, release, actions),
            }
    return render(request, "aggregation/dashboard/dashboard.html", context)


@private_page
def trend(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the estimates of a question over all releases."""
    survey = survey_or_403(request, slug)
    release = survey.releases.order_by("number").last()
    context: dict[str, Any] = {"survey": survey, "release": release, "levels": forms.LEVELS}
    if release:
        questions = survey.frozen_design().questions
        wanted = request.GET.get("question", "")
        question = next((one for one in questions if one.key == wanted), questions[0])
        form = forms.IntervalForm(request.GET.dict(), IntervalChoice(interval=ALWAYS))
        context |= {
            "form": form,
            "choice": form.choice,
            "questions": questions,
            "question": question,
            "trends": trends.trends(survey, question, release.number, form.choice.level),
            "shown": len(trends.chosen(release.number)),
        }
    return render(request, "aggregation/dashboard/trend.html", context)


@private_page
def status(request: HttpRequest, slug: str) -> HttpResponse:
    """Return what may have changed since the dashboard was loaded, for its script."""
    survey = survey_or_403(request, slug)
    last = survey.releases.order_by("number").last()
    jobs = survey.jobs.filter(analysis=None, copy=None).order_by("-made_at")
    wanted = request.GET.get("job")
    job = next((one for one in jobs[:20] if one.active or str(one.pk) == wanted), None)
    return JsonResponse(
        {
            "state": survey.state,
            "release": last.number if last else 0,
            "waiting": survey.waiting(),
            "job": job and JobSerializer(job, context={"request": request}).data,
        }
    )
