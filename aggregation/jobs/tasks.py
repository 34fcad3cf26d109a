"""Celery tasks: fetch, call, save. A message carries an id and nothing else.

The queue is never the source of truth. A lost, duplicate or late message does no harm, because the
work is found in the database, and every step is one transaction that checks before it writes.
"""

import logging
import time
from functools import partial
from typing import Any
from uuid import UUID

from celery import group, shared_task
from django.conf import settings
from django.db import transaction

from aggregation.analyses import base, registry
from aggregation.analyses.base import AnalysisError
from aggregation.exports import large_exports
from aggregation.jobs import counts, removal, sandbox
from aggregation.models import Job, Part, heartbeat
from aggregation.releases.due import due, unfinished
from aggregation.releases.publish import make_release
from survey import schedule
from survey.database import database
from survey.models import Survey

logger = logging.getLogger(__name__)

COUNTED = 0.8  # the progress of an analysis when its tables are counted
REPORT_SECONDS = 2.0  # between two reports of progress
TICKS_APART = 1.0  # seconds, at least
last_tick = -TICKS_APART


@shared_task
def tick() -> None:
    """Start what is due, and resend what was lost. The beat calls this every few seconds.

    Skip ticks that were queued while no worker was running, or that several beats send.
    """
    global last_tick
    if time.monotonic() - last_tick < TICKS_APART:
        return
    last_tick = time.monotonic()
    for survey in due():
        Job.objects.request(survey)
    for job in Job.objects.stale():
        job.send_again()
    large_exports.delete_old()
    schedule.apply()
    heartbeat.note(heartbeat.TICK)


@shared_task
def ping(word: str) -> None:
    """Record that a message arrived, for `manage.py selftest`, which deletes the record."""
    heartbeat.note(word)


@shared_task
def run(job_id: str) -> None:
    """Do a job, or as much of it as is possible now."""
    job = Job.objects.claim(UUID(job_id))
    if job is None:
        return
    if job.attempt > Job.MAX_ATTEMPTS:
        job.finish(state=Job.State.FAILED, error="Given up after several attempts; see the log.")
        return
    try:
        result = analyse(job) if job.analysis else export(job) if job.copy else run_survey_job(job)
        if result is not None:
            job.finish(state=Job.State.DONE, progress=1, result=result)
    except sandbox.Stopped:
        return  # cancelled, or taken over
    except Exception as error:
        job.finish(state=Job.State.FAILED, error=explain(job, error))


def explain(job: Job, error: Exception) -> str:
    """Return the message for researchers. Unknown errors may quote data, so only log their type."""
    if isinstance(error, AnalysisError):
        return str(error)
    if isinstance(error, sandbox.TooLong):
        return f"Stopped after {settings.ANALYSIS_SECONDS} seconds. Ask about fewer questions."
    if isinstance(error, sandbox.TooLarge):
        return f"More than {settings.ANALYSIS_MEGABYTES} MB needed. Ask about fewer questions."
    if job.copy and isinstance(error, OSError) and error.errno in large_exports.FULL:
        return "There is no room for the file on the server’s disk. Tell the people who run it."
    logger.error("job %s of survey %s: %s", job.pk, job.survey.slug, type(error).__name__)
    what = "analysis" if job.analysis else "file" if job.copy else "release"
    return f"The {what} could not be made ({type(error).__name__}). Nothing was lost."


def run_survey_job(job: Job) -> dict[str, int | None]:
    """Make a release of a survey; once it is closed, also delete its ids or the survey when due.

    Deleting the survey deletes the job as well.
    """
    result = release(job)
    survey = Survey.objects.get(pk=job.survey.pk)
    if unfinished(survey):
        return result
    forget_ids(job, survey)
    if survey.delete_due():
        removal.expire(survey, lambda: job.advance(0.95))
    else:
        survey.schedule_next_task()
    return result


def release(job: Job) -> dict[str, int | None]:
    """Move waiting reports into batches, then publish what may be published."""
    survey = job.survey
    waiting = survey.pending().count()
    last = survey.releases.order_by("number").last()
    published = make_release(survey, lambda moved: job.advance(0.9 * moved / max(waiting, moved)))
    return {
        "release": published.number if published else None,
        "new": (published.reports if published else 0) - (last.reports if last else 0),
        "waiting": survey.round_to_crowds(survey.pending().count()),
        "crowd": survey.crowd,
    }


def forget_ids(job: Job, survey: Survey) -> None:
    """Delete the ids of a closed survey when that is due: nobody repeats a report any more."""
    if survey.ids_due():
        for _ in survey.forget_ids():
            job.advance(0.95)
        transaction.on_commit(database().checkpoint, robust=True)


# An analysis is counted in parts, on all workers at once. The task that counts the last part sends
# the job back to the queue for the computation. This is like a Celery chord, but with the state in
# the database, so that the message of a part may be lost, duplicate or late like any other.


def analyse(job: Job) -> base.Figures | None:
    """Return the figures if all parts are counted; otherwise send the missing parts to workers."""
    assert job.analysis is not None  # noqa: S101  # for the type checker
    missing = job.analysis.parts.filter(counts=None).values_list("pk", flat=True)
    if missing:
        group(count.s(str(job.pk), pk) for pk in missing).apply_async()
        return None
    design = job.survey.frozen_design()
    request, tables = counts.read_request(job.analysis), counts.tables_of(job.analysis)
    figures: base.Figures = sandbox.run(
        partial(registry.figures, request, design, tables, job.analysis.release.tally),
        settings.ANALYSIS_SECONDS,
        settings.ANALYSIS_MEGABYTES * 1_000_000,
        Progress(job),
    )
    return figures


@shared_task
def count(job_id: str, part_id: int) -> None:
    """Count one part of an analysis, and continue its job after the last one."""
    job = Job.objects.filter(pk=job_id, active=True).first()
    part = Part.objects.filter(pk=part_id, counts=None).first()
    if job is None or part is None:
        return
    try:
        counts.count(part)
    except Exception as error:
        job.finish(state=Job.State.FAILED, error=explain(job, error))
        return
    parts = part.analysis.parts
    left, all_ = parts.filter(counts=None).count(), parts.count()
    job.advance(COUNTED * (1 - left / max(all_, 1)))
    if not left:
        job.resume()


def export(job: Job) -> dict[str, Any]:
    """Write a large file, and report progress between its pieces."""
    report = Progress(job)

    def watch(progress: float) -> None:
        if not report(progress):
            raise sandbox.Stopped

    return large_exports.make(job, watch)


class Progress:
    """Reports the progress of a job now and then; a call returns whether it is still wanted."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.last = 0.0

    def __call__(self, progress: float = COUNTED) -> bool:
        if time.monotonic() - self.last < REPORT_SECONDS:
            return True
        self.last = time.monotonic()
        return self.job.advance(progress)
