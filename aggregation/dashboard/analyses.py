"""The pages on which analyses are asked for and read.

Asking and reading are apart: whoever may see a survey reads; POST asks, asks again or cancels. No
page computes: the figures are those of a job, and findings.py has the words for them.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Max, Prefetch
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from aggregation.analyses import findings
from aggregation.analyses.base import AnalysisError
from aggregation.analyses.form import CLASSES, PREDICTORS, SLOTS, Form, as_csv
from aggregation.analyses.weights import margins
from aggregation.analyses.wording import sentence
from aggregation.jobs.queue import request_analysis
from aggregation.models import Analysis, Job, Release
from survey.design import Design, Question
from survey.models import Survey
from survey.models.log import record
from survey.permissions import private_form, private_page, survey_or_403
from survey.spreadsheets import csv_parts

MOST_LISTED = 100
STATES = {
    "queued": "Waiting for a worker",
    "running": "Under way",
    "done": "Done",
    "failed": "Could not be computed",
    "cancelled": "Cancelled",
}
INTRODUCTIONS = {
    "crosstab": "How two to four answers go together: the share of people in every combination.",
    "regression": "What the odds of an answer have to do with groups, and with other answers.",
    "profiles": "Which kinds of people there may be, by what they answer to several questions.",
    "weights": "What the shares would be if those who answered were made up like the population.",
}


# --- Asking ---------------------------------------------------------------------------------------


@private_form
def analyses(request: HttpRequest, slug: str) -> HttpResponse:
    """What has been asked of a survey, and the form to ask more."""
    if request.method == "POST":
        return _ask(request, survey_or_403(request, slug, "ask"))
    survey = survey_or_403(request, slug)
    form = Form(kind=request.GET.get("kind", ""))
    if like := request.GET.get("like"):
        form = Form.like(_analysis(survey, like).asked)
    return _page(request, survey, form)


def _ask(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Ask, and go to the page of what was asked; or back to the form with what is wrong."""
    form = Form.given(request)
    if survey.state == Survey.State.DRAFT or form.kind not in findings.KINDS:
        return _page(request, survey, form)
    design = survey.frozen_design()
    asked = form.asked(design)
    if not form.errors:
        try:
            job = request_analysis(survey, asked, request.user)
            return redirect("analysis", slug=survey.slug, analysis=job.analysis_id)
        except AnalysisError as error:
            form.refuse(error)
    return _page(request, survey, form)


@dataclass(frozen=True)
class Listed:
    """One line of what has been asked."""

    analysis: Analysis
    kind: str
    words: str
    state: str


def _page(request: HttpRequest, survey: Survey, form: Form) -> HttpResponse:
    may_ask = survey.may(request.user, "ask")
    context: dict[str, Any] = {"survey": survey, "form": form, "may_ask": may_ask}
    if survey.state != Survey.State.DRAFT:
        design = survey.frozen_design()
        context |= {
            "design": design,
            "release": survey.releases.order_by("number").last(),
            "kinds": [(key, text, INTRODUCTIONS[key]) for key, text in findings.KINDS.items()],
            "listed": list(_listed(survey, design)),
            "some": design.ask < len(design.sensitive_blocks),
            "parts": _parts(design),
            "classes": CLASSES,
        }
        if form.kind in findings.KINDS:
            context |= {"kind": form.kind, "introduction": INTRODUCTIONS[form.kind]}
        if form.kind == "crosstab":
            context["slots"] = _slots(SLOTS, form.questions)
        if form.kind == "regression":
            context["slots"] = _slots(PREDICTORS, form.predictors)
            context["explaining"] = [q for _, part in reversed(_parts(design)) for q in part]
        if form.kind == "weights" and not form.margins:
            form.margins = as_csv(margins.template(design))
    return render(request, "aggregation/analyses/analyses.html", context)


def _parts(design: Design) -> list[tuple[str, Sequence[Question]]]:
    """The questions to choose from: by block where people are asked some blocks only."""
    blocks, parts = design.sensitive_blocks, list[tuple[str, Sequence[Question]]]()
    if design.ask < len(blocks):
        parts += [(f"Block {i}", block.questions) for i, block in enumerate(blocks, 1)]
    else:
        parts += [("Questions", [question for block in blocks for question in block.questions])]
    return [*parts, ("Background questions", design.background)] if design.background else parts


def _slots(labels: Sequence[str], chosen: Sequence[str]) -> list[tuple[str, str]]:
    """Each box of a form with what is chosen in it."""
    return list(zip(labels, [*chosen, *[""] * len(labels)], strict=False))


def _listed(survey: Survey, design: Design) -> Iterator[Listed]:
    """List the newest first."""
    jobs = Prefetch("jobs", Job.objects.defer("result"))
    asked = Analysis.objects.filter(release__survey=survey).select_related("release")
    rows = asked.annotate(last=Max("jobs__made_at")).order_by("-last").prefetch_related(jobs)
    for row in rows.only("asked", "release")[:MOST_LISTED]:
        newest = max(row.jobs.all(), key=lambda job: (job.active, job.made_at))
        words = findings.described(row.asked, design)
        yield Listed(row, findings.KINDS[row.asked["kind"]], words, STATES[newest.state])


# --- Reading --------------------------------------------------------------------------------------


def _analysis(survey: Survey, pk: UUID | str) -> Analysis:
    """The analysis of this survey with this id."""
    try:
        key = pk if isinstance(pk, UUID) else UUID(pk)
    except ValueError:
        raise Http404 from None
    known = Analysis.objects.select_related("release__survey")
    return get_object_or_404(known, pk=key, release__survey=survey)


