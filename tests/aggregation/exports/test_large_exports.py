"""Large files, which a worker makes: request, progress, cancelling and download."""

import io
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client
from django.utils import timezone

from aggregation.exports import large_exports, reports
from aggregation.jobs import sandbox, tasks
from aggregation.models import Copy, Job, Release
from aggregation.releases.due import due
from aggregation.releases.publish import make_release
from survey.models import Membership, Survey
from tests.support import builders
from tests.support.services import ROOT, wait_until
from tests.support.stores import BOTH, Store

LARGE = ["reports.csv", "everything.zip"]
PAGE, API = "/surveys/small/releases/2", "/api/v1/surveys/small/releases/2"


@pytest.fixture
def survey(db: None, settings: Any, tmp_path: Path) -> Survey:
    """Return a finished survey that counts as large, because the limit is low."""
    settings.VAR_DIR, settings.STREAMED_REPORTS = tmp_path, 306
    return builders.finished()


@pytest.fixture
def alice(survey: Survey) -> Client:
    return builders.client(builders.alice(survey))


def work() -> None:
    """Process the waiting messages, as a worker does."""
    for job in Job.objects.filter(active=True, copy__isnull=False):
        tasks.run(str(job.pk))


def same(name: str, one: bytes, other: bytes) -> bool:
    """Whether the bytes are equal; in a zip, ignore the Excel file, which contains a time."""
    if name != "everything.zip":
        return one == other
    with ZipFile(io.BytesIO(one)) as first, ZipFile(io.BytesIO(other)) as second:
        names = [each for each in first.namelist() if not each.endswith(".xlsx")]
        assert first.testzip() is None and first.namelist() == second.namelist()
        return all(first.read(each) == second.read(each) for each in names)


def status(client: Client, address: str, method: str = "get") -> int:
    response = getattr(client, method)(address)
    if response.streaming:
        response.getvalue()  # read to the end, which closes the file
    return int(response.status_code)


def asked(alice: Client, name: str = "reports.csv") -> Job:
    response = alice.post(f"{API}/{name}")
    assert response.status_code == 202
    return Job.objects.get(pk=response.json()["id"])


# --- From asking to having ------------------------------------------------------------------------


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_is_made_once_and_equals_the_streamed_one(
    alice: Client, settings: Any, name: str
) -> None:
    settings.STREAMED_REPORTS = 307
    streamed = alice.get(f"{API}/{name}").getvalue()
    settings.STREAMED_REPORTS = 306
    refused = alice.get(f"{API}/{name}")
    assert refused.status_code == 409 and "POST to this address" in refused.json()["detail"]
    assert not Job.objects.filter(copy__isnull=False).exists()  # GET does not request it

    response = alice.post(f"{API}/{name}")
    job = response.json()
    assert response.status_code == 202 and response["Location"] == job["url"]
    assert alice.post(f"{API}/{name}").json()["id"] == job["id"]
    waiting = alice.get(f"{API}/{name}")
    assert waiting.status_code == 202 and waiting.json()["id"] == job["id"]
    work()
    done = alice.get(job["url"]).json()
    assert (done["state"], done["progress"]) == ("done", 1)
    size = done["result"]["bytes"]
    assert done["result"] == {"release": 2, "file": name, "bytes": size}
    again = alice.post(f"{API}/{name}")
    assert again.status_code == 303 and again["Location"].endswith(f"{API}/{name}")
    for root in (PAGE, API):
        made = alice.get(f"{root}/{name}")
        assert made.status_code == 200 and same(name, made.getvalue(), streamed)
        assert made["Content-Length"] == str(size) and "no-store" in made["Cache-Control"]
        assert made["Content-Disposition"].startswith("attachment; filename=")
        head = alice.head(f"{root}/{name}")
        assert head.status_code == 200 and head.content == b""
    assert Job.objects.filter(copy__isnull=False).count() == 1


