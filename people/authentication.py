"""Authentication by password or API token, and the page where people create their tokens.

A token gives access to the API only; the pages, including this one, require a session.
"""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, User
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from survey import rate_limits
from survey.models import (
    MOST_TOKENS,
    ROLE_ACTIONS,
    ApiToken,
    TeamMembership,
    TooManyTokens,
    digest,
)
from survey.permissions import private_form

CONFIRMED = "confirmed at"  # in a session: when its owner last logged in or reauthenticated
CONFIRMED_SECONDS = 15 * 60
KNOWN = "known"  # a cookie: this browser has logged in to this account before
KNOWN_SECONDS = 180 * 24 * 60 * 60
FROM_ANYWHERE = 3  # an account's limit from all addresses, as a multiple of that from one address
OF_ANYBODY = 10  # an address's limit for all accounts, as a multiple of that for one account


class Passwords(ModelBackend):
    """Django's backend with limits on failed logins per minute.

    Failures are counted per account and address, per account from all addresses (attackers may have
    many), and per address for all accounts. A browser that has logged in to the account before is
    exempt from the last two, so that an attacker cannot lock its owner out.
    """

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **rest: Any,
    ) -> User | None:
        if request is None:
            return super().authenticate(request, username, password, **rest)
        most = settings.FAILURES_PER_MINUTE
        counts = [("login", f"{username} from {rate_limits.address(request)}", most)]
        if not is_known(request, username or ""):
            counts.append(
                ("login", f"anybody from {rate_limits.address(request)}", OF_ANYBODY * most)
            )
            counts.append(("login", f"{username} from anywhere", FROM_ANYWHERE * most))
        if any([rate_limits.wait(*count, spend=False) for count in counts]):
            raise PermissionDenied
        user = super().authenticate(request, username, password, **rest)
        if user is None:
            for count in counts:
                rate_limits.wait(*count)
        return user

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        """Also let owners and researchers of a team create surveys, without the permission."""
        if super().has_perm(user_obj, perm, obj):
            return True
        if perm != "survey.add_survey" or isinstance(user_obj, AnonymousUser):
            return False
        teams = TeamMembership.objects.filter(user=user_obj, role__in=ROLE_ACTIONS["ask"])
        return bool(user_obj.is_active and teams.exists())


def is_known(request: HttpRequest, username: str) -> bool:
    """Return whether this browser is or was logged in to this account."""
    if getattr(request, "user", AnonymousUser()).get_username() == username != "":
        return True
    try:
        known = request.get_signed_cookie(KNOWN, "", salt=KNOWN, max_age=KNOWN_SECONDS)
    except signing.BadSignature:
        return False
    return bool(username) and known == digest(username)


def remember(response: HttpResponse, username: str) -> None:
    """Set the cookie for a known browser, which is sent only to the login page."""
    response.set_signed_cookie(
        KNOWN,
        digest(username),
        salt=KNOWN,
        max_age=KNOWN_SECONDS,
        path="/login/",
        httponly=True,
        samesite="Strict",
        secure=settings.SESSION_COOKIE_SECURE,
    )


View = Callable[..., HttpResponse]


def confirmed(view: View) -> View:
    """Require a recent login, for pages that change how somebody logs in."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        since = time.time() - request.session.get(CONFIRMED, 0)
        if not 0 <= since < CONFIRMED_SECONDS:
            return redirect(f"/account/again/?{urlencode({'next': request.path})}")
        return view(request, *args, **kwargs)

    return wrapped


class TokenAuthentication(authentication.TokenAuthentication):
    """`Authorization: Token …`. Only the token's SHA-256 is stored."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        self.tries = ("token", rate_limits.address(request))
        result: tuple[User, ApiToken] | None = super().authenticate(request)
        return result

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        if seconds := rate_limits.wait(*self.tries, settings.FAILURES_PER_MINUTE, spend=False):
            raise exceptions.Throttled(seconds)
        token = ApiToken.objects.select_related("user").filter(digest=digest(key)).first()
        if token is None or not token.user.is_active:
            rate_limits.wait(*self.tries, settings.FAILURES_PER_MINUTE)
            raise exceptions.AuthenticationFailed("This token is not valid.")
        token.note_use()
        return token.user, token


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token …`, created at `/account/tokens/` or by `manage.py api_token`.",
        }


class TokenForm(forms.Form):
    label = forms.CharField(
        max_length=100, error_messages={"required": "Enter what the token is for."}
    )


@private_form
@confirmed
def tokens(request: HttpRequest) -> HttpResponse:
    """Show the user's tokens. A new token is shown only in reply to the form that created it."""
    user = cast(User, request.user)
    form, fresh = TokenForm(), ""
    if "revoke" in request.POST:
        wanted = request.POST["revoke"]
        known = ApiToken.objects.filter(user=user, pk=int(wanted) if wanted.isdecimal() else 0)
        for token in known:
            token.revoke(by=user)
        return redirect("tokens")
    if request.method == "POST":
        form = TokenForm(request.POST)
        if form.is_valid():
            try:
                fresh = ApiToken.objects.issue(user, form.cleaned_data["label"], by=user)
                form = TokenForm()
            except TooManyTokens:
                form.add_error("label", f"You already have {MOST_TOKENS} tokens. Revoke one first.")
    context = {
        "form": form,
        "fresh": fresh,
        "tokens": ApiToken.objects.filter(user=user).order_by("-made_on", "-pk"),
        "most": MOST_TOKENS,
    }
    return render(
        request, "people/account/tokens.html", context, status=400 if form.errors else 200
    )
