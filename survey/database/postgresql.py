"""PostgreSQL: many writers work at once, so rows and tables are locked where it matters.

PostgreSQL stores the writing transaction and the position of every row. Both would reveal the order
in which people responded, so the rows concerned are rewritten together in random order.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection


def insert_reports(reports: Sequence[tuple[str, bytes, int]]) -> set[str]:
    """Store the reports whose survey is open and return the ids that are new.

    The survey's row is locked until the commit. Either closing waits for us, or we wait for closing
    and then check the state again. The ids are returned only if some are missing, because returning
    them adds a tenth to the run time.
    """
    columns = [list(column) for column in zip(*reports, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(
            # %b sends values in binary, at half the cost.
            "WITH new (id, content, survey) AS"  # noqa: S608
            " (SELECT * FROM unnest(%s::uuid[], %b::bytea[], %b::bigint[])), stored (id) AS ("
            " INSERT INTO survey_report (id, content, survey_id)"
            " SELECT new.id, new.content, new.survey FROM new"
            " JOIN survey_survey ON survey_survey.id = new.survey WHERE state = 'open'"
            " FOR KEY SHARE OF survey_survey ON CONFLICT (id) DO NOTHING"
            " RETURNING CAST(id AS text))"
            f" SELECT CASE WHEN count(*) < {len(reports)}"
            " THEN coalesce(array_agg(id), '{}') END FROM stored",
            columns,
        )
        (stored,) = cursor.fetchone()
    return {pk for pk, *_ in reports} if stored is None else set(stored)


def read_waiting(survey: int, most: int) -> tuple[list[bytes], list[str]]:
    """Return the contents and ids of at most `most` waiting reports, chosen at random.

    If they were read in the order of their ids, the same reports would stay behind every time.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT content, id::text FROM survey_report"
            " WHERE survey_id = %s AND content IS NOT NULL ORDER BY random() LIMIT %s",
            [survey, most],
        )
        rows = cursor.fetchall()
    return [bytes(content) for content, _ in rows], [pk for _, pk in rows]


def empty_reports(survey: int, places: Any) -> int:
    """Delete the contents of these reports, keep their ids, and return how many there were.

    One statement rewrites the ids in sorted order. Ids are random, so neither the position nor the
    transaction of a row reveals the order of arrival.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH gone AS (DELETE FROM survey_report"
            " WHERE survey_id = %s AND content IS NOT NULL AND id = ANY (%s::uuid[])"
            " RETURNING id, survey_id)"
            " INSERT INTO survey_report (id, survey_id)"
            " SELECT id, survey_id FROM gone ORDER BY id",
            [survey, places],
        )
        return int(cursor.rowcount)


def checkpoint() -> None:
    """Do nothing: `vacuum` removes deleted rows from the tables."""


def vacuum(tables: Sequence[str], wait: bool = True) -> None:
    """Remove deleted rows from these tables. Does nothing inside a transaction.

    This costs about half as much as moving the reports, whatever the size of the table, because
    only changed pages are read. Without `wait`, skip tables that are already being vacuumed.
    """
    if connection.in_atomic_block:
        return
    names = ", ".join(connection.ops.quote_name(table) for table in tables)
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM {'' if wait else '(SKIP_LOCKED) '}{names}")


def rewrite_invitations(survey: int) -> None:
    """Rewrite the used invitations of a survey in the order of their digests."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH gone AS (DELETE FROM survey_invitation"
            " WHERE survey_id = %s AND used_with <> '' RETURNING *)"
            " INSERT INTO survey_invitation SELECT * FROM gone ORDER BY digest",
            [survey],
        )


def lock_for_transaction(number: int) -> None:
    """Acquire the advisory lock with this number and hold it until the commit."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def stream(statement: str, types: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Yield rows as they arrive, with binary columns as bytes.

    The connection cannot run anything else until the last row. The statement takes no parameters.
    """
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY ({statement}) TO STDOUT (FORMAT binary)") as copy,
    ):
        copy.set_types(types)
        yield from copy.rows()


def size_in_bytes() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def columns_of(table: str) -> dict[str, str]:
    """Return the database type of every column of a table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = 'public' AND table_name = %s",
            [table],
        )
        return {name: str(kind).lower() for name, kind in cursor.fetchall()}


def trigger_names() -> set[str]:
    """Return the names of all enabled triggers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'")
        return {name for (name,) in cursor.fetchall()}
