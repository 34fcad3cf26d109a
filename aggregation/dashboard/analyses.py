"""The pages where analyses are started and read.

Everybody with access to a survey can read them. POST starts, repeats or cancels one. No page
computes: the figures come from a job, and the folder of each kind has the words for them.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Max, Prefetch
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from aggregation.analyses.base import AnalysisError
from aggregation.analyses.form import Form
from aggregation.analyses.registry import KINDS
from aggregation.analyses.wording import Findings, sentence
from aggregation.jobs.requests import request_analysis
from aggregation.models import Analysis, Job, Release
from survey.design import Design
from survey.models import Survey
from survey.models.log import record
from survey.permissions import private_form, private_page, survey_or_403
from survey.spreadsheets import csv_parts

MOST_LISTED = 100
STATES = {
    "queued": "Waiting for a worker",
    "running": "Running",
    "done": "Done",
    "failed": "Could not be computed",
    "cancelled": "Cancelled",
}


# --- Asking ---------------------------------------------------------------------------------------


@private_form
def analyses(request: HttpRequest, slug: str) -> HttpResponse:
    """List the analyses of a survey and show the form for a new one. POST starts it."""
    if request.method == "POST":
        return _ask(request, survey_or_403(request, slug, "ask"))
    survey = survey_or_403(request, slug)
    if like := request.GET.get("like"):
        asked = _analysis(survey, like).asked
        form = KINDS[asked["kind"]].form.like(survey.frozen_design(), asked)
        return _page(request, survey, asked["kind"], form)
    return _page(request, survey, request.GET.get("kind", ""))


def _ask(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Start an analysis and redirect to its page, or show the form with its errors."""
    kind = request.POST.get("kind", "")
    if survey.state == Survey.State.DRAFT or kind not in KINDS:
        return _page(request, survey, kind)
    form = KINDS[kind].form.given(survey.frozen_design(), request)
    asked = {"kind": kind, **form.asked()}
    if not form.errors:
        try:
            job = request_analysis(survey, asked, request.user)
            return redirect("analysis", slug=survey.slug, analysis=job.analysis_id)
        except AnalysisError as error:
            form.refuse(error)
    return _page(request, survey, kind, form)


def _page(
    request: HttpRequest, survey: Survey, kind: str, form: Form | None = None
) -> HttpResponse:
    draft = survey.state == Survey.State.DRAFT
    may_ask = survey.may(request.user, "ask")
    context: dict[str, Any] = {"survey": survey, "may_ask": may_ask, "draft": draft}
    if not draft:
        design = survey.frozen_design()
        context |= {
            "release": survey.releases.order_by("number").last(),
            "kinds": [
                (key, one.findings.title, one.findings.introduction)
                for key, one in KINDS.items()
                if one.form(design).possible
            ],
            "listed": list(_listed(survey, design)),
        }
        if kind in KINDS and KINDS[kind].form(design).possible:
            context |= {"kind": kind, "form": form or KINDS[kind].form(design)}
    return render(request, "aggregation/analyses/analyses.html", context)


def _listed(survey: Survey, design: Design) -> Iterator["AnalysisOutcome"]:
    """Yield the analyses of a survey, the newest first."""
    jobs = Prefetch("jobs", Job.objects.defer("result"))
    asked = Analysis.objects.filter(release__survey=survey).select_related("release")
    rows = asked.annotate(last=Max("jobs__made_at")).order_by("-last").prefetch_related(jobs)
    for row in rows.only("asked", "release")[:MOST_LISTED]:
        newest = max(row.jobs.all(), key=lambda job: (job.active, job.made_at))
        yield AnalysisOutcome(survey, design, row, newest)


# --- Reading --------------------------------------------------------------------------------------


def _analysis(survey: Survey, pk: UUID | str) -> Analysis:
    """Return the analysis of this survey with this id, or 404."""
    try:
        key = pk if isinstance(pk, UUID) else UUID(pk)
    except ValueError:
        raise Http404 from None
    known = Analysis.objects.select_related("release__survey")
    return get_object_or_404(known, pk=key, release__survey=survey)


@dataclass(frozen=True)
class AnalysisOutcome:
    """An analysis with its newest job."""

    survey: Survey
    design: Design
    analysis: Analysis
    job: Job

    @classmethod
    def of(cls, survey: Survey, analysis: Analysis, results: bool = True) -> "AnalysisOutcome":
        jobs = analysis.jobs.order_by("active", "made_at")
        job = (jobs if results else jobs.defer("result")).last()
        if job is None:
            raise Http404
        return cls(survey, survey.frozen_design(), analysis, job)

    @property
    def kind(self) -> str:
        return str(self.analysis.asked["kind"])

    @property
    def words(self) -> Findings:
        """The request in words."""
        return KINDS[self.kind].findings(self.analysis.asked, self.design)

    @property
    def result(self) -> Findings | None:
        if self.job.state != Job.State.DONE:
            return None
        return replace(self.words, figures=self.job.result or {})

    @property
    def state(self) -> str:
        return STATES[self.job.state]

    @property
    def error(self) -> str:
        """The reason why there are no figures, without the name of a member."""
        return sentence(re.sub("^[a-z]+: ", "", self.job.error))


