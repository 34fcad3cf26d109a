"""Move reports from the inbox into shuffled batches.

One crowd rule. Reports leave the inbox only in crowds, and while a survey is open at least one
crowd stays behind; so the last move, after it has closed, is a crowd as well. A survey that closes
with fewer reports than a crowd never shows anything, and its reports stay in the inbox.
"""

from typing import NamedTuple

from django.db import connection, transaction

from aggregation.counting.planes import pack, rows, shuffled
from aggregation.counting.tables import tally
from aggregation.models import Batch
from aggregation.work import lock
from survey.models import Survey, today

BATCH_SIZE = 65_536


class Taken(NamedTuple):
    """Waiting reports that were read: their contents, and how to find them again."""

    contents: list[bytes]
    places: list[str] | int  # their ids on PostgreSQL; on SQLite the last of their row numbers


def movable(survey: Survey, waiting: int) -> int:
    """Return how many of the waiting reports may leave the inbox now, in one batch."""
    free = waiting - survey.crowd if survey.state == Survey.State.OPEN else waiting
    if free < survey.crowd:
        return 0
    full = max(BATCH_SIZE, survey.crowd)
    # What a full batch would leave behind must be a crowd again, or come along.
    return free if free < full + survey.crowd else full


def collect(survey: Survey) -> int:
    """Move one batch of reports; return how many were moved.

    Everything is computed before the lock is taken. Then the batch with its tally appears and the
    contents in the inbox vanish, together or not at all; and nothing at all if somebody else has
    moved some of them meanwhile.
    """
    survey = Survey.objects.get(pk=survey.pk)
    most = movable(survey, survey.pending().count())
    if not most:
        return 0
    design = survey.frozen_design()
    taken = read(survey, most)
    if len(taken.contents) < survey.crowd:  # somebody else has moved them
        return 0
    columns = pack(shuffled(rows(taken.contents, design)), design)
    counts = tally(columns, len(taken.contents), design)
    with transaction.atomic():
        survey = lock(survey)
        left = survey.pending().count() - len(taken.contents)
        allowed = left >= survey.crowd or (left == 0 and survey.state == Survey.State.CLOSED)
        if not allowed or empty(survey, taken) != len(taken.contents):
            transaction.set_rollback(True)
            return 0
        Batch.objects.create(
            survey=survey,
            reports=len(taken.contents),
            made_on=today(),
            tally=counts,
            columns=columns,
        )
        transaction.on_commit(forget_emptied, robust=True)
    return len(taken.contents)


def read(survey: Survey, most: int) -> Taken:
    """Read the contents of so many waiting reports.

    SQLite takes the oldest. PostgreSQL keeps no order, so chance decides: if it went by their ids,
    the same reports would stay behind again and again.
    """
    place, order = ("id", "random()") if connection.vendor == "postgresql" else ("rowid", "rowid")
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {place}, content FROM survey_report"  # noqa: S608
            f" WHERE survey_id = %s AND content IS NOT NULL ORDER BY {order} LIMIT %s",
            [survey.pk, most],
        )
        found = cursor.fetchall()
    contents = [bytes(content) for _, content in found]
    places = [str(place) for place, _ in found]
    last = found[-1][0] if found else 0
    return Taken(contents, places if connection.vendor == "postgresql" else last)


# A report that is taken is deleted, and its id is written again without a content: in the order of
# the ids, which are random, so that neither ctid nor rowid keeps the order of arrival; all in one
# statement, so that nothing that PostgreSQL notes beside a row tells one from another.
EMPTY_POSTGRESQL = """
WITH gone AS (
  DELETE FROM survey_report WHERE survey_id = %s AND content IS NOT NULL AND id = ANY (%s::uuid[])
  RETURNING id, survey_id
)
INSERT INTO survey_report (id, survey_id) SELECT id, survey_id FROM gone ORDER BY id
"""
EMPTY_SQLITE = """
REPLACE INTO survey_report (id, survey_id)
SELECT id, survey_id FROM survey_report
WHERE survey_id = %s AND content IS NOT NULL AND rowid <= %s ORDER BY id
"""


def empty(survey: Survey, taken: Taken) -> int:
    """Delete the contents of these reports and keep their ids; return how many there were."""
    with connection.cursor() as cursor:
        statement = EMPTY_POSTGRESQL if connection.vendor == "postgresql" else EMPTY_SQLITE
        cursor.execute(statement, [survey.pk, taken.places])
        emptied: int = cursor.rowcount
        return emptied


def forget_emptied() -> None:
    """Take what was emptied out of SQLite's write-ahead log, too."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def vacuum() -> None:
    """Take what was emptied out of PostgreSQL's tables; not within a transaction.

    Costs about half of the move itself, whatever the size of the table, because only pages that
    changed are looked at. If somebody else is vacuuming, that one or the next will do.
    """
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM (SKIP_LOCKED) survey_report, survey_invitation")
