"""Checks that the database stores nothing about visitors with a report."""

from django.db import connection

from aggregation.models import Batch
from operations.selftest.site import Site, expect
from survey.database import database
from survey.models import Invitation, Report

TIMES = ("time", "inet", "cidr", "interval")  # parts of types that reports may not have

# Settings with which PostgreSQL would log when somebody answered, and their allowed values.
POSTGRESQL = {
    "log_statement": ("none", "ddl"),
    "log_min_duration_statement": ("-1",),
    "log_duration": ("off",),
    "track_commit_timestamp": ("off",),
}


def columns(site: Site) -> None:
    """Check that tables about respondents have only our columns, and that none holds a time."""
    for model in (Report, Batch, Invitation):
        table = model._meta.db_table
        ours = {str(one.column) for one in model._meta.local_fields}
        found = database().columns_of(table)
        expect(set(found) == ours, f"the columns of {table} have been changed.")
        timed = [name for name, kind in found.items() if any(word in kind for word in TIMES)]
        expect(not timed, f"{table} holds times: {', '.join(timed)}.")


def notes(site: Site) -> None:
    if connection.vendor != "postgresql":
        return
    for name, good in POSTGRESQL.items():
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting(%s)", [name])
            (found,) = cursor.fetchone()
        expect(found in good, f"PostgreSQL has {name} = {found}: set it to {good[0]}.")
