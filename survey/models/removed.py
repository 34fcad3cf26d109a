"""What is left of a survey that was removed."""

from django.db import models

from survey.design.languages import MAX_TITLE


class Removed(models.Model):
    """What is left of a survey that was removed: that it was, and of which archive to ask more.

    While one is there, the database lets the closed survey of this id and slug be deleted, and no
    other one come to its address (survey/triggers/). It stays for good.
    """

    id = models.BigIntegerField(primary_key=True)  # that of the survey
    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=MAX_TITLE)
    design_hash = models.CharField(max_length=71)
    reports = models.PositiveBigIntegerField()
    archive = models.CharField("SHA-256 of the archive", max_length=64)
    removed_on = models.DateField()

    class Meta:
        ordering = ["slug"]
        verbose_name = "removed survey"

    def __str__(self) -> str:
        return self.title
