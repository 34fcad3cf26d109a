"""What happens to surveys by the clock: opening and closing at the hour that was said.

The beat calls `turn` every few seconds. Nothing is remembered but what stands in the database, so a
killed worker, a second beat or a late message change nothing. An hour has come when it has by our
clock and by the database's.
"""

from django.core.exceptions import ValidationError
from django.db.models.functions import Now
from django.utils import timezone

from survey.design import DesignError
from survey.models import Survey


def turn() -> None:
    """Open the drafts and close the open surveys whose hour has come."""
    now = timezone.now()
    due = Survey.objects.filter(opens_at__lte=Now(), state=Survey.State.DRAFT)
    for survey in due.filter(opens_at__lte=now):
        open_now(survey)
    for survey in Survey.objects.filter(closes_at__lte=Now(), state=Survey.State.OPEN):
        if survey.closes_at and survey.closes_at <= now:
            close_now(survey)


def open_now(survey: Survey) -> None:
    """Open what was seen when the hour was said; else say once why not, and give it up."""
    try:
        survey.open(survey.opens_seen)
    except (DesignError, ValidationError) as error:
        why = error.messages if isinstance(error, ValidationError) else [str(error)]
        Survey.objects.filter(
            pk=survey.pk, state=Survey.State.DRAFT, opens_at=survey.opens_at
        ).update(opens_at=None, opens_seen="", opens_refused="\n".join(why))


def close_now(survey: Survey) -> None:
    try:
        survey.close()
    except ValidationError:
        return  # somebody was quicker
