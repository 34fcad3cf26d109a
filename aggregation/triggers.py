"""Database triggers that make releases and estimates append-only.

`install` is called by a migration, and must be called again by any later migration that alters
one of these tables, because SQLite drops the triggers of a table that it rebuilds.
"""

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TABLES = ("aggregation_release", "aggregation_estimate")

POSTGRESQL = """
CREATE OR REPLACE FUNCTION aggregation_append_only() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'what was published is neither changed nor deleted' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql
"""


def install(schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL, params=None)
    for table in TABLES:
        for event in ("UPDATE", "DELETE"):
            _install(schema_editor, table, event)


def _install(schema_editor: BaseDatabaseSchemaEditor, table: str, event: str) -> None:
    name = f"{table}_no_{event.lower()}"
    if schema_editor.connection.vendor == "postgresql":
        statement = f"""
            DROP TRIGGER IF EXISTS {name} ON {table};
            CREATE TRIGGER {name} BEFORE {event} ON {table}
              FOR EACH ROW EXECUTE FUNCTION aggregation_append_only()"""
        schema_editor.execute(statement, params=None)
        if event == "DELETE":
            schema_editor.execute(
                f"DROP TRIGGER IF EXISTS {table}_no_truncate ON {table};"
                f" CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}"
                " EXECUTE FUNCTION aggregation_append_only()",
                params=None,
            )
        return
    schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}", params=None)
    schema_editor.execute(
        f"CREATE TRIGGER {name} BEFORE {event} ON {table} BEGIN"
        " SELECT RAISE(ABORT, 'what was published is neither changed nor deleted'); END",
        params=None,
    )
