"""SQLite: one writer at a time, in a transaction that is IMMEDIATE, so little needs a lock.

What was deleted is overwritten in the file (secure_delete), but stays in the write-ahead log until
a checkpoint.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.db import connection

MAPPED = 1 << 30  # bytes of the file that are read without copying every page


def insert_reports(reports: Sequence[tuple[str, bytes, int]]) -> set[str]:
    """Store reports whose survey is open; return the ids that were not there before."""
    rows = ", ".join(["(%s, %s, %s)"] * len(reports))
    values: list[Any] = [value for pk, *rest in reports for value in (pk.replace("-", ""), *rest)]
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH new (id, content, survey) AS (VALUES {rows})"  # noqa: S608
            " INSERT INTO survey_report (id, content, survey_id)"
            " SELECT new.id, new.content, new.survey FROM new"
            " JOIN survey_survey ON survey_survey.id = new.survey WHERE state = 'open'"
            " ON CONFLICT (id) DO NOTHING RETURNING id",
            values,
        )
        stored = {pk for (pk,) in cursor.fetchall()}
    return {pk for pk, *_ in reports if pk.replace("-", "") in stored}


def read_waiting(survey: int, most: int) -> tuple[list[bytes], int]:
    """Read the contents of the oldest waiting reports, and the last of their row numbers."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT content, rowid FROM survey_report"
            " WHERE survey_id = %s AND content IS NOT NULL ORDER BY rowid LIMIT %s",
            [survey, most],
        )
        found = cursor.fetchall()
    return [bytes(content) for content, _ in found], found[-1][1] if found else 0


def empty_reports(survey: int, places: Any) -> int:
    """Delete the contents of these reports and keep their ids; return how many there were.

    The ids are written again in their own order, which is random, so that their row numbers do not
    keep the order of arrival.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "REPLACE INTO survey_report (id, survey_id)"
            " SELECT id, survey_id FROM survey_report"
            " WHERE survey_id = %s AND content IS NOT NULL AND rowid <= %s ORDER BY id",
            [survey, places],
        )
        return int(cursor.rowcount)


def checkpoint() -> None:
    """Take what was deleted out of the write-ahead log, too."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def vacuum(tables: Sequence[str], wait: bool = True) -> None:
    """Do nothing: what is deleted is overwritten at once."""


def rewrite_invitations(survey: int) -> None:
    """Do nothing: the table has no row numbers, and lies in the order of the digests."""


def lock_for_transaction(number: int) -> None:
    """Do nothing: there is one writer at a time anyhow."""


def stream(statement: str, types: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Yield rows as they come, through a map of the file."""
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA mmap_size = {MAPPED}")
        yield from cursor.execute(statement)


def size_in_bytes() -> int:
    path = Path(str(connection.settings_dict["NAME"]))
    return path.stat().st_size if path.exists() else 0


def columns_of(table: str) -> dict[str, str]:
    """Return the type of every column of a table, as the database has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, type FROM pragma_table_info(%s)", [table])
        return {name: str(kind).lower() for name, kind in cursor.fetchall()}


def trigger_names() -> set[str]:
    """Return the triggers that are there."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        return {name for (name,) in cursor.fetchall()}
