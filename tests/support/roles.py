"""What roles people have in a survey, and what these let them do."""

from typing import Any, get_args

from survey.models import Action, Membership, Survey

PAGE = "/surveys/small/people/"


def actions(survey: Survey, user: Any) -> set[str]:
    """One by one, and all at once: the same."""
    found = {action for action in get_args(Action) if survey.may(user, action)}
    assert Survey.objects.get(pk=survey.pk).actions(user) == found
    return found


def roles(survey: Survey) -> dict[str, str]:
    rows = Membership.objects.filter(survey=survey)
    return dict(rows.values_list("user__username", "role"))
