"""Database triggers that keep an open survey as it was promised.

Python code can be walked around (a queryset's update(), raw SQL, another program); the database
cannot. A migration that alters one of these tables calls `remove` before and `install` after:
SQLite drops the triggers of a table that it rebuilds, and rebuilds none that another's name.
"""

from collections.abc import Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

FROZEN = (  # of a survey that is not a draft any more
    "id slug title introduction language translations epsilon ask crowd"
    " design design_hash opened_on".split()
)


def postgresql(frozen: Sequence[str]) -> str:
    return f"""
CREATE OR REPLACE FUNCTION survey_keep_promise() RETURNS trigger AS $$
BEGIN
  IF OLD.state = 'draft' THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'DELETE' THEN
    RAISE EXCEPTION 'a survey that was opened cannot be deleted' USING ERRCODE = '23000';
  END IF;
  IF ({", ".join(f"OLD.{c}" for c in frozen)})
     IS DISTINCT FROM ({", ".join(f"NEW.{c}" for c in frozen)}) THEN
    RAISE EXCEPTION 'a survey that was opened is frozen' USING ERRCODE = '23000';
  END IF;
  IF OLD.state <> NEW.state AND NOT (OLD.state = 'open' AND NEW.state = 'closed') THEN
    RAISE EXCEPTION 'a survey goes from draft to open to closed' USING ERRCODE = '23000';
  END IF;
  RETURN NEW;
END $$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION survey_keep_questions() RETURNS trigger AS $$
BEGIN
  -- FOR SHARE: waits for an open() under way and then sees its outcome; an open() waits for us.
  IF TG_OP <> 'INSERT' THEN
    PERFORM 1 FROM survey_survey WHERE id = OLD.survey_id FOR SHARE;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM 1 FROM survey_survey WHERE id = NEW.survey_id FOR SHARE;
  END IF;
  IF (TG_OP <> 'INSERT' AND EXISTS (
        SELECT 1 FROM survey_survey WHERE id = OLD.survey_id AND state <> 'draft'))
     OR (TG_OP <> 'DELETE' AND EXISTS (
        SELECT 1 FROM survey_survey WHERE id = NEW.survey_id AND state <> 'draft')) THEN
    RAISE EXCEPTION 'the questions of a survey that was opened are frozen' USING ERRCODE = '23000';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$ LANGUAGE plpgsql;

DROP TRIGGER IF EXISTS survey_keep_promise ON survey_survey;
CREATE TRIGGER survey_keep_promise BEFORE UPDATE OR DELETE ON survey_survey
  FOR EACH ROW EXECUTE FUNCTION survey_keep_promise();
DROP TRIGGER IF EXISTS survey_keep_questions ON survey_question;
CREATE TRIGGER survey_keep_questions BEFORE INSERT OR UPDATE OR DELETE ON survey_question
  FOR EACH ROW EXECUTE FUNCTION survey_keep_questions();
DROP TRIGGER IF EXISTS survey_keep_strata ON survey_stratum;
CREATE TRIGGER survey_keep_strata BEFORE INSERT OR UPDATE OR DELETE ON survey_stratum
  FOR EACH ROW EXECUTE FUNCTION survey_keep_questions();

CREATE OR REPLACE FUNCTION survey_no_truncate() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'surveys are not truncated' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql;
""" + "".join(
        f"""
DROP TRIGGER IF EXISTS {table}_no_truncate ON {table};
CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
  EXECUTE FUNCTION survey_no_truncate();
"""
        for table in ("survey_survey", "survey_question", "survey_stratum")
    )


def sqlite(frozen: Sequence[str]) -> list[str]:
    return [
        f"""
CREATE TRIGGER survey_keep_promise BEFORE UPDATE ON survey_survey
  WHEN OLD.state <> 'draft' AND ({" OR ".join(f"OLD.{c} IS NOT NEW.{c}" for c in frozen)})
  BEGIN SELECT RAISE(ABORT, 'a survey that was opened is frozen'); END""",
        """
CREATE TRIGGER survey_keep_state BEFORE UPDATE ON survey_survey
  WHEN OLD.state <> 'draft' AND OLD.state <> NEW.state
    AND NOT (OLD.state = 'open' AND NEW.state = 'closed')
  BEGIN SELECT RAISE(ABORT, 'a survey goes from draft to open to closed'); END""",
        # OR REPLACE deletes without a DELETE trigger, unless recursive_triggers is on.
        """
CREATE TRIGGER survey_keep_displaced BEFORE UPDATE ON survey_survey
  WHEN EXISTS (SELECT 1 FROM survey_survey
    WHERE (id = NEW.id OR slug = NEW.slug) AND id <> OLD.id AND state <> 'draft')
  BEGIN SELECT RAISE(ABORT, 'a survey that was opened is frozen'); END""",
        """
CREATE TRIGGER survey_keep_replaced BEFORE INSERT ON survey_survey
  WHEN EXISTS (SELECT 1 FROM survey_survey
    WHERE (id = NEW.id OR slug = NEW.slug) AND state <> 'draft')
  BEGIN SELECT RAISE(ABORT, 'a survey that was opened is frozen'); END""",
        """
CREATE TRIGGER survey_keep BEFORE DELETE ON survey_survey WHEN OLD.state <> 'draft'
  BEGIN SELECT RAISE(ABORT, 'a survey that was opened cannot be deleted'); END""",
        *(
            f"""
CREATE TRIGGER {table}_keep_{event.lower()} BEFORE {event} ON {table}
  WHEN EXISTS (SELECT 1 FROM survey_survey WHERE id IN ({ids}) AND state <> 'draft')
  BEGIN SELECT RAISE(ABORT, 'the questions of a survey that was opened are frozen'); END"""
            for table in ("survey_question", "survey_stratum")
            for event, ids in (
                ("INSERT", f"NEW.survey_id, (SELECT survey_id FROM {table} WHERE id = NEW.id)"),
                (
                    "UPDATE",
                    "OLD.survey_id, NEW.survey_id,"
                    f" (SELECT survey_id FROM {table} WHERE id = NEW.id)",
                ),
                ("DELETE", "OLD.survey_id"),
            )
        ),
    ]


def install(schema_editor: BaseDatabaseSchemaEditor, frozen: Sequence[str] = FROZEN) -> None:
    """With the columns that there were to freeze, where an old migration calls."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(postgresql(frozen), params=None)
        return
    remove(schema_editor)
    for statement in sqlite(frozen):
        schema_editor.execute(statement, params=None)


def remove(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Only what SQLite has in the way of a migration; PostgreSQL's triggers may stay."""
    if schema_editor.connection.vendor == "postgresql":
        return
    for statement in sqlite(FROZEN):
        name = statement.split()[2]
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}", params=None)
