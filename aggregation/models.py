"""Batches, releases and estimates. The work on them is in work.py.

Releases and estimates are append-only; the database refuses to change or delete one
(aggregation/triggers.py).
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

import numpy as np
from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import Q, Sum
from django.utils import timezone

from aggregation import batches, gate, overlaps
from aggregation.batches import Columns, Tally
from aggregation.overlaps import KEPT, Overlap
from aggregation.pulse import Pulse
from aggregation.statistics import proportion
from aggregation.work import Analysis, Copy, Job, Part, lock
from survey.design import Block, Design, options_from_texts
from survey.models import Survey, today

# This app's tables.
__all__ = ["Analysis", "Batch", "Copy", "Estimate", "Job", "Overlap", "Part", "Pulse", "Release"]

BATCH_SIZE = 65_536
MANY_SMALL = 32  # batches below half of that; with more of them they are merged
MAPPED = 1 << 30  # bytes of an SQLite file that are read without copying
LEVEL = 0.95
AFTER_FAILURE = timedelta(minutes=5)  # before the beat asks again for a release that failed
CLOCKS_APART = timedelta(minutes=1)  # at most, those of our machines
NOT_GIVEN = "Not given"  # the group of those who did not give a stratum


class BatchManager(models.Manager["Batch"]):
    def collect(self, survey: Survey) -> int:
        """Move one crowd from the inbox into a shuffled batch; how many reports were moved.

        One transaction: the batch with its tally appears, and the contents in the inbox vanish,
        together or not at all. Movers may work side by side: each takes what no other holds, and
        leaves it if that is less than a crowd. Two may so split a crowd between them; whoever finds
        too few looks again, alone and with patience.
        """
        survey = Survey.objects.get(pk=survey.pk)
        least = survey.crowd if survey.state == Survey.State.OPEN else 1
        if survey.pending()[:least].count() < least:
            return 0
        return self._move(survey, alone=False) or self._move(survey, alone=True)

    def _move(self, survey: Survey, alone: bool) -> int:
        with transaction.atomic():
            if alone:
                survey = lock(survey)
            taken = take(survey, max(BATCH_SIZE, survey.crowd), wait=alone)
            few = len(taken) < survey.crowd
            if not taken or (few and not (alone and survey.state == Survey.State.CLOSED)):
                transaction.set_rollback(True)
                return 0
            rows = batches.rows(taken, survey.frozen_design())
            if few:
                rows = self._joined(survey, rows)
            self._store(survey, rows)
            transaction.on_commit(forget_emptied, robust=True)
            return len(taken)

    def _joined(self, survey: Survey, rows: batches.Rows) -> batches.Rows:
        """The last few of a closed survey, and those of the batch before, which they replace.

        A batch of one would link its report to the one id that was emptied in the same transaction.
        """
        last = self.filter(survey=survey).order_by("pk").last()
        if last is None:
            return rows
        last.delete()
        return np.concatenate([rows, last.unpack().T])

    def parts(self, survey: Survey, keys: Sequence[int] = ()) -> Iterator[batches.Part]:
        """The reports of a survey, batch by batch, as batches.tables and batches.recount take them;
        or those of the batches with these keys.

        One statement, so that a merge meanwhile changes nothing, and few batches in memory at once.
        SQLite reads through a map of its file, which spares it a copy of every page; PostgreSQL
        sends bytes as they are and goes on while we count, and cannot be asked anything else on
        this connection until the last.
        """
        statement = (  # COPY takes no parameters
            f"SELECT columns, reports FROM aggregation_batch WHERE survey_id = {survey.pk:d}"  # noqa: S608
            + (f" AND id IN ({', '.join(f'{key:d}' for key in keys)})" if keys else "")
        )
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                with cursor.copy(f"COPY ({statement}) TO STDOUT (FORMAT binary)") as copy:
                    copy.set_types(["bytea", "int4"])
                    yield from copy.rows()
            else:
                cursor.execute(f"PRAGMA mmap_size = {MAPPED}")
                yield from cursor.execute(statement)

    def merge(self, survey: Survey) -> int:
        """Join small published batches, when there are many; how many fewer there are now.

        A batch from half of BATCH_SIZE on is left as it is, so that there are never more than
        two for BATCH_SIZE reports, and MANY_SMALL; and as many of each of the last releases, whose
        batches stay apart (overlaps.KEPT). Under the survey's lock, as are publishing, the
        last move of a closed survey, and the beginning of an analysis or a copy, which name their
        batches; other movers only add some.
        """
        with transaction.atomic():
            survey = lock(survey)
            published = self.filter(survey=survey, release__isnull=False)
            small = published.filter(reports__lt=BATCH_SIZE // 2).order_by("reports")
            sizes = list(small.values_list("pk", "reports", "release__number"))
            read = Q(analysis__isnull=False) | Q(copy__isnull=False)
            if len(sizes) <= MANY_SMALL or survey.jobs.filter(read, active=True).exists():
                return 0
            fewer = 0
            for together in together_since(sizes):
                if len(together) > MANY_SMALL:
                    for group in fill(together, BATCH_SIZE):
                        fewer += len(group) - 1
                        if len(group) > 1:
                            self._replace(survey, list(self.filter(pk__in=group)))
            return fewer

    def _replace(self, survey: Survey, some: list["Batch"]) -> None:
        design = survey.frozen_design()
        columns = [batches.unpack(batch.columns, batch.reports, design) for batch in some]
        release = max((batch.release_id for batch in some if batch.release_id), default=None)
        merged = self._store(survey, np.concatenate(columns, axis=1).T, release)
        if merged.tally != batches.total(batch.tally for batch in some):
            raise RuntimeError("the tallies of merged batches do not add up; nothing is merged")
        self.filter(pk__in=[batch.pk for batch in some]).delete()

    def _store(self, survey: Survey, rows: batches.Rows, release: int | None = None) -> "Batch":
        """A batch of these reports, in an order that says nothing."""
        design = survey.frozen_design()
        columns = batches.pack(batches.shuffled(rows), design)
        return self.create(
            survey=survey,
            release_id=release,
            reports=len(rows),
            made_on=today(),
            tally=batches.tally(columns, len(rows), design),
            columns=columns,
        )


class Batch(models.Model):
    """Reports without ids, shuffled together, and their tally."""

    survey = models.ForeignKey(Survey, models.PROTECT, related_name="batches")
    # The first release that counted it, or the last of them; none while it waits for one.
    release = models.ForeignKey("Release", models.PROTECT, null=True, related_name="+")
    reports = models.PositiveIntegerField()
    made_on = models.DateField()
    tally = models.JSONField()
    # What batches.pack made. Last in the table, because SQLite reads a row from its beginning, and
    # on PostgreSQL outside it: whoever wants the tally alone does not read the reports.
    columns = models.BinaryField()

    objects = BatchManager()

    class Meta:
        verbose_name_plural = "batches"

    def __str__(self) -> str:
        return f"{self.survey.slug} batch {self.pk}"

    def unpack(self) -> Columns:
        return batches.unpack(self.columns, self.reports, self.survey.frozen_design())


class ReleaseManager(models.Manager["Release"]):
    def publish(self, survey: Survey) -> "Release | None":
        """A release of everything in batches, or the last one if nothing new may be shown.

        None while all the batches together hold less than a crowd.
        """
        with transaction.atomic():
            survey = lock(survey)
            last = self.filter(survey=survey).order_by("number").last()
            if not unpublished(survey, last):
                return last
            tallied = list(survey.batches.values_list("reports", "tally", "pk", "release"))
            release = self.create(
                survey=survey,
                number=last.number + 1 if last else 1,
                reports=sum(reports for reports, *_ in tallied),
                final=survey.state == Survey.State.CLOSED,
            )
            tally = batches.total(tally for _, tally, *_ in tallied)
            fresh = [pk for _, _, pk, published in tallied if published is None]
            before = published_before(last)
            counts = self._overlaps(survey, last, {pk: n for n, _, pk, _ in tallied}, fresh, tally)
            new = self._decide(release, counts, before)
            Estimate.objects.bulk_create(estimates(release, tally, before, new), batch_size=200)
            Overlap.objects.create(release=release, shown=new, counts=overlaps.packed(counts))
            survey.batches.filter(pk__in=fresh).update(release=release)
            return release

    def _overlaps(
        self,
        survey: Survey,
        last: "Release | None",
        held: dict[int, int],
        fresh: list[int],
        tally: Tally,
    ) -> batches.Counts:
        """How the groups overlap: as in the last release, and in the batches that are new.

        `held` are all batches, with their numbers of reports: others may just be moved. All
        are counted where the last release is from before there was such a count, or where its
        batches are not those of then: the last few reports of a closed survey are added to one.
        """
        design = survey.frozen_design()
        if not design.strata:
            sets = batches.asked_sets(design).values()
            return np.array([[[sum(tally[key][""][0])]] for key in sets])
        known = Overlap.objects.filter(release=last).first() if last else None
        moved = sum(held[pk] for pk in fresh)
        if last and known and last.reports + moved == sum(held.values()):
            counts = overlaps.unpacked(bytes(known.counts), design)
            new = survey.batches.parts(survey, fresh) if fresh else []
            return counts + batches.overlaps(new, design)
        return batches.overlaps(survey.batches.parts(survey, list(held)), design)

    def _decide(
        self, release: "Release", counts: batches.Counts, before: "Before"
    ) -> overlaps.Shown:
        survey = release.survey
        design = survey.frozen_design()
        analysed = Analysis.objects.filter(release__survey=survey, overlaps__isnull=False)
        found = analysed.values_list("release__number", "overlaps")
        shown = [(number, one) for number, counts in found for one in counts or []]
        past = overlaps.Past(survey, shown, release.number)
        standing = {}
        for name, key in batches.asked_sets(design).items():
            tables = {s: rows for (q, s), rows in before.items() if q == key}
            standing[name] = overlaps.Standing(
                {s: _published(rows) for s, rows in tables.items()},
                {s: rows[0].as_of for s, rows in tables.items()},
            )
        return overlaps.decide(design, survey.crowd, counts, standing, past, release.final)


class Release(models.Model):
    """One published set of estimates."""

    survey = models.ForeignKey(Survey, models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    reports = models.PositiveIntegerField()
    final = models.BooleanField()  # made after the survey closed
    made_at = models.DateTimeField(auto_now_add=True)

    objects = ReleaseManager()

    class Meta:
        ordering = ["survey", "number"]
        constraints = [models.UniqueConstraint(fields=["survey", "number"], name="release_number")]

    def __str__(self) -> str:
        return f"{self.survey.slug} release {self.number}"


class Estimate(models.Model):
    """The estimated share of one option, over everybody or in one group; unbiased, never clipped.

    A suppressed estimate is a row without figures: the group is below the crowd, or empty, or
    hidden so that another cannot be computed.
    """

    release = models.ForeignKey(Release, models.PROTECT, related_name="estimates")
    as_of = models.PositiveIntegerField()  # the release in which these figures first appeared
    position = models.PositiveIntegerField()
    question = models.CharField(max_length=50)
    option = models.CharField(max_length=250)
    stratum = models.CharField(max_length=50, blank=True)
    group = models.CharField(max_length=250, blank=True)
    n = models.PositiveIntegerField(null=True)
    count = models.PositiveIntegerField(null=True)
    value = models.FloatField(null=True)
    bounded = models.FloatField(null=True)
    standard_error = models.FloatField(null=True)
    sampling_error = models.FloatField(null=True)
    privacy_error = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    misfit = models.FloatField(null=True)
    level = models.FloatField(default=LEVEL)
    method = models.CharField(max_length=50, default="restricted Blaker")
    # How many reports the group held, shown or not: the gate needs it, nobody else may see it.
    size = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["release", "position"], name="estimate_position")
        ]

    def __str__(self) -> str:
        return f"{self.question}={self.option} {self.stratum} {self.group}".strip()

    @property
    def suppressed(self) -> bool:
        return self.n is None


Before = dict[tuple[str, str], list[Estimate]]  # by question and stratum


def published_before(last: Release | None) -> Before:
    """The tables of the last release."""
    before: Before = {}
    for row in last.estimates.all() if last else []:
        before.setdefault((row.question, row.stratum), []).append(row)
    return before


def estimates(
    release: Release, tally: Tally, before: Before, new: overlaps.Shown
) -> Iterator[Estimate]:
    """The estimates of a release: some tables are new, the others stand as they were."""
    design = release.survey.frozen_design()
    rows: list[Estimate] = []
    for block in design.blocks:
        shown = new[block.key if block.key in new else batches.EVERYTHING]
        for position, question in enumerate(block.questions):
            for stratum in ["", *(stratum.key for stratum in design.strata)]:
                if stratum in shown or (question.key, stratum) not in before:
                    counts = tally[question.key][stratum]
                    visible = set(shown.get(stratum, ()))
                    rows += _table(release, block, position, stratum, counts, visible)
                else:
                    rows += before[question.key, stratum]
    for number, row in enumerate(rows):
        row.pk, row.release, row.position = None, release, number
        yield row


def _published(rows: list[Estimate]) -> gate.Table:
    """A table of an earlier release, as the gate looks at it."""
    groups = list({row.group: row for row in rows}.values())  # a row for each, in their order
    shown = {i for i, row in enumerate(groups) if not row.suppressed}
    return gate.Table([row.size for row in groups], shown)


def _table(
    release: Release,
    block: Block,
    position: int,
    stratum: str,
    counts: list[list[int]],
    visible: set[int],
) -> Iterator[Estimate]:
    design = release.survey.frozen_design()
    question = block.questions[position]
    channel = proportion.Channel(*block.mechanism.channel(position))
    sizes = [sum(group) for group in counts]
    places = [(i, j) for i in sorted(visible) for j in range(question.size)]
    found = proportion.estimates(
        [counts[i][j] for i, j in places], [sizes[i] for i, _ in places], channel, LEVEL
    )
    figures = dict(zip(places, found, strict=True))
    for i, (key, group) in enumerate(zip(group_keys(design, stratum), counts, strict=True)):
        for j, (option, count) in enumerate(zip(question.options, group, strict=True)):
            row = Estimate(
                as_of=release.number,
                question=question.key,
                option=option.key,
                stratum=stratum,
                group=key,
                size=sizes[i],
            )
            if i in visible:
                row.n, row.count = sizes[i], count
                _fill(row, figures[i, j])
            yield row


def _fill(row: Estimate, figures: proportion.Estimate) -> None:
    row.value, row.bounded = figures.value, figures.bounded
    row.standard_error = figures.standard_error
    row.sampling_error, row.privacy_error = figures.sampling_error, figures.privacy_error
    row.low, row.high, row.misfit = figures.low, figures.high, figures.misfit


def places(design: Design) -> dict[str, int]:
    """By question, the position of the first estimate of everybody's table, in every release."""
    groups = 1 + sum(stratum.size + 1 for stratum in design.strata)
    positions, position = {}, 0
    for question in design.questions:
        positions[question.key] = position
        position += groups * question.size
    return positions


