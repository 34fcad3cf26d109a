"""Removing a survey: everything is deleted, and only with an archive."""

import builtins
import hashlib
import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.core.management import CommandError
from django.db import transaction

from aggregation.exports import archive
from aggregation.jobs import removal, tasks
from aggregation.models import Batch, Job, Release
from aggregation.releases.due import due
from aggregation.releases.publish import make_release
from survey.models import Membership, Removed, Report, Survey, today
from survey.models import report as inbox
from tests.support import builders
from tests.support.commands import run
from tests.support.site import Client

pytestmark = pytest.mark.django_db


SITE = {"entry", "heartbeat"}  # the log, and the last tick


def rows() -> dict[str, int]:
    """Count the rows of each of our tables, without empty ones and those of the site."""
    tables = [*apps.get_app_config("survey").get_models(),
              *apps.get_app_config("aggregation").get_models()]  # fmt: skip
    counts = {table._meta.model_name or "": table._default_manager.count() for table in tables}
    return {name: count for name, count in counts.items() if count and name not in SITE}


def archived(folder: Path, **changes: Any) -> tuple[Survey, Path]:
    survey = builders.finished(**changes)
    file = folder / f"{survey.slug}.zip"
    archive.write(survey, file)
    return survey, file


def test_removal_deletes_everything_of_one_survey_only(tmp_path: Path) -> None:
    other = builders.finished(slug="other")
    builders.alice(other)
    Job.objects.create(survey=other)
    before = rows()
    survey, file = archived(tmp_path)
    Membership.objects.create(survey=survey, user=builders.charlie())
    Job.objects.create(survey=survey)
    assert rows().keys() == before.keys() and all(rows()[name] > before[name] for name in before)

    out = run("remove_survey", "small", "--archive", file, "--yes")
    assert "307 reports" in out[-1]
    assert rows() == before | {"removed": 1}
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    assert Removed.objects.values().get() == {
        "id": survey.pk, "slug": "small", "title": survey.title, "reports": 307,
        "design_hash": survey.design_hash, "archive": sha256, "removed_on": today(),
    }  # fmt: skip


def test_the_address_of_a_removed_survey_stays_empty(tmp_path: Path) -> None:
    survey, file = archived(tmp_path)
    report = builders.report(survey.frozen_design())
    run("remove_survey", "small", "--archive", file, "--yes")
    paths = ["/api/v1/surveys/small/", "/s/small/definition/", "/api/v1/surveys/small/estimates/"]
    assert [Client().get(path).status_code for path in paths] == [404] * 3
    # This process knew the survey, so it answers "closed".
    assert post("small", report) == 410
    with pytest.raises(CommandError, match="slug: This address belonged to a survey"):
        (tmp_path / "again.json").write_text(json.dumps(builders.FILE))
        run("import_survey", tmp_path / "again.json")


def test_a_process_that_never_knew_the_survey_answers_404(tmp_path: Path) -> None:
    survey = builders.opened()
    survey.close()
    archive.write(survey, tmp_path / "small.zip")
    run("remove_survey", "small", "--archive", tmp_path / "small.zip", "--yes")
    assert rows() == {"removed": 1}
    assert post("small", builders.report(survey.frozen_design())) == 404


@pytest.mark.parametrize("people", [1, 19])
def test_a_survey_below_a_crowd_is_removed_with_its_waiting_reports(
    tmp_path: Path, people: int
) -> None:
    survey = builders.opened()
    builders.send(survey, people)
    survey.close()
    archive.write(survey, tmp_path / "small.zip")
    run("remove_survey", "small", "--archive", tmp_path / "small.zip", "--yes")
    assert rows() == {"removed": 1} and Removed.objects.get().reports == 0


def post(slug: str, report: dict[str, Any]) -> int:
    path = f"/api/v1/surveys/{slug}/reports/"
    return Client().post(path, report, content_type="application/json").status_code


def test_a_draft_needs_no_archive_and_leaves_nothing(tmp_path: Path) -> None:
    builders.draft()
    with pytest.raises(CommandError, match="Leave --archive out"):
        run("remove_survey", "small", "--archive", tmp_path / "x.zip", "--yes")
    run("remove_survey", "small", "--yes")
    assert rows() == {}
    builders.draft()


def test_a_draft_that_was_opened_in_the_meantime_stays() -> None:
    survey = builders.draft()
    Survey.objects.get().open()
    with pytest.raises(ValidationError, match="in the meantime"):
        removal.remove_draft(survey)
    assert Survey.objects.exists()


