"""The page where the owner of a survey says who has a part in it, and whether anyone may see it."""

from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods

from survey.log import Actor
from survey.models import LastOwner, Membership, Role, Survey

ROLES = {  # in the words of the page; survey.models.MAY is what holds
    Role.VIEWER: "reads the dashboard, releases and finished analyses, and takes estimates home",
    Role.RESEARCHER: "also asks for releases and analyses, and takes the noisy reports home",
    Role.OWNER: "also says who has a part, and whether the results are public",
}


class PersonForm(forms.Form):
    """Somebody by account name, and what they are to be."""

    name = forms.CharField(max_length=150, error_messages={"required": "Give an account name."})
    role = forms.ChoiceField(choices=Role.choices, required=False)

    def clean_name(self) -> User:
        user = User.objects.filter(username=self.cleaned_data["name"]).first()
        if user is None:
            raise ValidationError("There is no account of that name. An admin can make one.")
        return user

    def save(self, survey: Survey, remove: bool, by: Actor) -> None:
        """Do it, unless the survey would be left without an owner: then say so."""
        user, role = self.cleaned_data["name"], self.cleaned_data["role"]
        try:
            if remove:
                Membership.objects.remove(survey, user, by)
            elif role:
                Membership.objects.give(survey, user, Role(role), by)
            else:
                self.add_error("role", "Choose a role.")
        except LastOwner:
            self.add_error("name", f"{user} is the last owner. Make somebody else an owner first.")


@login_required
@cache_control(private=True, no_store=True)
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """POST: `results` on or off; or somebody's `name`, with a `role` or `remove`."""
    survey = get_object_or_404(Survey, slug=slug)
    if not survey.may(request.user, "manage"):
        raise PermissionDenied
    given = request.POST
    if given.get("results") in ("on", "off"):
        survey.publish_results(given["results"] == "on", by=request.user)
        return redirect(f"{request.path}#results")
    form = PersonForm(given if request.method == "POST" else None)
    if form.is_valid():
        form.save(survey, remove="remove" in given, by=request.user)
        if not form.errors:  # whoever demotes themselves goes elsewhere
            still = survey.may(request.user, "manage")
            return redirect("people", slug) if still else redirect("surveys")
    context: dict[str, Any] = {
        "survey": survey,
        "form": form,
        "adding": "add" in given,
        "roles": [(role.value, role.label, what) for role, what in ROLES.items()],
        "people": Membership.objects.filter(survey=survey)
        .select_related("user")
        .order_by("user__username"),
    }
    return render(request, "people.html", context, status=400 if form.errors else 200)
