"""What readers of published tables can learn of one person, if the server can be trusted.

A release shows tallies, in which a report hides among others. The bound is that of
`privacy.shuffled`, for the whole report of a person: blocks have separate coins, so that their
losses add up. What a person hides among depends on what is read, and this is what can be proved:

- the tables of everybody in one release: all reports of a block;
- those of all releases: they add up to the tallies of the reports that came between two of them,
  and a person is in one of those, so the smallest counts. A report that stands in later releases
  again costs nothing more, since what they add to its tally does not depend on it;
- the tables by one stratum, which is not protected: the group, or the rest that is not shown.

For tables by several strata nothing is claimed. Their groups overlap; who is alone in a combination
of groups may have nobody to hide among. The local ε holds then, as it always does.
"""

import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from aggregation.models import Estimate, Release, places
from aggregation.sections import Section
from aggregation.statistics import privacy
from survey.design import Block, Design

PATIENCE = 0.03  # seconds that a page waits for figures that nobody has asked for before
MANY = 100  # with more releases the crowd is taken for the smallest step between two


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


def central(release: Release, found: Sequence[Section], by: str = "") -> Central:
    """For the sections of a page; `by` is the text of the stratum that they are split by."""
    design = release.survey.frozen_design()
    delta = delta_for(release.reports)
    local = privacy.composed(_largest([b.mechanism.epsilon for b in design.blocks], design.ask))
    divided = {section.block: parts(section) for section in found}
    read = {"The tables of everybody in this release": smallest(divided, 0)}
    if release.number > 1:
        read["Those of all releases so far"] = steps(release, design)
    if by:
        read[f"This release by “{by}”"] = smallest(divided, 1)
    until = time.monotonic() + PATIENCE
    readers = []
    for what, sizes in read.items():
        if not sizes:
            continue
        try:
            loss = min(local, epsilon(design, sizes, delta, until))
        except TimeoutError:
            loss = None
        readers.append(Reader(what, min(sizes.values()), loss))
    return Central(delta, readers, local)


def delta_for(people: int) -> float:
    """A power of ten, a thousandth of one in so many people at most."""
    return float(10.0 ** -(3 + math.ceil(math.log10(people))))


def epsilon(design: Design, sizes: Mapping[str, int], delta: float, until: float) -> float:
    """Of a person's whole report, hidden among so many reports of each block.

    TimeoutError if it is not known by then; it will be for whoever asks a little later.
    """
    each = delta / design.ask
    blocks = [block for block in design.blocks if block.key in sizes]  # the others are not shown
    asked = [hidden(block, sizes[block.key], each) for block in blocks]
    losses = [future.result(max(0.0, until - time.monotonic())) for future in asked]
    return privacy.composed(_largest(losses, design.ask))


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


def _largest(losses: Sequence[float], count: int) -> list[float]:
    """What a person spends who was asked the worst blocks."""
    return [loss for loss in sorted(losses)[-count:] if loss > 0]


def smallest(divided: Mapping[str, list[list[int]]], table: int) -> dict[str, int]:
    return {block: min(tables[table]) for block, tables in divided.items() if tables[table]}


def parts(section: Section) -> list[list[int]]:
    """The tables of a question as sizes of disjoint parts: everybody, and groups with the rest."""
    tables = [section.everybody, *filter(None, [section.groups])]
    shown = [
        [rows[0].estimate.n for _, rows in table.groups if rows[0].estimate.n] for table in tables
    ]
    for groups in shown[1:]:
        if rest := sum(shown[0]) - sum(groups):
            groups.append(rest)
    return shown


def steps(release: Release, design: Design) -> dict[str, int]:
    """By block, the fewest reports by which the tables of everybody ever grew."""
    if release.number > MANY:
        return {block.key: 1 if release.final else release.survey.crowd for block in design.blocks}
    first = places(design)
    wanted = {first[block.questions[0].key]: block.key for block in design.blocks}
    rows = Estimate.objects.filter(
        release__survey=release.survey,
        release__number__lte=release.number,
        position__in=wanted,
        n__isnull=False,
    )
    sizes: dict[str, set[int]] = {}
    for position, n in rows.values_list("position", "n"):
        sizes.setdefault(wanted[position], {0}).add(n or 0)
    return {
        block: min(after - before for before, after in pairwise(sorted(found)))
        for block, found in sizes.items()
    }
