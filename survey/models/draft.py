"""The editing history of a draft."""

from django.conf import settings
from django.db import models


class Draft(models.Model):
    """The editing state of a draft. Opening the survey deletes it together with the history."""

    survey = models.OneToOneField(
        "survey.Survey", models.CASCADE, primary_key=True, related_name="editing"
    )
    number = models.PositiveIntegerField(default=1)  # increases with every change, even an undo
    place = models.PositiveIntegerField(default=0)  # the current position in the history

    def __str__(self) -> str:
        return f"{self.survey}, {self.number}"


class DraftRevision(models.Model):
    """The content of a draft at one place of its history, in the form of a survey file."""

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="revisions")
    place = models.PositiveIntegerField()
    document = models.JSONField()
    step = models.CharField(max_length=100, blank=True)  # the edit that it is part of
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
