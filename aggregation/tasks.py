"""Celery tasks: fetch, call, save. A message carries an id and nothing else.

The queue is never the truth: a lost, doubled or late message changes nothing, because the work is
found in the database and every step is one transaction that looks before it writes.
"""

import logging
from uuid import UUID

from celery import shared_task

from aggregation.models import BATCH_SIZE, Batch, Job, Release, due, vacuum

logger = logging.getLogger(__name__)


@shared_task
def tick() -> None:
    """Every few seconds, from the beat: start what is due, and send again what was lost."""
    for survey in due():
        Job.objects.request(survey)
    for job in Job.objects.stale():
        job.send()


@shared_task
def run(job_id: str) -> None:
    """Do one job: move what waits into batches, then publish what may be published."""
    job = Job.objects.claim(UUID(job_id))
    if job is None:
        return
    if job.attempt > Job.MAX_ATTEMPTS:
        job.finish(state=Job.State.FAILED, error="Given up after several attempts; see the log.")
        return
    try:
        job.finish(state=Job.State.DONE, progress=1, result=release(job))
    except Exception as error:
        # The message may quote data, so only the kind of error is written down.
        logger.error("job %s of survey %s: %s", job.pk, job.survey.slug, type(error).__name__)
        job.finish(
            state=Job.State.FAILED,
            error=f"The release could not be made ({type(error).__name__}). Nothing was lost.",
        )


def release(job: Job) -> dict[str, int | None]:
    survey = job.survey
    waiting = survey.pending().count()
    moved = 0
    while some := Batch.objects.collect(survey):
        moved += some
        job.advance(0.9 * min(1, moved / max(waiting, 1)))
        if some < BATCH_SIZE:
            break
    published = Release.objects.publish(survey)
    if moved + Batch.objects.merge(survey):
        vacuum()
    return {
        "release": published.number if published else None,
        "moved": moved,
        "waiting": survey.pending().count(),
        "crowd": survey.crowd,
    }
