"""Scheduled changes: surveys that open and close at a given time.

The beat calls `apply` every few seconds. All state is in the database, so a killed worker, a second
beat or a late message does no harm. A time has come when it has passed by our clock and by the
database's.
"""

import logging

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from survey.design import DesignError
from survey.models import Membership, Role, Survey, TeamMembership

logger = logging.getLogger(__name__)


def apply() -> None:
    """Open and close the surveys whose time has come."""
    now = timezone.now()
    surveys = Survey.objects.order_by()  # without an order, SQLite skips the closed surveys
    due = surveys.filter(opens_at__lte=Now(), state=Survey.State.DRAFT)
    for survey in due.filter(opens_at__lte=now):
        open_now(survey)
    for survey in surveys.filter(closes_at__lte=Now(), state=Survey.State.OPEN):
        if survey.closes_at and survey.closes_at <= now:
            close_now(survey)


def open_now(survey: Survey) -> None:
    """Open a survey if it is as approved; otherwise cancel the opening and tell the owners once."""
    try:
        survey.open(survey.approved_hash)
    except (DesignError, ValidationError) as error:
        why = error.messages if isinstance(error, ValidationError) else [str(error)]
        cancelled = Survey.objects.filter(
            pk=survey.pk, state=Survey.State.DRAFT, opens_at=survey.opens_at
        ).update(opens_at=None, approved_hash="", opens_refused="\n".join(why))
        if cancelled:
            tell_owners(survey, why)


def tell_owners(survey: Survey, why: list[str]) -> None:
    """E-mail the owners that the survey did not open. Failures are only logged, as pages say it."""
    if not settings.EMAIL_URL:
        return
    own = Membership.objects.filter(survey=survey, role=Role.OWNER)
    team = TeamMembership.objects.filter(team=survey.team_id, role=Role.OWNER)
    owners = User.objects.filter(Q(pk__in=own.values("user")) | Q(pk__in=team.values("user")))
    to = list(owners.filter(is_active=True).exclude(email="").values_list("email", flat=True))
    text = (
        f"The survey {survey.slug} could not open at the scheduled time:\n\n"
        f"{chr(10).join(why)}\n\n"
        "It is still a draft. Log in, fix it on its page “Check and open”, and set a new time."
    )
    try:
        send_mail(f"Survey {survey.slug} did not open", text, None, to)
    except (OSError, ValueError) as error:
        logger.warning("owners were not told that a survey did not open: %s", type(error).__name__)


def close_now(survey: Survey) -> None:
    try:
        survey.close()
    except ValidationError:
        return  # somebody else closed it first