def group_keys(design: Design, stratum: str) -> list[str]:
    """The groups of a table, in the order of the tally."""
    if not stratum:
        return [""]
    found = next(s for s in design.strata if s.key == stratum)
    texts = [option.text for option in found.options]
    return [option.key for option in options_from_texts([*texts, NOT_GIVEN])]


# A report that is taken is deleted, and its id is written again without a content: in the order of
# the ids, which are random, so that neither ctid nor rowid keeps the order of arrival; all in one
# statement, so that nothing that PostgreSQL notes beside a row tells one from another.
EMPTY_POSTGRESQL = """
WITH taken AS (
  DELETE FROM survey_report WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM survey_report WHERE survey_id = %s AND content IS NOT NULL
    LIMIT %s FOR UPDATE {wait}))
  RETURNING id, survey_id, content
), emptied AS (
  INSERT INTO survey_report (id, survey_id) SELECT id, survey_id FROM taken ORDER BY id RETURNING 1
)
SELECT content, (SELECT count(*) FROM emptied) FROM taken
"""
TAKE_SQLITE = "SELECT rowid, content FROM survey_report WHERE {inbox} ORDER BY rowid LIMIT %s"
EMPTY_SQLITE = """
REPLACE INTO survey_report (id, survey_id)
SELECT id, survey_id FROM survey_report WHERE {inbox} AND rowid <= %s ORDER BY id
"""


