"""The precision of a draft's results: 95 % half-widths that hold for any shares."""

import math

from aggregation.planner.planned_design import kinds
from aggregation.planner.solving import MOST_PEOPLE
from aggregation.statistics import planning
from aggregation.statistics.proportion import Channel
from survey.design import Block, Design


def reports(design: Design, people: int) -> int:
    """Return how many people are asked each sensitive question."""
    return people * design.ask // len(design.sensitive_blocks)


def half_width(design: Design, people: int, by: Block | None = None) -> float:
    """Return the half-width of the least precise question, or infinity without reports.

    With a background question, it is that in one of its groups, if they have equal sizes.
    """
    channels = [kind.channel for kind in kinds(design)]
    if not (n := reports(design, people)):
        return math.inf
    if by is None:
        return max(planning.half_width(n, channel) for channel in channels)
    share = 1 / (by.questions[0].size - 1)  # nobody is expected to prefer not to say
    group = Channel(*by.mechanism.channel(0))
    return max(planning.half_width_in_group(n, share, group, channel) for channel in channels)


def people_for(design: Design, width: float) -> int | None:
    """Return how many people are needed for this half-width, or None if that is far too many."""
    try:
        needed = max(planning.sample_size(width, kind.channel) for kind in kinds(design))
    except ValueError:
        return None
    people = -(-needed * len(design.sensitive_blocks) // design.ask)
    return people if people <= MOST_PEOPLE else None
