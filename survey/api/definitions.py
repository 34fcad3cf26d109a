"""The survey part of the API: public definitions, and the list of the user's surveys."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import generics, permissions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from survey.api.schema import ProblemSerializer, errors
from survey.api.serializers import DefinitionSerializer, SurveySerializer
from survey.models import Survey


class DefinitionView(APIView):
    """The definition of a survey, for the respondent's client."""

    authentication_classes = ()
    permission_classes = (permissions.AllowAny,)
    throttle_classes = ()  # many respondents may share an address

    @extend_schema(
        operation_id="survey",
        tags=["respondents"],
        responses={
            200: DefinitionSerializer,
            404: OpenApiResponse(ProblemSerializer, "The survey does not exist or is not open."),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        survey = get_object_or_404(Survey.objects.exclude(state=Survey.State.DRAFT), slug=slug)
        headers = {"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin"}
        return Response(DefinitionSerializer(survey).data, headers=headers)


@extend_schema_view(
    get=extend_schema(
        operation_id="surveys",
        tags=["researchers"],
        responses={200: SurveySerializer(many=True)} | errors(401),
    )
)
class SurveyList(generics.ListAPIView[Survey]):
    """The surveys whose estimates you can read."""

    serializer_class = SurveySerializer

    def get_queryset(self) -> Any:
        return Survey.objects.readable_by(self.request.user).order_by("slug")
