"""How to divide questions into blocks.

References
    Kairouz, Oh & Viswanath 2016, J. Mach. Learn. Res. 17:1 (randomized response over many cells)
"""

import math
from typing import NamedTuple

from aggregation.statistics.numeric.arguments import (
    LARGEST,
    integer,
    is_real,
    positive,
    probability,
)
from aggregation.statistics.planning.assumptions import options_and_cells

MOST_CELLS = 2**20
MOST_QUESTIONS = 10**4


class Blocks(NamedTuple):
    """How to ask: questions per block, blocks per person, and n times the variance of a share."""

    size: int
    ask: int
    variance: float


def block_variance(
    questions: int, size: int, ask: int, epsilon: float, share: float = 0.5, options: int = 2
) -> float:
    """Return n Var of one share if each person is asked ``ask`` blocks of ``size`` questions.

    A person spends epsilon/ask per block, whose answers are all kept together with probability
    c = (e^(epsilon/ask) - 1)/(e^(epsilon/ask) - 1 + options^size), and is asked ask*size of the
    questions, drawn at random: questions/(ask size) lambda(1-lambda)/c^2. size = 1 is separate
    randomized response; size = 1, ask = questions splits epsilon over all.
    """
    questions = integer("questions", questions, 1, MOST_QUESTIONS)
    size, ask = integer("size", size, minimum=1), integer("ask", ask, minimum=1)
    if size * ask > questions:
        raise ValueError(f"size * ask must be at most questions={questions}, got {size} * {ask}")
    options, cells = options_and_cells(options, None)
    if size * math.log2(cells) > 50:
        raise ValueError(f"size must make at most {LARGEST} cells, got {cells}^{size}")
    share = probability("share", share)
    try:
        more = math.expm1(positive("epsilon", epsilon) / ask)
    except OverflowError:
        more = math.inf
    # 1/c - 1 = cells/(e^epsilon - 1), and lambda = (1-c)/options + c share.
    lost = float(cells**size) / more
    rate = share + lost / options
    return questions / (ask * size) * rate * (1 + lost - rate)


def best_blocks(
    questions: int,
    epsilon: float,
    share: float = 0.5,
    options: int = 2,
    size: int | None = None,
    ask: int | None = None,
    ceiling: float = math.inf,
) -> Blocks:
    """Return the block size and the number of blocks for each person with the least variance.

    For equal numbers of ``options``. ``size`` or ``ask`` can be fixed; no block has more than 2^20
    cells or an epsilon above ``ceiling``. Of equals the smaller blocks, then the fewer.
    """
    questions = integer("questions", questions, 1, MOST_QUESTIONS)
    epsilon = positive("epsilon", epsilon)
    if not is_real(ceiling) or not ceiling > 0:
        raise ValueError(f"ceiling must be positive, got {ceiling!r}")
    highest = min(ceiling, epsilon) * (1 + 1e-12)
    most = int(math.log(MOST_CELLS) / math.log(options_and_cells(options, None)[0]) + 1e-9)
    sizes = range(1, min(most, questions) + 1) if size is None else [integer("size", size, 1)]
    found: Blocks | None = None
    for each in sizes:
        for asked in range(1, questions // each + 1) if ask is None else [integer("ask", ask, 1)]:
            if each * asked > questions or epsilon / asked > highest:
                continue
            variance = block_variance(questions, each, asked, epsilon, share, options)
            if found is None or variance < found.variance * (1 - 1e-12):
                found = Blocks(each, asked, variance)
    if found is None:
        raise ValueError(
            f"questions must allow blocks with size={size!r}, ask={ask!r}, ceiling={ceiling!r}, "
            f"got {questions}"
        )
    return found
