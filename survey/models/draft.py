"""The editing history of a draft."""

from django.conf import settings
from django.db import models


class Draft(models.Model):
    """Where the editing of a draft stands; gone, with the history, when the survey opens."""

    survey = models.OneToOneField(
        "survey.Survey", models.CASCADE, primary_key=True, related_name="editing"
    )
    number = models.PositiveIntegerField(default=1)  # higher after each change, undoing included
    place = models.PositiveIntegerField(default=0)  # in the history, of what the draft is now

    def __str__(self) -> str:
        return f"{self.survey}, {self.number}"


class DraftRevision(models.Model):
    """What a draft was at one place of its history, as a survey file has it."""

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="revisions")
    place = models.PositiveIntegerField()
    document = models.JSONField()
    step = models.CharField(max_length=100, blank=True)  # what was being changed
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    saved_on = models.DateField()

    class Meta:
        ordering = ["place"]
        constraints = [
            models.UniqueConstraint(fields=["draft", "place"], name="revision_once_a_place")
        ]

    def __str__(self) -> str:
        return f"{self.draft} at {self.place}"
