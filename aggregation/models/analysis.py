"""Requested analyses, and the parts in which their tables are counted."""

import uuid

from django.db import models

from aggregation.models.release import Release

MOST_PARTS = 64  # of an analysis, because their tables are stored until they are added up
PART_BATCHES = 8  # in one part, at least


class Analysis(models.Model):
    """A request to analyse the reports of one release."""

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
        """Create the parts, each with some of the release's batches, to be counted at once."""
        keys = self.release.batch_keys()
        size = max(PART_BATCHES, -(-len(keys) // MOST_PARTS))
        self.parts.all().delete()
        Part.objects.bulk_create(
            Part(analysis=self, batches=keys[start : start + size])
            for start in range(0, len(keys), size)
        )


class Part(models.Model):
    """Some batches of an analysis, and the tables of their reports once they are counted.

    Counting a part twice does no harm, so nobody claims it. Parts are deleted when the job ends.
    """

    analysis = models.ForeignKey(Analysis, models.CASCADE, related_name="parts")
    batches = models.JSONField()
    counts = models.BinaryField(null=True)

    def __str__(self) -> str:
        return f"{self.analysis} part {self.pk}"
