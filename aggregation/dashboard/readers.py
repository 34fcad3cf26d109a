"""What readers of published tables can learn of one person, if the server can be trusted.

A release shows tallies, in which a report hides among others. The bound is that of
`privacy.shuffled`, for the whole report of a person: blocks have separate coins, so that their
losses add up. It is proved for those who read the tables of everybody:

- in one release: a report hides among all reports of a block;
- in all releases: they add up to the tallies of the reports that came between two of them, and a
  person is in one of those, so the smallest counts. A report that stands in later releases again
  costs nothing more, since what they add to its tally does not depend on it.

Nothing is claimed for tables of several questions, such as results by group. The local ε holds
there, as it always does.
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

COMPUTE_SECONDS = 0.03  # seconds that a page waits for figures that nobody has asked for before
MOST_RELEASES = 100  # that are compared; nothing is said about more

Sizes = dict[str, int]  # block key → reports


@dataclass(frozen=True)
class Reader:
    """Somebody who reads `what`: the fewest reports that hide a person, and the loss at δ.

    None is a loss that is still being computed.
    """

    what: str
    among: int
    epsilon: float | None


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
    """A power of ten, a thousandth of one in so many people at most."""
    return float(10.0 ** -(3 + math.ceil(math.log10(people))))


def epsilon(design: Design, sizes: Sizes, delta: float, until: float) -> float:
    """Of a person's whole report, hidden among so many reports of each block.

    TimeoutError if it is not known by then; it will be for whoever asks a little later.
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
    """Of one block. Fewer hide less, so the number is rounded down, and often known already."""
    digits = max(0, len(str(among)) - 2)
    mechanism = block.mechanism
    return shuffled(mechanism.epsilon, among // 10**digits * 10**digits, delta, mechanism.cells)


# A figure may take a tenth of a second, and no page waits for long. One thread makes them all, and
# what it has made is remembered.
worker = ThreadPoolExecutor(1, "central")


@lru_cache(maxsize=4096)
def shuffled(epsilon: float, n: int, delta: float, cells: int) -> "Future[float]":
    return worker.submit(privacy.shuffled, epsilon, n, delta, cells)


def _composed(design: Design, losses: Mapping[str, float]) -> float:
    """Add up what a person loses who was asked the worst blocks, and every background block."""
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
    """Return by block the fewest reports by which the tables of everybody ever grew."""
    return {
        block: min(
            after - before
            for before, after in pairwise(sorted({0, *(one.get(block, 0) for one in sizes)}))
        )
        for block in sizes[-1]
    }
