"""Logging in with one or two factors, and reauthentication.

For somebody with a second factor, a right password does not log in; the session only remembers it
for ten minutes. Every login goes through here, including that of the admin pages.
"""

import time
from typing import Any, cast

from django.conf import settings
from django.contrib import auth
from django.contrib.auth import views
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from people.authentication import CONFIRMED, remember
from people.forms import AgainForm, CodeForm
from people.models import Factor, SetUp
from survey import rate_limits
from survey.permissions import private_form

BACKEND = "people.authentication.Passwords"
HALF = "password was right"  # in a session: the user, and when
HALF_SECONDS = 10 * 60


def safe_next(request: HttpRequest, given: str) -> str:
    """Return the address to go to next if it is on this site, otherwise the default."""
    here = {request.get_host()}
    fine = url_has_allowed_host_and_scheme(given, here, require_https=request.is_secure())
    fine = fine and given.startswith("/")
    return given if fine else reverse(settings.LOGIN_REDIRECT_URL)


def enter(request: HttpRequest, user: User, to: str) -> HttpResponse:
    auth.login(request, user, BACKEND)
    response = redirect(safe_next(request, to))
    remember(response, user.get_username())
    return response


class LogIn(views.LoginView):
    template_name = "people/login.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return redirect("setup") if SetUp.due() else super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        user = form.get_user()
        if not Factor.objects.filter(user=user).exists():
            return enter(self.request, user, self.get_success_url())
        self.request.session[HALF] = {
            "user": user.pk,
            "password": user.get_session_auth_hash(),
            "at": time.time(),
            "next": self.get_success_url(),
        }
        return redirect("login-code")


def half_way(request: HttpRequest) -> tuple[User, str] | None:
    """Return the user who recently entered the right password, and where they want to go."""
    half = request.session.get(HALF)
    if not half or not 0 <= time.time() - half["at"] < HALF_SECONDS:
        return None
    user = User.objects.filter(pk=half["user"], is_active=True, factor__isnull=False).first()
    if user is None or not constant_time_compare(user.get_session_auth_hash(), half["password"]):
        return None
    return user, half["next"]


def wrong_code(user: User, given: str) -> str:
    """Use up a code; return what is wrong with it, or ""."""
    tries = ("code", f"account {user.pk}", settings.FAILURES_PER_MINUTE)
    if rate_limits.wait(*tries, spend=False):
        return "Too many tries. Wait a minute."
    if user.factor.accepts(given):
        return ""
    rate_limits.wait(*tries)
    return "That code is wrong or already used. Wait for the next one in your app."


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """Ask for the code, the second step of logging in."""
    found = half_way(request)
    if found is None:
        request.session.pop(HALF, None)
        return redirect("login")
    user, to = found
    form = CodeForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        if not (wrong := wrong_code(user, form.cleaned_data["code"])):
            del request.session[HALF]
            return enter(request, user, to)
        form.add_error("code", wrong)
    context = {"form": form, "name": user.get_username()}
    return render(request, "people/second_step.html", context, status=400 if form.errors else 200)


@private_form
@sensitive_post_parameters()
def reauthenticate(request: HttpRequest) -> HttpResponse:
    """Ask for the password and code again, before changes to how somebody logs in."""
    user = cast(User, request.user)
    factor = Factor.objects.filter(user=user).exists()
    form = AgainForm(request.POST if request.method == "POST" else None, factor=factor)
    if form.is_valid() and not refused(request, user, form):
        request.session[CONFIRMED] = time.time()
        request.session.cycle_key()
        return redirect(safe_next(request, request.POST.get("next", "")))
    context = {"form": form, "next": request.POST.get("next", request.GET.get("next", ""))}
    return render(
        request, "people/reauthenticate.html", context, status=400 if form.errors else 200
    )


def refused(request: HttpRequest, user: User, form: Any) -> bool:
    """Add errors in the password or code to the form. The code comes last, as that uses it up."""
    given = form.cleaned_data
    if auth.authenticate(request, username=user.username, password=given["password"]) != user:
        form.add_error("password", "Wrong password. After many tries, wait a minute.")
    elif "code" in given and (wrong := wrong_code(user, given["code"])):
        form.add_error("code", wrong)
    return bool(form.errors)


@require_safe
def admin(request: HttpRequest) -> HttpResponse:
    """Replace the admin pages' own login, which does not support a second factor."""
    to = safe_next(request, request.GET.get("next", reverse("admin:index")))
    return redirect(f"{reverse('login')}?{urlencode({'next': to})}")