def test_the_page_shows_progress_and_then_the_file(alice: Client) -> None:
    page = alice.get(f"{PAGE}/").content.decode()
    assert 'everything.zip" aria' in page and 'estimates.csv" download' in page
    text = alice.get(f"{PAGE}/everything.zip").content.decode()
    assert "This file is large" in text and "Prepare everything.zip" in text
    response = alice.post(f"{PAGE}/everything.zip")
    assert response.status_code == 302 and response["Location"] == f"{PAGE}/everything.zip?wait"
    job = Job.objects.get(copy__isnull=False)
    text = alice.get(f"{PAGE}/everything.zip").content.decode()
    assert "Waiting for a worker" in text and f'data-job="/api/v1/jobs/{job.pk}/"' in text
    assert "style=" not in text
    work()
    text = alice.get(f"{PAGE}/everything.zip?wait").content.decode()  # finished before loading
    assert "Ready to download" in text and "Download everything.zip" in text
    response = alice.get(f"{PAGE}/everything.zip")
    with ZipFile(io.BytesIO(response.getvalue())) as bundle:
        assert bundle.testzip() is None and "reports.csv" in bundle.namelist()
        told = bundle.read("README.txt").decode()
    assert "http://testserver/surveys/small/releases/2/" in told


def test_a_small_file_is_served_at_once(alice: Client, settings: Any) -> None:
    for name in ("estimates.csv", "figure-q1.svg", "estimates.dta"):
        assert alice.get(f"{PAGE}/{name}").status_code == 200
        assert alice.post(f"{PAGE}/{name}").status_code == 405
        assert alice.post(f"{API}/{name}").status_code == 405
    assert alice.post(f"{PAGE}/").status_code == 405
    settings.STREAMED_REPORTS = 307
    for name in LARGE:
        assert alice.post(f"{API}/{name}").status_code == 303
        assert alice.post(f"{PAGE}/{name}").status_code == 302
        assert alice.get(f"{PAGE}/{name}").status_code == 200
    assert not Job.objects.filter(copy__isnull=False).exists()