@dataclass(frozen=True)
class Outcome:
    """An analysis with its newest job."""

    survey: Survey
    design: Design
    analysis: Analysis
    job: Job

    @classmethod
    def of(cls, survey: Survey, analysis: Analysis, results: bool = True) -> "Outcome":
        jobs = analysis.jobs.order_by("active", "made_at")
        job = (jobs if results else jobs.defer("result")).last()
        if job is None:
            raise Http404
        return cls(survey, survey.frozen_design(), analysis, job)

    @property
    def kind(self) -> str:
        return str(self.analysis.asked["kind"])

    @property
    def result(self) -> findings.Result | None:
        if self.job.state != Job.State.DONE:
            return None
        return findings.found(self.analysis.asked, self.design, self.job.result or {})

    @property
    def error(self) -> str:
        """Say why there are no figures, without the name of its place, which is for programs."""
        return sentence(re.sub("^[a-z]+: ", "", self.job.error))


@private_form
def analysis(request: HttpRequest, slug: str, analysis: UUID) -> HttpResponse:
    """One analysis: how far it is, what it found, or why it found nothing."""
    if request.method == "POST":
        return _act(request, survey_or_403(request, slug, "ask"), analysis)
    survey = survey_or_403(request, slug)
    return _show(request, Outcome.of(survey, _analysis(survey, analysis)))


def _act(request: HttpRequest, survey: Survey, pk: UUID) -> HttpResponse:
    """Cancel it, or ask the same of the latest release."""
    outcome = Outcome.of(survey, _analysis(survey, pk), results=False)
    here = redirect("analysis", slug=survey.slug, analysis=pk)
    if request.POST.get("action") == "cancel":
        outcome.job.cancel(by=request.user)
    elif request.POST.get("action") == "again":
        try:
            job = request_analysis(survey, outcome.analysis.asked, request.user)
        except AnalysisError as error:
            return _show(request, Outcome.of(survey, outcome.analysis), sentence(error.why))
        return redirect("analysis", slug=survey.slug, analysis=job.analysis_id)
    return here


def _show(request: HttpRequest, outcome: Outcome, problem: str = "") -> HttpResponse:
    survey, analysis = outcome.survey, outcome.analysis
    result = outcome.result
    last = survey.releases.order_by("number").last()
    release: Release = analysis.release
    context = {
        "survey": survey,
        "outcome": outcome,
        "analysis": analysis,
        "release": release,
        "newer": last if last and last.number > release.number else None,
        "kind": outcome.kind,
        "kind_words": findings.KINDS[outcome.kind],
        "words": findings.described(analysis.asked, outcome.design),
        "state": STATES[outcome.job.state],
        "problem": problem,
        "may_ask": survey.may(request.user, "ask"),
        "result": result,
        "drawn": _drawn(result),
        "here": request.build_absolute_uri(
            reverse("analysis", kwargs={"slug": survey.slug, "analysis": analysis.pk})
        ),
    }
    return render(request, "aggregation/analyses/analysis.html", context)


def _drawn(result: findings.Result | None) -> bool:
    """Whether there is one picture of it all; those of a table stand beside its parts."""
    if isinstance(result, findings.Regression):
        return any(term.low is not None for term in result.terms)
    return isinstance(result, findings.Profiles | findings.Weights)


@private_page
def file(request: HttpRequest, slug: str, analysis: UUID, file: str) -> HttpResponse:
    """How far it is, and the figures of an analysis to take home: JSON, CSV, pictures."""
    survey = survey_or_403(request, slug)
    known = _analysis(survey, analysis)
    if file == "progress.json":
        outcome = Outcome.of(survey, known, results=False)
        job = outcome.job
        progress = job.progress if job.active else 1
        return JsonResponse(
            {"active": job.active, "progress": progress, "words": STATES[job.state]}
        )
    outcome = Outcome.of(survey, known)
    if file == "result.json":
        return _saved(request, outcome, file, "application/json", _json(outcome))
    result = outcome.result
    if result and file == "result.csv":
        return _saved(request, outcome, file, "text/csv", b"".join(csv_parts(result.lines())))
    if result and file.endswith(".svg") and (drawn := result.picture(file)):
        return _saved(request, outcome, file, "image/svg+xml", drawn.encode())
    raise Http404


def _json(outcome: Outcome) -> bytes:
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
    request: HttpRequest, outcome: Outcome, name: str, content_type: str, content: bytes
) -> HttpResponse:
    stem, _, ending = name.rpartition(".")
    release = outcome.analysis.release.number
    known = f"{outcome.survey.slug}-release-{release}-{outcome.kind}"
    saved = f"{known}.{ending}" if stem == "result" else f"{known}-{stem}.{ending}"
    if request.method == "GET":
        about = {"analysis": str(outcome.analysis.pk), "release": release}
        record(request.user, "file downloaded", outcome.survey, file=name, **about)
    disposition = f'attachment; filename="{saved}"'
    return HttpResponse(
        content, content_type=content_type, headers={"Content-Disposition": disposition}
    )


@private_page
def margins_file(request: HttpRequest, slug: str) -> HttpResponse:
    """A file of margins to fill in: a line for each group."""
    survey = survey_or_403(request, slug)
    if survey.state == Survey.State.DRAFT:
        raise Http404
    content = b"\xef\xbb\xbf" + b"".join(csv_parts(margins.template(survey.frozen_design())))
    disposition = f'attachment; filename="{survey.slug}-margins.csv"'
    return HttpResponse(
        content, content_type="text/csv", headers={"Content-Disposition": disposition}
    )
