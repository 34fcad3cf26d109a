"""The files of a release, for programs."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import exceptions, negotiation, permissions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aggregation.api.views import NUMBER, Conflict, job_response, survey_for
from aggregation.exports import delivery
from aggregation.exports.files import FILES, Export, File, find
from aggregation.jobs.serializers import JobSerializer
from aggregation.releases.forms import INTERVALS, LEVELS, MOST_FORGED
from survey.api.schema import errors
from survey.models import Survey

JSON, SVG = "application/json", "image/svg+xml"
FORMATS = {file.content_type.partition(";")[0] for file in FILES.values()} | {SVG}


class AnyFormat(negotiation.BaseContentNegotiation):
    """Ignores what a client accepts, because the name of a file determines its format."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], suffix: Any = None
    ) -> Any:
        first = next(iter(renderers))
        return first, first.media_type


PARAMETERS = [
    OpenApiParameter("release", NUMBER, OpenApiParameter.PATH),
    OpenApiParameter("name", str, OpenApiParameter.PATH, description=f"One of {delivery.NAMES}."),
    OpenApiParameter("level", int, enum=[int(level) for level in LEVELS], description="Figures:"
                     " the level of the intervals, 95 if none is given."),
    OpenApiParameter("interval", str, enum=list(INTERVALS), description="Figures: for one look, or"
                     " valid at every look, which is the default before the last release."),
    OpenApiParameter("forged", {"type": "number", "minimum": 0, "maximum": MOST_FORGED},
                     description="Figures: percent of the reports that may be forged."),
]  # fmt: skip
POST_FIRST = "This file is large, so a worker has to make it. POST to this address to request it."


class FileView(APIView):
    """A file of a release: estimates, codebook, scripts, figures or reports."""

    permission_classes = (permissions.AllowAny,)  # survey_for decides
    content_negotiation_class = AnyFormat

    @extend_schema(
        operation_id="release_file",
        tags=["researchers"],
        parameters=PARAMETERS,
        responses={
            (200, name): OpenApiTypes.OBJECT if name == JSON else OpenApiTypes.BINARY
            for name in sorted(FORMATS)
        }
        | {202: JobSerializer}
        | errors(400, 401, 403, 404, 409),
    )
    def get(self, request: Request, slug: str, release: str, name: str) -> HttpResponseBase:
        export, file = self.wanted(request, slug, release, name)
        try:
            return delivery.respond(request, export, name, file)
        except delivery.NotMade as missing:
            if missing.job and missing.job.active:
                return job_response(request, missing.job)
            failed = missing.job.error if missing.job else ""
            raise Conflict(f"{failed} {POST_FIRST}".strip()) from None

    @extend_schema(
        operation_id="make_release_file",
        tags=["researchers"],
        description="Request a file with the reports of a large survey, which a worker makes. 303 "
        "to the file if it can be downloaded at once.",
        parameters=PARAMETERS,
        request=None,
        responses={202: JobSerializer, 303: OpenApiResponse(description="It is ready.")}
        | errors(400, 401, 403, 404, 409),
    )
    def post(self, request: Request, slug: str, release: str, name: str) -> HttpResponseBase:
        export, file = self.wanted(request, slug, release, name)
        if not file.may_be_large:
            raise exceptions.MethodNotAllowed("POST")
        job = delivery.request_file(export, name, file)
        if job is None:
            here = request.build_absolute_uri(request.path)
            return Response(status=303, headers={"Location": here})
        return job_response(request, job)

    def wanted(self, request: Request, slug: str, release: str, name: str) -> tuple[Export, File]:
        survey = get_object_or_404(Survey, slug=slug)
        known = find(survey, name)
        survey = survey_for(request, slug, delivery.required_action(known))
        try:
            found = delivery.release_of(survey, release)
        except delivery.NotANumber as error:
            raise exceptions.ValidationError({"release": [str(error)]}) from None
        if found is None:
            raise exceptions.NotFound("There is no such release.")
        if known is None:
            raise exceptions.NotFound(f"There is no such file; there are {delivery.NAMES}.")
        try:
            choice = delivery.chosen_intervals(request, found)
        except delivery.NoSuchInterval as error:
            raise exceptions.ValidationError({error.field: [error.why]}) from None
        return delivery.export_of(request, found, choice), known
