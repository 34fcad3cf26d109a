"""The researchers' part of the API: estimates, releases and jobs."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import exceptions, permissions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aggregation.analyses.base import AnalysisError
from aggregation.analyses.registry import KINDS
from aggregation.exports.estimate_files import entry
from aggregation.jobs.requests import request_analysis
from aggregation.jobs.serializers import JobSerializer
from aggregation.models import Analysis, Estimate, Job, Release
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.forms import INTERVALS, LEVELS, IntervalForm
from aggregation.releases.intervals import restate
from survey.api.schema import errors
from survey.models import Action, Survey
from survey.permissions import survey_or_403


class IntervalSerializer(serializers.Serializer[Estimate]):
    """What `low` and `high` are."""

    level = serializers.FloatField()
    kind = serializers.ChoiceField(
        choices=["interim", "final"],
        help_text="interim: valid at every look, the default before the last release; final: for "
        "one look.",
    )
    method = serializers.CharField()


class EstimateSerializer(serializers.Serializer[Estimate]):
    """A share or a mean, over everybody or in one group of a background question."""

    question = serializers.CharField()
    option = serializers.CharField(
        allow_null=True, help_text="The key of an option; null for `mean` and `picks`."
    )
    measure = serializers.ChoiceField(
        choices=["share", "share_of_concerned", "mean", "picks"],
        help_text="share: of everybody; share_of_concerned: of the people to whom a follow-up "
        "applies; mean: of a number, in its unit, or of the scores of a scale; picks: the mean "
        "number of options that a person picked.",
    )
    by = serializers.CharField(
        allow_null=True, help_text="The key of a background question; null for everybody."
    )
    group = serializers.CharField(allow_null=True, help_text="An option of that question.")
    n = serializers.IntegerField(help_text="Reports to the question, and to that of the groups.")
    count = serializers.IntegerField(
        help_text="How many of them show the option, or any answer that is averaged, and this "
        "group. Groups are randomized, too."
    )
    estimate = serializers.FloatField(
        allow_null=True,
        help_text="May leave the possible range: compute with it. Null if too few people answered "
        "to tell.",
    )
    bounded = serializers.FloatField(
        allow_null=True, help_text="The same within the possible range: show it."
    )
    standard_error = serializers.FloatField(allow_null=True)
    sampling_error = serializers.FloatField(allow_null=True, help_text="Null by group.")
    privacy_error = serializers.FloatField(allow_null=True, help_text="Null by group.")
    misfit = serializers.FloatField(
        allow_null=True, help_text="Below 0.001, the reports do not fit the channel."
    )
    low = serializers.FloatField()
    high = serializers.FloatField()
    interval = IntervalSerializer()
    low_once = serializers.FloatField(help_text="For one look.")
    high_once = serializers.FloatField()
    low_always = serializers.FloatField(help_text="Valid at every look.")
    high_always = serializers.FloatField()

    def to_representation(self, row: Estimate) -> dict[str, Any]:
        return entry(row)


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    release = serializers.IntegerField(source="number")

    class Meta:
        model = Release
        fields = ["release", "reports", "final", "made_at"]
        read_only_fields = fields


class EstimatesSerializer(ReleaseSerializer):
    design = serializers.CharField(source="survey.design_hash")
    estimates = EstimateSerializer(many=True)

    class Meta(ReleaseSerializer.Meta):
        fields = [*ReleaseSerializer.Meta.fields, "design", "estimates"]
        read_only_fields = fields


def analysis_schema() -> dict[str, Any]:
    """Return the schema of a request for an analysis, with one alternative for each kind."""
    kinds = []
    for key, kind in KINDS.items():
        schema, name = kind.analysis.schema, {"kind": {"type": "string", "enum": [key]}}
        kinds.append(
            schema
            | {"title": kind.findings.title, "description": kind.findings.introduction}
            | {"properties": name | schema["properties"], "required": ["kind", *schema["required"]]}
        )
    return {"oneOf": kinds}


class AnalysisSerializer(serializers.ModelSerializer[Analysis]):
    release = serializers.IntegerField(source="release.number")
    job = serializers.SerializerMethodField()

    class Meta:
        model = Analysis
        fields = ["asked", "release", "job"]
        read_only_fields = fields

    @extend_schema_field(JobSerializer)
    def get_job(self, analysis: Analysis) -> Any:
        newest = max(analysis.jobs.all(), key=lambda job: job.made_at)
        return JobSerializer(newest, context=self.context).data


class Conflict(exceptions.APIException):
    """A request that is not possible in the current state."""

    status_code = 409


def job_response(request: Request, job: Job, status: int = 202) -> Response:
    data = JobSerializer(job, context={"request": request}).data
    return Response(data, status=status, headers={"Location": data["url"]})


def survey_for(request: Request, slug: str, action: Action = "read") -> Survey:
    """Return the survey, if this person may do this with it; programs get 401 before 403."""
    try:
        return survey_or_403(request, slug, action)
    except PermissionDenied:
        if not request.user.is_authenticated:
            raise exceptions.NotAuthenticated from None
        raise exceptions.PermissionDenied(
            "Your role in this survey, if any, does not allow this."
        ) from None


NUMBER = {"type": "integer", "minimum": 1, "maximum": 999_999_999}  # of a release


class EstimatesView(APIView):
    """The latest release of a survey, or an earlier one by its number."""

    permission_classes = (permissions.AllowAny,)  # survey_for decides

    @extend_schema(
        operation_id="estimates",
        tags=["researchers"],
        parameters=[
            OpenApiParameter("release", NUMBER, description="Default: the latest."),
            OpenApiParameter(
                "level",
                int,
                enum=[int(level) for level in LEVELS],
                description="The level of the intervals, in percent. Default: 95.",
            ),
            OpenApiParameter(
                "interval",
                str,
                enum=list(INTERVALS),
                description="fixed: for one look at a number of reports that was fixed beforehand; "
                "always: valid however often somebody looks. Default: always before the last "
                "release, fixed for the last one.",
            ),
        ],
        responses={200: EstimatesSerializer} | errors(400, 401, 403, 404),
    )
    def get(self, request: Request, slug: str) -> Response:
        survey = survey_for(request, slug, "see")
        releases = survey.releases.select_related("survey").prefetch_related("estimates")
        wanted = request.query_params.get("release")
        if wanted is not None:
            if not wanted.isascii() or not wanted.isdigit() or len(wanted) > 9:
                raise exceptions.ValidationError({"release": ["a whole number"]})
            releases = releases.filter(number=int(wanted))
        release = releases.order_by("number").last()
        if release is None:
            raise exceptions.NotFound(
                "There is no such release." if wanted else "Nothing has been released yet."
            )
        given = request.query_params.dict()
        form = IntervalForm(
            {name: given.get(name, "") for name in ("level", "interval")},
            IntervalChoice.headline(release.final),
        )
        choice = form.choice
        if form.errors:
            raise exceptions.ValidationError(
                {name: [str(one) for one in why] for name, why in form.errors.items()}
            )
        restate(release, release.estimates.all(), choice)
        return Response(EstimatesSerializer(release).data)


class ReleasesView(APIView):
    """The releases of a survey; POST requests a new one."""

    @extend_schema(
        operation_id="releases",
        tags=["researchers"],
        responses={200: ReleaseSerializer(many=True)} | errors(401, 403, 404),
    )
    def get(self, request: Request, slug: str) -> Response:
        survey = survey_for(request, slug)
        return Response(ReleaseSerializer(survey.releases.order_by("number"), many=True).data)

    @extend_schema(
        operation_id="release",
        tags=["researchers"],
        description="Request a release now. The crowd rule still holds. An active job is returned "
        "instead of a second one.",
        request=None,
        responses={202: JobSerializer} | errors(400, 401, 403, 404),
    )
    def post(self, request: Request, slug: str) -> Response:
        survey = survey_for(request, slug, "ask")
        if survey.state == Survey.State.DRAFT:
            raise exceptions.ValidationError({"survey": ["a draft has no reports"]})
        return job_response(request, Job.objects.request(survey, by=request.user))


class AnalysesView(APIView):
    """The analyses of a survey; POST requests one of the latest release."""

    @extend_schema(
        operation_id="analyses",
        tags=["researchers"],
        description="All earlier requests, for all releases, with their outcomes.",
        responses={200: AnalysisSerializer(many=True)} | errors(401, 403, 404),
    )
    def get(self, request: Request, slug: str) -> Response:
        survey = survey_for(request, slug)
        asked = Analysis.objects.filter(release__survey=survey).select_related("release")
        rows = asked.order_by("release__number", "digest").prefetch_related("jobs")
        return Response(AnalysisSerializer(rows, many=True, context={"request": request}).data)

    @extend_schema(
        operation_id="analyse",
        tags=["researchers"],
        description="Request an analysis of the latest release. The result of an earlier request "
        "is returned at once, and an active job instead of a second one.",
        request={"application/json": analysis_schema()},
        responses={200: JobSerializer, 202: JobSerializer} | errors(400, 401, 403, 404, 415),
    )
    def post(self, request: Request, slug: str) -> Response:
        survey = survey_for(request, slug, "ask")
        if survey.state == Survey.State.DRAFT:
            raise exceptions.ValidationError({"survey": ["a draft has no reports"]})
        try:
            job = request_analysis(survey, request.data, by=request.user)
        except AnalysisError as error:
            raise exceptions.ValidationError({error.where: [error.why]}) from None
        return job_response(request, job, 200 if job.state == Job.State.DONE else 202)


class JobView(APIView):
    """A job and its outcome; DELETE cancels an analysis, or a file that is being made."""

    @extend_schema(
        operation_id="cancel",
        tags=["researchers"],
        description="Cancel an analysis, or a large file that is being made. A job that has ended "
        "stays as it is.",
        responses={200: JobSerializer} | errors(401, 403, 404, 409),
    )
    def delete(self, request: Request, pk: str) -> Response:
        job = get_object_or_404(Job.objects.select_related("survey"), pk=pk)
        survey_for(request, job.survey.slug, "download" if job.copy else "ask")
        if job.analysis is None and job.copy is None:
            raise Conflict("A release cannot be cancelled.")
        job.cancel(by=request.user)
        job.refresh_from_db()
        return Response(JobSerializer(job, context={"request": request}).data)

    @extend_schema(
        operation_id="job",
        tags=["researchers"],
        responses={200: JobSerializer} | errors(401, 403, 404),
    )
    def get(self, request: Request, pk: str) -> Response:
        job = get_object_or_404(Job.objects.select_related("survey"), pk=pk)
        survey_for(request, job.survey.slug)
        return Response(JobSerializer(job, context={"request": request}).data)
