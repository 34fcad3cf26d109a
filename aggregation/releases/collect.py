"""Move reports from the inbox into shuffled batches.

One crowd rule. Reports leave the inbox only in crowds, and while a survey is open at least one
crowd stays behind; so the last move, after it has closed, is a crowd as well. A survey that closes
with fewer reports than a crowd never shows anything, and its reports stay in the inbox.
"""

from django.db import transaction

from aggregation.counting.planes import pack, rows, shuffled
from aggregation.counting.tables import tally
from aggregation.models import Batch
from survey.database import database
from survey.models import Survey, today

BATCH_SIZE = 65_536


def movable(survey: Survey, waiting: int) -> int:
    """Return how many of the waiting reports may leave the inbox now, in one batch."""
    free = waiting - survey.crowd if survey.state == Survey.State.OPEN else waiting
    if free < survey.crowd:
        return 0
    full = max(BATCH_SIZE, survey.crowd)
    # A full batch must leave a crowd behind for the next batch, or take everything.
    return free if free < full + survey.crowd else full


def collect(survey: Survey) -> int:
    """Move one batch of reports; return how many were moved.

    Everything is computed before the lock is taken. One transaction then adds the batch with its
    tally and empties the reports in the inbox, unless somebody else has moved some of them.
    """
    survey = Survey.objects.get(pk=survey.pk)
    most = movable(survey, survey.pending().count())
    if not most:
        return 0
    design = survey.frozen_design()
    contents, places = database().read_waiting(survey.pk, most)
    if len(contents) < survey.crowd:  # somebody else has moved them
        return 0
    columns = pack(shuffled(rows(contents, design)), design)
    counts = tally(columns, len(contents), design)
    with transaction.atomic():
        survey = survey.hold()
        left = survey.pending().count() - len(contents)
        allowed = left >= survey.crowd or (left == 0 and survey.state == Survey.State.CLOSED)
        if not allowed or database().empty_reports(survey.pk, places) != len(contents):
            transaction.set_rollback(True)
            return 0
        Batch.objects.create(
            survey=survey,
            reports=len(contents),
            made_on=today(),
            tally=counts,
            columns=columns,
        )
        transaction.on_commit(database().checkpoint, robust=True)
    return len(contents)
