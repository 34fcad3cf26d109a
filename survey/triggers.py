"""Database triggers that keep an open survey as it was promised.

Python code can be walked around (a queryset's update(), raw SQL, another program); the database
cannot. The one way out is a tombstone, a row of survey_removed, which only a closed survey can get:
then it can be deleted, and still not changed.

A migration that alters one of these tables drops the triggers before and calls `install` after:
SQLite drops the triggers of a table that it rebuilds, and rebuilds none that another's name.
"""

import re

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

FROZEN = (  # of a survey that is not a draft any more
    "id slug title introduction language translations epsilon ask crowd"
    " design design_hash opened_on asked_by purpose contact retention_days access work".split()
)

TABLES = ("survey_survey", "survey_question")


def buried(survey: str) -> str:
    """Return the condition that the survey of this id has a tombstone."""
    return f"EXISTS (SELECT 1 FROM survey_removed WHERE id = {survey})"


def postgresql() -> str:
    return (
        f"""
CREATE FUNCTION survey_keep_promise() RETURNS trigger AS $$
BEGIN
  IF OLD.state = 'draft' THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'DELETE' THEN
    IF {buried("OLD.id")} THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'a survey that was opened cannot be deleted' USING ERRCODE = '23000';
  END IF;
  IF ({", ".join(f"OLD.{c}" for c in FROZEN)})
     IS DISTINCT FROM ({", ".join(f"NEW.{c}" for c in FROZEN)}) THEN
    RAISE EXCEPTION 'a survey that was opened is frozen' USING ERRCODE = '23000';
  END IF;
  IF OLD.state <> NEW.state AND NOT (OLD.state = 'open' AND NEW.state = 'closed') THEN
    RAISE EXCEPTION 'a survey goes from draft to open to closed' USING ERRCODE = '23000';
  END IF;
  IF NEW.state = 'closed'
     AND (OLD.state = 'open' OR OLD.closed_on IS DISTINCT FROM NEW.closed_on)
     AND COALESCE(NEW.closed_on > COALESCE(OLD.closed_on, CURRENT_DATE + 1), TRUE) THEN
    RAISE EXCEPTION 'the day of the closing is not put off' USING ERRCODE = '23000';
  END IF;
  RETURN NEW;
END $$ LANGUAGE plpgsql;

CREATE FUNCTION survey_keep_questions() RETURNS trigger AS $$
BEGIN
  -- FOR SHARE: waits for an open() under way and then sees its outcome; an open() waits for us.
  IF TG_OP <> 'INSERT' THEN
    PERFORM 1 FROM survey_survey WHERE id = OLD.survey_id FOR SHARE;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM 1 FROM survey_survey WHERE id = NEW.survey_id FOR SHARE;
  END IF;
  IF TG_OP = 'DELETE' AND {buried("OLD.survey_id")} THEN
    RETURN OLD;
  END IF;
  IF (TG_OP <> 'INSERT' AND EXISTS (
        SELECT 1 FROM survey_survey WHERE id = OLD.survey_id AND state <> 'draft'))
     OR (TG_OP <> 'DELETE' AND EXISTS (
        SELECT 1 FROM survey_survey WHERE id = NEW.survey_id AND state <> 'draft')) THEN
    RAISE EXCEPTION 'the questions of a survey that was opened are frozen' USING ERRCODE = '23000';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$ LANGUAGE plpgsql;

CREATE TRIGGER survey_keep_promise BEFORE UPDATE OR DELETE ON survey_survey
  FOR EACH ROW EXECUTE FUNCTION survey_keep_promise();
CREATE TRIGGER survey_keep_questions BEFORE INSERT OR UPDATE OR DELETE ON survey_question
  FOR EACH ROW EXECUTE FUNCTION survey_keep_questions();

CREATE FUNCTION survey_no_truncate() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'surveys are not truncated' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql;
"""
        + "".join(
            f"""
CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
  EXECUTE FUNCTION survey_no_truncate();
"""
            for table in TABLES
        )
        + POSTGRESQL_TOMBSTONES
    )


