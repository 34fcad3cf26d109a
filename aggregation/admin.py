"""The administration pages of what is counted. Reports are not shown there."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from aggregation.models import Analysis, Batch, Estimate, Heartbeat, Job, Release
from survey.admin import ReadOnlyAdmin


@admin.register(Batch)
class BatchAdmin(ReadOnlyAdmin):
    list_display = ["survey", "reports", "made_on", "release"]
    search_fields = ["survey__slug", "survey__title"]
    exclude = ["columns"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Batch]:
        """Leave the packed reports where they are."""
        return super().get_queryset(request).defer("columns", "tally")


@admin.register(Release)
class ReleaseAdmin(ReadOnlyAdmin):
    list_display = ["survey", "number", "reports", "final", "made_at"]
    list_filter = ["final"]
    search_fields = ["survey__slug", "survey__title"]


@admin.register(Estimate)
class EstimateAdmin(ReadOnlyAdmin):
    list_display = ["release", "question", "option", "by", "group", "n", "value", "low", "high"]
    search_fields = ["release__survey__slug", "question", "option", "by", "group"]


@admin.register(Analysis)
class AnalysisAdmin(ReadOnlyAdmin):
    list_display = ["release", "asked"]
    search_fields = ["release__survey__slug", "digest"]


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["survey", "state", "progress", "attempt", "made_at"]
    list_filter = ["state"]
    search_fields = ["survey__slug", "id", "error"]


@admin.register(Heartbeat)
class HeartbeatAdmin(ReadOnlyAdmin):
    list_display = ["name", "at"]
