"""Triggers that make the database itself refuse changes, from the .sql files of each app.

Checks in Python can be bypassed by a queryset's update(), raw SQL or another program; triggers
cannot. A migration that alters a table drops its triggers first and calls `install` afterwards:
SQLite loses the triggers of a table that it rebuilds, and rebuilds none that another one names.
"""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

APPS = ("survey", "aggregation")


def install(app: str, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create all triggers of an app."""
    vendor = schema_editor.connection.vendor
    text = _source(app, vendor)
    for statement in [text] if vendor == "postgresql" else _statements(text):
        schema_editor.execute(statement, params=None)


def expected() -> set[str]:
    """Return the names of all triggers that should exist."""
    texts = (_source(app, connection.vendor) for app in APPS)
    return {name for text in texts for name in re.findall(r"CREATE TRIGGER (\w+)", text)}


def _source(app: str, vendor: str) -> str:
    return Path(settings.BASE_DIR, app, "triggers", f"{vendor}.sql").read_text()


def _statements(text: str) -> Iterator[str]:
    """Yield the statements one by one, because SQLite runs only one at a time."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
