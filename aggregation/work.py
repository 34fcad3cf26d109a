"""Work asked for, and what became of it: jobs, and the analyses and files that some of them make.

The queue carries only ids of these rows; whoever takes one finds here what is to be done.
"""

import uuid
import zlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
from django.db import IntegrityError, connection, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from aggregation import analyses, batches, gate
from aggregation.analyses import AnalysisError, Overtaken
from aggregation.overlaps import Analysed, compare
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
    # Of each division (analyses.py): how many reports each group held, which the gate let through,
    # and, by set of reports, those of its parts in other groups. For the gate and nobody else.
    sizes = models.JSONField(null=True)
    shown = models.JSONField(null=True)
    overlaps = models.JSONField(null=True)

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
        published = self.release.survey.batches.filter(release__isnull=False)
        found = list(published.order_by("pk").values_list("pk", "reports"))
        if sum(reports for _, reports in found) != self.release.reports:
            raise AnalysisError("survey", "a release is being made; ask again in a moment")
        size = max(PART_BATCHES, -(-len(found) // MOST_PARTS))
        keys = [pk for pk, _ in found]
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

    def admit(self, table: analyses.Counts) -> list[set[int]]:
        """The groups of each division that the gate lets through; AnalysisError if there is none.

        Under the survey's lock, and only if no release and no other analysis has come between: each
        of these is compared with those before it.
        """
        survey = self.release.survey
        question, design = self.question(), survey.frozen_design()
        self.sizes = analyses.group_sizes(question, design, table)
        self.shown = [sorted(gate.shown(sizes, survey.crowd)) for sizes in self.sizes]
        while all(self.shown):
            others = self.admitted()
            found, self.overlaps = self._compare(others)
            with transaction.atomic():
                last = lock(survey).releases.order_by("number").last()
                if last is None or last.number != self.release.number:
                    raise Overtaken
                if self.admitted() == others:
                    self.shown = found
                    self.save(update_fields=["sizes", "shown", "overlaps"])
                    break
        return [set(shown) for shown in self.shown]

    def follow(self) -> bool:
        """Go over to the last release, to be counted anew; not if that was asked the same."""
        with transaction.atomic():
            last = lock(self.release.survey).releases.order_by("number").last()
            if not last or Analysis.objects.filter(release=last, digest=self.digest).exists():
                return False
            self.release = last
            self.save(update_fields=["release"])
            self.divide()
        return True

    def _compare(self, others: set[Analysed]) -> tuple[list[list[int]], list[dict[str, Any]]]:
        """Each division beside the others, and beside those before it."""
        shown, overlaps = [], []
        seen = set(others)
        for about in self.about():
            found, overlap = compare(self.release, about, seen)
            seen.add(replace(about, shown=tuple(sorted(found))))
            shown.append(sorted(found))
            overlaps.append(overlap)
        return shown, overlaps

    def admitted(self) -> set[Analysed]:
        """What the other analyses of this survey are about that the gate has let through."""
        found = Analysis.objects.filter(release__survey=self.release.survey, shown__isnull=False)
        found = found.exclude(pk=self.pk).select_related("release__survey")
        return {about for one in found.defer("overlaps") for about in one.about()}

    def about(self) -> list[Analysed]:
        """Which reports it is about, and how it divides them, for each division."""
        design = self.release.survey.frozen_design()
        question = self.question()
        axes = question.axes(design)
        blocks = {analyses.place_of(design, key)[0].key for kind, key in axes if kind == "question"}
        sets = batches.asked_sets(design)
        return [
            Analysed(
                number=self.release.number,
                sets=tuple(one for one in sets if one in blocks or one == batches.EVERYTHING),
                strata=strata,
                groups=len(sizes),
                shown=tuple(shown),
            )
            for strata, sizes, shown in zip(
                question.divisions(), self.sizes or (), self.shown or (), strict=True
            )
        ]


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
        """The table of its batches, read one after the other."""
        survey = self.analysis.release.survey
        design = survey.frozen_design()
        axes = self.analysis.question().axes(design)
        if survey.batches.filter(pk__in=self.batches).count() != len(self.batches):
            raise AnalysisError("survey", "its last reports were just added; ask again")
        return batches.tables(survey.batches.parts(survey, self.batches), design, [axes])[0]

    def keep(self, table: analyses.Counts) -> None:
        Part.objects.filter(pk=self.pk).update(counts=zlib.compress(table.tobytes(), 1))

    def table(self) -> analyses.Counts:
        if self.counts is None:
            raise RuntimeError("a part is not counted yet")
        design = self.analysis.release.survey.frozen_design()
        shape = analyses.sizes(self.analysis.question().axes(design), design)
        return np.frombuffer(zlib.decompress(self.counts), dtype=np.int64).reshape(shape)


class CopyManager(models.Manager["Copy"]):
    def ask(self, release: Any, name: str, address: str) -> "Job":
        """The job that makes this file: one that is under way, or a new one.

        Under the survey's lock, so that its batches are not merged from now on until it ends.
        """
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
