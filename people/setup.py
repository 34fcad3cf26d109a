"""The first run: anyone with the code that the server printed can create the first account."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from people.forms import SetUpForm
from people.login import enter
from people.models import Gone, SetUp
from survey import rate_limits


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """Show the set-up page; 404 once there is an account."""
    if not SetUp.due():
        raise Http404
    form = SetUpForm(request.POST if request.method == "POST" else None)
    if form.is_bound and knows(request, form) and form.is_valid():
        try:
            SetUp.finish(form.cleaned_data["code"], form.save(commit=False))
        except Gone:
            raise Http404 from None
        return enter(request, form.instance, reverse("surveys"))
    return render(request, "people/setup.html", {"form": form}, status=400 if form.errors else 200)


def knows(request: HttpRequest, form: SetUpForm) -> bool:
    """Return whether the code is right, limiting guesses."""
    if "code" in form.errors:
        return False
    tries = ("setup", rate_limits.address(request), settings.FAILURES_PER_MINUTE)
    if rate_limits.wait(*tries, spend=False):
        form.add_error("code", ValidationError("Too many tries. Wait a minute."))
        return False
    if SetUp.knows(form.cleaned_data["code"]):
        return True
    rate_limits.wait(*tries)
    form.add_error("code", "That code is wrong. Use the one that was printed last.")
    return False
