"""Requests for analyses. The result of an earlier request is used again."""

from typing import Any

from django.db import transaction

from aggregation.analyses import registry
from aggregation.analyses.base import AnalysisError
from aggregation.models import Analysis, Job
from survey.models import Survey
from survey.models.log import Actor, record


def request_analysis(survey: Survey, asked: Any, by: Actor = None) -> Job:
    """Return the job for this analysis of the last release: finished, active or new.

    AnalysisError if the request is not valid.
    """
    registry.read(asked, survey.frozen_design())
    with transaction.atomic():
        survey = survey.hold()
        release = survey.releases.order_by("number").last()
        if release is None:
            raise AnalysisError("survey", "nothing has been released yet")
        analysis, _ = Analysis.objects.get_or_create(
            release=release, digest=registry.digest(asked), defaults={"asked": asked}
        )
        job = analysis.jobs.order_by("active", "made_at").last()
        if job is None or job.state in (Job.State.FAILED, Job.State.CANCELLED):
            analysis.divide()
            job = Job.objects.create(survey=survey, analysis=analysis)
            job.send()
        kind = analysis.asked["kind"]
        record(by, "analysis asked for", survey, kind=kind, analysis=str(analysis.pk))
    return job
