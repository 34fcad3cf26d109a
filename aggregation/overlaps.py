"""What was shown in earlier releases, as the gate looks at it, and what may be shown beside it.

gate.py has the rules. Here they meet the releases and analyses of a survey: `decide` says which
tables of a release are new and with which groups, `compare` which groups of an analysis are shown.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import models

from aggregation import batches, gate
from aggregation.analyses import AnalysisError, Overtaken
from aggregation.batches import EVERYTHING, Counts, Split
from survey.design import Design
from survey.models import Survey

if TYPE_CHECKING:
    from aggregation.models import Release

# The batches of so many last releases stay apart from those before, so that an analysis can be
# compared with what these releases showed.
KEPT = 100

# By set of reports (batches.asked_sets) and stratum, the groups shown.
Shown = dict[str, dict[str, list[int]]]


class Overlap(models.Model):
    """What the gate remembers of a release; nobody else may see it."""

    release = models.OneToOneField(
        "aggregation.Release", models.CASCADE, primary_key=True, related_name="overlap"
    )
    shown = models.JSONField()  # of the tables that were new in it
    counts = models.BinaryField()  # batches.overlaps of its reports, compressed

    def __str__(self) -> str:
        return f"{self.release} overlaps"


def packed(counts: Counts) -> bytes:
    return zlib.compress(counts.tobytes(), 1)


def unpacked(data: bytes, design: Design) -> Counts:
    sets = len(batches.asked_sets(design))
    size = max(place.stop for place in batches.spans(design).values())
    return np.frombuffer(zlib.decompress(data), dtype=np.int64).reshape(sets, size, size)


# --- The tables of a release ----------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """The tables of one set of reports as they were last published, by stratum."""

    tables: dict[str, gate.Table] = field(default_factory=dict)
    as_of: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """A release that was made before, with what analyses showed of it."""

    number: int
    shown: Shown
    counts: Counts
    analyses: list[dict[str, Any]]  # by set, the reports by [part][group], as in batches.overlaps


class Past:
    """The releases of a survey, the last one first; read as far as somebody looks."""

    def __init__(
        self, survey: Survey, analyses: Iterable[tuple[int, dict[str, Any]]], before: int
    ) -> None:
        self.design = survey.frozen_design()
        self.analyses: dict[int, list[dict[str, Any]]] = {}
        for number, found in analyses:
            self.analyses.setdefault(number, []).append(found)
        rows = Overlap.objects.filter(release__survey=survey, release__number__lt=before)
        rows = rows.order_by("-release__number")
        self.rows = rows.values_list("release__number", "shown", "counts").iterator(chunk_size=16)
        self.seen: list[Seen] = []

    def __iter__(self) -> Iterator[Seen]:
        yield from self.seen
        for number, shown, data in self.rows:
            counts = unpacked(bytes(data), self.design)
            self.seen.append(Seen(number, shown, counts, self.analyses.get(number, [])))
            yield self.seen[-1]


def decide(
    design: Design,
    crowd: int,
    now: Counts,
    standing: Mapping[str, Standing],
    past: Iterable[Seen],
    final: bool,
) -> Shown:
    """The tables that are new in a release, and the groups shown in them; the others stand.

    `now` is batches.overlaps of its reports. The last release is compared with itself only.
    """
    result: Shown = {}
    for name, counts in zip(batches.asked_sets(design), now, strict=True):
        places = batches.spans(design)
        sizes = {key: counts[0, place].tolist() for key, place in places.items()}
        before = standing.get(name, Standing())
        fresh = gate.fresh(before.tables, sizes, crowd, final)
        new = result[name] = {}
        for key, here in places.items():
            if key not in fresh:
                continue
            older = None if final else before.tables.get(key)
            keep = older.shown if older else set()
            visible = gate.shown(sizes[key], crowd)
            others = [
                gate.merged(counts[places[other], here], set(groups), len(sizes[other])).T
                for other, groups in new.items()
            ]
            if not final and visible:
                since = before.as_of[key] if visible == keep else 0
                others += list(_earlier(past, design, name, counts, key, visible, since, crowd))
            found = gate.settle(sizes[key], visible, others, crowd, keep)
            if found or (found is not None and older is None):
                new[key] = sorted(found)
            elif key == gate.EVERYBODY:
                break
    return result


def _earlier(
    past: Iterable[Seen],
    design: Design,
    name: str,
    counts: Counts,
    key: str,
    visible: set[int],
    since: int,
    crowd: int,
) -> Iterator[Counts]:
    """A new table beside each of those after release `since`, as gate.settle takes it.

    What is older than a crowd of growth in every part need not be looked at.
    """
    position = list(batches.asked_sets(design)).index(name)
    places = batches.spans(design)
    here = places[key]
    groups = here.stop - here.start
    sizes = counts[here, 0]
    for seen in past:
        then = seen.counts[position]
        growth = (sizes - then[here, 0])[:, None]
        grown = gate.merged(np.hstack([sizes[:, None], growth]), visible, groups)
        if seen.number <= since or np.all((grown[:, 0] == 0) | (grown[:, 1] >= crowd)):
            return
        for other, shown in seen.shown.get(name, {}).items():
            there = places[other]
            parts = gate.merged(then[there, here], set(shown), there.stop - there.start)
            yield np.hstack([parts.T, growth])
        for found in seen.analyses:
            if name in found:
                parts = np.array(found[name], dtype=np.int64)[:, here]
                yield np.hstack([parts.T, growth])


# --- The groups of an analysis --------------------------------------------------------------------


@dataclass(frozen=True)
class Analysed:
    """What an analysis is about: which reports, and how it divides them."""

    number: int  # of the release
    sets: tuple[str, ...]  # of reports: those in all of these
    strata: tuple[str, ...]
    groups: int  # of these strata taken together
    shown: tuple[int, ...]

    def split(self) -> Split:
        """The groups shown are a part each, and the rest is one."""
        parts = np.full(self.groups, len(self.shown), dtype=np.intp)
        parts[list(self.shown)] = np.arange(len(self.shown))
        blocks = frozenset(self.sets) - {EVERYTHING}
        return Split(self.strata, parts, len(self.shown) + 1, blocks)


@dataclass(frozen=True)
class Beside:
    """Something that was shown: what, in which release, and the reports by part of both."""

    what: str
    number: int
    counts: Counts


def compare(
    release: "Release", one: Analysed, others: Iterable[Analysed]
) -> tuple[set[int], dict[str, Any]]:
    """The groups of an analysis that may be shown, and how its parts overlap with all strata.

    `one` has those that are large enough. AnalysisError if none may be shown beside what releases
    and other analyses have shown. When the survey has closed, what counts is its last release, and
    the copy of its reports.
    """
    survey, crowd = release.survey, release.survey.crowd
    design = survey.frozen_design()
    places = batches.spans(design)
    floor = release.number - 1 if release.final else forgotten(release)
    rows = Overlap.objects.filter(release__survey=survey, release__number__gt=floor)
    shown: dict[int, Shown] = dict(rows.values_list("release__number", "shown"))
    keys = _batches(release, floor)
    late = [other for other in others if other.number > floor and {*other.sets} & {*one.sets}]
    alike = sorted({replace(other, number=0) for other in late}, key=repr)  # of any release
    splits = [whole(design, key) for key in places] + [other.split() for other in alike]
    splits += [_copy(release)] if release.final else []
    _check_cells(one, splits)
    found: list[Beside] = []
    visible = set(range(len(one.shown)))
    crossings: dict[str, Counts] = {}
    for name in one.sets:
        counted = {
            number: batches.crossed(
                survey.batches.parts(survey, some), design, name, one.split(), splits
            )
            for number, some in keys.items()
        }
        then = [sum(tables[1:], tables[0]) for tables in zip(*counted.values(), strict=True)]
        now = then[0][:, 0]
        crossings[name] = np.hstack([table[:, :-1] for table in then[: len(places)]])
        for number in range(release.number, floor, -1):
            growth = now - then[0][:, 0]
            if number < release.number and _all_grown(now, growth, crowd):
                break
            for key, groups in shown.get(number, {}).get(name, {}).items():
                table = then[list(places).index(key)]
                parts = gate.merged(table.T, set(groups), table.shape[1] - 1).T
                what = f"the table by {key}" if key else "the total"
                found.append(Beside(what, number, np.column_stack([parts, growth])))
            if release.final:
                found.append(Beside("the copy of the reports", number, then[-1]))
            for other, table in zip(alike, then[len(places) :], strict=False):
                if replace(other, number=number) in late and name in other.sets:
                    counts = np.column_stack([table, growth])
                    found.append(Beside("another analysis", number, counts))
            if number in counted:
                then = [a - b for a, b in zip(then, counted[number], strict=True)]
        else:
            if floor and not release.final:
                visible &= _grown(now, now - then[0][:, 0], visible, crowd)
    large = now[: len(one.shown) + 1].tolist()
    settled = gate.settle(large, visible, [beside.counts for beside in found], crowd) or set()
    if one.shown and not settled:
        raise AnalysisError("reports", _refusal(found, one, floor, crowd))
    overlaps = {
        name: gate.merged(counts, settled, len(large)).tolist()
        for name, counts in crossings.items()
    }
    return {one.shown[i] for i in settled}, overlaps


def forgotten(release: "Release") -> int:
    """The last release whose reports, or whose tables, can no longer be told from older ones."""
    earlier = release.survey.releases.filter(number__lte=release.number)
    unknown = earlier.filter(overlap=None).order_by("number").last()
    return max(release.number - KEPT, unknown.number if unknown else 0, 0)


def _batches(release: "Release", floor: int) -> dict[int, list[int]]:
    """The batches of a release by the one that counted them first; up to the floor, together."""
    found = release.survey.batches.filter(release__isnull=False).order_by("pk")
    keys: dict[int, list[int]] = {}
    held = 0
    for pk, reports, number in found.values_list("pk", "reports", "release__number"):
        keys.setdefault(max(number, floor), []).append(pk)
        held += reports
    if held != release.reports:
        raise Overtaken
    return keys


def whole(design: Design, stratum: str) -> Split:
    """Every group of a stratum as a part; everybody as one."""
    place = batches.spans(design)[stratum]
    groups = place.stop - place.start
    return Split((stratum,) if stratum else (), np.arange(groups), groups)


def _copy(release: "Release") -> Split:
    """The parts that the copy of the reports tells apart, which is made of the last release."""
    from aggregation import reports

    return reports.split(reports.backgrounds(release))


def _check_cells(one: Analysed, splits: Sequence[Split]) -> None:
    if (len(one.shown) + 2) * sum(split.size for split in splits) > batches.MAX_PAIRS:
        raise AnalysisError(
            "strata", "too many groups to be compared with others; leave out a stratum"
        )


def _all_grown(now: Counts, growth: Counts, crowd: int) -> bool:
    return bool(np.all((now == 0) | (growth >= crowd)))


def _grown(now: Counts, growth: Counts, visible: set[int], crowd: int) -> set[int]:
    """The groups that may be shown when it is not known what was shown before: those that grew."""
    groups = len(now) - 1  # with the rest; the last row is of those in no group
    left = sorted((i for i in visible if growth[i] >= crowd), key=lambda i: -growth[i])
    while left:
        parts = np.column_stack([now, growth])
        merged = gate.merged(parts, set(left), groups)
        if _all_grown(merged[:, 0], merged[:, 1], crowd):
            return set(left)
        left.pop()
    return set()


def _refusal(found: Sequence[Beside], one: Analysed, floor: int, crowd: int) -> str:
    """Why nothing is shown, and what would help."""
    groups = len(one.shown) + 1
    whole = set(range(groups - 1))
    bad = (one for one in found if gate.cut(gate.merged(one.counts, whole, groups), crowd))
    beside = next(bad, None)
    where = f"{beside.what} in release {beside.number}" if beside else f"release {floor}"
    help_ = "Wait for a release with more reports"
    help_ += ", or leave out a stratum" if one.strata else ""
    return f"beside {where} it would tell apart fewer than {crowd} reports. {help_}."
