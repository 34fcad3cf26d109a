"""What roles people have in a survey, and what these let them do."""

from typing import Any, get_args

from survey.models import Deed, Membership, Survey

PAGE = "/surveys/small/people/"


def deeds(survey: Survey, user: Any) -> set[str]:
    """One by one, and all at once: the same."""
    found = {deed for deed in get_args(Deed) if survey.may(user, deed)}
    assert Survey.objects.get(pk=survey.pk).deeds(user) == found
    return found


def roles(survey: Survey) -> dict[str, str]:
    rows = Membership.objects.filter(survey=survey)
    return dict(rows.values_list("user__username", "role"))
