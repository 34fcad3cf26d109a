"""Decide which questions to randomize together and how many blocks to ask one person.

Consider one question in a block of K cells with keep probability c. If its options have equal
shares, its variance is 1/c^2 times that of the same question asked without noise, where
c = t/(t + K) and t = e^(epsilon/ask) - 1. A person is asked `ask` of B blocks, so the factor per
respondent is (B/ask) (1 + K/t)^2. We choose the grouping and `ask` with the least mean factor.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from heapq import heapreplace
from itertools import chain, combinations, product

from survey.design.mechanism import MAX_CELLS, MAX_EPSILON
from survey.design.questions import DesignError


def variance_factor(
    grouping: Sequence[Sequence[int]], sizes: Sequence[int], epsilon: float, ask: int
) -> float:
    """Return the mean over questions of n Var / (variance without privacy, asking everything)."""
    t = math.expm1(epsilon / ask)
    cost = sum(
        len(members) * (1 + math.prod(sizes[i] for i in members) / t) ** 2 for members in grouping
    )
    return cost * len(grouping) / (ask * len(sizes))


Sizes = tuple[int, ...]  # the number of options of each question in one block, sorted
REFINED = 6  # how many of the best first groupings are refined
EXHAUSTIVE = 8  # up to this many questions, three blocks at a time are regrouped, not only two


@lru_cache(maxsize=256)
def plan(
    sizes: tuple[int, ...], epsilon: float, ask: int | None = None
) -> tuple[tuple[tuple[int, ...], ...], int]:
    """Return the positions of the questions by block, and `ask`, with the least variance.

    For a fixed grouping and K >= 2, asking one block less is better while epsilon/(ask - 1) stays
    below the root 2.177 of sinh y = 2y, which bounds `ask` from above. The limit on a block's
    epsilon bounds it from below. Every number of blocks gets a first grouping, and the best few are
    refined. The tests compare the result with all groupings of 6 questions.
    """
    least = max(1, math.ceil(epsilon / MAX_EPSILON))
    most = min(len(sizes), max(least, math.floor(1 + epsilon / 2.177318985)))
    candidates: list[tuple[float, int, list[Sizes]]] = []
    for asked in [ask] if ask else range(least, most + 1):
        for blocks in range(asked, len(sizes) + 1):
            groups = _spread(sizes, blocks)
            candidates.append((_factor(groups, epsilon, asked), asked, groups))
    candidates.sort(key=lambda candidate: (candidate[0], candidate[1], len(candidate[2])))
    best: tuple[float, int, list[Sizes]] | None = None
    for first, asked, groups in candidates[:REFINED]:
        if first == math.inf:
            break
        refined = _refine(groups, math.expm1(epsilon / asked))
        factor = _factor(refined, epsilon, asked)
        if best is None or factor < best[0] * (1 - 1e-9):
            best = factor, asked, refined
    if best is None:
        raise DesignError(
            "epsilon",
            f"a total of {epsilon:g} needs at least {ask or least} blocks of at most "
            f"{MAX_EPSILON} each: "
            + ("one question is" if len(sizes) == 1 else f"{len(sizes)} questions are")
            + " not enough",
        )
    return _assign(best[2], sizes), best[1]


def best_ask(grouping: Sequence[Sequence[int]], sizes: tuple[int, ...], epsilon: float) -> int:
    least = max(1, math.ceil(epsilon / MAX_EPSILON))
    if least > len(grouping):
        raise DesignError(
            "epsilon",
            f"a total of {epsilon:g} needs at least {least} blocks of at most {MAX_EPSILON} each, "
            f"not {len(grouping)}",
        )
    return min(
        range(least, len(grouping) + 1),
        key=lambda ask: (round(variance_factor(grouping, sizes, epsilon, ask), 9), ask),
    )


def _cost(block: Sizes, t: float) -> float:
    cells = math.prod(block)
    allowed = len(block) > 0 and cells <= MAX_CELLS
    return len(block) * (1 + cells / t) ** 2 if allowed else math.inf


def _factor(groups: Sequence[Sizes], epsilon: float, ask: int) -> float:
    """Return variance_factor for blocks given by their sizes, or infinity if one is too large."""
    t = math.expm1(epsilon / ask)
    return sum(_cost(block, t) for block in groups) * len(groups) / (ask * sum(map(len, groups)))


def _spread(sizes: Sequence[int], blocks: int) -> list[Sizes]:
    """Return a first grouping: put the largest question first, always into the smallest block."""
    groups: list[Sizes] = [()] * blocks
    smallest_first = [(1, 0, number) for number in range(blocks)]  # cells, questions, which block
    for size in sorted(sizes, reverse=True):
        cells, questions, number = smallest_first[0]
        groups[number] = (size, *groups[number])
        heapreplace(smallest_first, (cells * size, questions + 1, number))
    return groups


def _refine(first: Sequence[Sizes], t: float) -> list[Sizes]:
    """Regroup two or three blocks in the best way, as long as that lowers the cost."""
    groups = list(first)
    exhaustive = sum(map(len, groups)) <= EXHAUSTIVE

    @cache
    def two(pool: Sizes) -> tuple[float, tuple[Sizes, ...]]:
        return min((_cost(x, t) + _cost(y, t), (x, y)) for x, y in _divisions(pool))

    @cache
    def three(pool: Sizes) -> tuple[float, tuple[Sizes, ...]]:
        return min((_cost(x, t) + two(y)[0], (x, *two(y)[1])) for x, y in _divisions(pool) if x)

    def improved(count: int, best: Callable[[Sizes], tuple[float, tuple[Sizes, ...]]]) -> bool:
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


def _divisions(block: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield every way to split a multiset of sizes in two."""
    counts = sorted(Counter(block).items())
    for taken in product(*(range(count + 1) for _, count in counts)):
        pairs = list(zip(counts, taken, strict=True))
        first = tuple(size for (size, _), take in pairs for _ in range(take))
        second = tuple(size for (size, count), take in pairs for _ in range(count - take))
        yield first, second


def _assign(groups: Sequence[Sizes], sizes: Sizes) -> tuple[tuple[int, ...], ...]:
    """Turn blocks of sizes into blocks of positions, with earlier questions in earlier blocks."""
    waiting = {size: [i for i, other in enumerate(sizes) if other == size] for size in set(sizes)}
    return tuple(sorted(tuple(sorted(waiting[size].pop(0) for size in group)) for group in groups))
