"""Compute the figures of a release from its tally. Pure: no database, no clock.

Each question over everybody, and by every other question that is background. What is estimated of a
question, its kind says (`Question.measures`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr

from aggregation.counting.tables import Tally
from aggregation.releases.choice import ALWAYS, FIXED
from aggregation.statistics import mean, privacy, proportion, ratio, sequence
from aggregation.statistics.channel import Channel
from survey.design import Block, Design, Measure, Question
from survey.design.mechanism import SCALE

LEVEL = 0.95
EXACT = {FIXED: "restricted Blaker", ALWAYS: "confidence sequence"}
BY_RATIO = {FIXED: "score", ALWAYS: "asymptotic confidence sequence"}
FIELLER = BY_RATIO | {FIXED: "Fieller"}

OF_EVERYBODY = (
    "value", "bounded", "standard_error", "sampling_error", "privacy_error", "misfit"
)  # fmt: skip

Figures = dict[str, Any]  # the fields of an Estimate except its release and position


@dataclass(frozen=True)
class Wanted:
    """Which intervals: their level, a known population, and the part of forged reports."""

    level: float = LEVEL
    population: int | None = None
    forged: float = 0.0

    def of(self, n: int) -> int | None:
        """Return the population, unless more people answered: then not all of them are in it."""
        return self.population if self.population and self.population >= n else None


@dataclass(frozen=True)
class Asked:
    """A question, with what a report shows if it is the person's own value, or drawn at random."""

    question: Question
    blocks: tuple[Block, ...]
    keep: float  # c: the probability that a report shows the person's own value
    stray: tuple[float, ...]  # by value, the probability that a report shows it by chance

    @property
    def first(self) -> int:
        """The place of the first option among the values; a number's levels come before."""
        return self.question.size - len(self.question.options)

    @property
    def channels(self) -> list[Channel]:
        """The channel of each option: of multiple choice, that of the share of people."""
        kept = self.keep / self.blocks[0].mechanism.slots
        strays = self.stray[self.first : self.question.size]
        return [Channel(kept + stray, stray) for stray in strays]

    @property
    def values(self) -> list[Channel]:
        """The channel of each value."""
        return [Channel(self.keep + stray, stray) for stray in self.stray]


def asked(design: Design, key: str, tally: Tally | None = None) -> Asked:
    """Return a question with its coin.

    The gate of follow-ups can be in several blocks, of which each person is asked one. Its reports
    together then have the mean of the blocks' coins, weighted by their reports.
    """
    places = design.places[key]
    weights = [_reports(design, block, tally) for block, _ in places] if tally else []
    if not any(weights):
        weights = [1] * len(places)
    total = sum(weights)
    keep, stray = 0.0, np.zeros(places[0][0].questions[places[0][1]].values)
    for (block, position), weight in zip(places, weights, strict=True):
        kept = block.keep / SCALE
        keep += weight / total * kept
        stray += weight / total * (1 - kept) * np.array(block.mechanism.chances(position))
    question = places[0][0].questions[places[0][1]]
    return Asked(question, tuple(block for block, _ in places), keep, tuple(stray.tolist()))


def _reports(design: Design, block: Block, tally: Tally) -> int:
    """Return how many reports hold a block."""
    own = next(one.key for one in block.questions if len(design.places[one.key]) == 1)
    return sum(tally[own][""][0])


def estimate(design: Design, tally: Tally, population: int | None = None) -> Iterator[Figures]:
    """Yield the figures, by question, then everybody and each background question."""
    questions = [asked(design, question.key, tally) for question in design.questions]
    counts = [tally[one.question.key][""][0] for one in questions]
    of_everybody = everybody(questions, counts, Wanted(population=population))
    for one, figures in zip(questions, of_everybody, strict=True):
        key = one.question.key
        yield from figures
        for block in design.background_blocks:
            by = block.questions[0]
            if by.key != key:
                yield from by_group(one, block, tally[key][by.key])


def positions_of_everybody(design: Design) -> dict[str, range]:
    """Return the positions of the estimates over everybody by question, as in all releases."""
    found, position = {}, 0
    for question in design.questions:
        measures = len(question.measures())
        found[question.key] = range(position, position + measures)
        groups = sum(by.size for by in design.background if by.key != question.key)
        position += measures * (1 + groups)
    return found


# --- Everybody ------------------------------------------------------------------------------------


