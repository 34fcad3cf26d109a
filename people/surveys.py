"""The page where owners manage a survey's people and team, and whether its results are public."""

from typing import cast

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from people import memberships
from people.forms import SurveyTeamForm
from survey.models import Survey, TeamMembership
from survey.models.log import record
from survey.permissions import private_form, survey_or_403


@private_form
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the page. POST `results` on or off, `set` with a `team`, or what memberships handles."""
    survey = survey_or_403(request, slug, "manage")
    given = request.POST
    if given.get("results") in ("on", "off"):
        survey.publish_results(given["results"] == "on", by=request.user)
        return redirect(f"{request.path}#results")
    teams = SurveyTeamForm(
        given if "set" in given else None,
        survey=survey,
        user=cast(User, request.user),
        initial={"team": survey.team_id},
    )
    if "set" in given:
        result = memberships.empty_forms()
        if teams.is_valid():
            team = teams.cleaned_data["team"]
            with transaction.atomic():
                Survey.objects.filter(pk=survey.pk).update(team=team)
                record(request.user, "team set", survey, team=str(team or ""))
            result["done"] = True
    else:
        result = memberships.change(request, survey)
    if result.get("done"):  # people who removed their own role cannot stay here
        still = survey.may(request.user, "manage")
        return redirect("people", slug) if still else redirect("surveys")
    through = TeamMembership.objects.filter(team=survey.team_id).select_related("user")
    context = {
        **memberships.listing(survey),
        **result,
        "survey": survey,
        "teams": teams,
        "through": through.order_by("user__username") if survey.team_id else [],
    }
    return render(request, "people/survey_people.html", context, status=result["status"])
