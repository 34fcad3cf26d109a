"""Which groups of a table may be shown: the one gate between tallies and readers.

A table divides the reports that were asked a question into groups: one of everybody, the groups of
a stratum, or those of several strata in an analysis. Its hidden groups are one part, the rest,
which is the total less what is shown. So a table is a division of reports into parts, and whoever
has two tables can add and subtract parts of both. The rules keep every figure that can be computed
so, as it stands for reports, to nobody or to a crowd at least:

1. A group below the crowd is hidden, and so is an empty one. If what is hidden together still
   holds fewer than a crowd but somebody, the smallest groups shown are hidden as well.
2. A table changes only when every part of it, each group shown before and the rest, has grown by a
   crowd or not at all. Until then the older table stands.
3. A stratum's table changes only together with that of everybody, because its groups may add up
   to a total of their own. (Rule 4 would find that as well, and later.)
4. A new table and any one that was shown before, in whatever release, of whatever stratum or
   analysis, together tell no fewer than a crowd apart.

How rule 4 is decided. Let the parts of both tables be the vertices of a graph, and let as many
edges join a part of one to a part of the other as there are reports in both. The older table has
one part more, of those who had not come yet; and where a table has only reports that were asked
several blocks, so has it of those who were not. A figure that is computed from the two adds numbers
a and b for the parts in which a report is, and so gives the report the weight a + b. Call a and -b
the heights of the two vertices: a report counts for nothing if its edge is level. If a figure is
about anybody at all, then some edge is not level, and between the heights of its ends there is a
height that cuts the graph: at least all the edges of this cut are not level. And for each cut there
is the figure that has weights on its edges only. So the fewest reports that a figure can be about
are the least cut within a connected part of the graph, which must be a crowd (`cut`). The cut
around a single vertex is the size of a part: rule 1. That around a group, then and now, is its
growth: rule 2.

Where a table fails, the smallest groups that close the cut are hidden (`settle`); a group that was
shown is not hidden again, but then the older table stands. When a survey closes, its last tables
appear under rule 1, and rule 4 among themselves: the reports themselves can then be taken home.

Two facts spare most comparisons. If each part of a new table has grown by a crowd since a release,
then no cut with anything shown until that release is below it: such a cut would have to leave the
growth of some part on its other side. And if a table passed beside others, and all its parts then
grew by a crowd or not at all, it still does: edges were only added where a crowd of them was.

Not looked at: figures from three tables or more that are not sums of such pairs with the totals of
their releases; how many reports were asked one block or another, since sizes tell nothing of what
was reported; and what somebody knows from elsewhere (that a group got no report in some days, or
which reports they sent themselves).
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EVERYBODY = ""

Counts = NDArray[np.int64]  # reports by [group of one table][part of another]


@dataclass(frozen=True)
class Table:
    """What was last published: how many reports each group held, and which groups were shown."""

    sizes: Sequence[int]
    shown: set[int]


def shown(sizes: Sequence[int], crowd: int) -> set[int]:
    """Rule 1: positions of the groups of these sizes that may be shown."""
    by_size = sorted(range(len(sizes)), key=lambda i: sizes[i])
    visible = [i for i in by_size if sizes[i] >= crowd]
    hidden = sum(sizes) - sum(sizes[i] for i in visible)
    while visible and 0 < hidden < crowd:
        hidden += sizes[visible.pop(0)]
    return set(visible)


def may_replace(before: Table, sizes: Sequence[int], crowd: int) -> bool:
    """Rule 2: whether a table of these sizes may replace the one `before` it."""
    if not before.shown:
        return bool(shown(sizes, crowd))

    def grown(groups: set[int]) -> int:
        return sum(sizes[i] - before.sizes[i] for i in groups)

    rest = set(range(len(sizes))) - before.shown
    growth = [grown({i}) for i in before.shown] + [grown(rest)]
    return (
        any(growth)
        and all(grew == 0 or grew >= crowd for grew in growth)
        and before.shown <= shown(sizes, crowd)
    )


def fresh(
    before: Mapping[str, Table], now: Mapping[str, Sequence[int]], crowd: int, final: bool
) -> set[str]:
    """Rules 2 and 3: the tables of a question, by stratum, that are published anew."""
    if final:
        return set(now)
    changed = {
        stratum
        for stratum, sizes in now.items()
        if stratum not in before or may_replace(before[stratum], sizes, crowd)
    }
    return changed if EVERYBODY in changed else changed - before.keys()


def merged(counts: Counts, visible: Set[int], groups: int) -> Counts:
    """Rows of groups as rows of parts: those shown, the rest, and what follows the groups."""
    rest = [i for i in range(groups) if i not in visible]
    together = counts[rest].sum(axis=0, keepdims=True)
    return np.concatenate([counts[sorted(visible)], together, counts[groups:]])


class Cut(NamedTuple):
    """The rows on the two sides of a cut, of those that hang together."""

    one: set[int]
    other: set[int]


def cut(counts: Counts, crowd: int) -> Cut | None:
    """Rule 4: where two tables tell fewer than a crowd apart; None if they nowhere do.

    Vertices that a crowd of edges joins are on the same side of every smaller cut, so these are
    made one, again and again; what is left, if anything, is cut by the method of Stoer and Wagner.
    """
    if np.all((counts == 0) | (counts >= crowd)) or _one(counts, crowd):
        return None
    from scipy.sparse.csgraph import connected_components  # slow to load

    rows, columns = counts.shape
    weights = np.zeros((rows + columns,) * 2, dtype=np.int64)
    weights[:rows, rows:] = counts
    weights[rows:, :rows] = counts.T
    place = np.arange(rows + columns)  # of each row and column among the vertices left
    while np.any(weights >= crowd):
        number, joined = connected_components(weights >= crowd, directed=False)
        summed = np.zeros((number, len(weights)), dtype=np.int64)
        np.add.at(summed, joined, weights)
        weights = np.zeros((number, number), dtype=np.int64)
        np.add.at(weights.T, joined, summed.T)
        np.fill_diagonal(weights, 0)
        place = joined[place]
    _, component = connected_components(weights > 0, directed=False)
    for one in range(component.max() + 1):
        vertices = np.flatnonzero(component == one)
        side = _least(weights[np.ix_(vertices, vertices)], crowd)
        if side is not None:
            inside = np.isin(place[:rows], vertices[side])
            outside = np.isin(place[:rows], vertices) & ~inside
            return Cut(set(np.flatnonzero(inside)), set(np.flatnonzero(outside)))
    return None


def _one(counts: Counts, crowd: int) -> bool:
    """Whether all become one vertex, beginning with the largest part: so it is, nearly always."""
    rows = np.zeros(counts.shape[0], dtype=np.bool_)
    columns = np.zeros(counts.shape[1], dtype=np.bool_)
    columns[counts.sum(axis=0).argmax()] = True
    for _ in range(2):
        rows |= counts[:, columns].sum(axis=1) >= crowd
        columns |= counts[rows].sum(axis=0) >= crowd
    left = counts[~rows].any() or counts[:, ~columns].any()
    return not left


def _least(weights: Counts, crowd: int) -> list[int] | None:
    """One side of a cut of this connected graph that is below the crowd; None if there is none."""
    weights = weights.copy()
    members = [[i] for i in range(len(weights))]
    alive = list(range(len(weights)))
    while len(alive) > 1:
        # The vertex that hangs most on those before it comes next; the last one is cut off.
        order = [alive[0]]
        hold = weights[alive[0]].copy()
        left = alive[1:]
        while left:
            order.append(max(left, key=lambda i: hold[i]))
            left.remove(order[-1])
            last = int(hold[order[-1]])
            hold += weights[order[-1]]
        if last < crowd:
            return members[order[-1]]
        before, end = order[-2:]
        weights[before] += weights[end]
        weights[:, before] += weights[:, end]
        weights[before, before] = 0
        members[before] += members[end]
        alive.remove(end)
    return None


def settle(
    sizes: Sequence[int],
    visible: Set[int],
    others: Sequence[Counts],
    crowd: int,
    keep: Set[int] = frozenset(),
) -> set[int] | None:
    """Rule 4: which of these groups may be shown beside others; None if some of `keep` may not.

    Each of `others` counts the reports by group and by the parts of another table. It may have
    more rows, of reports that are in no group.
    """
    found = set(visible)
    while found:
        parts = [merged(other, found, len(sizes)) for other in others]
        bad = next((one for part in parts if (one := cut(part, crowd)) is not None), None)
        if bad is None:
            break
        rest, named = len(found), sorted(found)
        for side in bad:  # the rest closes the cut when it has a group of either side
            hideable = [named[row] for row in side if row < rest and named[row] not in keep]
            if rest not in side and not hideable:
                return None if keep else set()
            if rest not in side:
                found.remove(min(hideable, key=lambda i: (sizes[i], -i)))
    return found if keep <= found else None
