"""The mean of numbers and scores, from randomized reports.

Every value of a question has a score x, or none: "not asked" and "prefer not to say" are left out
of the mean. A report holds the person's own value with probability c; otherwise it shows value v
with a known probability h_v. (A number is first rounded at random to one of a few levels, without
bias.) So the report's score is c x + (1-c) sum(h x) on average, and the mean is

    mean = (mean score of the reports - (1-c) sum(h x)) / c.

Where some values have no score the mean is a ratio: the sum of x over those who have a score, over
their number.

Intervals. With two levels reports are as good as yes or no, whatever the answers: everything is
exact (``proportion``). With more, or where the mean is a ratio, the variance under the hypothesis
"the mean is R" is that of the answers as they seem to be, of which a part has moved to one end of
the range, just enough to make the mean R. It is a quadratic function of R. For a plain mean it is
that of a binomial count on another scale, whose exact limits are taken ("binomial"); for a ratio
the limits are Fieller's with this variance ("score"). With two levels without noise these are
Clopper and Pearson's, and Wilson's.

References
    Clopper & Pearson 1934, Biometrika 26:404; Wilson 1927, J. Am. Stat. Assoc. 22:209
    Fieller 1954, J. R. Stat. Soc. B 16:175 (limits for a ratio)
    Duchi, Jordan & Wainwright 2018, J. Am. Stat. Assoc. 113:182 (means under local privacy)
    Hoeffding 1956, Ann. Math. Stat. 27:713 (sums of unequal trials against the binomial)
    Borcea, Branden & Liggett 2009, J. Am. Math. Soc. 22:521 (samples without replacement are such)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aggregation.statistics import proportion
from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import (
    LARGEST,
    Floats,
    integer,
    integers,
    strictly_between,
)
from aggregation.statistics.numeric.binomial import at_most
from aggregation.statistics.proportion import OUTWARD
from aggregation.statistics.ratio import reach
from aggregation.statistics.sequence import concentration
from aggregation.statistics.sequence import interval as shares_at_every_look
from aggregation.statistics.tables import betting, scaled_binomial
from aggregation.statistics.tables.grouped import Flags
from aggregation.statistics.tables.score_errors import errors
from aggregation.statistics.tables.scored import ScoredTable, Scores, totals

# So many random reports near an end of the range make up for half of what is not normal about them:
# enough for the limits of every population that was enumerated.
ENOUGH = 5.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and how well it is known, in the units of the scores.

    value           unbiased (but for a ratio); may leave the range. nan where not ``clear``.
    bounded         value moved into the range of the scores. The one to show.
    standard_error  root of the unbiased variance estimate of ``value``; of a ratio by the delta
                    method. A single report has none: then the largest possible.
    sampling_error  the part that asking everybody, if there is a finite everybody, would remove.
    privacy_error   the part that the randomization adds.
    low, high       confidence limits; the whole range where not ``clear``.
    misfit          p-value of "some answers explain these counts": how improbable it is that the
                    rarest value has so few reports from noise alone. Below 0.001: wrong channel,
                    people not following it, or tampering.
    clear           whether somebody has a score, at this level. Where not, there are too few to
                    tell; True if every value has a score.
    method          of the limits: "restricted Blaker", "binomial" or "score".
    """

    value: float
    bounded: float
    standard_error: float
    sampling_error: float
    privacy_error: float
    low: float
    high: float
    misfit: float
    clear: bool
    method: str


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """Means by group, as arrays with an entry for each group.

    value           unclipped; may leave the range of the scores. nan where not ``clear``.
    standard_error  of ``value``, by the delta method. nan where not ``clear``, and for n = 1.
    low, high       confidence limits: the whole range where not ``clear``.
    clear           whether somebody in the group has a score, at this level.
    kind            "fixed": the limits are right for one look. "always": they stay right
                    however often one looks.
    """

    value: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    clear: Flags
    kind: NDArray[np.str_]


