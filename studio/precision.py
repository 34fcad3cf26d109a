"""How precise the results of a draft will be: 95 % half-widths, whatever the shares are."""

import math

from aggregation.planner import planned_design
from aggregation.planner.solving import MOST_PEOPLE
from aggregation.statistics import planning
from survey.design import Block, Design


def reports(design: Design, people: int) -> int:
    """Return how many people are asked any one of the sensitive questions."""
    return people * design.ask // len(design.sensitive_blocks)


def half_width(design: Design, people: int) -> float:
    """Return the half-width of the least precise question; without reports it is infinite."""
    if not (n := reports(design, people)):
        return math.inf
    return max(planning.half_width(n, kind.channel) for kind in planned_design.kinds(design))


def half_width_in_group(design: Design, by: Block, people: int) -> float:
    """Return the same for one of the equal groups of a background question."""
    if not (n := reports(design, people)):
        return math.inf
    return max(
        planned_design.half_width_in_group(by, n, kind.channel)
        for kind in planned_design.kinds(design)
    )


def people_for(design: Design, width: float) -> int | None:
    """Return how many people make the least precise question so precise; None: far too many."""
    try:
        needed = max(
            planning.sample_size(width, kind.channel) for kind in planned_design.kinds(design)
        )
    except ValueError:
        return None
    found = -(-needed * len(design.sensitive_blocks) // design.ask)
    return found if found <= MOST_PEOPLE else None
