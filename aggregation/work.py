"""Work asked for, and what became of it: jobs, and the analyses and files that some of them make.

The queue carries only ids of these rows; whoever takes one finds here what is to be done.
"""

import uuid
import zlib
from datetime import timedelta
from typing import Any

import numpy as np
from django.db import IntegrityError, connection, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from aggregation import analyses
from aggregation.analyses import AnalysisError
from aggregation.counting.tables import tables
from survey.log import Actor, record
from survey.models import Survey

MOST_PARTS = 64  # of an analysis; their tables are kept until they are added up
PART_BATCHES = 8  # at least, in one part


def lock(survey: Survey) -> Survey:
    """The survey, as it is now, held until the end of the transaction.

    NO KEY on PostgreSQL, so that reports that refer to it can still come in. SQLite has one writer
    at a time anyhow, and the IMMEDIATE transaction has made us that.
    """
    no_key = connection.vendor == "postgresql"
    return Survey.objects.select_for_update(no_key=no_key).get(pk=survey.pk)


class AnalysisManager(models.Manager["Analysis"]):
    def ask(self, survey: Survey, asked: Any, by: Actor = None) -> "Job":
        """The job that makes these figures of the last release: done, under way, or a new one.

        AnalysisError where that cannot be asked. What the same question found before is kept.
        """
        design = survey.frozen_design()
        analyses.read(asked, design)
        with transaction.atomic():
            survey = lock(survey)
            release = survey.releases.order_by("number").last()
            if release is None:
                raise AnalysisError("survey", "nothing has been released yet")
            analysis, _ = self.get_or_create(
                release=release, digest=analyses.digest(asked), defaults={"asked": asked}
            )
            job = analysis.jobs.order_by("active", "made_at").last()
            if job is None or job.state in (Job.State.FAILED, Job.State.CANCELLED):
                analysis.divide()
                job = Job.objects.create(survey=survey, analysis=analysis)
                job.send()
            kind = analysis.asked["kind"]
            record(by, "analysis asked for", survey, kind=kind, analysis=str(analysis.pk))
        return job


class Analysis(models.Model):
    """A question about several questions at once, put to the reports of one release."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    release = models.ForeignKey("aggregation.Release", models.CASCADE, related_name="analyses")
    asked = models.JSONField()
    digest = models.CharField(max_length=64)

    objects = AnalysisManager()

    class Meta:
        verbose_name_plural = "analyses"
        constraints = [
            models.UniqueConstraint(fields=["release", "digest"], name="analysis_once_a_release")
        ]

    def __str__(self) -> str:
        return f"{self.release} {self.asked['kind']}"

    def divide(self) -> None:
        """Make the parts that are counted side by side: some of the release's batches each."""
        keys = self.release.batch_keys()
        size = max(PART_BATCHES, -(-len(keys) // MOST_PARTS))
        self.parts.all().delete()
        Part.objects.bulk_create(
            Part(analysis=self, batches=keys[start : start + size])
            for start in range(0, len(keys), size)
        )

    def question(self) -> analyses.Analysis:
        return analyses.read(self.asked, self.release.survey.frozen_design())

    def table(self) -> analyses.Counts:
        """The parts together; RuntimeError if one is missing."""
        tables = [part.table() for part in self.parts.all()]
        return sum(tables[1:], tables[0])


class Part(models.Model):
    """Some batches of an analysis, and the table of their reports once it is counted.

    Counting it twice does no harm, so nobody claims it. It is gone when the analysis is done.
    """

    analysis = models.ForeignKey(Analysis, models.CASCADE, related_name="parts")
    batches = models.JSONField()
    counts = models.BinaryField(null=True)

    def __str__(self) -> str:
        return f"{self.analysis} part {self.pk}"

    def count(self) -> analyses.Counts:
        """Return the table of its batches."""
        survey = self.analysis.release.survey
        axes = self.analysis.question().axes()
        return tables(survey.batches.packed(self.batches), survey.frozen_design(), [axes])[0]

    def keep(self, table: analyses.Counts) -> None:
        Part.objects.filter(pk=self.pk).update(counts=zlib.compress(table.tobytes(), 1))

    def table(self) -> analyses.Counts:
        if self.counts is None:
            raise RuntimeError("a part is not counted yet")
        design = self.analysis.release.survey.frozen_design()
        shape = analyses.sizes(self.analysis.question().axes(), design)
        return np.frombuffer(zlib.decompress(self.counts), dtype=np.int64).reshape(shape)


class CopyManager(models.Manager["Copy"]):
    def ask(self, release: Any, name: str, address: str) -> "Job":
        """Return the job that makes this file: one that is under way, or a new one."""
        with transaction.atomic():
            survey = lock(release.survey)
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

    release = models.ForeignKey("aggregation.Release", models.CASCADE, related_name="copies")
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

    def send(self) -> None:
        """Put the id on the queue once the row is committed; the beat sends it again if need be."""
        from aggregation.tasks import run

        Job.objects.filter(pk=self.pk).update(lease=Now() + timedelta(seconds=10))
        transaction.on_commit(lambda: run.delay(str(self.pk)), robust=True)

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
