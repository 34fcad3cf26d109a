"""PostgreSQL: many writers at once, so rows and whole tables are locked where it matters.

Beside every row PostgreSQL notes the transaction that wrote it, and where the row lies. Both would
tell in which order people came, so rows that matter are written again, together and in an order
that is random.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection


def insert_reports(reports: Sequence[tuple[str, bytes, int]]) -> set[str]:
    """Store reports whose survey is open; return the ids that were not there before.

    The survey's row is held until the commit: closing waits for it, or we for closing and then look
    again. The ids come back only where some are missing: a tenth of the time of the rest.
    """
    columns = [list(column) for column in zip(*reports, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(
            # %b: in binary, at half the price
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
        (some,) = cursor.fetchone()
    return {pk for pk, *_ in reports} if some is None else set(some)


def read_waiting(survey: int, most: int) -> tuple[list[bytes], list[str]]:
    """Read the contents and the ids of so many waiting reports.

    Chance decides which: in the order of their ids, the same ones would stay behind every time.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT content, id::text FROM survey_report"
            " WHERE survey_id = %s AND content IS NOT NULL ORDER BY random() LIMIT %s",
            [survey, most],
        )
        found = cursor.fetchall()
    return [bytes(content) for content, _ in found], [pk for _, pk in found]


def empty_reports(survey: int, places: Any) -> int:
    """Delete the contents of these reports and keep their ids; return how many there were.

    The ids are written again in one statement and in their own order, which is random, so that
    neither their place nor their transaction keeps the order of arrival.
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
    """Do nothing: what was deleted leaves the tables with `vacuum`."""


def vacuum(tables: Sequence[str], wait: bool = True) -> None:
    """Take what was deleted out of these tables; nothing within a transaction.

    Costs about half of a move of reports, whatever the size of the table, because only pages that
    changed are looked at. Without `wait`, a table that somebody else is vacuuming is left to them.
    """
    if connection.in_atomic_block:
        return
    names = ", ".join(connection.ops.quote_name(table) for table in tables)
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM {'' if wait else '(SKIP_LOCKED) '}{names}")


def rewrite_invitations(survey: int) -> None:
    """Write the used invitations of a survey again, in the order of their digests."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH gone AS (DELETE FROM survey_invitation"
            " WHERE survey_id = %s AND used_with <> '' RETURNING *)"
            " INSERT INTO survey_invitation SELECT * FROM gone ORDER BY digest",
            [survey],
        )


def lock_for_transaction(number: int) -> None:
    """Wait until nobody else holds the lock of this number, and hold it until the commit."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def stream(statement: str, types: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Yield rows as they come, bytes as they are.

    Nothing else can be asked on this connection until the last. The statement takes no parameters.
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
    """Return the type of every column of a table, as the database has it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = 'public' AND table_name = %s",
            [table],
        )
        return {name: str(kind).lower() for name, kind in cursor.fetchall()}


def trigger_names() -> set[str]:
    """Return the triggers that are switched on."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'")
        return {name for (name,) in cursor.fetchall()}
