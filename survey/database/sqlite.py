"""SQLite: IMMEDIATE transactions allow one writer at a time, so little needs a lock.

Deleted data is overwritten in the file (secure_delete) but stays in the write-ahead log until a
checkpoint.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.db import connection

MAPPED = 1 << 30  # bytes of the file to map into memory, so that pages are not copied


def insert_reports(reports: Sequence[tuple[str, bytes, int]]) -> set[str]:
    """Store the reports whose survey is open and return the ids that are new."""
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
    """Return the contents of the oldest waiting reports and the highest of their row numbers."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT content, rowid FROM survey_report"
            " WHERE survey_id = %s AND content IS NOT NULL ORDER BY rowid LIMIT %s",
            [survey, most],
        )
        rows = cursor.fetchall()
    return [bytes(content) for content, _ in rows], rows[-1][1] if rows else 0


def empty_reports(survey: int, places: Any) -> int:
    """Delete the contents of these reports, keep their ids, and return how many there were.

    The ids are rewritten in sorted order. Ids are random, so the new row numbers do not reveal the
    order of arrival.
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
    """Remove deleted data from the write-ahead log as well."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def vacuum(tables: Sequence[str], wait: bool = True) -> None:
    """Do nothing: deleted data is overwritten immediately."""


def rewrite_invitations(survey: int) -> None:
    """Do nothing: the table has no row numbers and is stored in the order of the digests."""


def lock_for_transaction(number: int) -> None:
    """Do nothing: SQLite allows only one writer at a time."""


def stream(statement: str, types: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Yield rows as they are read, through a memory map of the file."""
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA mmap_size = {MAPPED}")
        yield from cursor.execute(statement)


def size_in_bytes() -> int:
    path = Path(str(connection.settings_dict["NAME"]))
    return path.stat().st_size if path.exists() else 0


def columns_of(table: str) -> dict[str, str]:
    """Return the database type of every column of a table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, type FROM pragma_table_info(%s)", [table])
        return {name: str(kind).lower() for name, kind in cursor.fetchall()}


def trigger_names() -> set[str]:
    """Return the names of all triggers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        return {name for (name,) in cursor.fetchall()}