def estimate(
    counts: ArrayLike,
    levels: Sequence[float | None],
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
    population: int | None = None,
    rounded: bool = False,
) -> Estimate:
    """Estimate the mean when ``counts[i]`` reports show the value with the score ``levels[i]``.

    A value without a score has None (or nan) in ``levels``; the mean is that of those who have one.
    ``channel`` is that of any value, if random reports show all values equally often, or a list
    with that of each value.

    ``population`` is the size of the finite population that was sampled at random without
    replacement; the mean is then the mean in it, and ``population=n`` is a census. ``rounded`` says
    that the levels are those to which a number was rounded at random: then a census, too, errs by
    the rounding, by as much as is possible at most.
    """
    scores = Scores.of(levels, channel)
    reports = _reports(counts, scores)
    level = strictly_between("level", level)
    n = int(reports.sum())
    if population is not None:
        population = integer("population", population, minimum=n)
    if not isinstance(rounded, bool):
        raise ValueError(f"rounded must be True or False, got {rounded!r}")
    table = ScoredTable(np.array(float(n)), reports[None] / n, 1.0, scores)
    error, sampling, privacy, unlimited = errors(table, n, population, rounded)
    misfit = _misfit(reports, n, scores)
    part = _part(error, unlimited, n, scores) if population is not None else 1.0
    limits = _limits(reports[None], scores, level, part)
    low, high, clear = float(limits[0][0]), float(limits[1][0]), bool(limits[2][0])
    if not clear:
        whole = scores.rescaled(0.0), scores.rescaled(1.0)
        return Estimate(*(math.nan,) * 5, *whole, misfit, False, "score")
    value = float(table.values[0])
    bounded = min(max(value, 0.0), 1.0)
    if scores.two and population is not None:
        low, high = _two_levels_of_a_population(reports, scores, level, population, rounded)
    return Estimate(
        value=scores.rescaled(value),
        bounded=scores.rescaled(bounded),
        standard_error=scores.span * error,
        sampling_error=scores.span * sampling,
        privacy_error=scores.span * privacy,
        low=scores.rescaled(min(low, bounded)),
        high=scores.rescaled(max(high, bounded)),
        misfit=misfit,
        clear=True,
        method=_method(scores),
    )


def intervals(
    counts: ArrayLike,
    levels: Sequence[float | None],
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
) -> tuple[Floats, Floats]:
    """Return the limits of many tallies at once, one row each: arrays of low and high ones."""
    scores = Scores.of(levels, channel)
    reports = integers("counts", counts)
    if reports.ndim != 2 or not reports.size:
        raise ValueError(f"counts must be a table with a row for each tally, got {counts!r}")
    totals("counts", reports, (-1,), scores)
    low, high, _ = _limits(reports, scores, strictly_between("level", level))
    return scores.rescaled(low), scores.rescaled(high)


def sequence(
    counts: ArrayLike,
    levels: Sequence[float | None],
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
    n_opt: int = 300,
) -> tuple[float, float]:
    """Return limits for the mean that stay right however often one looks.

    They depend on the counts alone, hold from the first report on whatever the answers, and are
    tuned to be narrow at about ``n_opt`` reports, which has to be chosen before the data are seen.
    With two levels they are those of ``sequence.interval``; otherwise see ``tables.betting``. Where
    there are too few with a score to tell they are the whole range.
    """
    scores = Scores.of(levels, channel)
    reports = _reports(counts, scores)
    level = strictly_between("level", level)
    if scores.two:
        low, high = shares_at_every_look(*_as_share(reports, scores), level, n_opt)
    else:
        low, high = _by_betting(reports, scores, level, n_opt)
    return scores.rescaled(low), scores.rescaled(high)


