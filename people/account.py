"""The account pages: address, password, second factor, sessions and deletion."""

import secrets
from typing import Any, cast

from cryptography.fernet import InvalidToken
from django.contrib import auth
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.debug import sensitive_post_parameters

from people import totp
from people.authentication import View, confirmed
from people.forms import AgainForm, CodeForm, EmailForm, PasswordForm
from people.login import refused
from people.models import CODES, Factor, RecoveryCode, Session, check_alone, delete_account, fernet
from people.sessions import WANTED, end_others, must_have_factor
from survey.permissions import private_form
from survey.qr_codes import qr_code

SITE = "Candor"
SET_UP_SECONDS = 60 * 60  # to enter the first code after the QR code is shown


def own(view: View) -> View:
    """Wrap a view of the user's own account: login required, no caching, POST data kept secret."""
    return cast(View, private_form(sensitive_post_parameters()(view)))


def given(request: HttpRequest) -> Any:
    return request.POST if request.method == "POST" else None


def shown(request: HttpRequest, name: str, form: Any, **context: Any) -> HttpResponse:
    status = 400 if form is not None and form.errors else 200
    return render(request, f"people/account/{name}.html", {"form": form, **context}, status=status)


@own
def overview(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    form = EmailForm(given(request), instance=User.objects.get(pk=user.pk))
    if form.is_valid():
        form.save()
        return redirect("account")
    return shown(
        request,
        "overview",
        form,
        factor=Factor.objects.filter(user=user).first(),
        must=must_have_factor(user),
        sessions=live_sessions(user).count(),
        tokens=user.api_tokens.count(),
    )


@own
def password(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    form = PasswordForm(request, given(request))
    if form.is_valid():
        form.save()
        auth.update_session_auth_hash(request, user)
        end_others(request)
        return redirect("account")
    return shown(request, "password", form)


# --- Second factor --------------------------------------------------------------------------------


@own
@confirmed
def factor(request: HttpRequest) -> HttpResponse:
    """Set up, show, replace or switch off the second factor. Recovery codes are shown only once.

    A new phone replaces the old one only when its first code is right, so nobody who must have a
    second factor is ever without one.
    """
    user = cast(User, request.user)
    held = Factor.objects.filter(user=user).first()
    if held is None or "another" in request.GET:
        return set_up(request, user)
    must, codes = must_have_factor(user), None
    if "codes" in request.POST:
        codes = RecoveryCode.fresh(user)
        end_others(request)
    elif "off" in request.POST and not must:
        Factor.switch_off(user, by=user)
        end_others(request)
        return redirect("account")
    left = RecoveryCode.objects.filter(user=user).count()
    context = {"factor": held, "codes": codes, "left": left, "most": CODES, "must": must}
    return shown(request, "second_factor", None, **context)


def set_up(request: HttpRequest, user: User) -> HttpResponse:
    """Set up an authenticator app. The form carries the encrypted secret until a code is right."""
    form, sealed = CodeForm(given(request)), request.POST.get("sealed", "")
    try:
        secret = fernet().decrypt(sealed.encode(), ttl=SET_UP_SECONDS)
    except (InvalidToken, UnicodeEncodeError):
        secret = secrets.token_bytes(20)
        sealed = fernet().encrypt(secret).decode()
        form = CodeForm()
    if form.is_valid():
        codes = Factor.switch_on(user, secret, form.cleaned_data["code"])
        if codes is not None:
            request.session.pop(WANTED, None)  # checked again on the next request
            request.session.cycle_key()
            end_others(request)
            held, must = Factor.objects.get(user=user), must_have_factor(user)
            found = {"factor": held, "codes": codes, "left": CODES, "most": CODES, "must": must}
            return shown(request, "second_factor", None, **found)
        form.add_error("code", "That code is wrong. Check that your phone's clock is right.")
    context = {
        "sealed": sealed,
        "picture": qr_code(totp.address(secret, SITE, user.get_username()), scale=5),
        "secret": totp.text(secret),
        "wanted": WANTED in request.session,
        "another": "another" in request.GET,
    }
    return shown(request, "new_second_factor", form, **context)


# --- Sessions -------------------------------------------------------------------------------------


def live_sessions(user: User) -> QuerySet[Session]:
    live = Session.objects.filter(user=user, expire_date__gt=now())
    return live.order_by("-used_on", "-begun_on")


@own
def sessions(request: HttpRequest) -> HttpResponse:
    """List the sessions. POST `end` with a session's name, or `others`."""
    user, here = cast(User, request.user), request.session.session_key
    if "others" in request.POST:
        end_others(request)
    for session in live_sessions(user):
        if session.name == request.POST.get("end") and session.pk != here:
            session.delete()
    if request.method == "POST":
        return redirect("sessions")
    return shown(request, "sessions", None, sessions=live_sessions(user), here=here)


# --- Deletion -------------------------------------------------------------------------------------


@own
def delete(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    form = AgainForm(given(request), factor=Factor.objects.filter(user=user).exists())
    if form.is_valid() and not refused(request, user, form):
        try:
            delete_account(user)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            auth.logout(request)
            return render(request, "people/account/deleted.html")
    return shown(request, "delete", form, alone=check_alone(user))
