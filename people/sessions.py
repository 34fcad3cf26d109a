"""Sessions with a known user, so that people can see and end their own.

Django's own table does not record whose a session is. This engine extends Django's with four
columns, which are filled from the session's data whenever it is saved, so they always agree.
"""

import re
import time
from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.utils.timezone import now

from people.authentication import CONFIRMED
from people.models import Factor, Session
from survey.models import Membership, Role, TeamMembership, today

WANTED = "second factor wanted"  # in the session of somebody who must set one up first
HELD = "second factor held"  # in the session of somebody who must have one and does
OPEN = ("/account/factor/", "/account/again/", "/logout/", "/login/", "/static/")


class SessionStore(DatabaseStore):
    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = cast(Session, super().create_model_instance(data))
        if SESSION_KEY in data:
            row.user_id = int(data[SESSION_KEY])
            row.browser = data.get("browser", "")
            row.begun_on, row.used_on = data.get("begun_on"), data.get("used_on")
        return row


BROWSERS = {  # the first match counts, because browsers also use the names of those below
    "Edge": r"Edg(e|A|iOS)?/",
    "Opera": r"OPR/|Opera",
    "Samsung Internet": r"SamsungBrowser/",
    "Firefox": r"Firefox/|FxiOS/",
    "Chrome": r"Chrome/|Chromium/|CriOS/",
    "Safari": r"Safari/",
}
SYSTEMS = {
    "Android": r"Android",
    "iPhone or iPad": r"iPhone|iPad",
    "Windows": r"Windows",
    "ChromeOS": r"CrOS",
    "Mac": r"Mac OS X|Macintosh",
    "Linux": r"Linux",
}


def browser(agent: str) -> str:
    """Return a coarse name for a browser: useful to its owner, revealing little to others."""

    def first(names: dict[str, str], other: str) -> str:
        return next((name for name, mark in names.items() if re.search(mark, agent)), other)

    return f"{first(BROWSERS, 'Another browser')} on {first(SYSTEMS, 'another system')}"


def must_have_factor(user: User) -> bool:
    if settings.SECOND_FACTOR == "all":
        return True
    if settings.SECOND_FACTOR == "none":
        return False
    owned = {"user": user, "role": Role.OWNER}
    return (
        user.is_staff
        or user.is_superuser
        or Membership.objects.filter(**owned).exists()
        or TeamMembership.objects.filter(**owned).exists()
    )


@receiver(user_logged_in)
def begin(request: HttpRequest, user: User, **_: Any) -> None:
    """Store the details of a new session, and delete everybody's expired ones."""
    Session.objects.filter(expire_date__lt=now()).delete()
    session = request.session
    session["browser"] = browser(request.headers.get("User-Agent", ""))
    session["begun_on"] = session["used_on"] = today().isoformat()
    session[CONFIRMED] = time.time()
    lacks_factor(session, user)


def lacks_factor(session: SessionBase, user: User | AnonymousUser) -> bool:
    """Return whether somebody must set up a second factor first.

    Those who need none yet are checked on every request, as they may have just become an owner.
    """
    if WANTED in session or HELD in session or isinstance(user, AnonymousUser):
        return WANTED in session
    if must_have_factor(user):
        session[HELD if Factor.objects.filter(user=user).exists() else WANTED] = True
    return WANTED in session


def end_others(request: HttpRequest) -> None:
    """End all of this person's sessions except the current one."""
    mine = Session.objects.filter(user=request.user.pk)
    mine.exclude(pk=request.session.session_key).delete()


def session_rules(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return middleware that notes the day of use and enforces the second factor.

    Without a cookie it does not touch the session, so that public pages can be cached.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return get_response(request)
        session = request.session
        if session.get(SESSION_KEY) is None:
            return get_response(request)
        if session.get("used_on") != today().isoformat():
            session["used_on"] = today().isoformat()
        if lacks_factor(session, request.user) and not request.path.startswith(OPEN):
            if request.path.startswith("/api/"):
                detail = "Set up a second factor at /account/factor/ first."
                return JsonResponse({"detail": detail}, status=403)
            return redirect("factor")
        return get_response(request)

    return middleware
