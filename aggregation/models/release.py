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
    """One estimate of a question, over everybody or in one group; unbiased, never clipped.

    `measure` is what is estimated: the share of an option, a mean, and so on. `by` is the key of a
    background question and `group` that of one of its options. Then `n` are the reports to both
    questions. `count` are the reports that show the option (or any value that is averaged) and the
    group.
    """

    release = models.ForeignKey(Release, models.PROTECT, related_name="estimates")
    position = models.PositiveIntegerField()
    question = models.CharField(max_length=50)
    measure = models.CharField(max_length=20)
    option = models.CharField(max_length=250, blank=True)
    by = models.CharField(max_length=50, blank=True)
    group = models.CharField(max_length=250, blank=True)
    n = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    # None where too few are in the group to say anything: then the limits are the whole range.
    value = models.FloatField(null=True)
    bounded = models.FloatField(null=True)
    standard_error = models.FloatField(null=True)
    sampling_error = models.FloatField(null=True)  # these three only over everybody
    privacy_error = models.FloatField(null=True)
    misfit = models.FloatField(null=True)
    level = models.FloatField()
    # For one look, and valid at every look. Which of them is the headline depends on the release.
    low_once = models.FloatField()
    high_once = models.FloatField()
    method_once = models.CharField(max_length=50)
    low_always = models.FloatField()
    high_always = models.FloatField()
    method_always = models.CharField(max_length=50)
    always = models.BooleanField()  # the headline is the latter

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["release", "position"], name="estimate_position")
        ]

    def __str__(self) -> str:
        return f"{self.question}={self.option or self.measure} {self.by} {self.group}".strip()

    @property
    def low(self) -> float:
        """The lower limit of the headline interval."""
        return self.low_always if self.always else self.low_once

    @property
    def high(self) -> float:
        """The upper limit of the headline interval."""
        return self.high_always if self.always else self.high_once

    @property
    def method(self) -> str:
        """The method of the headline interval."""
        return self.method_always if self.always else self.method_once
