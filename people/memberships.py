"""Who has a part in a survey or in a team: what both pages have in common.

Only for owners: the pages ask `may(user, "manage")` before they come here.
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

ROLES = {  # in the words of the page; survey.models.ROLE_ACTIONS is what holds
    Role.VIEWER: "reads the dashboard, releases and finished analyses, and takes estimates home",
    Role.RESEARCHER: "also asks for releases and analyses, and takes the noisy reports home",
    Role.OWNER: "also designs it, invites respondents, and says who has a part and what is public",
}


class PersonForm(forms.Form):
    """Somebody by account name, and what they are to be."""

    name = forms.CharField(max_length=150, error_messages={"required": "Give an account name."})
    role = forms.ChoiceField(choices=Role.choices, required=False)

    def clean_name(self) -> User:
        user = User.objects.filter(username=self.cleaned_data["name"]).first()
        if user is None:
            raise ValidationError("There is no account of that name. Invite the person below.")
        return user

    def save(self, target: Survey | Team, remove: bool, by: Actor) -> None:
        """Do it, unless nobody would be left as an owner: then say so."""
        user, role, parts = self.cleaned_data["name"], self.cleaned_data["role"], parts_of(target)
        try:
            if remove:
                parts.objects.remove(target, user, by)
            elif role:
                parts.objects.give(target, user, Role(role), by)
            else:
                self.add_error("role", "Choose a role.")
        except LastOwner:
            self.add_error("name", f"{user} is the last owner. Make somebody else an owner first.")


def parts_of(target: Survey | Team) -> type[Membership] | type[TeamMembership]:
    return Membership if isinstance(target, Survey) else TeamMembership


def note(by: Actor, what: str, target: Survey | Team, **detail: str) -> None:
    if isinstance(target, Survey):
        record(by, what, target, **detail)
    else:
        record(by, what, team=str(target), **detail)


def nothing_said() -> dict[str, Any]:
    """Of the parts, where something else on their page is refused."""
    return {"form": PersonForm(), "invite": InviteForm(), "status": 400}


def change(request: HttpRequest, target: Survey | Team) -> dict[str, Any]:
    """Do what was asked for; what the page says of it. `done` is whether there is nothing to say.

    POST: `invite` with a `role` and perhaps an `email`; `revoke` one; or somebody's `name` with a
    `role` or `remove`.
    """
    given = request.POST
    said: dict[str, Any] = {"form": PersonForm(), "invite": InviteForm(), "adding": "add" in given}
    if "invite" in given:
        said["invite"] = InviteForm(given)
        if said["invite"].is_valid():
            said |= invited(request, target, said["invite"])
    elif "revoke" in given:
        number = int(given["revoke"]) if given["revoke"].isdecimal() else 0
        with transaction.atomic():
            if target.invites.filter(pk=min(number, 2**62)).delete()[0]:
                note(request.user, "invitation taken back", target)
        said["done"] = True
    elif request.method == "POST":
        said["form"] = PersonForm(given)
        if said["form"].is_valid():
            said["form"].save(target, "remove" in given, request.user)
            said["done"] = not said["form"].errors
    said["status"] = 400 if said["form"].errors or said["invite"].errors else 200
    return said


def invited(request: HttpRequest, target: Survey | Team, form: InviteForm) -> dict[str, Any]:
    """Sent where an address was given and the site has mail, else shown to be handed over."""
    role, email = Role(form.cleaned_data["role"]), form.cleaned_data["email"]
    user = cast(User, request.user)
    try:
        with transaction.atomic():
            token = Invite.objects.make(target, role, user, email)
            note(user, "colleague invited", target, role=str(role))
    except TooManyInvites:
        form.add_error("role", f"{MOST_INVITES} invitations wait already. Take some back first.")
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


def shown(target: Survey | Team) -> dict[str, Any]:
    """What the page lists."""
    parts = cast(Any, parts_of(target)).objects.filter(
        **{"survey" if isinstance(target, Survey) else "team": target}
    )
    return {
        "roles": [(role.value, role.label, what) for role, what in ROLES.items()],
        "people": parts.select_related("user").order_by("user__username"),
        "invites": target.invites.waiting(),
        "days": INVITED_DAYS,
        "mail": bool(settings.EMAIL_URL),
    }
