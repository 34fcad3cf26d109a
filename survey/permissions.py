"""The survey that a page is about, for whoever may do there what they want."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from rest_framework.request import Request

from survey.models import Action, Survey


def survey_or_403(request: HttpRequest | Request, slug: str, action: Action = "read") -> Survey:
    """404 where there is no such survey, 403 where this person may not."""
    survey = get_object_or_404(Survey.objects.select_related("team"), slug=slug)
    if not survey.may(request.user, action):
        raise PermissionDenied
    return survey


View = Callable[..., HttpResponseBase]


def not_found_if_deleted(view: View) -> View:
    """A survey that somebody else deletes meanwhile is not there."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except Survey.DoesNotExist:
            raise Http404 from None

    return wrapped
