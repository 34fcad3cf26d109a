"""Batches, releases and estimates. The work on them is in releases/; jobs are in work.py.

Releases and estimates are append-only; the database refuses to change or delete one
(aggregation/triggers.py).
"""

from collections.abc import Iterator, Sequence

from django.db import connection, models

from aggregation.counting.planes import Columns, Packed, unpack
from aggregation.pulse import Pulse
from aggregation.work import Analysis, Copy, Job, Part
from survey.models import Survey

# This app's tables.
__all__ = ["Analysis", "Batch", "Copy", "Estimate", "Job", "Part", "Pulse", "Release"]

MAPPED = 1 << 30  # bytes of an SQLite file that are read without copying


class BatchManager(models.Manager["Batch"]):
    def packed(self, keys: Sequence[int]) -> Iterator[Packed]:
        """Yield the reports of these batches, batch by batch.

        One statement, and few batches in memory at once. SQLite reads through a map of its file,
        which spares it a copy of every page; PostgreSQL sends bytes as they are and goes on while
        we count, and cannot be asked anything else on this connection until the last.
        """
        statement = (  # COPY takes no parameters
            "SELECT columns, reports FROM aggregation_batch"  # noqa: S608
            f" WHERE id IN ({', '.join(f'{key:d}' for key in keys) or 'NULL'})"
        )
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                with cursor.copy(f"COPY ({statement}) TO STDOUT (FORMAT binary)") as copy:
                    copy.set_types(["bytea", "int4"])
                    yield from copy.rows()
            else:
                cursor.execute(f"PRAGMA mmap_size = {MAPPED}")
                yield from cursor.execute(statement)


class Batch(models.Model):
    """At least a crowd of reports without ids, shuffled together, and their tally."""

    survey = models.ForeignKey(Survey, models.PROTECT, related_name="batches")
    # The first release that counted it; none while it waits for one.
    release = models.ForeignKey("Release", models.PROTECT, null=True, related_name="+")
    reports = models.PositiveIntegerField()
    made_on = models.DateField()
    tally = models.JSONField()
    # What counting.planes.pack made. Last in the table, because SQLite reads a row from its
    # beginning, and on PostgreSQL outside it: reading the tally alone does not read the reports.
    columns = models.BinaryField()

    objects = BatchManager()

    class Meta:
        verbose_name_plural = "batches"

    def __str__(self) -> str:
        return f"{self.survey.slug} batch {self.pk}"

    def unpack(self) -> Columns:
        return unpack(self.columns, self.reports, self.survey.frozen_design())


class Release(models.Model):
    """One published set of estimates."""

    survey = models.ForeignKey(Survey, models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    reports = models.PositiveIntegerField()
    final = models.BooleanField()  # made after the survey closed
    made_at = models.DateTimeField(auto_now_add=True)
    tally = models.JSONField()  # of all its reports, so that the next one adds only new batches

    class Meta:
        ordering = ["survey", "number"]
        constraints = [models.UniqueConstraint(fields=["survey", "number"], name="release_number")]

    def __str__(self) -> str:
        return f"{self.survey.slug} release {self.number}"

    def batch_keys(self) -> list[int]:
        """Return the keys of the batches that it counts."""
        counted = self.survey.batches.filter(release__number__lte=self.number)
        return list(counted.order_by("pk").values_list("pk", flat=True))


class Estimate(models.Model):
    """The estimated share of one option, over everybody or in one group; unbiased, never clipped.

    `by` is the key of a background question and `group` that of one of its options. Then `n` are
    the reports to both questions, and `count` those of them with this option and this group: as
    reported, so every figure of a table by group can be computed again from its rows.
    """

    release = models.ForeignKey(Release, models.PROTECT, related_name="estimates")
    position = models.PositiveIntegerField()
    question = models.CharField(max_length=50)
    option = models.CharField(max_length=250)
    by = models.CharField(max_length=50, blank=True)
    group = models.CharField(max_length=250, blank=True)
    n = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    # None where too few are in the group to say anything: then the limits are 0 and 1.
    value = models.FloatField(null=True)
    bounded = models.FloatField(null=True)
    standard_error = models.FloatField(null=True)
    sampling_error = models.FloatField(null=True)  # these three only over everybody
    privacy_error = models.FloatField(null=True)
    misfit = models.FloatField(null=True)
    low = models.FloatField()
    high = models.FloatField()
    level = models.FloatField()
    method = models.CharField(max_length=50)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["release", "position"], name="estimate_position")
        ]

    def __str__(self) -> str:
        return f"{self.question}={self.option} {self.by} {self.group}".strip()
