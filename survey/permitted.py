"""The survey that a page is about, for whoever may do there what they want."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from survey.models import Deed, Survey


def permitted(request: HttpRequest, slug: str, deed: Deed = "read") -> Survey:
    """404 where there is no such survey, 403 where this person may not."""
    survey = get_object_or_404(Survey.objects.select_related("team"), slug=slug)
    if not survey.may(request.user, deed):
        raise PermissionDenied
    return survey
