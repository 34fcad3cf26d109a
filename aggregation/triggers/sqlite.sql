-- Releases and estimates are append-only. They leave only with their survey, once that has a
-- tombstone (survey/triggers/).

CREATE TRIGGER aggregation_release_no_update BEFORE UPDATE ON aggregation_release
  BEGIN SELECT RAISE(ABORT, 'published results cannot be changed or deleted'); END;

CREATE TRIGGER aggregation_release_no_delete BEFORE DELETE ON aggregation_release
  WHEN NOT EXISTS (SELECT 1 FROM survey_removed WHERE id = OLD.survey_id)
  BEGIN SELECT RAISE(ABORT, 'published results cannot be changed or deleted'); END;

CREATE TRIGGER aggregation_estimate_no_update BEFORE UPDATE ON aggregation_estimate
  BEGIN SELECT RAISE(ABORT, 'published results cannot be changed or deleted'); END;

CREATE TRIGGER aggregation_estimate_no_delete BEFORE DELETE ON aggregation_estimate
  WHEN NOT EXISTS (SELECT 1 FROM survey_removed WHERE id =
    (SELECT survey_id FROM aggregation_release WHERE id = OLD.release_id))
  BEGIN SELECT RAISE(ABORT, 'published results cannot be changed or deleted'); END;
