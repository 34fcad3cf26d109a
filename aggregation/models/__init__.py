"""The tables of what is counted: batches, releases, jobs and analyses, and the heartbeat."""

from aggregation.models.analysis import Analysis, Part
from aggregation.models.batch import Batch
from aggregation.models.heartbeat import Heartbeat
from aggregation.models.job import Copy, Job
from aggregation.models.release import Estimate, Release

__all__ = [
    "Analysis",
    "Batch",
    "Copy",
    "Estimate",
    "Heartbeat",
    "Job",
    "Part",
    "Release",
]