def take(survey: Survey, most: int, wait: bool) -> list[bytes]:
    """The contents of waiting reports, which are emptied in this transaction; no id comes along.

    On PostgreSQL those that another mover holds are passed over, or waited for. On SQLite there is
    no other writer while we are in a transaction.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            statement = EMPTY_POSTGRESQL.format(wait="" if wait else "SKIP LOCKED")
            cursor.execute(statement, [survey.pk, most])
            taken = cursor.fetchall()
            emptied = taken[0][1] if taken else 0
            contents = [bytes(content) for content, _ in taken]
        else:
            inbox = "survey_id = %s AND content IS NOT NULL"
            cursor.execute(TAKE_SQLITE.format(inbox=inbox), [survey.pk, most])
            taken = cursor.fetchall()
            last = taken[-1][0] if taken else 0
            cursor.execute(EMPTY_SQLITE.format(inbox=inbox), [survey.pk, last])
            emptied = cursor.rowcount
            contents = [content for _, content in taken]
    if emptied != len(taken):
        raise RuntimeError(f"{emptied} of {len(taken)} reports emptied; nothing is moved")
    return contents


def forget_emptied() -> None:
    """Take what was emptied out of SQLite's write-ahead log, too."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def vacuum() -> None:
    """Take what was emptied or merged out of PostgreSQL's tables; not within a transaction.

    Costs about half of the move itself, whatever the size of the table, because only pages that
    changed are looked at. If somebody else is vacuuming, that one or the next will do.
    """
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute(
                "VACUUM (SKIP_LOCKED) survey_report, survey_invitation, aggregation_batch"
            )


