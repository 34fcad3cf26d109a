"""The addresses from which a release is downloaded: a page about it, and its files, twice.

Below /surveys/ for people with a session, below /api/v1/ for programs with a token; the files are
the same, and so is who may have them.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import (
    FileResponse,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import exceptions, negotiation, permissions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aggregation import citation, copies
from aggregation.api import NUMBER, Conflict, JobSerializer, survey_for
from aggregation.exports import EVERYTHING, FILES, Export, File, find
from aggregation.forms import INTERVALS, LEVELS, MOST_FORGED, IntervalForm
from aggregation.models import Release
from aggregation.sections import Choice
from aggregation.work import Copy, Job
from survey import throttle
from survey.log import Actor, record
from survey.models import Deed, Survey
from survey.schema import errors

THERE = f"{', '.join(FILES)}, and figure-….svg of every question"


class Unmade(Exception):
    """A large file that is not there: what became of it last, if somebody asked for it."""

    def __init__(self, job: Job | None) -> None:
        super().__init__("not there")
        self.job = job


class NotANumber(ValueError):
    """A release is asked for by something else than its number."""


def release_of(survey: Survey, number: str) -> Release | None:
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise NotANumber("A release has a whole number.")
    return survey.releases.select_related("survey").filter(number=int(number)).first()


def export_of(request: HttpRequest | Request, release: Release, choice: Choice | None) -> Export:
    here = reverse("release", args=[release.survey.slug, release.number])
    return Export(release, request.build_absolute_uri(here), choice=choice)


class NoSuchInterval(ValueError):
    """Figures are asked for with intervals that there are not."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


def chosen(request: HttpRequest | Request, release: Release) -> Choice:
    """The intervals that the address names, by the same names as on the page of the survey."""
    given = request.GET.dict()
    form = IntervalForm(given, Choice.default(release))
    choice = form.choice
    for field in form.fields:
        if given.get(field) == "":
            form.add_error(field, "A value.")
    for field, why in form.errors.items():
        raise NoSuchInterval(field, str(why[0]))
    return choice


def respond(
    request: HttpRequest | Request, export: Export, name: str, file: File
) -> HttpResponseBase:
    """Return the file, in pieces as they are made; Unmade where a worker has to make it."""
    made = None
    if copies.is_large(export.release, file):
        job = copies.last_job(export.release, name)
        made = copies.ready(job)
        if made is None:
            raise Unmade(job)
    survey = export.release.survey
    saved = f"{survey.slug}-release-{export.release.number}.zip" if name == EVERYTHING else name
    headers = {
        "Content-Type": file.content_type,
        "Content-Disposition": f'attachment; filename="{saved}"',
        "Cache-Control": "private, no-store",
    }
    if request.method == "HEAD":
        return HttpResponse(headers=headers)
    if survey.may(request.user, "read"):  # strangers may be anybody, and are not written down
        record(request.user, "file taken home", survey, file=name, release=export.release.number)
    if made:
        try:
            opened = made.open("rb")
        except FileNotFoundError:  # its day has just passed
            raise Unmade(None) from None
        response = FileResponse(opened)
        for header, value in headers.items():
            response[header] = value
        return response
    return StreamingHttpResponse(file.make(export), headers=headers)


def take_home(
    request: HttpRequest, release: Release, deeds: set[Deed] | None = None
) -> dict[str, Any]:
    """Return what the section “Download” of a page shows to somebody who may do these deeds."""
    export = export_of(request, release, choice=None)
    deeds = release.survey.deeds(request.user) if deeds is None else deeds
    return {
        "release": release,
        "survey": release.survey,
        "large": copies.is_large(release, FILES[EVERYTHING]),
        "sentence": export.sentence,
        "bibtex": citation.bibtex(release, export.address),
        "reads": "read" in deeds,
        "all_files": "take" in deeds,
    }


def needed(file: File | None) -> Deed:
    """What one must be allowed to do with a survey to have this file of a release."""
    return file.deed if file else "read"


# --- For people -----------------------------------------------------------------------------------


@cache_control(private=True, no_store=True)
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, slug: str, release: str, name: str = "") -> HttpResponseBase:
    """A release that can be cited, or one of its files; what cannot be had says why.

    POST asks for a large file, or for an end of its making.
    """
    survey = get_object_or_404(Survey, slug=slug)
    known = find(survey, name)
    if not survey.may(request.user, needed(known) if name else "see"):
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        raise PermissionDenied
    if seconds := throttle.anyone(request):
        return too_often(request, seconds)
    if request.method == "POST" and not (known and known.may_be_large):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    try:
        found = release_of(survey, release)
    except NotANumber as error:
        return _words(request, 400, "That is no release", str(error))
    if found is None:
        return _words(request, 404, "There is no such release", "The survey has no such release.")
    if not name:
        design = survey.frozen_design()
        context = {
            "home": take_home(request, found),
            "questions": design.questions,
            "background": design.background,
            "report_epsilon": design.report_epsilon,
        }
        return render(request, "release.html", context)
    if known is None:
        return _words(request, 404, "There is no such file", f"A release has these files: {THERE}.")
    try:
        export = export_of(request, found, chosen(request, found))
    except NoSuchInterval as error:
        return _words(request, 400, "There are no such intervals", str(error))
    if request.method == "POST":
        change(export, name, known, request.user, cancel="cancel" in request.POST)
        return redirect(f"{request.path}?wait")  # a page, even if the file is there already
    try:
        if "wait" in request.GET and copies.is_large(found, known):
            raise Unmade(copies.last_job(found, name))
        return respond(request, export, name, known)
    except Unmade as unmade:
        job = unmade.job
        context = {"survey": survey, "release": found, "name": name, "job": job}
        return render(request, "copy.html", context | {"ready": copies.ready(job)})


