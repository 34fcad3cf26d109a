"""Which surveys are due: one query, whose cost does not grow with finished surveys."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from aggregation.models import Batch, Job, Release
from aggregation.releases.collect import BATCH_SIZE, movable
from survey.models import Report, Survey, today

AFTER_FAILURE = timedelta(minutes=5)  # before the beat retries a release that failed
CLOCKS_APART = timedelta(minutes=1)  # the most by which the clocks of our machines may differ


def due() -> QuerySet[Survey]:
    """Return the surveys that a worker should look at.

    An open survey is due if enough reports wait, or if a batch is not published yet. Automatic
    releases are at least RELEASE_SECONDS apart, unless a batch would be full. A closed survey is
    due on the day that Survey.schedule_next_task stored. After a failure there is a pause.
    """
    now = timezone.now()
    soon = now + CLOCKS_APART  # a later time is from a clock that was wrong
    rested = now - timedelta(seconds=settings.RELEASE_SECONDS)
    inbox = Report.objects.filter(survey=OuterRef("pk"), content__isnull=False).order_by()
    releases = Release.objects.filter(survey=OuterRef("pk")).order_by("-number")
    failed = Job.objects.filter(
        survey=OuterRef("pk"),
        state=Job.State.FAILED,
        made_at__range=(now - AFTER_FAILURE, soon),
        analysis=None,
        copy=None,
    )
    surveys = Survey.objects.filter(
        Q(state=Survey.State.OPEN) | Q(state=Survey.State.CLOSED, due_on__lte=today())
    ).annotate(
        in_inbox=Coalesce(
            Subquery(inbox.values("survey").annotate(number=Count("pk")).values("number")), 0
        ),
        released_at=Subquery(releases.values("made_at")[:1]),
        unpublished=Exists(Batch.objects.filter(survey=OuterRef("pk"), release=None)),
    )
    paused = Q(released_at=None) | Q(released_at__lte=rested) | Q(released_at__gte=soon)
    ready = Q(in_inbox__gte=2 * F("crowd")) | Q(unpublished=True)
    full = Q(in_inbox__gte=BATCH_SIZE + F("crowd"))
    found = surveys.filter(Q(state=Survey.State.CLOSED) | ready & (full | paused), ~Exists(failed))
    return found.order_by()  # otherwise SQLite reads all surveys in the order of their slugs


def unfinished(survey: Survey) -> str:
    """Say what must happen before nothing of a survey can change any more; empty if nothing."""
    if survey.state == Survey.State.DRAFT:
        return "The survey is a draft; export_survey writes what it asks."
    if survey.state == Survey.State.OPEN:
        return "The survey is open: close it first."
    if movable(survey, survey.pending().count()):
        return "Reports still wait in the inbox: let the worker run, and try again."
    if survey.batches.filter(release=None).exists():
        return "The last release is still to be made: let the worker run, and try again."
    return ""
