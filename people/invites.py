"""The page behind an invitation link, which gives a role to anyone who logs in or signs up there.

It is the only way to get an account besides the first run and the admin pages.
"""

from typing import cast

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from people.forms import AccountForm
from people.login import enter
from people.memberships import ROLES
from people.models import Gone, Invite
from survey.models import Role, Survey


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, token: str) -> HttpResponse:
    try:
        invite = Invite.objects.find(token)
        if request.user.is_authenticated:
            return accept(request, invite)
        return join(request, invite)
    except Gone:
        return render(request, "people/no_invitation.html", status=404)


def accept(request: HttpRequest, invite: Invite) -> HttpResponse:
    if request.method != "POST":
        return shown(request, invite)
    invite.accept(cast(User, request.user))
    return redirect(*home(invite))


def join(request: HttpRequest, invite: Invite) -> HttpResponse:
    """Create an account and give it the role in one transaction."""
    form = AccountForm(request.POST if request.method == "POST" else None)
    form.fields["email"].initial = invite.email
    if not form.is_valid():
        return shown(request, invite, form)
    try:
        with transaction.atomic():
            user = form.save()
            invite.accept(user)
    except IntegrityError:  # somebody else just took the name
        form.add_error("username", "A user with that username already exists.")
        return shown(request, invite, form)
    return enter(request, user, redirect(*home(invite))["Location"])


def home(invite: Invite) -> tuple[str, str | int]:
    target = invite.target
    return ("dashboard", target.slug) if isinstance(target, Survey) else ("team", target.pk)


def shown(request: HttpRequest, invite: Invite, form: AccountForm | None = None) -> HttpResponse:
    status = 400 if form and form.errors else 200
    context = {"invite": invite, "form": form, "may": ROLES[Role(invite.role)]}
    return render(request, "people/join.html", context, status=status)
