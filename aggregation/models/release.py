"""Releases and estimates, which are append-only: the database refuses to change or delete one."""

from django.db import models

from survey.models import Survey


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

    For a group, `by` is the key of a background question and `group` the key of one of its options.
    `n` then counts the reports to both questions, and `count` those with this option and this
    group, as reported. So every figure of a table by group can be computed again from its rows.
    """

    release = models.ForeignKey(Release, models.PROTECT, related_name="estimates")
    position = models.PositiveIntegerField()
    question = models.CharField(max_length=50)
    option = models.CharField(max_length=250)
    by = models.CharField(max_length=50, blank=True)
    group = models.CharField(max_length=250, blank=True)
    n = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    # None if too few people are in the group to tell; the limits are then 0 and 1.
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