def by_group(
    table: ArrayLike,
    levels: Sequence[float | None],
    keep_of_group: float,
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
    kind: str = "fixed",
) -> Means:
    """Estimate the mean in every group from the joint tally of the reports.

    ``table[g][v]`` reports name group g and show value v; every group has a row. ``levels`` and
    ``channel`` are those of ``estimate``, and ``keep_of_group`` is the probability that a report
    holds the person's own group, by a coin that is not the question's. With levels 1, 0 and None
    (not asked), it is the share of an option among those concerned, by group.

    With ``kind`` "always" the limits hold at every look from 300 reports on, as in ``ratio``.
    A stack of tables, with more axes before these two, gives a stack of means.
    """
    scores = Scores.of(levels, channel)
    tally = ScoredTable.of(table, keep_of_group, scores)
    z, kinds = reach(tally.n.astype(np.int64), level, kind)
    factor = (z**2 / tally.n)[..., None]
    low, high = tally.limits(factor)
    clear = tally.clear(factor)
    value, bounded = tally.values, np.clip(tally.values, 0.0, 1.0)
    n = tally.n[..., None]
    error = np.sqrt(tally.variances / np.maximum(n - 1, 1.0))
    return Means(
        scores.rescaled(np.where(clear, value, np.nan)),
        scores.span * np.where(clear & (n > 1), error, np.nan),
        scores.rescaled(np.where(clear, _inside(np.minimum(low - OUTWARD, bounded)), 0.0)),
        scores.rescaled(np.where(clear, _inside(np.maximum(high + OUTWARD, bounded)), 1.0)),
        clear,
        np.broadcast_to(kinds[..., None], value.shape),
    )


def picks(
    count: int, n: int, options: int, most: int, channel: Channel, level: float = 0.95
) -> Estimate:
    """Estimate the mean number of options picked, where up to ``most`` of ``options`` may be.

    ``count`` of ``n`` reports are not blank, and ``channel`` is that of one option. Picks are
    padded with blanks to ``most`` slots, one slot is drawn, and with probability c it is sent;
    otherwise one of the options + most cells is drawn. Of p picks a report so shows one with
    probability c p/most + (1-c) options/(options + most): reports are as good as yes or no whatever
    the picks, and everything is exact.
    """
    options = integer("options", options, 1, LARGEST)
    most = integer("most", most, 1, options)
    check_channel(channel)
    c, b = most * channel.contrast, channel.b
    if not math.isclose(b * (options + most), 1 - c, rel_tol=1e-6, abs_tol=1e-9):
        raise ValueError(
            f"channel must be that of one of {options} options of which up to {most} are picked, "
            f"got {channel!r}"
        )
    picked = Channel(min(options * b + c, 1.0), options * b)
    found = proportion.estimate(count, n, picked, level)
    return _of_share(found, 0.0, float(most))


def total(found: Estimate, population: int) -> Estimate:
    """Return the total over a population of known size: the mean times its size."""
    size = integer("population", population, 1, LARGEST)
    if not isinstance(found, Estimate):
        raise ValueError(f"found must be an Estimate of a mean, got {found!r}")
    scaled = "value", "bounded", "standard_error", "sampling_error", "privacy_error", "low", "high"
    return replace(found, **{name: size * getattr(found, name) for name in scaled})


# --- limits -------------------------------------------------------------------------------------


def _limits(
    reports: Floats, scores: Scores, level: float, part: float = 1.0
) -> tuple[Floats, Floats, Flags]:
    """Return limits for the mean of x for every tally, and whether it is clear.

    ``part`` is what a finite population leaves of the distances to them.
    """
    n = reports.sum(axis=-1)
    clear = np.ones(n.shape, dtype=bool)
    if scores.two:
        counts, _, channel = _as_share(reports, scores)
        return *proportion.intervals(counts, n.astype(np.int64), channel, level), clear
    table = ScoredTable(n, (reports / n[:, None])[:, None], 1.0, scores)
    if scores.everybody:
        low, high = scaled_binomial.limits(reports, table, 1 - level)
    else:
        factor = (reach(n.astype(np.int64), level, "fixed")[0] ** 2 / n)[:, None]
        low, high = (limits[:, 0] for limits in table.limits(factor))
        clear = table.clear(factor)[:, 0]
    bounded = _inside(table.values[:, 0])
    low, high = bounded - part * (bounded - low), bounded + part * (high - bounded)
    low = _inside(np.minimum(low - OUTWARD, bounded))
    high = _inside(np.maximum(high + OUTWARD, bounded))
    return np.where(clear, low, 0.0), np.where(clear, high, 1.0), clear


