"""The records of removed surveys."""

from django.db import models

from survey.design.languages import MAX_TITLE


class Removed(models.Model):
    """The permanent record of a removed survey, with the hash of its archive.

    It makes the database allow the deletion of the closed survey with this id and slug, and refuse
    any other survey at its address (survey/triggers/).
    """

    id = models.BigIntegerField(primary_key=True)  # the survey's id
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
