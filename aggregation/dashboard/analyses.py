"""The pages on which analyses are asked for and read.

Asking and reading are apart: whoever may see a survey reads; POST asks, asks again or cancels. No
page computes: the figures are those of a job, and findings.py has the words for them.
"""

import json
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
from aggregation.analyses.form import CLASSES, PREDICTORS, SLOTS, Form, as_csv, sentence
from aggregation.analyses.registry import read as read_asked
from aggregation.analyses.weights import margins
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
    wanted = form.asked(design)
    if not form.errors:
        try:
            for asked in wanted:  # all of them, before the first is asked
                read_asked(asked, design)
            jobs = [request_analysis(survey, asked, request.user) for asked in wanted]
            return redirect("analysis", slug=survey.slug, analysis=jobs[0].analysis_id)
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
    """The newest first; weights of several questions are one line."""
    jobs = Prefetch("jobs", Job.objects.defer("result"))
    asked = Analysis.objects.filter(release__survey=survey).select_related("release")
    rows = asked.annotate(last=Max("jobs__made_at")).order_by("-last").prefetch_related(jobs)
    together: dict[str, list[Analysis]] = {}
    for row in rows.only("asked", "release")[: 3 * MOST_LISTED]:
        together.setdefault(_together(row), []).append(row)
    for members in list(together.values())[:MOST_LISTED]:
        first = members[0]
        states = [newest(row).state for row in members]
        words = findings.described(first.asked, design)
        yield Listed(first, findings.KINDS[first.asked["kind"]], words, STATES[_state(states)])


# --- Reading --------------------------------------------------------------------------------------


def _analysis(survey: Survey, pk: UUID | str) -> Analysis:
    """The analysis of this survey with this id."""
    try:
        key = pk if isinstance(pk, UUID) else UUID(pk)
    except ValueError:
        raise Http404 from None
    known = Analysis.objects.select_related("release__survey")
    return get_object_or_404(known, pk=key, release__survey=survey)


def newest(analysis: Analysis) -> Job:
    return max(analysis.jobs.all(), key=lambda job: (job.active, job.made_at))


def _together(analysis: Analysis) -> str:
    """The same for analyses that are shown as one: weights with the same margins."""
    asked = analysis.asked
    if asked["kind"] != "weights":
        return str(analysis.pk)
    rest = {name: value for name, value in asked.items() if name != "question"}
    return f"{analysis.release_id} {json.dumps(rest, sort_keys=True)}"


def _state(states: list[str]) -> str:
    """One state for several jobs: under way as long as one is, done if one is."""
    for state in ("running", "queued", "done", "failed"):
        if state in states:
            return "running" if state == "queued" and set(states) != {"queued"} else state
    return "cancelled"


@dataclass(frozen=True)
class Outcome:
    """An analysis with its newest job; of weights, those of all questions."""

    survey: Survey
    design: Design
    analysis: Analysis
    members: list[tuple[Analysis, Job]]

    @classmethod
    def of(cls, survey: Survey, analysis: Analysis, results: bool = True) -> "Outcome":
        members = [analysis]
        if analysis.asked["kind"] == "weights":
            same = Analysis.objects.filter(release=analysis.release, asked__kind="weights")
            together = _together(analysis)
            found = {row.asked["question"]: row for row in same if _together(row) == together}
            design = survey.frozen_design()
            members = [found[q.key] for q in design.questions if q.key in found]
        jobs = Job.objects.filter(analysis__in=members)
        latest: dict[UUID, Job] = {}
        for job in (jobs if results else jobs.defer("result")).order_by("active", "made_at"):
            if job.analysis_id:
                latest[job.analysis_id] = job
        pairs = [(row, latest[row.pk]) for row in members if row.pk in latest]
        return cls(survey, survey.frozen_design(), analysis, pairs)

    @property
    def kind(self) -> str:
        return str(self.analysis.asked["kind"])

    @property
    def state(self) -> str:
        return _state([job.state for _, job in self.members])

    @property
    def active(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def progress(self) -> float:
        ended = [1.0 if not job.active else job.progress for _, job in self.members]
        return sum(ended) / max(len(ended), 1)

    @property
    def result(self) -> findings.Result | None:
        asked, design = self.analysis.asked, self.design
        if self.state != "done":
            return None
        if self.kind == "weights":
            found = [
                (row.asked["question"], job.result, sentence(_why(job)) if job.error else "")
                for row, job in self.members
            ]
            return findings.Weights(asked, design, found)
        figures = self.members[0][1].result or {}
        if self.kind == "crosstab":
            return findings.Crosstab(asked, design, figures)
        if self.kind == "regression":
            return findings.Regression(asked, design, figures)
        return findings.Profiles(asked, design, figures)

    @property
    def error(self) -> str:
        """Why there are no figures, as a sentence."""
        for _, job in self.members:
            if job.error:
                return sentence(_why(job))
        return ""


def _why(job: Job) -> str:
    """An error without the name of its place, which is for programs."""
    where, colon, why = job.error.partition(": ")
    return (
        why
        if colon and where in ("reports", "margins", "survey", "questions", "predictors")
        else job.error
    )


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
        for _, job in outcome.members:
            job.cancel(by=request.user)
    elif request.POST.get("action") == "again":
        try:
            same = [row.asked for row, _ in outcome.members]
            asked = [request_analysis(survey, one, request.user) for one in same]
        except AnalysisError as error:
            return _show(request, Outcome.of(survey, outcome.analysis), sentence(error.why))
        return redirect("analysis", slug=survey.slug, analysis=asked[0].analysis_id)
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
        "state": STATES[outcome.state],
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
        words = STATES[outcome.state]
        return JsonResponse(
            {"active": outcome.active, "progress": outcome.progress, "words": words}
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
        "analyses": [
            {"asked": row.asked, "state": job.state, "error": job.error or None,
             "result": job.result}
            for row, job in outcome.members
        ],
    }  # fmt: skip
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
