"""Files that are too large to be made while somebody waits: a worker writes them into a folder.

A file is named after its job, with the suffix `.part` while it is written. It is served only if its
job is done and it has the size that the job recorded, so an incomplete file, which a killed worker
or a full disk leaves behind, is never served. Permissions are checked at every download, not here.
"""

import contextlib
import errno
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from aggregation.exports.files import FILES, Export, File
from aggregation.models import Job, Release

KEPT_FOR = timedelta(days=1)
FULL = (errno.ENOSPC, errno.EDQUOT)
PART = ".part"


def folder() -> Path:
    return Path(settings.VAR_DIR) / "copies"


def is_large(release: Release, file: File) -> bool:
    """Return whether a file holds the reports of a release, and there are many."""
    return file.may_be_large and release.reports > settings.STREAMED_REPORTS


# --- Finding files --------------------------------------------------------------------------------


def last_job(release: Release, name: str) -> Job | None:
    """Return the last job for a file, if somebody has requested it."""
    jobs = Job.objects.filter(copy__release=release, copy__name=name)
    return jobs.order_by("active", "made_at").last()


def ready(job: Job | None) -> Path | None:
    """Return the finished file of a job, if it still exists."""
    if job is None or job.state != Job.State.DONE or job.result is None:
        return None
    path = folder() / str(job.pk)
    with contextlib.suppress(OSError):
        if path.stat().st_size == job.result["bytes"]:
            return path
    return None


# --- Making and deleting files --------------------------------------------------------------------


def make(job: Job, watch: Callable[[float], None]) -> dict[str, Any]:
    """Write the file of a job. `watch` gets the progress, and raises if nobody wants the file."""
    copy = job.copy
    assert copy is not None  # noqa: S101  # for the type checker
    release = Release.objects.select_related("survey").get(pk=copy.release_id)
    export = Export(release, copy.address, watch)
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    part = folder() / f"{job.pk}.{job.attempt}{PART}"
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            for piece in FILES[copy.name].make(export):
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
            size = out.tell()
        os.replace(part, folder() / str(job.pk))
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return {"release": release.number, "file": copy.name, "bytes": size}


def delete_old() -> None:
    """Delete the files that are a day old or were left behind."""
    try:
        found = [(entry.name, Path(entry.path)) for entry in os.scandir(folder())]
    except OSError:  # nobody has requested a large file yet
        return
    if not found:
        return
    wanted = {name for job in _kept() for name in (str(job.pk), f"{job.pk}.{job.attempt}{PART}")}
    for name, path in found:
        if name not in wanted:
            path.unlink(missing_ok=True)


def _kept() -> QuerySet[Job]:
    """Return the jobs whose files are kept: active ones, and recently finished ones."""
    recent = Q(state=Job.State.DONE, made_at__gt=timezone.now() - KEPT_FOR)
    return Job.objects.filter(Q(active=True) | recent, copy__isnull=False)
