"""Decide which questions to randomize together and how many blocks to ask one person.

Consider one question in a block of K cells with keep probability c. If its options have equal
shares, its variance is 1/c^2 times that of the same question asked without noise, where
c = t/(t + K) and t = e^(epsilon/ask) - 1. A person is asked `ask` of B blocks, so the factor per
respondent is (B/ask) (1 + K/t)^2. We choose the grouping and `ask` with the least sum of factors.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from heapq import heapreplace
from itertools import chain, combinations, product
from typing import NamedTuple

from survey.design.mechanism import MAX_CELLS, MAX_EPSILON
from survey.design.questions import DesignError


class Item(NamedTuple):
    """Questions that stay together: usually one, or a follow-up with the questions it depends on.

    The weight is their number. A question that is in several items counts for 1/k^2 in each of k,
    because k times as many people answer it.
    """

    cells: float
    weight: float = 1.0
    alone: bool = False  # multiple choice: its block can have no other question


Items = tuple[Item, ...]  # those of one block, sorted
REFINED = 6  # how many of the best first groupings are refined
EXHAUSTIVE = 8  # up to this many items, three blocks at a time are regrouped, not only two


@dataclass(frozen=True)
class Plan:
    """The positions of the items by block, and how many blocks one person is asked."""

    blocks: tuple[tuple[int, ...], ...]
    ask: int
    factor: float  # sum over questions of n Var / (variance without privacy, asking everything)


def variance_factor(
    blocks: Sequence[Sequence[int]], items: Sequence[Item], epsilon: float, ask: int
) -> float:
    """Return the sum over questions of n Var / (variance without privacy, asking everything)."""
    groups = [tuple(items[i] for i in members) for members in blocks]
    return _factor(groups, epsilon, ask)


@lru_cache(maxsize=256)
def plan(items: Items, epsilon: float, ask: int | None = None) -> Plan:
    """Return the grouping and `ask` with the least variance.

    For a fixed grouping and K >= 2, asking one block less is better while epsilon/(ask - 1) stays
    below the root 2.177 of sinh y = 2y, which bounds `ask` from above. The limit on a block's
    epsilon bounds it from below. Every number of blocks gets a first grouping, and the best few are
    refined. The tests compare the result with all groupings of 6 questions.
    """
    least = max(1, math.ceil(epsilon / MAX_EPSILON))
    most = min(len(items), max(least, math.floor(1 + epsilon / 2.177318985)))
    apart = [(item,) for item in items if item.alone]
    others = [item for item in items if not item.alone]
    candidates: list[tuple[float, int, list[Items]]] = []
    for asked in [ask] if ask else range(least, most + 1):
        for blocks in range(max(asked - len(apart), min(1, len(others))), len(others) + 1):
            groups = _spread(others, blocks)
            candidates.append((_factor([*groups, *apart], epsilon, asked), asked, groups))
    candidates.sort(key=lambda candidate: (candidate[0], candidate[1], len(candidate[2])))
    best: tuple[float, int, list[Items]] | None = None
    for first, asked, groups in candidates[:REFINED]:
        if first == math.inf:
            break
        refined = [*_refine(groups, math.expm1(epsilon / asked)), *apart]
        factor = _factor(refined, epsilon, asked)
        if best is None or factor < best[0] * (1 - 1e-9):
            best = factor, asked, refined
    if best is None:
        raise DesignError(
            "epsilon",
            f"a total of {epsilon:g} needs at least {ask or least} blocks of at most "
            f"{MAX_EPSILON} each: "
            + ("one question is" if len(items) == 1 else f"{len(items)} questions are")
            + " not enough",
        )
    return Plan(_assign(best[2], items), best[1], best[0])


def best_ask(blocks: Sequence[Sequence[int]], items: Sequence[Item], epsilon: float) -> int:
    least = max(1, math.ceil(epsilon / MAX_EPSILON))
    if least > len(blocks):
        raise DesignError(
            "epsilon",
            f"a total of {epsilon:g} needs at least {least} blocks of at most {MAX_EPSILON} each, "
            f"not {len(blocks)}",
        )
    return min(
        range(least, len(blocks) + 1),
        key=lambda ask: (round(variance_factor(blocks, items, epsilon, ask), 9), ask),
    )


def _cost(block: Items, t: float) -> float:
    cells = math.prod(item.cells for item in block)
    allowed = len(block) > 0 and cells <= MAX_CELLS
    return sum(item.weight for item in block) * (1 + cells / t) ** 2 if allowed else math.inf


def _factor(groups: Sequence[Items], epsilon: float, ask: int) -> float:
    """Return variance_factor for blocks given by their items, or infinity if one is too large."""
    t = math.expm1(epsilon / ask)
    return sum(_cost(block, t) for block in groups) * len(groups) / ask


def _spread(items: Sequence[Item], blocks: int) -> list[Items]:
    """Return a first grouping: put the largest item first, always into the smallest block."""
    groups: list[Items] = [()] * blocks
    smallest_first = [(1.0, 0, number) for number in range(blocks)]  # cells, items, which block
    for item in sorted(items, reverse=True):
        cells, count, number = smallest_first[0]
        groups[number] = (item, *groups[number])
        heapreplace(smallest_first, (cells * item.cells, count + 1, number))
    return groups


def _refine(first: Sequence[Items], t: float) -> list[Items]:
    """Regroup two or three blocks in the best way, as long as that lowers the cost."""
    groups = list(first)
    exhaustive = sum(map(len, groups)) <= EXHAUSTIVE

    @cache
    def two(pool: Items) -> tuple[float, tuple[Items, ...]]:
        return min((_cost(x, t) + _cost(y, t), (x, y)) for x, y in _divisions(pool))

    @cache
    def three(pool: Items) -> tuple[float, tuple[Items, ...]]:
        return min((_cost(x, t) + two(y)[0], (x, *two(y)[1])) for x, y in _divisions(pool) if x)

    def improved(count: int, best: Callable[[Items], tuple[float, tuple[Items, ...]]]) -> bool:
        for chosen in dict.fromkeys(combinations(sorted(groups), count)):
            cost, divided = best(tuple(sorted(chain(*chosen))))
            if cost < sum(_cost(block, t) for block in chosen) * (1 - 1e-12):
                for block in chosen:
                    groups.remove(block)
                groups.extend(divided)
                return True
        return False

    while improved(2, two) or (exhaustive and improved(3, three)):
        pass
    return groups


def _divisions(block: Items) -> Iterator[tuple[Items, Items]]:
    """Yield every way to split a multiset of items in two."""
    counts = sorted(Counter(block).items())
    for taken in product(*(range(count + 1) for _, count in counts)):
        pairs = list(zip(counts, taken, strict=True))
        first = tuple(item for (item, _), take in pairs for _ in range(take))
        second = tuple(item for (item, count), take in pairs for _ in range(count - take))
        yield first, second


def _assign(groups: Sequence[Items], items: Items) -> tuple[tuple[int, ...], ...]:
    """Turn blocks of items into blocks of positions, with earlier items in earlier blocks."""
    waiting = {item: [i for i, other in enumerate(items) if other == item] for item in set(items)}
    return tuple(sorted(tuple(sorted(waiting[item].pop(0) for item in group)) for group in groups))
