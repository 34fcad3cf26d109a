"""An explanation of the blocks of a survey, for the planner and the studio."""

import math

from aggregation.planner.planned_design import designed, sizes_of
from aggregation.templatetags.figures import times
from survey.design import Design, variance_factor


def explain(design: Design, chosen: bool) -> str:
    """Explain how the sensitive questions are asked, and why. `chosen`: somebody set the blocks."""
    questions, blocks = len(sizes_of(design)), len(design.sensitive_blocks)
    if questions == 1:
        return "One question is one block. Everybody is asked it."
    if blocks == 1:
        first = f"All {questions} questions are one block. Everybody is asked all of them."
    elif design.ask == blocks:
        first = f"The questions are in {blocks} blocks. Everybody is asked all of them."
    else:
        first = (
            f"The questions are in {blocks} blocks. Each person is asked {design.ask} of them, "
            "chosen at random."
        )
    return f"{first} {_chosen(design) if chosen else _planned(design)}"


def _planned(design: Design) -> str:
    factor = people_if_separate(design)
    if factor < 1.05:
        return "This gives the smallest margin of error on average."
    more = times(factor) if math.isfinite(factor) else "far"
    return (
        "This gives the smallest margin of error: asking everybody everything separately would "
        f"need {more} times as many people."
    )


def _chosen(design: Design) -> str:
    saved = people_saved_by_planner(design)
    if saved < 0.005:
        return "You chose these blocks. The planner’s would be no better."
    return f"You chose these blocks. The planner’s need {saved:.0%} fewer people."


def people_if_separate(design: Design) -> float:
    """Return how many times as many people would be needed with a block for every question."""
    sizes = sizes_of(design)
    separate = [[i] for i in range(len(sizes))]
    return variance_factor(separate, sizes, design.epsilon, len(sizes)) / _factor(design)


def people_saved_by_planner(design: Design) -> float:
    """Return the fraction of the people that the planner's blocks would save."""
    return 1 - _factor(designed(sizes_of(design), design.epsilon)) / _factor(design)


def _factor(design: Design) -> float:
    grouping, first = [], 0
    for block in design.sensitive_blocks:
        grouping.append(list(range(first, first + len(block.questions))))
        first += len(block.questions)
    return variance_factor(grouping, sizes_of(design), design.epsilon, design.ask)