POSTGRESQL_TOMBSTONES = """
CREATE FUNCTION survey_keep_address() RETURNS trigger AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM survey_removed WHERE slug = NEW.slug OR id = NEW.id) THEN
    RAISE EXCEPTION 'this address belonged to a survey that was removed' USING ERRCODE = '23000';
  END IF;
  RETURN NULL;
END $$ LANGUAGE plpgsql;

CREATE FUNCTION survey_bury() RETURNS trigger AS $$
BEGIN
  PERFORM 1 FROM survey_survey
    WHERE id = NEW.id AND slug = NEW.slug AND design_hash = NEW.design_hash AND state = 'closed'
    FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'only a closed survey can be removed' USING ERRCODE = '23000';
  END IF;
  RETURN NEW;
END $$ LANGUAGE plpgsql;

CREATE FUNCTION survey_keep_removed() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'that a survey was removed stays on record' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql;

-- AFTER: an insert that waited for the removal of a survey with its slug sees the tombstone then.
CREATE TRIGGER survey_keep_address AFTER INSERT OR UPDATE ON survey_survey
  FOR EACH ROW EXECUTE FUNCTION survey_keep_address();
CREATE TRIGGER survey_bury BEFORE INSERT ON survey_removed
  FOR EACH ROW EXECUTE FUNCTION survey_bury();
CREATE TRIGGER survey_keep_removed BEFORE UPDATE OR DELETE ON survey_removed
  FOR EACH ROW EXECUTE FUNCTION survey_keep_removed();
CREATE TRIGGER survey_removed_no_truncate BEFORE TRUNCATE ON survey_removed
  EXECUTE FUNCTION survey_no_truncate();
"""


# The survey of the question that OR REPLACE would delete.
REPLACED = "(SELECT survey_id FROM survey_question WHERE id = NEW.id)"


def sqlite() -> list[str]:
    return [
        f"""
CREATE TRIGGER survey_keep_promise BEFORE UPDATE ON survey_survey
  WHEN OLD.state <> 'draft' AND ({" OR ".join(f"OLD.{c} IS NOT NEW.{c}" for c in FROZEN)})
  BEGIN SELECT RAISE(ABORT, 'a survey that was opened is frozen'); END""",
        """
CREATE TRIGGER survey_keep_state BEFORE UPDATE ON survey_survey
  WHEN OLD.state <> 'draft' AND OLD.state <> NEW.state
    AND NOT (OLD.state = 'open' AND NEW.state = 'closed')
  BEGIN SELECT RAISE(ABORT, 'a survey goes from draft to open to closed'); END""",
        # By it goes when everything is deleted. A day more: clocks need not be in one time zone.
        """
CREATE TRIGGER survey_keep_closing BEFORE UPDATE ON survey_survey
  WHEN OLD.state <> 'draft' AND NEW.state = 'closed'
    AND (OLD.state = 'open' OR OLD.closed_on IS NOT NEW.closed_on)
    AND COALESCE(NEW.closed_on > COALESCE(OLD.closed_on, date('now', '+1 day')), 1)
  BEGIN SELECT RAISE(ABORT, 'the day of the closing is not put off'); END""",
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
        f"""
CREATE TRIGGER survey_keep BEFORE DELETE ON survey_survey
  WHEN OLD.state <> 'draft' AND NOT {buried("OLD.id")}
  BEGIN SELECT RAISE(ABORT, 'a survey that was opened cannot be deleted'); END""",
        *(
            f"""
CREATE TRIGGER survey_question_keep_{event.lower()} BEFORE {event} ON survey_question
  WHEN EXISTS (SELECT 1 FROM survey_survey WHERE id IN ({ids}) AND state <> 'draft'){unless}
  BEGIN SELECT RAISE(ABORT, 'the questions of a survey that was opened are frozen'); END"""
            for event, ids, unless in (
                ("INSERT", f"NEW.survey_id, {REPLACED}", ""),
                ("UPDATE", f"OLD.survey_id, NEW.survey_id, {REPLACED}", ""),
                ("DELETE", "OLD.survey_id", f" AND NOT {buried('OLD.survey_id')}"),
            )
        ),
        *SQLITE_TOMBSTONES,
    ]