def everybody(
    questions: Sequence[Asked], counts: Sequence[Sequence[int]], wanted: Wanted
) -> Iterator[list[Figures]]:
    """Yield the figures of each question over everybody."""
    shares = _shares(questions, counts, wanted)
    for i, (one, some) in enumerate(zip(questions, counts, strict=True)):
        n, option = sum(some), 0
        rows = []
        for measure in one.question.measures():
            if not n:
                found = nothing(one.question, measure)
            elif measure.name == "share":
                found = shares[i, option]
                option += 1
            else:
                found = _mean(one, measure, some, wanted)
            rows.append(
                found
                | {
                    "question": one.question.key,
                    "measure": measure.name,
                    "option": measure.option,
                    "n": n,
                    "count": count_of(measure, some),
                    "level": wanted.level,
                }
            )
        yield rows


def _shares(
    questions: Sequence[Asked], counts: Sequence[Sequence[int]], wanted: Wanted
) -> dict[tuple[int, int], Figures]:
    """Return the figures of every option by the places of its question and its own.

    Each is a yes or no, for which all limits are exact. Those of one channel are computed together,
    because many take hardly longer than one.
    """
    places: dict[Channel, list[tuple[int, int]]] = {}
    for i, one in enumerate(questions):
        for j, channel in enumerate(one.channels if any(counts[i]) else ()):
            places.setdefault(channel, []).append((i, j))
    found: dict[tuple[int, int], Figures] = {}
    for channel, members in places.items():
        some = [counts[i][questions[i].first + j] for i, j in members]
        sizes = [sum(counts[i]) for i, _ in members]
        figures = [
            proportion.estimate(count, n, channel, wanted.level, population)
            if (population := wanted.of(n))
            else figure
            for count, n, figure in zip(
                some, sizes, proportion.estimates(some, sizes, channel, wanted.level), strict=True
            )
        ]
        limits = partial(privacy.manipulations, some, sizes, channel, wanted.forged, wanted.level)
        once = [(figure.low, figure.high) for figure in figures]
        if wanted.forged:
            once = list(zip(*limits(FIXED), strict=True))
        always = zip(*limits(ALWAYS), strict=True)
        for place, figure, fixed, lasting in zip(members, figures, once, always, strict=True):
            row = {name: getattr(figure, name) for name in OF_EVERYBODY}
            found[place] = row | _limits(fixed, lasting, EXACT)
    return found


def _mean(one: Asked, measure: Measure, counts: Sequence[int], wanted: Wanted) -> Figures:
    """Return the figures of a mean, or of a share of those concerned."""
    levels = measure.scores
    if levels is None:
        return _ratio(one, measure, [counts], 1.0, 0, wanted.level)
    rounded = one.question.kind == "number"
    population = wanted.of(sum(counts))
    once = mean.estimate(counts, levels, one.values, wanted.level, population, rounded)
    always = mean.sequence(counts, levels, one.values, wanted.level)
    row = {name: _finite(getattr(once, name)) for name in OF_EVERYBODY}
    methods = {FIXED: once.method, ALWAYS: EXACT[ALWAYS]}
    return row | _limits((once.low, once.high), always, methods)


# --- By group -------------------------------------------------------------------------------------


def by_group(
    one: Asked, by: Block, table: Sequence[Sequence[int]], level: float = LEVEL
) -> Iterator[Figures]:
    """Yield the figures of a question in every group of a background question."""
    kept, measures = by.keep / SCALE, one.question.measures()
    n = sum(map(sum, table))
    shares = iter(_shares_in_groups(one, table, kept, level) if n else ())
    found: list[Sequence[Figures]] = []
    for measure in measures:
        if not n:
            found.append([nothing(one.question, measure)] * len(table))
        elif measure.name == "share":
            found.append(next(shares))
        else:
            found.append(_means_in_groups(one, measure, table, kept, level))
    for i, group in enumerate(by.questions[0].options):
        for measure, groups in zip(measures, found, strict=True):
            yield groups[i] | {
                "question": one.question.key,
                "measure": measure.name,
                "option": measure.option,
                "by": by.questions[0].key,
                "group": group.key,
                "n": n,
                "count": count_of(measure, table[i]),
                "level": level,
            }


def _shares_in_groups(
    one: Asked, table: Sequence[Sequence[int]], kept: float, level: float
) -> Iterator[list[Figures]]:
    """Yield the figures of every option in every group."""
    shown = [row[one.first : one.question.size] for row in table]
    sizes = [sum(row) for row in table]
    once, always = (
        ratio.by_group(shown, sizes, kept, one.channels, level, kind) for kind in BY_RATIO
    )
    for j in range(len(one.question.options)):
        yield [
            _in_group(
                (0.0, 1.0),
                (once.value[i, j], once.standard_error[i, j]),
                (once.low[i, j], once.high[i, j]),
                (always.low[i, j], always.high[i, j]),
                str(always.kind[i, j]),
            )
            for i in range(len(table))
        ]


