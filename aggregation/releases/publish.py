"""Make a release: move what may be moved, then read the tallies, estimate, store.

Only the last step holds a lock, and it computes nothing. Two releases never differ by fewer reports
than a crowd, because batches are crowds.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction

from aggregation.counting.tables import Tally, total
from aggregation.models import Batch, Estimate, Release
from aggregation.releases.collect import collect
from aggregation.releases.estimate import Figures, estimate
from survey.database import database
from survey.models import Invitation, Survey


@dataclass(frozen=True)
class Basis:
    """What a release is made of."""

    survey: Survey
    last: Release | None
    batches: list[int]  # keys of those that no release has counted yet
    reports: int
    tally: Tally


def make_release(
    survey: Survey, progress: Callable[[int], object] = lambda moved: None
) -> Release | None:
    """Return a release of everything that may be shown now; `progress` gets the moved reports."""
    moved = 0
    while some := collect(survey):
        moved += some
        progress(moved)
    if moved:
        Invitation.objects.rewrite(survey.pk)
        database().vacuum(["survey_report", "survey_invitation"], wait=False)
    return publish(survey)


def publish(survey: Survey) -> Release | None:
    """Return a release of everything in batches: a new one, or the last if nothing is new.

    None while there is no batch.
    """
    while basis := read(survey):
        survey = basis.survey
        figures = list(estimate(survey.frozen_design(), basis.tally, survey.population))
        if release := store(basis, figures):
            return release
    return survey.releases.order_by("number").last()


def read(survey: Survey) -> Basis | None:
    """Read the last release and the batches since; None if there is nothing new to publish.

    In this order: if others publish a batch between the two queries, it is not counted twice, and
    the release is not stored, because `last` is no longer the last.
    """
    survey = Survey.objects.get(pk=survey.pk)
    last = survey.releases.order_by("number").last()
    fresh = list(survey.batches.filter(release=None).values_list("pk", "reports", "tally"))
    if not fresh:
        return None
    tallies = [tally for _, _, tally in fresh]
    return Basis(
        survey=survey,
        last=last,
        batches=[pk for pk, *_ in fresh],
        reports=sum(reports for _, reports, _ in fresh) + (last.reports if last else 0),
        tally=total([last.tally, *tallies] if last else tallies),
    )


@transaction.atomic
def store(basis: Basis, figures: list[Figures]) -> Release | None:
    """Store a release; None if another one was made meanwhile."""
    survey = basis.survey.hold()
    if survey.releases.order_by("number").last() != basis.last:
        return None
    moved = not survey.pending().exists()
    complete = survey.batches.filter(release=None).count() == len(basis.batches)
    release = Release.objects.create(
        survey=survey,
        number=basis.last.number + 1 if basis.last else 1,
        reports=basis.reports,
        final=survey.state == Survey.State.CLOSED and moved and complete,
        tally=basis.tally,
    )
    rows = (
        Estimate(release=release, position=i, always=not release.final, **row)
        for i, row in enumerate(figures)
    )
    Estimate.objects.bulk_create(rows, batch_size=200)
    Batch.objects.filter(pk__in=basis.batches).update(release=release)
    return release
