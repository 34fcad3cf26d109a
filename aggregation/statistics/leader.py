"""Which option leads, from the counts of one choice.

All options of a choice have the same channel, so two shares are equal exactly when the rates of
their reports are. Given that a report shows one of two options, it then shows either with
probability 1/2: an exact test of the counts, in which nothing has to be corrected. Options with
different channels (those on which a follow-up depends, sets of several options) have different
rates at equal shares, and are refused.

References
    Holm 1979, Scand. J. Stat. 6:65 (many p-values)
    Ville 1939, Etude critique de la notion de collectif (tests at every look)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln

from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.difference import holm
from aggregation.statistics.numeric.arguments import (
    LARGEST,
    Floats,
    integers,
    strictly_between,
)
from aggregation.statistics.numeric.binomial import at_least

KINDS = ("fixed", "always")
# How many reports the prior of a test at every look weighs: a good choice for about 300 of both
# options together at a level of 95 %. Any number chosen beforehand is valid.
PRIOR = 40.0


@dataclass(frozen=True, slots=True)
class Leader:
    """The options that may have the largest share.

    largest   the position of the largest count, the first of several.
    may_lead  the positions of the options that may lead, in their order: those that the tests do
              not tell from the largest count. If it is alone, it leads.
    p_values  by option, of "it has the same share as the largest", looked at alone; 1 for the
              largest itself.
    adjusted  Holm's p-values: an option is left out where this is at most 1 - level.
    """

    largest: int
    may_lead: tuple[int, ...]
    p_values: tuple[float, ...]
    adjusted: tuple[float, ...]


def compare(
    counts: ArrayLike,
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
    kind: str = "fixed",
) -> Leader:
    """Return which options may lead when ``counts[i]`` reports show option i.

    ``channel`` is that of every option, or a list with that of each; they have to be the same. The
    largest count is tested against each other one, two-sided, by the binomial test of n_i out of
    n_i + n_j at 1/2. With ``kind`` "always" the tests hold at every look: the likelihood ratio of a
    beta mixture to a fair coin exceeds 1/p at any time with probability p at most.
    """
    n = _counts(counts)
    _one_channel(channel, n.size)
    level = strictly_between("level", level)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    largest = int(n.argmax())
    others = np.delete(n, largest)
    p = (_fair_coin if kind == "fixed" else _at_every_look)(n[largest], others)
    p_values = np.insert(p, largest, 1.0)
    adjusted = np.insert(holm(p), largest, 1.0)
    may_lead = np.flatnonzero(adjusted > 1 - level)
    return Leader(
        largest,
        tuple(may_lead.tolist()),
        tuple(p_values.tolist()),
        tuple(adjusted.tolist()),
    )


def _fair_coin(most: float, others: Floats) -> Floats:
    """Return the two-sided p-values of ``most`` against each other count."""
    both = most + others
    tail = at_least(np.full_like(both, most), both, np.full_like(both, 0.5))
    return np.minimum(1.0, 2 * tail)


def _at_every_look(most: float, others: Floats) -> Floats:
    """Return the inverse of the beta mixture's likelihood ratio to a fair coin."""
    half = PRIOR / 2
    log_ratio = betaln(half + most, half + others) - betaln(half, half)
    return np.asarray(np.exp(-np.maximum(log_ratio + (most + others) * math.log(2), 0.0)))


def _counts(counts: ArrayLike) -> Floats:
    n = integers("counts", counts)
    if n.ndim != 1 or n.size < 2:
        raise ValueError(f"counts must be a list of at least 2, got {counts!r}")
    if (n < 0).any() or not 1 <= n.sum() <= LARGEST:
        raise ValueError(f"counts must be from 0, and add up to 1 to {LARGEST}, got {counts!r}")
    return n


def _one_channel(channel: Channel | Sequence[Channel], options: int) -> None:
    """Refuse options whose reports cannot be compared."""
    channels = list(channel) if isinstance(channel, Sequence) else [channel]
    for each in channels:
        check_channel(each)
    if len(channels) not in (1, options):
        raise ValueError(f"channel must be one, or one for each option, got {len(channels)}")
    if any(
        not math.isclose(each.a, channels[0].a, rel_tol=1e-9)
        or not math.isclose(each.b, channels[0].b, rel_tol=1e-9, abs_tol=1e-15)
        for each in channels
    ):
        raise ValueError(
            f"channel must be the same for all options: at equal shares, options with different "
            f"channels are not reported equally often, got {channel!r}"
        )
