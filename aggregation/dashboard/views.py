"""The pages for researchers: the overview, the dashboard, settings and results over time."""

from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from aggregation.dashboard import findings, survey_page
from aggregation.dashboard import trend as trends
from aggregation.dashboard.overview import overview_rows
from aggregation.dashboard.readers import central
from aggregation.dashboard.sections import sections
from aggregation.exports.delivery import export_of
from aggregation.jobs.serializers import JobSerializer
from aggregation.models import Job, Release
from aggregation.releases import forms
from aggregation.releases.choice import IntervalChoice
from aggregation.svg import tracks
from survey.models import Survey
from survey.models.log import record
from survey.permissions import private_form, private_page, survey_or_403
from survey.spreadsheets import csv_parts


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
        "job": job,
        "job_status": survey_page.job_status(survey, release, job),
        "follow": job and (job.active or str(job.pk) == request.GET.get("job")),
    }
    if survey.state != Survey.State.DRAFT:
        context["design"] = survey.frozen_design()
        if release:
            context |= _results(request, survey, release)
        else:
            context["why_nothing"] = survey_page.why_nothing(survey)
    return render(request, "aggregation/dashboard/dashboard.html", context)


def _results(request: HttpRequest, survey: Survey, release: Release) -> dict[str, Any]:
    """Return the context of a release with the choices of the reader, which are in the address."""
    given = request.GET.dict()
    design = survey.frozen_design()
    by = next((one for one in design.background if one.key == given.get("by")), None)
    form = forms.IntervalForm(given, IntervalChoice.headline(release.final))
    choice = form.choice
    view = survey_page.chosen(given, "view", survey_page.VIEWS)
    order = survey_page.chosen(given, "order", survey_page.ORDERS)
    looks = {"view": view if view != survey_page.CHART else ""}
    looks |= {"order": order if order != survey_page.ASKED else ""}
    looks = {name: value for name, value in looks.items() if value}
    same = {"by": by.key if by else ""} | form.given | looks
    kept = urlencode(form.given | looks)
    view_links = survey_page.choice_links("view", survey_page.VIEWS, view, same)
    shown = sections(release, by, choice)
    values = [one.worth for one in shown if one.worth and not one.block.background]
    worth = findings.typical(values)
    return {
        "form": form,
        "choice": choice,
        "by": by,
        "kept": urlencode(form.given),
        "view": view,
        "hidden": {name: value for name, value in same.items() if name in ("by", *looks) and value},
        "group_links": survey_page.group_links(design, by, f"?{kept}", f"&{kept}" if kept else ""),
        "view_links": view_links,
        "table_link": "" if view == survey_page.TABLE else view_links[1].href,
        "order_links": survey_page.choice_links("order", survey_page.ORDERS, order, same),
        "asked_order": order == survey_page.ASKED,
        "levels": forms.LEVELS,
        "intervals": forms.INTERVALS,
        "most_forged": forms.MOST_FORGED,
        "sections": shown,
        "findings": survey_page.in_order(shown, order),
        "asked": survey_page.asked_words(design),
        "worth": worth,
        "worth_bar": worth and tracks.bar(worth.share, "parts", 12),
        "several_worth": len(values) > 1,
        "central": central(release),
        "sentence": export_of(request, release, choice=None).sentence,
    }


@private_page
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Link to everything that this user may do with a survey."""
    survey = survey_or_403(request, slug)
    links = survey_page.settings(survey, survey.actions(request.user))
    context = {"survey": survey, "links": links}
    return render(request, "aggregation/dashboard/settings.html", context)


@private_page
def trend(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the estimates over all releases: the headline of every question, or all of one."""
    survey = survey_or_403(request, slug)
    release = survey.releases.order_by("number").last()
    context: dict[str, Any] = {"survey": survey, "release": release, "levels": forms.LEVELS}
    if release:
        questions = survey.frozen_design().questions
        wanted = request.GET.get("question", "")
        question = next((one for one in questions if one.key == wanted), None)
        form = forms.IntervalForm(request.GET.dict(), IntervalChoice())
        level = form.choice.level
        context |= {
            "form": form,
            "choice": form.choice,
            "questions": questions,
            "question": question,
            "shown": len(trends.chosen(release.number)),
        }
        if question:
            context["trends"] = trends.trends(survey, question, release.number, level)
        else:
            context["every"] = trends.headlines(survey, release, level)
    return render(request, "aggregation/dashboard/trend.html", context)


@private_page
def trend_file(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Return the estimates over everybody of all releases as CSV."""
    survey = survey_or_403(request, slug)
    if not survey.releases.exists():
        raise Http404
    name = f"{survey.slug}-over-time.csv"
    record(request.user, "file downloaded", survey, file=name)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    content = csv_parts(trends.lines(survey))
    return StreamingHttpResponse(content, content_type="text/csv", headers=headers)


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
