"""Database triggers that make releases and estimates append-only.

They leave only with their survey, once that has a tombstone (survey/triggers.py). A migration that
alters one of these tables calls `remove` before and `install` after: SQLite drops the triggers of a
table that it rebuilds, and rebuilds none that another's name.
"""

import re

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# The survey of a row that is being deleted.
SURVEY = {
    "aggregation_release": "OLD.survey_id",
    "aggregation_estimate": (
        "(SELECT survey_id FROM aggregation_release WHERE id = OLD.release_id)"
    ),
}

POSTGRESQL = """
CREATE OR REPLACE FUNCTION aggregation_append_only() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'what was published is neither changed nor deleted' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql
"""


def buried(table: str, tombstones: bool) -> str:
    """Whether the survey has a tombstone; before there were any, it never had."""
    if not tombstones:
        return "1 = 0"
    return f"EXISTS (SELECT 1 FROM survey_removed WHERE id = {SURVEY[table]})"


def postgresql(table: str, tombstones: bool) -> str:
    return f"""
CREATE OR REPLACE FUNCTION {table}_leave() RETURNS trigger AS $$
BEGIN
  IF {buried(table, tombstones)} THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'what was published is neither changed nor deleted' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql;

DROP TRIGGER IF EXISTS {table}_no_update ON {table};
CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table}
  FOR EACH ROW EXECUTE FUNCTION aggregation_append_only();
DROP TRIGGER IF EXISTS {table}_no_delete ON {table};
CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}
  FOR EACH ROW EXECUTE FUNCTION {table}_leave();
DROP TRIGGER IF EXISTS {table}_no_truncate ON {table};
CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
  EXECUTE FUNCTION aggregation_append_only();
"""


def sqlite(table: str, tombstones: bool) -> list[str]:
    refuse = "BEGIN SELECT RAISE(ABORT, 'what was published is neither changed nor deleted'); END"
    return [
        f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} {refuse}",
        f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}"
        f" WHEN NOT {buried(table, tombstones)} {refuse}",
    ]


def names(vendor: str) -> set[str]:
    """Of all triggers that should be there."""
    make = postgresql if vendor == "postgresql" else sqlite
    text = "".join("".join(make(table, tombstones=True)) for table in SURVEY)
    return set(re.findall(r"CREATE TRIGGER (\w+)", text))


def install(schema_editor: BaseDatabaseSchemaEditor, tombstones: bool = True) -> None:
    """Without tombstones where an old migration calls, when there were none."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL, params=None)
        for table in SURVEY:
            schema_editor.execute(postgresql(table, tombstones), params=None)
        return
    remove(schema_editor)
    for table in SURVEY:
        for statement in sqlite(table, tombstones):
            schema_editor.execute(statement, params=None)


def remove(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Only what SQLite has in the way of a migration; PostgreSQL's triggers may stay."""
    if schema_editor.connection.vendor == "postgresql":
        return
    for table in SURVEY:
        for event in ("update", "delete"):
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_no_{event}", params=None)
