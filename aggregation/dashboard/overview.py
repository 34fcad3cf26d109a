"""The rows of the overview, in a few queries for any number of surveys."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse

from aggregation.dashboard.tables import TableRow, make_row
from aggregation.models import Estimate, Release
from aggregation.releases import display
from aggregation.releases.estimate import positions_of_everybody
from survey.design import Question
from survey.models import Report, Survey

SHOWN = 4  # questions of a survey
AT_A_TIME = 200  # surveys in one query, because SQLite limits its length


@dataclass(frozen=True)
class OverviewLine:
    """The most telling estimate of a question."""

    question: str
    row: TableRow


@dataclass
class OverviewRow:
    survey: Survey
    managed: bool = False  # by this user
    release: Release | None = None
    waiting: str = "0"
    lines: list[OverviewLine] = field(default_factory=list)
    more: int = 0  # questions that are not shown
    questions: int = 0  # of a draft
    changed_on: date | None = None  # a draft, in the studio

    @property
    def draft(self) -> bool:
        return self.survey.state == Survey.State.DRAFT

    @property
    def href(self) -> str:
        """The editor for those who manage a draft, otherwise the dashboard."""
        page = "studio" if self.draft and self.managed else "dashboard"
        return reverse(page, args=[self.survey.slug])

    @property
    def refused_to_open(self) -> bool:
        """Whether to tell its owner that it did not open at the scheduled time."""
        return self.draft and self.managed and bool(self.survey.opens_refused)


STATES = [Survey.State.OPEN, Survey.State.DRAFT, Survey.State.CLOSED]  # in this order


def overview_rows(surveys: QuerySet[Survey], managed: Collection[int] = ()) -> list[OverviewRow]:
    """Return the rows of these surveys: open ones first, then drafts."""
    last = Release.objects.filter(survey=OuterRef("pk")).order_by("-number").values("pk")[:1]
    rows = {survey.pk: OverviewRow(survey, survey.pk in managed) for survey in surveys}
    inbox = Report.objects.filter(content__isnull=False, survey__in=rows)
    waiting = dict(inbox.values_list("survey").annotate(Count("pk")))
    for pk, row in rows.items():
        row.waiting = row.survey.waiting(waiting.get(pk, 0))
    newest = list(surveys.values_list(Subquery(last), flat=True))
    releases = list(Release.objects.filter(pk__in=[pk for pk in newest if pk]))
    for release in releases:
        rows[release.survey_id].release = release
    for start in range(0, len(releases), AT_A_TIME):
        _add_estimates(rows, releases[start : start + AT_A_TIME])
    _add_drafts(rows)
    return sorted(rows.values(), key=lambda row: STATES.index(Survey.State(row.survey.state)))


def _add_drafts(rows: dict[int, OverviewRow]) -> None:
    drafts = Survey.objects.filter(pk__in=rows, state=Survey.State.DRAFT)
    sensitive = Count("questions", filter=Q(questions__background=False))
    for pk, questions in drafts.values_list("pk").annotate(sensitive=sensitive):
        rows[pk].questions = questions
    for pk, day in drafts.values_list("pk").annotate(Max("editing__revisions__saved_on")):
        rows[pk].changed_on = day


def _add_estimates(rows: dict[int, OverviewRow], releases: list[Release]) -> None:
    """Add the estimates of the first questions of each survey."""
    wanted = Q()
    shown: dict[tuple[int, str], Question] = {}
    for release in releases:
        row = rows[release.survey_id]
        design = row.survey.frozen_design()
        positions = positions_of_everybody(design)
        sensitive = [one for one in display.in_order(design) if one not in design.background]
        row.more = max(0, len(sensitive) - SHOWN)
        shown |= {(release.pk, question.key): question for question in sensitive[:SHOWN]}
        places = [place for question in sensitive[:SHOWN] for place in positions[question.key]]
        wanted |= Q(release=release, position__in=places)
    estimates = Estimate.objects.filter(wanted).order_by("release", "position")
    found = {
        key: list(members)
        for key, members in groupby(estimates, key=lambda row: (row.release_id, row.question))
    }
    owners = {release.pk: rows[release.survey_id] for release in releases}
    for (release_key, key), question in shown.items():
        best = display.headline(question, found[release_key, key])
        line = OverviewLine(question.text, make_row(question, best))
        owners[release_key].lines.append(line)