class TestRefused:
    """A refusal deletes nothing but the ids of a closed survey."""

    def test_removal_without_an_archive_is_refused(self) -> None:
        builders.opened()
        with pytest.raises(CommandError, match="archive_survey small FILE"):
            run("remove_survey", "small", "--yes")

    def test_an_open_survey_is_not_removed(self, tmp_path: Path) -> None:
        builders.opened()
        with pytest.raises(CommandError, match="The survey stays. The survey is open"):
            run("remove_survey", "small", "--archive", tmp_path / "x.zip", "--yes")

    def test_the_archive_of_another_survey_is_refused(self, tmp_path: Path) -> None:
        builders.finished()
        _, file = archived(tmp_path, slug="other")
        before = rows()
        with pytest.raises(CommandError, match="does not match 'small'"):
            run("remove_survey", "small", "--archive", file, "--yes")
        assert rows() == before

    def test_a_damaged_archive_is_refused(self, tmp_path: Path) -> None:
        _, file = archived(tmp_path)
        file.write_bytes(file.read_bytes()[:-40])
        before = rows()
        with pytest.raises(CommandError, match="cannot be read as an archive"):
            run("remove_survey", "small", "--archive", file, "--yes")
        assert rows() == before

    def test_reports_after_the_archive_check_stop_the_removal(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The reports' transactions were in progress when the survey closed."""
        survey, file = archived(tmp_path)
        look = archive.check

        def late(survey: Survey, path: Path) -> str:
            found = look(survey, path)
            content = bytes(len(survey.frozen_design().questions))
            for _ in range(survey.crowd):
                Report.objects.create(id=uuid4(), survey=survey, content=content)
            return found

        monkeypatch.setattr(archive, "check", late)
        with pytest.raises(CommandError, match="changed in the meantime"):
            run("remove_survey", "small", "--archive", file, "--yes")
        assert Batch.objects.exists() and not Removed.objects.exists()
        assert Report.objects.count() == survey.pending().count() == 20
        make_release(survey)
        monkeypatch.setattr(archive, "check", look)
        with pytest.raises(CommandError, match=r"survey\.json in .* does not match"):
            run("remove_survey", "small", "--archive", file, "--yes")
        archive.write(survey, tmp_path / "new.zip")
        run("remove_survey", "small", "--archive", tmp_path / "new.zip", "--yes")
        assert Removed.objects.get().reports == 327

    def test_removal_needs_the_typed_slug(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _, file = archived(tmp_path)
        before = rows()
        monkeypatch.setattr(builtins, "input", lambda _: "smal")
        with pytest.raises(CommandError, match="Nothing was deleted"):
            run("remove_survey", "small", "--archive", file)

        def nobody(prompt: str) -> str:
            raise EOFError

        monkeypatch.setattr(builtins, "input", nobody)
        with pytest.raises(CommandError, match="--yes"):
            run("remove_survey", "small", "--archive", file)
        assert rows() == before
        monkeypatch.setattr(builtins, "input", lambda _: "small")
        run("remove_survey", "small", "--archive", file)
        assert rows() == {"removed": 1}

    def test_a_survey_cannot_be_removed_twice(self, tmp_path: Path) -> None:
        _, file = archived(tmp_path)
        run("remove_survey", "small", "--archive", file, "--yes")
        with pytest.raises(CommandError, match="no survey"):
            run("remove_survey", "small", "--archive", file, "--yes")


def test_a_removal_that_fails_half_way_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, file = archived(tmp_path)
    before = rows()
    ids = before.pop("report")
    assert ids == 307

    def broken(self: Survey) -> None:
        raise OSError("power cut")

    monkeypatch.setattr(Survey, "delete", broken)
    with pytest.raises(OSError), transaction.atomic():
        removal.remove(survey, file)
    monkeypatch.undo()
    assert {name: count for name, count in rows().items() if name != "report"} == before
    removal.remove(survey, file)
    assert rows() == {"removed": 1}


class TestIds:
    def test_ids_are_deleted_in_short_steps(self, monkeypatch: pytest.MonkeyPatch) -> None:
        survey, other = builders.finished(), builders.finished(slug="other")
        monkeypatch.setattr(inbox, "IDS_AT_A_TIME", 100)
        assert list(survey.forget_ids()) == [100, 200, 300, 307]
        assert {report.survey for report in Report.objects.all()} == {other}
        assert list(survey.forget_ids()) == [0]

    @pytest.mark.parametrize("people", [99, 100, 101])
    def test_any_number_of_ids_is_deleted(
        self, people: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        survey = builders.finished(people - 7)
        monkeypatch.setattr(inbox, "IDS_AT_A_TIME", 50)
        assert list(survey.forget_ids())[-1] == people and not Report.objects.exists()

    def test_waiting_reports_are_not_deleted_as_ids(self) -> None:
        survey = builders.opened()
        builders.send(survey, 30)
        survey.close()
        assert list(survey.forget_ids()) == [0] and survey.pending().count() == 30

    def test_an_open_survey_keeps_its_ids(self) -> None:
        with pytest.raises(ValidationError, match="is open"):
            list(builders.opened().forget_ids())


class TestRetention:
    @pytest.fixture
    def survey(self) -> Survey:
        """Closed thirty days ago."""
        survey = builders.finished()
        Survey.objects.update(closed_on=today() - timedelta(days=30), due_on=today())
        survey.refresh_from_db()
        return survey

    def tick(self) -> None:
        """Do what the beat and the worker do, one after the other."""
        tasks.tick()
        for job in Job.objects.filter(active=True):
            tasks.run(str(job.pk))

    def test_ids_are_deleted_thirty_days_after_closing(self) -> None:
        survey = builders.finished()
        Survey.objects.update(closed_on=today() - timedelta(days=29))
        self.tick()
        assert list(due()) == [] and Report.objects.count() == 307
        Survey.objects.update(closed_on=today() - timedelta(days=30), due_on=today())
        assert list(due()) == [survey]
        self.tick()
        assert not Report.objects.exists()
        assert list(Job.objects.values_list("state", flat=True)) == ["done", "done"]
        assert Survey.objects.get().ids_removed_on == today()
        self.tick()
        assert list(due()) == [] and Job.objects.count() == 2

    def test_everything_else_stays_and_can_be_archived(
        self, survey: Survey, tmp_path: Path
    ) -> None:
        archive.write(survey, tmp_path / "before.zip")
        before = rows()
        self.tick()
        del before["report"]
        assert rows() == before | {"job": 1}
        archive.write(survey, tmp_path / "after.zip")
        assert (tmp_path / "before.zip").read_bytes() == (tmp_path / "after.zip").read_bytes()

    def test_a_repeated_report_is_200_before_and_410_afterwards(self, survey: Survey) -> None:
        report = builders.report(survey.frozen_design(), id=str(Report.objects.all()[0].pk))
        assert post("small", report) == 200
        self.tick()
        assert post("small", report) == 410 and not Report.objects.exists()

    def test_a_setting_says_how_long_ids_are_kept(self, survey: Survey, settings: Any) -> None:
        settings.KEEP_IDS_DAYS = 31
        self.tick()
        survey.refresh_from_db()
        assert survey.due_on == today() + timedelta(days=1) and Report.objects.count() == 307
        settings.KEEP_IDS_DAYS = 30
        Survey.objects.update(due_on=today())
        self.tick()
        assert not Report.objects.exists()

    def test_open_surveys_and_drafts_keep_their_ids(self, settings: Any) -> None:
        settings.KEEP_IDS_DAYS = 0
        builders.draft(slug="draft")
        survey = builders.opened()
        builders.send(survey, 45)
        make_release(survey)
        self.tick()
        assert Report.objects.count() == 45 and list(due()) == []

    def test_waiting_reports_are_counted_before_ids_are_deleted(self, settings: Any) -> None:
        settings.KEEP_IDS_DAYS = 0
        survey = builders.opened()
        builders.send(survey, 30)
        survey.close()
        self.tick()
        assert Release.objects.get().reports == 30 and not Report.objects.exists()

    def test_ids_stay_until_the_final_release(
        self, survey: Survey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tasks, "unfinished", lambda survey: "not yet")
        self.tick()
        assert Report.objects.count() == 307 and Survey.objects.get().ids_removed_on is None

    def test_an_interrupted_deletion_goes_on(
        self, survey: Survey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(inbox, "IDS_AT_A_TIME", 100)
        next(survey.forget_ids())
        assert Report.objects.count() == 207 and list(due()) == [survey]
        self.tick()
        assert not Report.objects.exists()
