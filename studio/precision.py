"""The precision of a draft's results: 95 % half-widths that hold for any shares."""

import math

from aggregation.planner import planned_design
from aggregation.planner.solving import MOST_PEOPLE
from aggregation.statistics import planning
from survey.design import Block, Design


def reports(design: Design, people: int) -> int:
    """Return how many people are asked each sensitive question."""
    return people * design.ask // len(design.sensitive_blocks)


def half_width(design: Design, people: int) -> float:
    """Return the half-width of the least precise question, or infinity without reports."""
    if not (n := reports(design, people)):
        return math.inf
    return max(planning.half_width(n, kind.channel) for kind in planned_design.kinds(design))


def half_width_in_group(design: Design, by: Block, people: int) -> float:
    """Return the same for one of the groups of a background question, if they have equal sizes."""
    if not (n := reports(design, people)):
        return math.inf
    return max(
        planned_design.half_width_in_group(by, n, kind.channel)
        for kind in planned_design.kinds(design)
    )


def people_for(design: Design, width: float) -> int | None:
    """Return how many people are needed for this half-width, or None if that is far too many."""
    try:
        needed = max(
            planning.sample_size(width, kind.channel) for kind in planned_design.kinds(design)
        )
    except ValueError:
        return None
    people = -(-needed * len(design.sensitive_blocks) // design.ask)
    return people if people <= MOST_PEOPLE else None
