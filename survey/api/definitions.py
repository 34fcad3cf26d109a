"""The survey part of the API: definitions for everyone, and the list of one's own surveys."""

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
    """The definition of a survey, for the client that asks its questions."""

    authentication_classes = ()
    permission_classes = (permissions.AllowAny,)
    throttle_classes = ()  # respondents are not held up; many of them may share an address

    @extend_schema(
        operation_id="survey",
        tags=["respondents"],
        responses={
            200: DefinitionSerializer,
            404: OpenApiResponse(ProblemSerializer, "No such survey, or not open yet."),
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
    """The surveys whose estimates you may read."""

    serializer_class = SurveySerializer

    def get_queryset(self) -> Any:
        return Survey.objects.readable_by(self.request.user).order_by("slug")
