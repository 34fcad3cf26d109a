"""Database triggers that make releases and estimates append-only.

They leave only with their survey, once that has a tombstone (survey/triggers.py). A migration that
alters one of these tables drops the triggers before and calls `install` after: SQLite drops the
triggers of a table that it rebuilds, and rebuilds none that another's name.
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
CREATE FUNCTION aggregation_append_only() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'what was published is neither changed nor deleted' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql
"""


def buried(table: str) -> str:
    """Return the condition that the survey of a row has a tombstone."""
    return f"EXISTS (SELECT 1 FROM survey_removed WHERE id = {SURVEY[table]})"


def postgresql(table: str) -> str:
    return f"""
CREATE FUNCTION {table}_leave() RETURNS trigger AS $$
BEGIN
  IF {buried(table)} THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'what was published is neither changed nor deleted' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql;

CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table}
  FOR EACH ROW EXECUTE FUNCTION aggregation_append_only();
CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}
  FOR EACH ROW EXECUTE FUNCTION {table}_leave();
CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
  EXECUTE FUNCTION aggregation_append_only();
"""


def sqlite(table: str) -> list[str]:
    refuse = "BEGIN SELECT RAISE(ABORT, 'what was published is neither changed nor deleted'); END"
    return [
        f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} {refuse}",
        f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}"
        f" WHEN NOT {buried(table)} {refuse}",
    ]


def names(vendor: str) -> set[str]:
    """Of all triggers that should be there."""
    make = postgresql if vendor == "postgresql" else sqlite
    text = "".join("".join(make(table)) for table in SURVEY)
    return set(re.findall(r"CREATE TRIGGER (\w+)", text))


def install(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create all triggers of this app."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL, params=None)
        for table in SURVEY:
            schema_editor.execute(postgresql(table), params=None)
        return
    for table in SURVEY:
        for statement in sqlite(table):
            schema_editor.execute(statement, params=None)
