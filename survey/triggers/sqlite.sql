-- Protect an opened survey from every change, including queryset.update(), raw SQL and other
-- programs. The one exception is a tombstone, a row of survey_removed, which only a closed survey
-- can get: it allows the survey to be deleted, but still not to be changed.
--
-- OR REPLACE fires no DELETE trigger unless recursive_triggers is on, so the triggers on INSERT and
-- UPDATE also look for a row that would be replaced.

-- Surveys

CREATE TRIGGER survey_keep_promise BEFORE UPDATE ON survey_survey
  WHEN OLD.state <> 'draft' AND (
    OLD.id IS NOT NEW.id OR OLD.slug IS NOT NEW.slug OR OLD.title IS NOT NEW.title OR
    OLD.introduction IS NOT NEW.introduction OR OLD.language IS NOT NEW.language OR
    OLD.translations IS NOT NEW.translations OR OLD.epsilon IS NOT NEW.epsilon OR
    OLD.ask IS NOT NEW.ask OR OLD.crowd IS NOT NEW.crowd OR OLD.design IS NOT NEW.design OR
    OLD.design_hash IS NOT NEW.design_hash OR OLD.opened_on IS NOT NEW.opened_on OR
    OLD.asked_by IS NOT NEW.asked_by OR OLD.purpose IS NOT NEW.purpose OR
    OLD.contact IS NOT NEW.contact OR OLD.retention_days IS NOT NEW.retention_days OR
    OLD.access IS NOT NEW.access OR OLD.work IS NOT NEW.work OR
    OLD.blocks IS NOT NEW.blocks OR OLD.shuffled IS NOT NEW.shuffled OR
    OLD.fillers IS NOT NEW.fillers OR OLD.population IS NOT NEW.population)
  BEGIN SELECT RAISE(ABORT, 'a survey that was opened is frozen'); END;

CREATE TRIGGER survey_keep_state BEFORE UPDATE ON survey_survey
  WHEN OLD.state <> 'draft' AND OLD.state <> NEW.state
    AND NOT (OLD.state = 'open' AND NEW.state = 'closed')
  BEGIN SELECT RAISE(ABORT, 'a survey can only go from draft to open to closed'); END;

-- The closing date decides when everything is deleted. One extra day allows for time zones.
CREATE TRIGGER survey_keep_closing BEFORE UPDATE ON survey_survey
  WHEN OLD.state <> 'draft' AND NEW.state = 'closed'
    AND (OLD.state = 'open' OR OLD.closed_on IS NOT NEW.closed_on)
    AND COALESCE(NEW.closed_on > COALESCE(OLD.closed_on, date('now', '+1 day')), 1)
  BEGIN SELECT RAISE(ABORT, 'the closing date cannot be moved to a later day'); END;

CREATE TRIGGER survey_keep_displaced BEFORE UPDATE ON survey_survey
  WHEN EXISTS (SELECT 1 FROM survey_survey
    WHERE (id = NEW.id OR slug = NEW.slug) AND id <> OLD.id AND state <> 'draft')
  BEGIN SELECT RAISE(ABORT, 'a survey that was opened is frozen'); END;

CREATE TRIGGER survey_keep_replaced BEFORE INSERT ON survey_survey
  WHEN EXISTS (SELECT 1 FROM survey_survey
    WHERE (id = NEW.id OR slug = NEW.slug) AND state <> 'draft')
  BEGIN SELECT RAISE(ABORT, 'a survey that was opened is frozen'); END;

CREATE TRIGGER survey_keep BEFORE DELETE ON survey_survey
  WHEN OLD.state <> 'draft' AND NOT EXISTS (SELECT 1 FROM survey_removed WHERE id = OLD.id)
  BEGIN SELECT RAISE(ABORT, 'a survey that was opened cannot be deleted'); END;

-- Questions

CREATE TRIGGER survey_question_keep_insert BEFORE INSERT ON survey_question
  WHEN EXISTS (SELECT 1 FROM survey_survey WHERE state <> 'draft' AND id IN
    (NEW.survey_id, (SELECT survey_id FROM survey_question WHERE id = NEW.id)))
  BEGIN SELECT RAISE(ABORT, 'the questions of a survey that was opened are frozen'); END;

