"""What readers of published tables can learn about one person if they trust the server.

A release shows tallies, in which a report hides among others. The bound of `privacy.shuffled` is
for the whole report of a person: blocks have separate coins, so their losses add up. It is proved
for readers of the tables of everybody:

- In one release, a report hides among all reports to a block.
- All releases add up to tallies of the reports that came between two releases. A person is in one
  of these, so the smallest one counts. Later releases cost nothing more, because what they add to
  that tally does not depend on the report.

Nothing is claimed for tables of several questions, such as results by group. Only the local ε holds
there.
"""

import math
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from aggregation.models import Estimate, Release
from aggregation.releases.estimate import positions_of_everybody
from aggregation.statistics import privacy
from survey.design import Block, Design

COMPUTE_SECONDS = 0.03  # how long a page waits for new figures
MOST_RELEASES = 100  # to compare

Sizes = dict[str, int]  # block key → reports


@dataclass(frozen=True)
class Reader:
    """What somebody can learn from certain tables."""

    what: str
    among: int  # the fewest reports that hide a person
    epsilon: float | None  # the loss at δ; None while it is being computed


@dataclass(frozen=True)
class Central:
    delta: float
    readers: list[Reader]
    local: float


def central(release: Release) -> Central:
    """Return what readers of this release, and of all releases so far, can learn."""
    design = release.survey.frozen_design()
    delta = delta_for(release.reports)
    local = _composed(design, {block.key: block.mechanism.epsilon for block in design.blocks})
    first = release.number if release.number > MOST_RELEASES else 1
    sizes = sizes_of_blocks(release, first)
    read = {"The results of everybody in this release": sizes[-1]}
    if len(sizes) > 1:
        read["Those of all releases so far"] = smallest_steps(sizes)
    until = time.monotonic() + COMPUTE_SECONDS
    readers = []
    for what, among in read.items():
        try:
            loss = min(local, epsilon(design, among, delta, until))
        except TimeoutError:
            loss = None
        readers.append(Reader(what, min(among.values()), loss))
    return Central(delta, readers, local)


def delta_for(people: int) -> float:
    """Return the largest power of ten that is at most a thousandth of 1/people."""
    return float(10.0 ** -(3 + math.ceil(math.log10(people))))


def epsilon(design: Design, sizes: Sizes, delta: float, until: float) -> float:
    """Return the loss of a whole report that is hidden among this many reports to each block.

    TimeoutError if it is not known by then; the computation continues for later requests.
    """
    each = delta / (design.ask + len(design.background_blocks))
    asked = {
        block.key: hidden(block, sizes[block.key], each)
        for block in design.blocks
        if block.key in sizes  # nobody has answered the others
    }
    return _composed(
        design,
        {key: one.result(max(0.0, until - time.monotonic())) for key, one in asked.items()},
    )


def hidden(block: Block, among: int, delta: float) -> "Future[float]":
    """Return the loss of one block. Rounding down is safe, and the figure is often known."""
    digits = max(0, len(str(among)) - 2)
    mechanism = block.mechanism
    return shuffled(mechanism.epsilon, among // 10**digits * 10**digits, delta, mechanism.cells)


# A figure can take a tenth of a second, and no page waits that long. One thread computes all of
# them, and the results are remembered.
worker = ThreadPoolExecutor(1, "central")


@lru_cache(maxsize=4096)
def shuffled(epsilon: float, n: int, delta: float, cells: int) -> "Future[float]":
    return worker.submit(privacy.shuffled, epsilon, n, delta, cells)


def _composed(design: Design, losses: Mapping[str, float]) -> float:
    """Add up the losses of a person who was asked the worst blocks and all background blocks."""
    background = [losses.get(block.key, 0.0) for block in design.background_blocks]
    others = sorted(losses.get(block.key, 0.0) for block in design.sensitive_blocks)
    return math.fsum(background + others[-design.ask :])


def sizes_of_blocks(release: Release, first: int) -> list[Sizes]:
    """Return the reports to every block in the releases from `first` to this one."""
    design = release.survey.frozen_design()
    positions = positions_of_everybody(design)
    wanted = {positions[block.questions[0].key][0]: block.key for block in design.blocks}
    rows = Estimate.objects.filter(
        release__survey=release.survey,
        release__number__range=(first, release.number),
        position__in=wanted,
    )
    found: dict[int, Sizes] = {number: {} for number in range(first, release.number + 1)}
    for number, position, n in rows.values_list("release__number", "position", "n"):
        if n:
            found[number][wanted[position]] = n
    return list(found.values())


def smallest_steps(sizes: list[Sizes]) -> Sizes:
    """Return the fewest reports by which the tally of each block ever grew."""
    return {
        block: min(
            after - before
            for before, after in pairwise(sorted({0, *(one.get(block, 0) for one in sizes)}))
        )
        for block in sizes[-1]
    }
