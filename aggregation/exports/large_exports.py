"""Files too large to be made while somebody waits: a worker writes them into a folder.

A file has the name of its job. While it is written it has another (`….part`), and it is served only
when its job is done and it has the size that the job noted; so half a file, which a killed worker
or a full disk leaves behind, is never served. Who may have it is asked at every download
(downloads.py), not here.
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


# --- What there is --------------------------------------------------------------------------------


def last_job(release: Release, name: str) -> Job | None:
    """What became of a file, if somebody asked for it."""
    jobs = Job.objects.filter(copy__release=release, copy__name=name)
    return jobs.order_by("active", "made_at").last()


def ready(job: Job | None) -> Path | None:
    """The finished file of a job, if it is still there."""
    if job is None or job.state != Job.State.DONE or job.result is None:
        return None
    path = folder() / str(job.pk)
    with contextlib.suppress(OSError):
        if path.stat().st_size == job.result["bytes"]:
            return path
    return None


# --- Making and forgetting ------------------------------------------------------------------------


def make(job: Job, watch: Callable[[float], None]) -> dict[str, Any]:
    """Write the file of a job; `watch` is told how far it is, and raises if nobody wants it."""
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


def forget() -> None:
    """Delete what is a day old or was left behind."""
    try:
        found = [(entry.name, Path(entry.path)) for entry in os.scandir(folder())]
    except OSError:  # nobody has asked for a large file yet
        return
    if not found:
        return
    wanted = {name for job in _kept() for name in (str(job.pk), f"{job.pk}.{job.attempt}{PART}")}
    for name, path in found:
        if name not in wanted:
            path.unlink(missing_ok=True)


def _kept() -> QuerySet[Job]:
    """The jobs whose files are wanted: those under way, and those that were made lately."""
    recent = Q(state=Job.State.DONE, made_at__gt=timezone.now() - KEPT_FOR)
    return Job.objects.filter(Q(active=True) | recent, copy__isnull=False)