@pytest.mark.django_db
def test_a_large_file_of_an_open_survey_stays_that_of_its_release(
    settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR, settings.STREAMED_REPORTS = tmp_path, 10
    survey = builders.opened()
    alice = builders.client(builders.alice(survey))
    builders.send(survey, 60)
    make_release(survey)
    here = API.replace("/2", "/1")
    assert alice.post(f"{here}/reports.csv").status_code == 202
    builders.send(survey, 60, seed=2)
    make_release(survey)  # before the worker starts it
    work()
    large_exports.delete_old()
    lines = alice.get(f"{here}/reports.csv").getvalue().decode().splitlines()[1:]
    assert sum(int(line.rsplit(",", 1)[1]) for line in lines) == 40


@pytest.mark.parametrize("number", ["9", "x"])
def test_a_bad_release_number_is_refused_when_asking(alice: Client, number: str) -> None:
    status = 404 if number == "9" else 400
    for root in (PAGE, API):
        here = root.removesuffix("2") + number
        assert alice.post(f"{here}/everything.zip").status_code == status
        assert alice.post(f"{here}/nothing.zip").status_code in (404, 405, 400)


# --- Who may have it ------------------------------------------------------------------------------


def test_permissions_are_checked_at_the_download(survey: Survey, alice: Client) -> None:
    charlie = builders.client(builders.charlie())
    job = asked(alice)
    work()
    Survey.objects.update(results_public=True)  # estimates, not reports
    for method in ("get", "post"):
        assert status(charlie, f"{PAGE}/reports.csv", method) == 403
        assert status(charlie, f"{API}/reports.csv", method) == 403
        assert status(Client(), f"{PAGE}/reports.csv", method) == 302
        assert status(Client(), f"{API}/reports.csv", method) == 401
    assert charlie.delete(f"/api/v1/jobs/{job.pk}/").status_code == 403
    assert status(alice, f"{PAGE}/reports.csv") == 200
    Membership.objects.all().delete()
    assert alice.get(f"{PAGE}/reports.csv").status_code == 403
    assert alice.get(f"{API}/reports.csv").status_code == 403


def test_only_the_owner_can_read_the_files_on_disk(alice: Client) -> None:
    asked(alice)
    work()
    (file,) = large_exports.folder().iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert large_exports.folder().stat().st_mode & 0o777 == 0o700


# --- What goes wrong ------------------------------------------------------------------------------


def test_progress_is_reported_while_a_file_is_written(
    alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "LINES", 2)
    job = asked(alice)
    assert Job.objects.claim(job.pk)
    told: list[float] = []
    large_exports.make(Job.objects.get(pk=job.pk), told.append)
    assert told == sorted(told) and len(told) > 4
    assert 0 < told[0] <= reports.READ and 0.7 < told[-1] <= 1


@pytest.mark.parametrize("by", ["page", "api"])
def test_a_file_cancelled_half_way_is_deleted(
    alice: Client, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(reports, "LINES", 2)
    monkeypatch.setattr(tasks, "REPORT_SECONDS", 0.0)
    job = asked(alice, "everything.zip")
    seen: list[list[str]] = []
    advance = Job.advance

    def cancelled_meanwhile(self: Job, progress: float) -> bool:
        if progress > 0.5 and not seen:
            seen.append([path.name for path in large_exports.folder().iterdir()])
            if by == "api":
                assert alice.delete(f"/api/v1/jobs/{job.pk}/").json()["state"] == "cancelled"
            else:
                assert alice.post(f"{PAGE}/everything.zip", {"cancel": "1"}).status_code == 302
        return advance(self, progress)

    monkeypatch.setattr(Job, "advance", cancelled_meanwhile)
    work()
    job.refresh_from_db()
    assert job.state == "cancelled" and seen == [[f"{job.pk}.1.part"]]
    assert list(large_exports.folder().iterdir()) == []
    assert "Cancelled." in alice.get(f"{PAGE}/everything.zip").content.decode()
    assert asked(alice, "everything.zip").pk != job.pk  # and requested again


def test_a_full_disk_is_explained(alice: Client) -> None:
    """The file is written to /dev/full, which never has room."""
    job = asked(alice)
    large_exports.folder().mkdir()
    (large_exports.folder() / f"{job.pk}.1.part").symlink_to("/dev/full")
    work()
    job.refresh_from_db()
    assert job.state == "failed" and job.error.startswith("There is no room for the file")
    assert list(large_exports.folder().iterdir()) == []
    page = alice.get(f"{PAGE}/reports.csv").content.decode()
    assert "no room for the file" in page and "Prepare reports.csv" in page
    answer = alice.get(f"{API}/reports.csv")
    assert answer.status_code == 409 and "no room for the file" in answer.json()["detail"]
    asked(alice)
    work()
    assert status(alice, f"{PAGE}/reports.csv") == 200


def test_half_a_file_is_never_served(alice: Client) -> None:
    job = asked(alice)
    work()
    whole = large_exports.folder() / str(job.pk)
    whole.write_bytes(whole.read_bytes()[:-1])
    page = alice.get(f"{PAGE}/reports.csv")
    assert "has been deleted" in page.content.decode() and "Content-Disposition" not in page
    assert alice.get(f"{API}/reports.csv").status_code == 409
    assert asked(alice).pk != job.pk


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.slow
def test_a_file_whose_worker_was_killed_is_written_again(
    kind: str, store: Store, tmp_path: Path
) -> None:
    """After kill -9 during writing, the partial file is not served, and is made again."""
    job = store.python(
        "import numpy as np, json",
        "from survey import files",
        "from survey.models import Survey, today",
        "from aggregation.counting.planes import pack",
        "from aggregation.counting.tables import tally",
        "from aggregation.releases.publish import publish",
        "options = [str(i) for i in range(20)]",
        "asked = [{'key': f'q{i}', 'text': '?', 'kind': 'choice', 'options': options}"
        " for i in range(4)]",
        "survey = files.load(json.dumps({'slug': 'big', 'title': 'Big', 'epsilon': 8,"
        " 'questions': asked, 'blocks': [['q0', 'q1', 'q2', 'q3']]}))",
        "survey.open()",
        "design, rng = survey.frozen_design(), np.random.default_rng(5)",
        "for _ in range(3):",
        "    rows = rng.integers(0, 20, (65536, 4), dtype=np.uint8)",
        "    data = pack(rows, design)",
        "    Batch.objects.create(survey=survey, reports=len(rows), made_on=today(),"
        " tally=tally(data, len(rows), design), columns=data)",
        "survey.close()",
        "release = publish(survey)",
        "print(Copy.objects.ask(release, 'reports.csv', 'http://x/').pk)",
    ).split()[-1]
    program = f"from aggregation.jobs import tasks; tasks.run('{job}')"
    folder = tmp_path / "copies"
    with subprocess.Popen(
        [sys.executable, "manage.py", "shell", "-v0", "-c", program], cwd=ROOT, env=store.env
    ) as worker:
        half = folder / f"{job}.1.part"
        wait_until(lambda: half.exists() and half.stat().st_size > 0, 60, "half a file")
        os.kill(worker.pid, signal.SIGKILL)
    assert [path.name for path in folder.iterdir()] == [half.name]
    look = (
        "from aggregation.exports import large_exports as copies",
        "from datetime import timedelta; from django.utils import timezone",
        f"job = Job.objects.get(pk='{job}')",
        "print(job.state, copies.ready(job))",
    )
    assert store.python(*look).split()[-2:] == ["running", "None"]
    told = store.python(
        *look,
        "Job.objects.update(lease=timezone.now() - timedelta(seconds=1))",  # half a minute later
        "Job.objects.get().send_again()",
        f"tasks.run('{job}')",
        "copies.delete_old()",
        "job.refresh_from_db()",
        "print(job.state, job.attempt, copies.ready(job))",
    ).split()[-3:]
    assert told == ["done", "2", str(folder / job)]
    assert [path.name for path in folder.iterdir()] == [job]
    lines = (folder / job).read_text().splitlines()
    assert sum(int(line.rsplit(",", 1)[1]) for line in lines[1:]) == 3 * 65536
    assert lines[1:] == sorted(lines[1:], key=lambda line: [int(v) for v in line.split(",")[:4]])


# --- What is forgotten ----------------------------------------------------------------------------


def test_a_file_is_kept_for_a_day(alice: Client) -> None:
    job = asked(alice)
    work()
    stray = large_exports.folder() / "stray"
    left = large_exports.folder() / f"{job.pk}.7.part"
    for path in (stray, left):
        path.write_text("x")
    tasks.tick()
    assert [path.name for path in large_exports.folder().iterdir()] == [str(job.pk)]
    Job.objects.filter(pk=job.pk).update(made_at=timezone.now() - timedelta(hours=25))
    tasks.tick()
    assert list(large_exports.folder().iterdir()) == []
    assert "has been deleted" in alice.get(f"{PAGE}/reports.csv").content.decode()


def test_a_file_that_is_being_written_is_kept(alice: Client) -> None:
    job = asked(alice)
    assert Job.objects.claim(job.pk)
    large_exports.folder().mkdir()
    (large_exports.folder() / f"{job.pk}.1.part").write_text("half")
    large_exports.delete_old()
    assert len(list(large_exports.folder().iterdir())) == 1
    job.cancel()
    large_exports.delete_old()
    assert list(large_exports.folder().iterdir()) == []


def test_cleaning_up_without_a_folder_does_nothing(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "nowhere"
    large_exports.delete_old()


# --- Beside other work ----------------------------------------------------------------------------


def test_making_a_file_is_not_shown_as_a_release(survey: Survey, alice: Client) -> None:
    asked(alice)
    assert Job.objects.request(survey).copy is None
    Job.objects.filter(copy=None).delete()
    page = alice.get("/surveys/small/").content.decode()
    assert "Making a release" not in page


@pytest.mark.django_db
def test_a_file_that_failed_does_not_delay_a_release(settings: Any) -> None:
    settings.RELEASE_SECONDS = 0
    survey = builders.opened()
    builders.send(survey, 60)
    release = make_release(survey)
    builders.send(survey, 30, seed=2)
    copy = Copy.objects.create(release=release, name="everything.zip", address="http://x/")
    failed: dict[str, Any] = {"survey": survey, "state": Job.State.FAILED, "active": False}
    Job.objects.create(copy=copy, **failed)
    assert list(due()) == [survey]
    Job.objects.create(**failed)  # a failed release job does
    assert list(due()) == []


def test_a_batch_that_is_missing_is_noticed(survey: Survey) -> None:
    release = Release.objects.get(number=2)
    release.reports += 1
    with pytest.raises(RuntimeError, match="do not contain the reports"):
        reports.Lines(release)


def test_a_stopped_job_leaves_no_file(survey: Survey, alice: Client) -> None:
    job = asked(alice)

    def stop(_: float) -> None:
        raise sandbox.Stopped

    claimed = Job.objects.claim(job.pk)
    assert claimed
    with pytest.raises(sandbox.Stopped):
        large_exports.make(claimed, stop)
    assert list(large_exports.folder().iterdir()) == []
    assert Copy.objects.count() == 1
