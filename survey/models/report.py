"""The inbox of reports.

True answers never get here: a report is already randomized. No column may store an address, a user
agent, an account or a time with a report.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from django.db import models

from survey.database import database

IDS_AT_A_TIME = 500  # deleted in one transaction; SQLite overwrites them page by page
PAUSE = 0.005  # seconds between transactions, because SQLite does not queue waiting writers

Recorded = Literal["stored", "known", "closed"]


class Arrival(NamedTuple):
    """A report that has been checked but not stored yet."""

    id: str  # a UUID with hyphens
    content: bytes
    survey: int


class ReportManager(models.Manager["Report"]):
    def record(self, reports: Sequence[Arrival]) -> list[Recorded]:
        """Store the reports whose survey is open. They are durable when this returns.

        A single statement checks and stores, so that no survey can close in between. A known id is
        "known" whatever content comes with it, because the holder of a report's receipt must not be
        able to find out its content by trying.
        """
        if not reports:
            return []
        # Sorted, so that two groups with the same ids cannot deadlock, and the order of arrival is
        # lost.
        first = {report.id: report for report in reversed(reports)}
        stored = database().insert_reports([first[pk] for pk in sorted(first)])
        if len(stored) == len(reports):
            return ["stored"] * len(reports)
        known = set(map(str, self.filter(pk__in=list(first)).values_list("pk", flat=True)))

        def outcome(report: Arrival) -> Recorded:
            if report.id in stored and report is first[report.id]:
                return "stored"
            return "known" if report.id in known else "closed"

        return [outcome(report) for report in reports]

    def forget_ids(self, survey: int) -> Iterator[int]:
        """Delete the ids of a survey's emptied reports; yield how many so far.

        Delete one range of ids after another, so that none is read twice: there is no index of ids
        by survey. Each range is a short transaction, after which others can write. After an
        interruption, simply call this again.
        """
        ids = self.filter(survey=survey, content__isnull=True).order_by("pk")
        deleted, rest = 0, ids
        while end := rest.values_list("pk", flat=True)[IDS_AT_A_TIME:].first():
            deleted += rest.filter(pk__lt=end).delete()[0]
            yield deleted
            rest = ids.filter(pk__gte=end)
            time.sleep(PAUSE)
        yield deleted + rest.delete()[0]

    def has_more_waiting_than(self, most: int) -> bool:
        return self.filter(content__isnull=False).values("survey_id")[most : most + 1].exists()


class Report(models.Model):
    """One report. Its content moves to a batch; its id stays, to recognize duplicates.

    The content has one byte for every question of the design: the reported value, the number of
    values for None, or survey.design.ABSENT if the question is in none of the blocks asked.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    # A database constraint would cost as much as the insert itself. It is not needed: the statement
    # that stores a report checks the survey, and a survey is only deleted after its reports.
    survey = models.ForeignKey(
        "survey.Survey", models.PROTECT, db_index=False, db_constraint=False, related_name="reports"
    )
    content = models.BinaryField(null=True)

    objects = ReportManager()

    class Meta:
        indexes = [
            models.Index(
                fields=["survey"],
                name="report_inbox",
                condition=models.Q(content__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return str(self.id)
