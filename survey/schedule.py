"""What happens to surveys by the clock: opening and closing at the hour that was said.

The beat calls `turn` every few seconds. Nothing is remembered but what stands in the database, so a
killed worker, a second beat or a late message change nothing. An hour has come when it has by our
clock and by the database's.
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
    """Open the drafts and close the open surveys whose hour has come."""
    now = timezone.now()
    surveys = Survey.objects.order_by()  # in any, so that SQLite does not read the finished ones
    due = surveys.filter(opens_at__lte=Now(), state=Survey.State.DRAFT)
    for survey in due.filter(opens_at__lte=now):
        open_now(survey)
    for survey in surveys.filter(closes_at__lte=Now(), state=Survey.State.OPEN):
        if survey.closes_at and survey.closes_at <= now:
            close_now(survey)


def open_now(survey: Survey) -> None:
    """Open what was seen when the hour was said; else say once why not, and give it up."""
    try:
        survey.open(survey.approved_hash)
    except (DesignError, ValidationError) as error:
        why = error.messages if isinstance(error, ValidationError) else [str(error)]
        given_up = Survey.objects.filter(
            pk=survey.pk, state=Survey.State.DRAFT, opens_at=survey.opens_at
        ).update(opens_at=None, approved_hash="", opens_refused="\n".join(why))
        if given_up:
            tell_owners(survey, why)


def tell_owners(survey: Survey, why: list[str]) -> None:
    """That it did not open, by e-mail; pages say it too, so a letter that fails is only noted."""
    if not settings.EMAIL_URL:
        return
    own = Membership.objects.filter(survey=survey, role=Role.OWNER)
    team = TeamMembership.objects.filter(team=survey.team_id, role=Role.OWNER)
    owners = User.objects.filter(Q(pk__in=own.values("user")) | Q(pk__in=team.values("user")))
    to = list(owners.filter(is_active=True).exclude(email="").values_list("email", flat=True))
    text = (
        f"The survey {survey.slug} was to open by itself now, and did not:\n\n"
        f"{chr(10).join(why)}\n\n"
        "It is still a draft. Log in, mend it on its page “Check and open”, and set the time again."
    )
    try:
        send_mail(f"Survey {survey.slug} did not open", text, None, to)
    except (OSError, ValueError) as error:
        logger.warning("owners were not told of an opening: %s", type(error).__name__)


def close_now(survey: Survey) -> None:
    try:
        survey.close()
    except ValidationError:
        return  # somebody was quicker