def _part(error: float, unlimited: float, n: int, scores: Scores) -> float:
    """Return what a finite population leaves of the distances to the limits.

    The standard errors say so where many reports are random. Where few are, what is left of the
    error is far from normal, and next to nothing is taken off.
    """
    if not 0 < error < unlimited:
        return 1.0
    x, other = scores.x * scores.scored, (1 - scores.x) * scores.scored
    near = n * float(min(scores.stray @ x**2, scores.stray @ other**2))
    return 1 - (1 - error / unlimited) * near / (near + ENOUGH)


def _by_betting(reports: Floats, scores: Scores, level: float, n_opt: int) -> tuple[float, float]:
    """Return limits at every look: the whole range unless somebody clearly has a score."""
    k = concentration(n_opt, level)
    n = reports.sum()
    table = ScoredTable(n, reports[None] / n, 1.0, scores)
    factor = reach(int(n), level, "fixed")[0] ** 2 / n
    if not table.clear(factor)[0]:
        return 0.0, 1.0
    bounded = min(max(float(table.values[0]), 0.0), 1.0)
    low, high = betting.limits(reports, scores, bounded, k, 1 - level)
    return max(low - OUTWARD, 0.0), min(high + OUTWARD, 1.0)


def _two_levels_of_a_population(
    reports: Floats, scores: Scores, level: float, population: int, rounded: bool
) -> tuple[float, float]:
    """Return the limits for two levels in a finite population.

    If the answers are one of the two levels they are those of a share. A number that was rounded
    makes reports that are independent trials with unequal rates, even in a sample without
    replacement (Borcea et al. 2009); if all numbers are equal, so are the rates, and nothing is
    gained from the population being finite.
    """
    share = _as_share(reports, scores)
    if rounded:
        level = proportion.finite_level(level, share[1], share[2])
        return proportion.interval(*share, level)
    found = proportion.estimate(*share, level, population)
    return found.low, found.high


def _inside(values: Floats) -> Floats:
    return np.clip(values, 0.0, 1.0)


# --- reports ----------------------------------------------------------------------------------


def _misfit(reports: Floats, n: int, scores: Scores) -> float:
    """Return the smallest P(at most this count | nobody has the value), times their number."""
    tails = at_most(reports, np.full_like(reports, n), scores.stray)
    return float(min(1.0, scores.x.size * tails.min()))


def _as_share(reports: Floats, scores: Scores) -> tuple[Any, Any, Channel]:
    """Return how many reports show the greatest of two scores, of how many, and its channel."""
    top = scores.x == 1
    count, n = reports[..., top].sum(axis=-1), reports.sum(axis=-1)
    b = min(float(scores.stray[top].sum()), 1 - scores.keep)
    channel = Channel(b + scores.keep, b)
    if reports.ndim > 1:
        return count.astype(np.int64), n.astype(np.int64), channel
    return int(count), int(n), channel


def _of_share(found: proportion.Estimate, least: float, span: float) -> Estimate:
    return Estimate(
        value=least + span * found.value,
        bounded=least + span * found.bounded,
        standard_error=span * found.standard_error,
        sampling_error=span * found.sampling_error,
        privacy_error=span * found.privacy_error,
        low=least + span * found.low,
        high=least + span * found.high,
        misfit=found.misfit,
        clear=True,
        method="restricted Blaker",
    )


def _method(scores: Scores) -> str:
    if scores.two:
        return "restricted Blaker"
    return "binomial" if scores.everybody else "score"


def _reports(counts: Any, scores: Scores) -> Floats:
    reports = integers("counts", counts)
    if reports.ndim != 1 or not reports.size:
        raise ValueError(f"counts must be a list with one for each value, got {counts!r}")
    totals("counts", reports, (-1,), scores)
    return reports
