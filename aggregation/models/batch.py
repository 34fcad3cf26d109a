"""Batches: reports without ids, shuffled together, with their tally."""

from collections.abc import Iterator, Sequence
from typing import cast

from django.db import models

from aggregation.counting.planes import Columns, Packed, unpack
from survey.database import database
from survey.models import Survey


class BatchManager(models.Manager["Batch"]):
    def packed(self, keys: Sequence[int]) -> Iterator[Packed]:
        """Yield the reports of these batches, batch by batch, few of them in memory at once."""
        statement = (
            "SELECT columns, reports FROM aggregation_batch"  # noqa: S608
            f" WHERE id IN ({', '.join(f'{key:d}' for key in keys) or 'NULL'})"
        )
        return cast(Iterator[Packed], database().stream(statement, ["bytea", "int4"]))


class Batch(models.Model):
    """At least a crowd of reports without ids, shuffled together, and their tally."""

    survey = models.ForeignKey(Survey, models.PROTECT, related_name="batches")
    # The first release that counted it; none while it waits for one.
    release = models.ForeignKey("aggregation.Release", models.PROTECT, null=True, related_name="+")
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