@private_form
def analysis(request: HttpRequest, slug: str, analysis: UUID) -> HttpResponse:
    """Show the progress or the findings of an analysis. POST cancels or repeats it."""
    if request.method == "POST":
        return _act(request, survey_or_403(request, slug, "ask"), analysis)
    survey = survey_or_403(request, slug)
    return _show(request, AnalysisOutcome.of(survey, _analysis(survey, analysis)))


def _act(request: HttpRequest, survey: Survey, pk: UUID) -> HttpResponse:
    """Cancel an analysis, or repeat it on the latest release."""
    outcome = AnalysisOutcome.of(survey, _analysis(survey, pk), results=False)
    if request.POST.get("action") == "cancel":
        outcome.job.cancel(by=request.user)
    elif request.POST.get("action") == "again":
        try:
            job = request_analysis(survey, outcome.analysis.asked, request.user)
        except AnalysisError as error:
            return _show(request, AnalysisOutcome.of(survey, outcome.analysis), sentence(error.why))
        return redirect("analysis", slug=survey.slug, analysis=job.analysis_id)
    return redirect("analysis", slug=survey.slug, analysis=pk)


def _show(request: HttpRequest, outcome: AnalysisOutcome, problem: str = "") -> HttpResponse:
    survey, analysis = outcome.survey, outcome.analysis
    last = survey.releases.order_by("number").last()
    release: Release = analysis.release
    context = {
        "survey": survey,
        "outcome": outcome,
        "analysis": analysis,
        "release": release,
        "newer": last if last and last.number > release.number else None,
        "problem": problem,
        "may_ask": survey.may(request.user, "ask"),
        "result": outcome.result,
        "here": request.build_absolute_uri(
            reverse("analysis", kwargs={"slug": survey.slug, "analysis": analysis.pk})
        ),
    }
    return render(request, "aggregation/analyses/analysis.html", context)


@private_page
def file(request: HttpRequest, slug: str, analysis: UUID, file: str) -> HttpResponse:
    """Return the progress of an analysis, or its findings as JSON, CSV or pictures."""
    survey = survey_or_403(request, slug)
    known = _analysis(survey, analysis)
    if file == "progress.json":
        outcome = AnalysisOutcome.of(survey, known, results=False)
        job = outcome.job
        progress = job.progress if job.active else 1
        return JsonResponse({"active": job.active, "progress": progress, "words": outcome.state})
    outcome = AnalysisOutcome.of(survey, known)
    if file == "result.json":
        return _saved(request, outcome, file, "application/json", _json(outcome))
    result = outcome.result
    if result and file == "result.csv":
        return _saved(request, outcome, file, "text/csv", b"".join(csv_parts(result.lines())))
    if result and file.endswith(".svg") and (drawn := result.picture(file)):
        return _saved(request, outcome, file, "image/svg+xml", drawn)
    raise Http404


def _json(outcome: AnalysisOutcome) -> bytes:
    found = {
        "survey": outcome.survey.slug,
        "design": outcome.survey.design_hash,
        "release": outcome.analysis.release.number,
        "asked": outcome.analysis.asked,
        "state": outcome.job.state,
        "error": outcome.job.error or None,
        "result": outcome.job.result,
    }
    return json.dumps(found, ensure_ascii=False, indent=1).encode()


def _saved(
    request: HttpRequest, outcome: AnalysisOutcome, name: str, content_type: str, content: bytes
) -> HttpResponse:
    stem, _, ending = name.rpartition(".")
    release = outcome.analysis.release.number
    part = "" if stem == "result" else f"-{stem}"
    saved = f"{outcome.survey.slug}-release-{release}-{outcome.kind}{part}.{ending}"
    if request.method == "GET":
        about = {"analysis": str(outcome.analysis.pk), "release": release}
        record(request.user, "file downloaded", outcome.survey, file=name, **about)
    return _attachment(saved, content_type, content)


def _attachment(name: str, content_type: str, content: bytes) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)


@private_page
def blank_file(request: HttpRequest, slug: str, table: str) -> HttpResponse:
    """Return the template for a file that a form accepts."""
    survey = survey_or_403(request, slug)
    files = {
        name: lines for kind in KINDS.values() for name, lines in kind.form.blank_files.items()
    }
    if survey.state == Survey.State.DRAFT or table not in files:
        raise Http404
    content = b"\xef\xbb\xbf" + b"".join(csv_parts(files[table](survey.frozen_design())))
    return _attachment(f"{survey.slug}-{table}.csv", "text/csv", content)
