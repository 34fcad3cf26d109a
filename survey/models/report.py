"""The inbox of reports.

An answer never comes here: a report holds what chance left of it. No column here may hold an
address, a user agent, an account or a time beside a report.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from django.db import models

from survey.database import database

IDS_AT_A_TIME = 500  # deleted in one transaction; SQLite overwrites them, page by page


PAUSE = 0.005  # seconds between two of them: SQLite does not queue those who wait to write


Recorded = Literal["stored", "known", "closed"]


class Arrival(NamedTuple):
    """A report that was checked and is not stored yet."""

    id: str  # a UUID as it is usually written
    content: bytes
    survey: int


class ReportManager(models.Manager["Report"]):
    def record(self, reports: Sequence[Arrival]) -> list[Recorded]:
        """Store reports, durable on return, each only while its survey is open.

        One statement, so that a survey cannot close between the look and the commit. An id that is
        there already is known, whatever comes with it: whoever has the receipt of a report must
        not learn its content by trying.
        """
        if not reports:
            return []
        # In one order for everybody, lest two groups with the same ids wait for each other; and
        # not in that of arrival.
        first = {report.id: report for report in reversed(reports)}
        stored = database().insert_reports([first[pk] for pk in sorted(first)])
        if len(stored) == len(reports):
            return ["stored"] * len(reports)
        there = set(map(str, self.filter(pk__in=list(first)).values_list("pk", flat=True)))

        def outcome(report: Arrival) -> Recorded:
            if report.id in stored and report is first[report.id]:
                return "stored"
            return "known" if report.id in there else "closed"

        return [outcome(report) for report in reports]

    def forget_ids(self, survey: int) -> Iterator[int]:
        """Delete the ids of a survey's emptied reports; yields how many so far.

        A range of ids at a time, in their order, so that none is read twice: the ids have no index
        by survey. Each is a short transaction, after which others may write; whoever is interrupted
        starts again.
        """
        ids = self.filter(survey=survey, content__isnull=True).order_by("pk")
        gone, rest = 0, ids
        while end := rest.values_list("pk", flat=True)[IDS_AT_A_TIME:].first():
            gone += rest.filter(pk__lt=end).delete()[0]
            yield gone
            rest = ids.filter(pk__gte=end)
            time.sleep(PAUSE)
        yield gone + rest.delete()[0]

    def more_wait_than(self, most: int) -> bool:
        return self.filter(content__isnull=False).values("survey_id")[most : most + 1].exists()


class Report(models.Model):
    """One report. Its content leaves with a batch; its id stays, against duplicates.

    The content is a byte for every question of the design: what the report says, or ABSENT where
    the question was not asked.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    # No constraint in the database: the statement that stores a report has looked at the survey,
    # which only goes, closed and by its own command, after its reports. It would cost as much as
    # the insert itself.
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


ABSENT = 255