def _means_in_groups(
    one: Asked, measure: Measure, table: Sequence[Sequence[int]], kept: float, level: float
) -> list[Figures]:
    levels = measure.scores
    if levels is None:
        return [_ratio(one, measure, table, kept, i, level) for i in range(len(table))]
    once, always = (
        mean.by_group(table, levels, kept, one.values, level, kind) for kind in BY_RATIO
    )
    return [
        _in_group(
            span_of(one.question, measure),
            (once.value[i], once.standard_error[i]),
            (once.low[i], once.high[i]),
            (always.low[i], always.high[i]),
            str(always.kind[i]),
        )
        for i in range(len(table))
    ]


def _in_group(
    span: tuple[float, float],
    value: tuple[float, float],
    once: tuple[float, float],
    always: tuple[float, float],
    kind: str,
) -> Figures:
    found, error = map(_finite, value)
    return {
        "value": found,
        "bounded": None if found is None else min(max(found, span[0]), span[1]),
        "standard_error": error,
    } | _limits(once, always, {FIXED: BY_RATIO[FIXED], ALWAYS: BY_RATIO[kind]})


# --- Any ratio ------------------------------------------------------------------------------------


def _ratio(
    one: Asked,
    measure: Measure,
    table: Sequence[Sequence[int]],
    kept: float,
    group: int,
    level: float,
) -> Figures:
    """Return a ratio of two sums over the joint reports of a group and a question.

    For means among people who are not simply those with certain values. Of a report, u is 1 on
    average for the values that count, and w for the people in the group; the ratio is that of the
    means of w u for the two sums.
    """
    reports = np.array(table, dtype=np.float64)
    n = reports.sum()
    stray = np.array(one.stray)
    named = np.arange(len(table)) == group
    weights = (named - (1 - kept) / len(table)) / kept
    below = measure.among or (1.0,) * one.question.values
    top, bottom = (
        np.outer(weights, (np.array(each) - np.array(each) @ stray) / one.keep)
        for each in (measure.weights, below)
    )
    rates = reports / n
    means = [float((each * rates).sum()) for each in (top, bottom)]
    # Around the means, so that rounding never makes a variance negative.
    away = [each - mean for each, mean in zip((top, bottom), means, strict=True)]
    covariance = [[float((x * y * rates).sum()) / max(n - 1, 1) for y in away] for x in away]
    lowest, highest = span_of(one.question, measure)
    always = level
    if n >= ratio.ALWAYS_FROM:
        always = 1 - 2 * float(ndtr(-sequence.asymptotic(int(n), level)))
    once, often = (ratio.fieller(means[0], means[1], covariance, at) for at in (level, always))
    if not once.clear:
        return nothing(one.question, measure)

    def limits(found: ratio.Ratio) -> tuple[float, float]:
        if not found.clear:
            return lowest, highest
        return min(max(found.low, lowest), highest), min(max(found.high, lowest), highest)

    value = once.value
    (sx, sxy), (_, sy) = covariance
    variance = (sx - 2 * value * sxy + value**2 * sy) / means[1] ** 2
    return {
        "value": value,
        "bounded": min(max(value, lowest), highest),
        "standard_error": math.sqrt(max(variance, 0.0)),
    } | _limits(limits(once), limits(often), FIELLER)


# --- Parts ----------------------------------------------------------------------------------------


def count_of(measure: Measure, counts: Sequence[int]) -> int:
    """Return the reports that show the measure's option, or any value that is averaged."""
    weights = measure.weights if measure.option else measure.among or (1.0,) * len(counts)
    return sum(count for weight, count in zip(weights, counts, strict=True) if weight > 0)


def span_of(question: Question, measure: Measure) -> tuple[float, float]:
    """Return the least and the greatest value that a measure can have."""
    if measure.option:
        return 0.0, 1.0
    if measure.name == "picks":
        return 0.0, max(measure.weights)
    among = measure.among or (1.0,) * len(measure.weights)
    scores = [weight for weight, one in zip(measure.weights, among, strict=True) if one]
    return min(scores), max(scores)


def nothing(question: Question, measure: Measure) -> Figures:
    """Return the figures where too few people answered to say anything."""
    whole = span_of(question, measure)
    nobody = {"value": None, "bounded": None, "standard_error": None}
    return nobody | _limits(whole, whole, EXACT if measure.option else BY_RATIO)


def _limits(
    once: tuple[float, float], always: tuple[float, float], methods: Mapping[str, str]
) -> Figures:
    return {
        "low_once": float(once[0]),
        "high_once": float(once[1]),
        "method_once": methods[FIXED],
        "low_always": float(always[0]),
        "high_always": float(always[1]),
        "method_always": methods[ALWAYS],
    }


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
