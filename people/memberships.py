"""Managing the people of a survey or a team: what both pages share.

Only for owners: the pages check `may(user, "manage")` before they call this.
"""

import logging
import smtplib
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from people.forms import InviteForm
from people.models import INVITED_DAYS, MOST_INVITES, Invite, TooManyInvites
from survey.models import LastOwner, Membership, Role, Survey, Team, TeamMembership
from survey.models.log import Actor, record

logger = logging.getLogger(__name__)

ROLES = {  # for people; survey.models.ROLE_ACTIONS enforces it
    Role.VIEWER: "reads the dashboard, releases and finished analyses, and downloads estimates",
    Role.RESEARCHER: "also requests releases and analyses, and downloads the noisy reports",
    Role.OWNER: "also designs it, invites respondents, and manages people and what is public",
}


class PersonForm(forms.Form):
    """An account name, and its new role."""

    name = forms.CharField(max_length=150, error_messages={"required": "Enter an account name."})
    role = forms.ChoiceField(choices=Role.choices, required=False)

    def clean_name(self) -> User:
        user = User.objects.filter(username=self.cleaned_data["name"]).first()
        if user is None:
            raise ValidationError("There is no account with that name. Invite the person below.")
        return user

    def save(self, target: Survey | Team, remove: bool, by: Actor) -> None:
        """Change or remove the role; add an error to the form if no owner would remain."""
        user, role = self.cleaned_data["name"], self.cleaned_data["role"]
        try:
            if remove:
                membership_model(target).objects.remove(target, user, by)
            elif role:
                membership_model(target).objects.give(target, user, Role(role), by)
            else:
                self.add_error("role", "Choose a role.")
        except LastOwner:
            self.add_error("name", f"{user} is the last owner. Make somebody else an owner first.")


def membership_model(target: Survey | Team) -> type[Membership] | type[TeamMembership]:
    return Membership if isinstance(target, Survey) else TeamMembership


def note(by: Actor, what: str, target: Survey | Team, **detail: str) -> None:
    if isinstance(target, Survey):
        record(by, what, target, **detail)
    else:
        record(by, what, team=str(target), **detail)


def empty_forms() -> dict[str, Any]:
    """Return empty forms for the page, with the status for an error elsewhere on it."""
    return {"form": PersonForm(), "invite": InviteForm(), "status": 400}


def change(request: HttpRequest, target: Survey | Team) -> dict[str, Any]:
    """Handle a POST and return the context for the page. `done` means that it has nothing to show.

    POST `invite` with a `role` and an optional `email`, `revoke` with an invitation's number, or a
    `name` with a `role` or `remove`.
    """
    given = request.POST
    result: dict[str, Any] = {
        "form": PersonForm(),
        "invite": InviteForm(),
        "adding": "add" in given,
    }
    if "invite" in given:
        result["invite"] = InviteForm(given)
        if result["invite"].is_valid():
            result |= invite(request, target, result["invite"])
    elif "revoke" in given:
        number = int(given["revoke"]) if given["revoke"].isdecimal() else 0
        with transaction.atomic():
            if target.invites.filter(pk=min(number, 2**62)).delete()[0]:
                note(request.user, "invitation taken back", target)
        result["done"] = True
    elif request.method == "POST":
        result["form"] = PersonForm(given)
        if result["form"].is_valid():
            result["form"].save(target, "remove" in given, request.user)
            result["done"] = not result["form"].errors
    result["status"] = 400 if result["form"].errors or result["invite"].errors else 200
    return result


def invite(request: HttpRequest, target: Survey | Team, form: InviteForm) -> dict[str, Any]:
    """Create an invitation, and send it if there is an address and mail, or else show its link."""
    role, email = Role(form.cleaned_data["role"]), form.cleaned_data["email"]
    user = cast(User, request.user)
    try:
        with transaction.atomic():
            token = Invite.objects.make(target, role, user, email)
            note(user, "colleague invited", target, role=str(role))
    except TooManyInvites:
        form.add_error("role", f"There are {MOST_INVITES} open invitations. Take some back first.")
        return {}
    link = request.build_absolute_uri(reverse("join", args=[token]))
    if not (email and settings.EMAIL_URL):
        return {"link": link}
    context = {"target": target, "role": role.label, "by": user, "link": link, "days": INVITED_DAYS}
    text = render_to_string("people/invitation_mail.txt", context)
    try:
        send_mail("An invitation to Candor", text, None, [email])
    except (OSError, smtplib.SMTPException) as error:
        logger.warning("an invitation was not sent: %s", type(error).__name__)
        return {"link": link, "unsent": email}
    return {"sent": email}


def listing(target: Survey | Team) -> dict[str, Any]:
    """Return the roles, people and invitations that the page lists."""
    members = cast(Any, membership_model(target)).objects.filter(
        **{"survey" if isinstance(target, Survey) else "team": target}
    )
    return {
        "roles": [(role.value, role.label, what) for role, what in ROLES.items()],
        "people": members.select_related("user").order_by("user__username"),
        "invites": target.invites.waiting(),
        "days": INVITED_DAYS,
        "mail": bool(settings.EMAIL_URL),
    }
