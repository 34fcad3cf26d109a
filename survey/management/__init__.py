"""What management commands share."""

from django.core.management.base import CommandError

from survey.models import Survey


def survey_or_error(slug: str) -> Survey:
    """Return the survey with this slug; CommandError if there is none."""
    survey = Survey.objects.filter(slug=slug).first()
    if survey is None:
        raise CommandError(f"There is no survey {slug!r}.")
    return survey
