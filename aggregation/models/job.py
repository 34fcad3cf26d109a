"""Jobs: work asked for, and what became of it.

The queue carries only the id of a row here; whoever takes one finds here what is to be done.
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

# By its name: the task stands above this module, which it uses.
RUN = "aggregation.jobs.tasks.run"


class CopyManager(models.Manager["Copy"]):
    def ask(self, release: Release, name: str, address: str) -> "Job":
        """Return the job that makes this file: one that is under way, or a new one."""
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
    """A file of a release that is too large to be made while somebody waits for it."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="copies")
    name = models.CharField(max_length=50)
    address = models.CharField(max_length=500)  # of the release, as it stands in the file

    objects = CopyManager()

    class Meta:
        verbose_name_plural = "copies"
        constraints = [
            models.UniqueConstraint(fields=["release", "name"], name="copy_once_a_release")
        ]

    def __str__(self) -> str:
        return f"{self.release} {self.name}"


class JobQuerySet(models.QuerySet["Job"]):
    """Leases are reckoned by the clock of the database, which all machines share."""

    LEASE = timedelta(seconds=30)

    def request(self, survey: Survey, by: Actor = None) -> "Job":
        """The job that makes the next release: a new one, or the one already under way.

        The log says who asked; when the beat does, nobody has.
        """
        wanted: dict[str, Any] = {
            "survey": survey, "analysis": None, "copy": None, "active": True
        }  # fmt: skip
        with transaction.atomic():
            try:
                job, created = self.get_or_create(**wanted)
            except IntegrityError:  # the other one ended between our insert and our second look
                job, created = self.get_or_create(**wanted)
            if created:
                job.send()
            if by is not None:
                record(by, "release asked for", survey)
        return job

    def claim(self, pk: uuid.UUID) -> "Job | None":
        """Take the job if it waits, or if whoever had it has not been heard of for a while."""
        free = Q(state=Job.State.QUEUED) | (Q(state=Job.State.RUNNING) & self.expired())
        claimed = self.filter(free, pk=pk).update(
            state=Job.State.RUNNING, lease=Now() + self.LEASE, attempt=F("attempt") + 1
        )
        return self.get(pk=pk) if claimed else None

    def stale(self) -> "JobQuerySet":
        """Jobs whose message was lost, or whose worker was."""
        return self.filter(self.expired(), active=True)

    def expired(self) -> Q:
        """A lease that is over; or longer than any that is given, because that clock was wrong."""
        return Q(lease__lt=Now()) | Q(lease__gt=Now() + 2 * self.LEASE)


class Job(models.Model):
    """Work asked for, and what became of it: a release, or an analysis or a large file of one.

    The queue carries only its id.
    """

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

    def as_dict(self) -> dict[str, Any]:
        """Return what may be told of it."""
        return {
            "id": str(self.pk),
            "state": self.state,
            "progress": self.progress,
            "result": self.result,
            "error": self.error or None,
        }

    def send(self) -> None:
        """Put the id on the queue after the commit; the beat sends it again if need be."""
        Job.objects.filter(pk=self.pk).update(lease=Now() + timedelta(seconds=10))
        transaction.on_commit(lambda: current_app.send_task(RUN, [str(self.pk)]), robust=True)

    def send_again(self) -> None:
        """Its message was lost, or its worker was: back to the queue, if that is still so."""
        if Job.objects.stale().filter(pk=self.pk).update(state=Job.State.QUEUED):
            self.send()

    def advance(self, progress: float) -> bool:
        """Say how far the work has come, and that it is alive; whether it is still wanted."""
        ours = Job.objects.filter(pk=self.pk, attempt=self.attempt, active=True)
        return bool(ours.update(progress=progress, lease=Now() + JobQuerySet.LEASE))

    def resume(self) -> None:
        """Its parts are counted: let it go on. Whoever says so second says nothing."""
        waiting = Job.objects.filter(pk=self.pk, state=Job.State.RUNNING)
        if waiting.update(state=Job.State.QUEUED):
            self.send()

    @transaction.atomic
    def cancel(self, by: Actor = None) -> bool:
        """Stop it, if it is still to be done; what it has done so far is forgotten."""
        stopped = Job.objects.filter(pk=self.pk, active=True).update(
            state=Job.State.CANCELLED, active=False
        )
        if stopped and self.analysis:
            self.analysis.parts.all().delete()
        if stopped:
            about = self.analysis.asked["kind"] if self.analysis else self.copy and self.copy.name
            record(by, "work cancelled", self.survey, about=about or "release")
        return bool(stopped)

    def finish(self, **outcome: Any) -> None:
        """Record the outcome, unless another attempt has taken over."""
        ended = Job.objects.filter(pk=self.pk, attempt=self.attempt, active=True).update(
            active=False, **outcome
        )
        if ended and self.analysis:
            self.analysis.parts.all().delete()
