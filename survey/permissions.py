"""Permission checks for pages about a survey."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods
from rest_framework.request import Request

from survey.models import Action, Survey


def survey_or_403(request: HttpRequest | Request, slug: str, action: Action = "read") -> Survey:
    """Return the survey; raise 404 if there is none, 403 if this person may not do this."""
    survey = get_object_or_404(Survey.objects.select_related("team"), slug=slug)
    if not survey.may(request.user, action):
        raise PermissionDenied
    return survey


View = Callable[..., HttpResponseBase]


def private_page(view: View) -> View:
    """Require a login for a page, and forbid caching it."""
    return _private(view, ["GET", "HEAD"])


def private_form(view: View) -> View:
    """Do the same for a page that also takes a form."""
    return _private(view, ["GET", "HEAD", "POST"])


def _private(view: View, methods: list[str]) -> View:
    """Combine the checks; return 404 if somebody deletes the survey during the request."""

    @login_required
    @cache_control(private=True, no_store=True)
    @require_http_methods(methods)
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except Survey.DoesNotExist:
            raise Http404 from None

    return wrapped
