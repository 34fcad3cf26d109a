"""One whole release: move what may be moved, then publish what is new."""

from collections.abc import Callable

from aggregation.models import Release
from aggregation.releases.collect import collect
from aggregation.releases.publish import publish
from survey.database import database
from survey.models import Invitation, Survey


def make_release(
    survey: Survey, progress: Callable[[int], object] = lambda moved: None
) -> Release | None:
    """Return the release of everything that may be shown now; `progress` is told what was moved."""
    moved = 0
    while some := collect(survey):
        moved += some
        progress(moved)
    if moved:
        Invitation.objects.rewrite(survey.pk)
        database().vacuum(["survey_report", "survey_invitation"], wait=False)
    return publish(survey)
