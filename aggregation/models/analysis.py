"""Analyses that were asked for, and the parts in which their tables are counted."""

import uuid

from django.db import models

from aggregation.models.release import Release

MOST_PARTS = 64  # of an analysis; their tables are kept until they are added up


PART_BATCHES = 8  # at least, in one part


class Analysis(models.Model):
    """A question about several questions at once, put to the reports of one release."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    release = models.ForeignKey(Release, models.CASCADE, related_name="analyses")
    asked = models.JSONField()
    digest = models.CharField(max_length=64)

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


class Part(models.Model):
    """Some batches of an analysis, and the tables of their reports once they are counted.

    Counting it twice does no harm, so nobody claims it. It is gone when the analysis is done.
    """

    analysis = models.ForeignKey(Analysis, models.CASCADE, related_name="parts")
    batches = models.JSONField()
    counts = models.BinaryField(null=True)

    def __str__(self) -> str:
        return f"{self.analysis} part {self.pk}"
