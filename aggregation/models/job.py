"""Jobs: requested work and its outcome.

The queue carries only the id of a row; the worker that takes it finds here what to do.
"""

import uuid
from datetime import timedelta
from typing import Any

from celery import current_app
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from aggregation.models.analysis import Analysis
from aggregation.models.release import Release
from survey.models import Survey
from survey.models.log import Actor, record

# The name of the task, whose module imports this one.
RUN = "aggregation.jobs.tasks.run"


class CopyManager(models.Manager["Copy"]):
    def ask(self, release: Release, name: str, address: str) -> "Job":
        """Return the job that makes this file: the active one, or a new one."""
        with transaction.atomic():
            survey = release.survey.hold()
            copy, _ = self.update_or_create(
                release=release, name=name, defaults={"address": address}
            )
            job = copy.jobs.filter(active=True).first()
            if job is None:
                job = Job.objects.create(survey=survey, copy=copy)
                job.send()
        return job


class Copy(models.Model):
    """A file of a release that is too large to be made while somebody waits."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="copies")
    name = models.CharField(max_length=50)
    address = models.CharField(max_length=500)  # of the release, as the file states it

    objects = CopyManager()

    class Meta:
        verbose_name_plural = "copies"
        constraints = [
            models.UniqueConstraint(fields=["release", "name"], name="copy_once_a_release")
        ]

    def __str__(self) -> str:
        return f"{self.release} {self.name}"


class JobQuerySet(models.QuerySet["Job"]):
    """Leases are timed by the clock of the database, which all machines share."""

    LEASE = timedelta(seconds=30)

    def request(self, survey: Survey, by: Actor = None) -> "Job":
        """Return the job that makes the next release: the active one, or a new one.

        Requests by people are logged, those by the beat are not.
        """
        wanted: dict[str, Any] = {
            "survey": survey, "analysis": None, "copy": None, "active": True
        }  # fmt: skip
        with transaction.atomic():
            try:
                job, created = self.get_or_create(**wanted)
            except IntegrityError:  # the other job ended between our insert and our second query
                job, created = self.get_or_create(**wanted)
            if created:
                job.send()
            if by is not None:
                record(by, "release asked for", survey)
        return job

    def claim(self, pk: uuid.UUID) -> "Job | None":
        """Take the job if it waits, or if its worker has shown no sign of life for a while."""
        free = Q(state=Job.State.QUEUED) | (Q(state=Job.State.RUNNING) & self.expired())
        claimed = self.filter(free, pk=pk).update(
            state=Job.State.RUNNING, lease=Now() + self.LEASE, attempt=F("attempt") + 1
        )
        return self.get(pk=pk) if claimed else None

    def stale(self) -> "JobQuerySet":
        """Return the jobs whose message or worker was lost."""
        return self.filter(self.expired(), active=True)

    def expired(self) -> Q:
        """Match leases that are over, or that are too long because a clock was wrong."""
        return Q(lease__lt=Now()) | Q(lease__gt=Now() + 2 * self.LEASE)


class Job(models.Model):
    """Requested work and its outcome: a release, or an analysis or a large file of a release."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    MAX_ATTEMPTS = 5

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    survey = models.ForeignKey(Survey, models.CASCADE, related_name="jobs")
    analysis = models.ForeignKey(Analysis, models.CASCADE, null=True, related_name="jobs")
    copy = models.ForeignKey(Copy, models.CASCADE, null=True, related_name="jobs")
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    active = models.BooleanField(default=True)  # queued or running
    progress = models.FloatField(default=0)
    result = models.JSONField(null=True)
    error = models.TextField(blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease = models.DateTimeField(default=timezone.now)  # sent again when this is past
    made_at = models.DateTimeField(auto_now_add=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        # For the tick, which looks at neither finished jobs nor finished surveys.
        indexes = [
            models.Index(fields=["lease"], condition=Q(active=True), name="job_active"),
            models.Index(
                fields=["survey", "made_at"], condition=Q(state="failed"), name="job_failed"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["survey"],
                condition=Q(active=True, analysis__isnull=True, copy__isnull=True),
                name="job_one_at_a_time",
            ),
            models.UniqueConstraint(
                fields=["analysis"], condition=Q(active=True), name="job_one_an_analysis"
            ),
            models.UniqueConstraint(
                fields=["copy"], condition=Q(active=True), name="job_one_a_copy"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.survey.slug} {self.analysis or self.copy or 'release'} ({self.state})"

    def send(self) -> None:
        """Put the id on the queue after the commit; the beat resends it if that fails."""
        Job.objects.filter(pk=self.pk).update(lease=Now() + timedelta(seconds=10))
        transaction.on_commit(lambda: current_app.send_task(RUN, [str(self.pk)]), robust=True)

    def send_again(self) -> None:
        """Put the job back on the queue if its message or worker is still lost."""
        if Job.objects.stale().filter(pk=self.pk).update(state=Job.State.QUEUED):
            self.send()

    def advance(self, progress: float) -> bool:
        """Record progress and renew the lease; return whether the job is still wanted."""
        ours = Job.objects.filter(pk=self.pk, attempt=self.attempt, active=True)
        return bool(ours.update(progress=progress, lease=Now() + JobQuerySet.LEASE))

    def resume(self) -> None:
        """Continue the job once its parts are counted. Only the first call has an effect."""
        waiting = Job.objects.filter(pk=self.pk, state=Job.State.RUNNING)
        if waiting.update(state=Job.State.QUEUED):
            self.send()

    @transaction.atomic
    def cancel(self, by: Actor = None) -> None:
        """Stop the job if it is active, and discard what it has done so far."""
        stopped = Job.objects.filter(pk=self.pk, active=True).update(
            state=Job.State.CANCELLED, active=False
        )
        if stopped and self.analysis:
            self.analysis.parts.all().delete()
        if stopped:
            about = self.analysis.asked["kind"] if self.analysis else self.copy and self.copy.name
            record(by, "work cancelled", self.survey, about=about or "release")

    def finish(self, **outcome: Any) -> None:
        """Record the outcome, unless another attempt has taken over."""
        ended = Job.objects.filter(pk=self.pk, attempt=self.attempt, active=True).update(
            active=False, **outcome
        )
        if ended and self.analysis:
            self.analysis.parts.all().delete()