CREATE TRIGGER survey_question_keep_update BEFORE UPDATE ON survey_question
  WHEN EXISTS (SELECT 1 FROM survey_survey WHERE state <> 'draft' AND id IN
    (OLD.survey_id, NEW.survey_id, (SELECT survey_id FROM survey_question WHERE id = NEW.id)))
  BEGIN SELECT RAISE(ABORT, 'the questions of a survey that was opened are frozen'); END;

CREATE TRIGGER survey_question_keep_delete BEFORE DELETE ON survey_question
  WHEN EXISTS (SELECT 1 FROM survey_survey WHERE id = OLD.survey_id AND state <> 'draft')
    AND NOT EXISTS (SELECT 1 FROM survey_removed WHERE id = OLD.survey_id)
  BEGIN SELECT RAISE(ABORT, 'the questions of a survey that was opened are frozen'); END;

-- Tombstones

CREATE TRIGGER survey_keep_address_insert BEFORE INSERT ON survey_survey
  WHEN EXISTS (SELECT 1 FROM survey_removed WHERE slug = NEW.slug OR id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'this address belonged to a removed survey'); END;

CREATE TRIGGER survey_keep_address_update BEFORE UPDATE ON survey_survey
  WHEN EXISTS (SELECT 1 FROM survey_removed WHERE slug = NEW.slug OR id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'this address belonged to a removed survey'); END;

CREATE TRIGGER survey_check_removed BEFORE INSERT ON survey_removed
  WHEN NOT EXISTS (SELECT 1 FROM survey_survey
      WHERE id = NEW.id AND slug = NEW.slug AND design_hash = NEW.design_hash AND state = 'closed')
    OR EXISTS (SELECT 1 FROM survey_removed WHERE id = NEW.id OR slug = NEW.slug)
  BEGIN SELECT RAISE(ABORT, 'only a closed survey can be removed'); END;

CREATE TRIGGER survey_keep_removed_update BEFORE UPDATE ON survey_removed
  BEGIN SELECT RAISE(ABORT, 'the record of a removed survey cannot be changed'); END;

CREATE TRIGGER survey_keep_removed_delete BEFORE DELETE ON survey_removed
  BEGIN SELECT RAISE(ABORT, 'the record of a removed survey cannot be changed'); END;

-- The audit log

CREATE TRIGGER survey_keep_log_update BEFORE UPDATE ON survey_entry
  BEGIN SELECT RAISE(ABORT, 'the log cannot be changed or deleted'); END;

CREATE TRIGGER survey_keep_log_delete BEFORE DELETE ON survey_entry
  BEGIN SELECT RAISE(ABORT, 'the log cannot be changed or deleted'); END;

CREATE TRIGGER survey_keep_log_insert BEFORE INSERT ON survey_entry
  WHEN EXISTS (SELECT 1 FROM survey_entry WHERE number = NEW.number OR hash = NEW.hash)
  BEGIN SELECT RAISE(ABORT, 'the log cannot be changed or deleted'); END;

-- Keys. A key is given only to a draft, which opens in the same transaction, and never changes.

CREATE TRIGGER survey_passkey_keep_insert BEFORE INSERT ON survey_passkey
  WHEN EXISTS (SELECT 1 FROM survey_survey WHERE id = NEW.survey_id AND state <> 'draft')
  BEGIN SELECT RAISE(ABORT, 'an opened survey cannot get another key'); END;

CREATE TRIGGER survey_passkey_keep_update BEFORE UPDATE ON survey_passkey
  BEGIN SELECT RAISE(ABORT, 'a key cannot be changed'); END;

CREATE TRIGGER survey_passkey_keep_delete BEFORE DELETE ON survey_passkey
  WHEN EXISTS (SELECT 1 FROM survey_survey WHERE id = OLD.survey_id AND state = 'open')
  BEGIN SELECT RAISE(ABORT, 'the key of an open survey cannot be deleted'); END;
