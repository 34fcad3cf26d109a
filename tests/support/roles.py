"""Helpers for roles in a survey and their actions."""

from typing import Any, get_args

from survey.models import Action, Membership, Survey

PAGE = "/surveys/small/people/"


def actions(survey: Survey, user: Any) -> set[str]:
    """Check that testing one by one and all at once agree."""
    found = {action for action in get_args(Action) if survey.may(user, action)}
    assert Survey.objects.get(pk=survey.pk).actions(user) == found
    return found


def roles(survey: Survey) -> dict[str, str]:
    rows = Membership.objects.filter(survey=survey)
    return dict(rows.values_list("user__username", "role"))