SQLITE_TOMBSTONES = (
    *(
        f"""
CREATE TRIGGER survey_keep_address_{event.lower()} BEFORE {event} ON survey_survey
  WHEN EXISTS (SELECT 1 FROM survey_removed WHERE slug = NEW.slug OR id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'this address belonged to a survey that was removed'); END"""
        for event in ("INSERT", "UPDATE")
    ),
    # The second condition is against OR REPLACE.
    """
CREATE TRIGGER survey_bury BEFORE INSERT ON survey_removed
  WHEN NOT EXISTS (SELECT 1 FROM survey_survey
      WHERE id = NEW.id AND slug = NEW.slug AND design_hash = NEW.design_hash AND state = 'closed')
    OR EXISTS (SELECT 1 FROM survey_removed WHERE id = NEW.id OR slug = NEW.slug)
  BEGIN SELECT RAISE(ABORT, 'only a closed survey can be removed'); END""",
    *(
        f"""
CREATE TRIGGER survey_keep_removed_{event.lower()} BEFORE {event} ON survey_removed
  BEGIN SELECT RAISE(ABORT, 'that a survey was removed stays on record'); END"""
        for event in ("UPDATE", "DELETE")
    ),
)


# A key comes only to a draft, which opens in the same transaction, goes only when the survey is
# closed, and never changes.
KEYS = {
    "INSERT": ("NEW", "<> 'draft'", "a survey that was opened gets no other key"),
    "UPDATE": ("OLD", "IS NOT NULL", "a key does not change"),
    "DELETE": ("OLD", "= 'open'", "the key of an open survey stays"),
}


def install_keys(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The triggers that keep one key a survey."""
    for event, (row, state, why) in KEYS.items():
        name = f"survey_passkey_keep_{event.lower()}"
        forbidden = (
            f"EXISTS (SELECT 1 FROM survey_survey WHERE id = {row}.survey_id AND state {state})"
        )
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(
                f"CREATE FUNCTION {name}() RETURNS trigger AS $$ BEGIN"
                f" IF {forbidden} THEN RAISE EXCEPTION '{why}' USING ERRCODE = '23000'; END IF;"
                f" RETURN {row}; END $$ LANGUAGE plpgsql;"
                f" CREATE TRIGGER {name} BEFORE {event} ON survey_passkey"
                f" FOR EACH ROW EXECUTE FUNCTION {name}()",
                params=None,
            )
        else:
            schema_editor.execute(
                f"CREATE TRIGGER {name} BEFORE {event} ON survey_passkey WHEN {forbidden}"
                f" BEGIN SELECT RAISE(ABORT, '{why}'); END",
                params=None,
            )
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "CREATE TRIGGER survey_passkey_no_truncate BEFORE TRUNCATE ON survey_passkey"
            " EXECUTE FUNCTION survey_no_truncate()",
            params=None,
        )


def install(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create all triggers of this app."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(postgresql() + POSTGRESQL_LOG, params=None)
    else:
        for statement in [*sqlite(), *SQLITE_LOG]:
            schema_editor.execute(statement, params=None)
    install_keys(schema_editor)


def names(vendor: str) -> set[str]:
    """Of all triggers that should be there."""
    if vendor == "postgresql":
        text = postgresql() + POSTGRESQL_LOG
        keys = {"survey_passkey_no_truncate"}
    else:
        text, keys = "".join([*sqlite(), *SQLITE_LOG]), set()
    keys |= {f"survey_passkey_keep_{event.lower()}" for event in KEYS}
    return keys | set(re.findall(r"CREATE TRIGGER (\w+)", text))


# --- The log --------------------------------------------------------------------------------------

POSTGRESQL_LOG = """
CREATE FUNCTION survey_keep_log() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'the log is neither changed nor deleted' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql;
CREATE TRIGGER survey_keep_log BEFORE UPDATE OR DELETE ON survey_entry
  FOR EACH ROW EXECUTE FUNCTION survey_keep_log();
CREATE TRIGGER survey_entry_no_truncate BEFORE TRUNCATE ON survey_entry
  EXECUTE FUNCTION survey_keep_log();
"""

# The insert is against OR REPLACE.
SQLITE_LOG = [
    f"""
CREATE TRIGGER survey_keep_log_{event.lower()} BEFORE {event} ON survey_entry {when}
  BEGIN SELECT RAISE(ABORT, 'the log is neither changed nor deleted'); END"""
    for event, when in (
        ("UPDATE", ""),
        ("DELETE", ""),
        (
            "INSERT",
            "WHEN EXISTS (SELECT 1 FROM survey_entry WHERE number = NEW.number OR hash = NEW.hash)",
        ),
    )
]
