"""Which cells of a table may be shown: the one gate between tallies and readers.

A table splits the reports of one question into groups (everybody is a table of one group). Its
total is public. Two rules keep every set of reports that can be told apart, by looking at one
table, at its total, or at two tables over time, at `crowd` or more:

1. A group below the crowd is hidden, and so is an empty one. If what is hidden together still
   holds fewer than a crowd but somebody, the smallest groups shown are hidden as well, since the
   hidden part is the total less the part shown.
2. A table changes only when every part of it, each group shown before and the hidden rest, has
   grown by a crowd or not at all. Until then the older table stands.

When a survey closes, its last table appears under rule 1 alone.
"""

from collections.abc import Sequence


def shown(sizes: Sequence[int], crowd: int) -> set[int]:
    """Rule 1: positions of the groups of these sizes that may be shown."""
    by_size = sorted(range(len(sizes)), key=lambda i: sizes[i])
    visible = [i for i in by_size if sizes[i] >= crowd]
    hidden = sum(sizes) - sum(sizes[i] for i in visible)
    while visible and 0 < hidden < crowd:
        hidden += sizes[visible.pop(0)]
    return set(visible)


def may_replace(
    before: Sequence[int], shown_before: set[int], sizes: Sequence[int], crowd: int
) -> bool:
    """Rule 2: whether a table of these sizes may replace the one `before` it."""

    def grown(groups: set[int]) -> int:
        return sum(sizes[i] - before[i] for i in groups)

    rest = set(range(len(sizes))) - shown_before
    parts = [{i} for i in shown_before] + [rest]
    growth = [grown(part) for part in parts]
    return (
        any(growth)
        and all(grew == 0 or grew >= crowd for grew in growth)
        and shown_before <= shown(sizes, crowd)
    )