def change(export: Export, name: str, file: File, by: Actor, cancel: bool = False) -> Job | None:
    """The job that makes a large file, asked for now unless it is there; or its end."""
    if not copies.is_large(export.release, file):
        return None
    job = copies.last_job(export.release, name)
    if cancel and job:
        job.cancel(by)
        return None
    return None if copies.ready(job) else Copy.objects.ask(export.release, name, export.address)


def too_often(request: HttpRequest, seconds: int) -> HttpResponse:
    response = _words(request, 429, "Too many requests", f"Please wait {seconds} seconds.")
    response["Retry-After"] = str(seconds)
    return response


def _words(request: HttpRequest, status: int, heading: str, text: str) -> HttpResponse:
    return render(request, "refused.html", {"heading": heading, "text": text}, status=status)


# --- For programs ---------------------------------------------------------------------------------


JSON, SVG = "application/json", "image/svg+xml"
FORMS = {file.content_type.partition(";")[0] for file in FILES.values()} | {SVG}


class AnyForm(negotiation.BaseContentNegotiation):
    """The name of a file says its form, whatever a client says that it accepts."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], suffix: Any = None
    ) -> Any:
        first = next(iter(renderers))
        return first, first.media_type


PARAMETERS = [
    OpenApiParameter("release", NUMBER, OpenApiParameter.PATH),
    OpenApiParameter("name", str, OpenApiParameter.PATH, description=f"One of {THERE}."),
    OpenApiParameter("level", int, enum=[int(level) for level in LEVELS], description="Figures:"
                     " the level of the intervals, 95 if none is given."),
    OpenApiParameter("interval", str, enum=list(INTERVALS), description="Figures: for one look, or"
                     " valid at every look, which is the default before the last release."),
    OpenApiParameter("forged", {"type": "number", "minimum": 0, "maximum": MOST_FORGED},
                     description="Figures: percent of the reports that may be forged."),
]  # fmt: skip
POST_FIRST = "This file is large, so a worker makes it: POST to this address asks for it."


class FileView(APIView):
    """A file of a release: estimates, codebook, scripts, figures or reports."""

    permission_classes = (permissions.AllowAny,)  # survey_for decides
    content_negotiation_class = AnyForm

    @extend_schema(
        operation_id="release_file",
        tags=["researchers"],
        parameters=PARAMETERS,
        responses={
            (200, form): OpenApiTypes.OBJECT if form == JSON else OpenApiTypes.BINARY
            for form in sorted(FORMS)
        }
        | {202: JobSerializer}
        | errors(400, 401, 403, 404, 409),
    )
    def get(self, request: Request, slug: str, release: str, name: str) -> HttpResponseBase:
        export, file = self.wanted(request, slug, release, name)
        try:
            return respond(request, export, name, file)
        except Unmade as unmade:
            if unmade.job and unmade.job.active:
                return self.under_way(request, unmade.job)
            failed = unmade.job.error if unmade.job else ""
            raise Conflict(f"{failed} {POST_FIRST}".strip()) from None

    @extend_schema(
        operation_id="make_release_file",
        tags=["researchers"],
        description="Ask for a file of the reports of a large survey, which a worker makes. 303 "
        "to the file when it can be had at once.",
        parameters=PARAMETERS,
        request=None,
        responses={202: JobSerializer, 303: OpenApiResponse(description="It can be had.")}
        | errors(400, 401, 403, 404, 409),
    )
    def post(self, request: Request, slug: str, release: str, name: str) -> HttpResponseBase:
        export, file = self.wanted(request, slug, release, name)
        if not file.may_be_large:
            raise exceptions.MethodNotAllowed("POST")
        job = change(export, name, file, request.user)
        if job is None:
            here = request.build_absolute_uri(request.path)
            return Response(status=303, headers={"Location": here})
        return self.under_way(request, job)

    def wanted(self, request: Request, slug: str, release: str, name: str) -> tuple[Export, File]:
        survey = get_object_or_404(Survey, slug=slug)
        known = find(survey, name)
        survey = survey_for(request, slug, needed(known))
        try:
            found = release_of(survey, release)
        except NotANumber as error:
            raise exceptions.ValidationError({"release": [str(error)]}) from None
        if found is None:
            raise exceptions.NotFound("There is no such release.")
        if known is None:
            raise exceptions.NotFound(f"There is no such file; there are {THERE}.")
        try:
            return export_of(request, found, chosen(request, found)), known
        except NoSuchInterval as error:
            raise exceptions.ValidationError({error.field: [error.why]}) from None

    def under_way(self, request: Request, job: Job) -> Response:
        data = JobSerializer(job, context={"request": request}).data
        return Response(data, status=202, headers={"Location": data["url"]})
