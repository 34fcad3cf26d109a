"""The site's addresses, and views to compare its hot paths with."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.urls import urlpatterns as site
from survey.models import Report, Survey


@csrf_exempt
def null(request: HttpRequest) -> HttpResponse:
    """Only read the body."""
    request.read()
    return HttpResponse(status=204)


class ReportSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    design = serializers.CharField()
    blocks = serializers.DictField(child=serializers.ListField(child=serializers.IntegerField()))


class FrameworkView(APIView):
    """Store a report in the simplest way, with a serializer and the ORM."""

    authentication_classes = ()
    permission_classes = ()

    def post(self, request: Request, slug: str) -> Response:
        serializer = ReportSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        survey = Survey.objects.get(slug=slug, state="open")
        data = serializer.validated_data
        values = [value for block in data["blocks"].values() for value in block]
        Report.objects.create(id=UUID(str(data["id"])), survey=survey, content=bytes(values))
        return Response({"id": str(data["id"])}, status=201)


urlpatterns = [
    path("bench/null", null),
    path("bench/framework/<slug:slug>", FrameworkView.as_view()),
    *site,
]
