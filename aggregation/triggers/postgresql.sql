-- Releases and estimates are append-only. They leave only with their survey, once that has a
-- tombstone (survey/triggers/).

CREATE FUNCTION aggregation_append_only() RETURNS trigger AS $$
DECLARE
  owner bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF TG_TABLE_NAME = 'aggregation_release' THEN
      owner := OLD.survey_id;
    ELSE
      SELECT survey_id INTO owner FROM aggregation_release WHERE id = OLD.release_id;
    END IF;
    IF EXISTS (SELECT 1 FROM survey_removed WHERE id = owner) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'published results cannot be changed or deleted' USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql;

CREATE TRIGGER aggregation_release_append_only BEFORE UPDATE OR DELETE ON aggregation_release
  FOR EACH ROW EXECUTE FUNCTION aggregation_append_only();
CREATE TRIGGER aggregation_release_no_truncate BEFORE TRUNCATE ON aggregation_release
  EXECUTE FUNCTION aggregation_append_only();
CREATE TRIGGER aggregation_estimate_append_only BEFORE UPDATE OR DELETE ON aggregation_estimate
  FOR EACH ROW EXECUTE FUNCTION aggregation_append_only();
CREATE TRIGGER aggregation_estimate_no_truncate BEFORE TRUNCATE ON aggregation_estimate
  EXECUTE FUNCTION aggregation_append_only();
