"""Batches: reports without ids, shuffled together, with their tally."""

from collections.abc import Iterator, Sequence
from typing import cast

from django.db import models

from aggregation.counting.planes import Packed
from survey.database import database
from survey.models import Survey


class BatchManager(models.Manager["Batch"]):
    def packed(self, keys: Sequence[int]) -> Iterator[Packed]:
        """Yield the reports of these batches, with only a few batches in memory at once."""
        statement = (
            "SELECT columns, reports FROM aggregation_batch"  # noqa: S608
            f" WHERE id IN ({', '.join(f'{key:d}' for key in keys) or 'NULL'})"
        )
        return cast(Iterator[Packed], database().stream(statement, ["bytea", "int4"]))


class Batch(models.Model):
    """At least a crowd of reports without ids, shuffled together, and their tally."""

    survey = models.ForeignKey(Survey, models.PROTECT, related_name="batches")
    # The first release that counted it; None until there is one.
    release = models.ForeignKey("aggregation.Release", models.PROTECT, null=True, related_name="+")
    reports = models.PositiveIntegerField()
    made_on = models.DateField()
    tally = models.JSONField()
    # The output of counting.planes.pack. The last column, so that it is not read with the tally:
    # SQLite reads a row from its beginning, and PostgreSQL stores large values elsewhere.
    columns = models.BinaryField()

    objects = BatchManager()

    class Meta:
        verbose_name_plural = "batches"

    def __str__(self) -> str:
        return f"{self.survey.slug} batch {self.pk}"
