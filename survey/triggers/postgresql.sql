-- Protect an opened survey from every change, including queryset.update(), raw SQL and other
-- programs. The one exception is a tombstone, a row of survey_removed, which only a closed survey
-- can get: it allows the survey to be deleted, but still not to be changed.

CREATE FUNCTION survey_keep_promise() RETURNS trigger AS $$
BEGIN
  IF OLD.state = 'draft' THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM survey_removed WHERE id = OLD.id) THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'a survey that was opened cannot be deleted' USING ERRCODE = '23000';
  END IF;
  IF (
    OLD.id, OLD.slug, OLD.title, OLD.introduction, OLD.language, OLD.translations, OLD.epsilon,
    OLD.ask, OLD.crowd, OLD.design, OLD.design_hash, OLD.opened_on, OLD.asked_by, OLD.purpose,
    OLD.contact, OLD.retention_days, OLD.access, OLD.work, OLD.blocks, OLD.shuffled,
    OLD.fillers, OLD.population
  ) IS DISTINCT FROM (
    NEW.id, NEW.slug, NEW.title, NEW.introduction, NEW.language, NEW.translations, NEW.epsilon,
    NEW.ask, NEW.crowd, NEW.design, NEW.design_hash, NEW.opened_on, NEW.asked_by, NEW.purpose,
    NEW.contact, NEW.retention_days, NEW.access, NEW.work, NEW.blocks, NEW.shuffled,
    NEW.fillers, NEW.population
  ) THEN
    RAISE EXCEPTION 'a survey that was opened is frozen' USING ERRCODE = '23000';
  END IF;
  IF OLD.state <> NEW.state AND NOT (OLD.state = 'open' AND NEW.state = 'closed') THEN
    RAISE EXCEPTION 'a survey can only go from draft to open to closed' USING ERRCODE = '23000';
  END IF;
  IF NEW.state = 'closed'
     AND (OLD.state = 'open' OR OLD.closed_on IS DISTINCT FROM NEW.closed_on)
     AND COALESCE(NEW.closed_on > COALESCE(OLD.closed_on, CURRENT_DATE + 1), TRUE) THEN
    RAISE EXCEPTION 'the closing date cannot be moved to a later day' USING ERRCODE = '23000';
  END IF;
  RETURN NEW;
END $$ LANGUAGE plpgsql;

CREATE FUNCTION survey_keep_questions() RETURNS trigger AS $$
BEGIN
  -- FOR SHARE waits for a running open() and then sees its outcome; a later open() waits for us.
  IF TG_OP <> 'INSERT' THEN
    PERFORM 1 FROM survey_survey WHERE id = OLD.survey_id FOR SHARE;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM 1 FROM survey_survey WHERE id = NEW.survey_id FOR SHARE;
  END IF;
  IF TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM survey_removed WHERE id = OLD.survey_id) THEN
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

-- Refuses everything, with the message that is its argument.
CREATE FUNCTION survey_refuse() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = '23000', MESSAGE = TG_ARGV[0];
END $$ LANGUAGE plpgsql;

CREATE TRIGGER survey_survey_no_truncate BEFORE TRUNCATE ON survey_survey
  EXECUTE FUNCTION survey_refuse('this table cannot be truncated');
CREATE TRIGGER survey_question_no_truncate BEFORE TRUNCATE ON survey_question
  EXECUTE FUNCTION survey_refuse('this table cannot be truncated');

-- Tombstones

CREATE FUNCTION survey_keep_address() RETURNS trigger AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM survey_removed WHERE slug = NEW.slug OR id = NEW.id) THEN
    RAISE EXCEPTION 'this address belonged to a removed survey' USING ERRCODE = '23000';
  END IF;
  RETURN NULL;
END $$ LANGUAGE plpgsql;

CREATE FUNCTION survey_check_removed() RETURNS trigger AS $$
BEGIN
  PERFORM 1 FROM survey_survey
    WHERE id = NEW.id AND slug = NEW.slug AND design_hash = NEW.design_hash AND state = 'closed'
    FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'only a closed survey can be removed' USING ERRCODE = '23000';
  END IF;
  RETURN NEW;
END $$ LANGUAGE plpgsql;

-- AFTER, because only then can an insert that waited for a removal see the tombstone.
CREATE TRIGGER survey_keep_address AFTER INSERT OR UPDATE ON survey_survey
  FOR EACH ROW EXECUTE FUNCTION survey_keep_address();
CREATE TRIGGER survey_check_removed BEFORE INSERT ON survey_removed
  FOR EACH ROW EXECUTE FUNCTION survey_check_removed();
CREATE TRIGGER survey_keep_removed BEFORE UPDATE OR DELETE ON survey_removed
  FOR EACH ROW EXECUTE FUNCTION survey_refuse('the record of a removed survey cannot be changed');
CREATE TRIGGER survey_removed_no_truncate BEFORE TRUNCATE ON survey_removed
  EXECUTE FUNCTION survey_refuse('this table cannot be truncated');

-- The audit log

CREATE TRIGGER survey_keep_log BEFORE UPDATE OR DELETE ON survey_entry
  FOR EACH ROW EXECUTE FUNCTION survey_refuse('the log cannot be changed or deleted');
CREATE TRIGGER survey_entry_no_truncate BEFORE TRUNCATE ON survey_entry
  EXECUTE FUNCTION survey_refuse('the log cannot be changed or deleted');

-- Keys. A key is given only to a draft, which opens in the same transaction, and never changes.

CREATE FUNCTION survey_keep_passkey() RETURNS trigger AS $$
BEGIN
  IF TG_OP = 'INSERT' AND EXISTS (
      SELECT 1 FROM survey_survey WHERE id = NEW.survey_id AND state <> 'draft') THEN
    RAISE EXCEPTION 'an opened survey cannot get another key' USING ERRCODE = '23000';
  END IF;
  IF TG_OP = 'DELETE' AND EXISTS (
      SELECT 1 FROM survey_survey WHERE id = OLD.survey_id AND state = 'open') THEN
    RAISE EXCEPTION 'the key of an open survey cannot be deleted' USING ERRCODE = '23000';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$ LANGUAGE plpgsql;

CREATE TRIGGER survey_keep_passkey BEFORE INSERT OR DELETE ON survey_passkey
  FOR EACH ROW EXECUTE FUNCTION survey_keep_passkey();
CREATE TRIGGER survey_passkey_no_update BEFORE UPDATE ON survey_passkey
  FOR EACH ROW EXECUTE FUNCTION survey_refuse('a key cannot be changed');
CREATE TRIGGER survey_passkey_no_truncate BEFORE TRUNCATE ON survey_passkey
  EXECUTE FUNCTION survey_refuse('this table cannot be truncated');
