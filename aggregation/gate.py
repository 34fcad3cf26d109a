"""Which cells of a table may be shown: the one gate between tallies and readers.

A question has a table of everybody (one group) and one for each stratum, which splits the same
reports into groups. Three rules keep every set of reports that can be told apart, by adding and
subtracting what was ever published about the question, empty or at `crowd` or more:

1. A group below the crowd is hidden, and so is an empty one. If what is hidden together still
   holds fewer than a crowd but somebody, the smallest groups shown are hidden as well, since the
   hidden part is the total less the part shown.
2. A table changes only when every part of it, each group shown before and the hidden rest, has
   grown by a crowd or not at all. Until then the older table stands.
3. A stratum's table changes only together with that of everybody, because its groups may add up
   to a total of their own.

When a survey closes, its last tables appear under rule 1 alone. Not looked at: groups of two strata
that overlap, and what somebody knows from elsewhere (that a group got no report in some days, or
which reports they sent themselves).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

EVERYBODY = ""


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
