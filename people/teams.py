"""The list of the user's teams, and the page of each team."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, ProtectedError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from people import memberships
from people.forms import TeamForm
from survey.models import Role, Survey, Team, TeamMembership, may_design
from survey.permissions import private_form


@private_form
def mine(request: HttpRequest) -> HttpResponse:
    """List the user's teams. POST a `name` to create one and become its owner."""
    user = cast(User, request.user)
    may_make = may_design(user)
    if request.method == "POST" and not may_make:
        raise PermissionDenied
    form = TeamForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with transaction.atomic():
            team = form.save()
            TeamMembership.objects.give(team, user, Role.OWNER, by=user)
        return redirect("team", team.pk)
    counted = Team.objects.where_may(user, "read").annotate(
        people=Count("teammembership", distinct=True), of_surveys=Count("surveys", distinct=True)
    )
    roles = dict(TeamMembership.objects.filter(user=user).values_list("team", "role"))
    context = {
        "form": form,
        "may_make": may_make,
        "teams": [(team, roles.get(team.pk, "")) for team in counted],
    }
    return render(request, "people/teams.html", context, status=400 if form.errors else 200)


@private_form
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a team to its members. Owners POST `rename`, `delete`, or what memberships handles."""
    user = cast(User, request.user)
    team = get_object_or_404(Team, pk=pk)
    owner = team.may(user, "manage")
    if not (owner if request.method == "POST" else team.may(user, "read")):
        raise PermissionDenied
    renaming = TeamForm(request.POST if "rename" in request.POST else None, instance=team)
    result: dict[str, Any]
    if "rename" in request.POST:
        result = memberships.empty_forms()
        if renaming.is_valid():
            with transaction.atomic():
                memberships.note(user, "team renamed", renaming.save())
            return redirect("team", pk)
        team.refresh_from_db()
    elif "delete" in request.POST:
        result = memberships.empty_forms()
        try:
            with transaction.atomic():
                team.delete()
                memberships.note(user, "team deleted", team)
            return redirect("teams")
        except ProtectedError:
            result["kept"] = True
    else:
        result = memberships.change(request, team)
    if result.get("done"):
        return redirect("team", pk) if team.may(user, "read") else redirect("teams")
    context = {
        **memberships.listing(team),
        **result,
        "team": team,
        "owner": owner,
        "renaming": renaming,
        "surveys": Survey.objects.filter(team=team),
    }
    return render(request, "people/team.html", context, status=result["status"])