def together_since(sizes: list[tuple[int, int, int]]) -> list[list[tuple[int, int]]]:
    """Keys and sizes of batches that may be joined: of one late release, or of the early ones."""
    newest = max(number for *_, number in sizes)
    found: dict[int, list[tuple[int, int]]] = {}
    for key, size, number in sizes:
        found.setdefault(max(number, newest - KEPT), []).append((key, size))
    return list(found.values())


def fill(sizes: list[tuple[int, int]], most: int) -> Iterator[list[int]]:
    """Keys in groups whose sizes, given smallest first, add up to at most so much."""
    group: list[int] = []
    room = most
    for key, size in sizes:
        if group and size > room:
            yield group
            group, room = [], most
        group.append(key)
        room -= size
    if group:
        yield group


def due() -> Iterator[Survey]:
    """Surveys in which a crowd waits or was moved but not published; closed ones, to the last.

    And those that have been kept for long enough, or their ids. A survey whose release has just
    failed is left alone for a while.
    """
    now = timezone.now()
    rested = now - timedelta(seconds=settings.RELEASE_SECONDS)
    soon = now + CLOCKS_APART  # what is later than this was dated by a clock that was wrong
    recent = Job.objects.filter(
        made_at__range=(now - AFTER_FAILURE, soon), analysis=None, copy=None
    )
    failed = recent.filter(state=Job.State.FAILED)
    surveys = Survey.objects.exclude(state=Survey.State.DRAFT)
    for survey in surveys.exclude(pk__in=failed.values("survey")):
        closed = survey.state == Survey.State.CLOSED
        last = survey.releases.order_by("number").last()
        # Between two unasked releases there is a pause, cut short by a full batch or by closing.
        pause = last is not None and rested < last.made_at < soon and not closed
        least = BATCH_SIZE if pause else 1 if closed else survey.crowd
        waiting = survey.pending()[:least].count() == least
        ended = survey.ids_due() or survey.delete_due()
        if waiting or (not pause and unpublished(survey, last)) or ended:
            yield survey


def unpublished(survey: Survey, last: Release | None) -> bool:
    """Whether a release made now would differ from the last one."""
    moved = survey.batches.aggregate(reports=Sum("reports"))["reports"] or 0
    if last is None:
        return moved >= survey.crowd
    closed = survey.state == Survey.State.CLOSED
    return moved != last.reports or (closed and not last.final)


def unfinished(survey: Survey) -> str:
    """What must happen before nothing of a survey can change any more; empty if nothing must."""
    last = survey.releases.order_by("number").last()
    if survey.state == Survey.State.DRAFT:
        return "The survey is a draft; export_survey writes what it asks."
    if survey.state == Survey.State.OPEN:
        return "The survey is open: close it first."
    if waiting := survey.pending().count():
        return f"{waiting} reports still wait in the inbox: let the worker run, and try again."
    if unpublished(survey, last):
        return "The last release is still to be made: let the worker run, and try again."
    return ""
