-- Releases and estimates are append-only. They leave only with their survey, once that has a
-- tombstone (survey/triggers/).

CREATE FUNCTION aggregation_append_only() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'what was published is neither changed nor deleted' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql;

CREATE FUNCTION aggregation_release_leave() RETURNS trigger AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM survey_removed WHERE id = OLD.survey_id) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'what was published is neither changed nor deleted' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql;

CREATE TRIGGER aggregation_release_no_update BEFORE UPDATE ON aggregation_release
  FOR EACH ROW EXECUTE FUNCTION aggregation_append_only();
CREATE TRIGGER aggregation_release_no_delete BEFORE DELETE ON aggregation_release
  FOR EACH ROW EXECUTE FUNCTION aggregation_release_leave();
CREATE TRIGGER aggregation_release_no_truncate BEFORE TRUNCATE ON aggregation_release
  EXECUTE FUNCTION aggregation_append_only();

CREATE FUNCTION aggregation_estimate_leave() RETURNS trigger AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM survey_removed WHERE id =
    (SELECT survey_id FROM aggregation_release WHERE id = OLD.release_id)) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'what was published is neither changed nor deleted' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql;

CREATE TRIGGER aggregation_estimate_no_update BEFORE UPDATE ON aggregation_estimate
  FOR EACH ROW EXECUTE FUNCTION aggregation_append_only();
CREATE TRIGGER aggregation_estimate_no_delete BEFORE DELETE ON aggregation_estimate
  FOR EACH ROW EXECUTE FUNCTION aggregation_estimate_leave();
CREATE TRIGGER aggregation_estimate_no_truncate BEFORE TRUNCATE ON aggregation_estimate
  EXECUTE FUNCTION aggregation_append_only();
