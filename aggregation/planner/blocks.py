"""An explanation of the blocks of a survey, for the planner and the studio."""

import math
from collections.abc import Iterator

from aggregation.planner.planned_design import sensitive
from aggregation.templatetags.figures import times
from survey.design import Design, follow_ups
from survey.design.kinds.several import Several


def explain(design: Design, chosen: bool) -> str:
    """Explain how the sensitive questions are asked, and why. `chosen`: somebody set the blocks."""
    questions, blocks = len(sensitive(design)), len(design.sensitive_blocks)
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
    return " ".join([first, *_together(design), _chosen(design) if chosen else _planned(design)])


def _together(design: Design) -> Iterator[str]:
    """Explain which questions have to share a block, and which cannot."""
    divided = [key for key, places in design.places.items() if len(places) > 1]
    if divided:
        yield (
            "Each follow-up has a block of its own, with the question that it depends on: small "
            "blocks keep more answers, and all of them tell about that question."
        )
    elif any(question.only_if for question in sensitive(design)):
        yield "Follow-ups are in one block with the question that they depend on."
    if len(sensitive(design)) > 1 and any(isinstance(q, Several) for q in sensitive(design)):
        yield "A multiple choice question is always alone in its block."


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
    """Return how many times as many people one block a question, all asked, would need."""
    separate = follow_ups.trees(sensitive(design))
    return follow_ups.spread(separate, design.epsilon, len(separate)) / _factor(design)


def people_saved_by_planner(design: Design) -> float:
    """Return the part of the people that the planner's blocks would save."""
    questions = sensitive(design)
    planned = follow_ups.choose_blocks(questions, design.epsilon, None)
    blocks = [[questions[i] for i in block] for block in planned.blocks]
    return 1 - follow_ups.spread(blocks, design.epsilon, planned.ask) / _factor(design)


def _factor(design: Design) -> float:
    blocks = [block.questions for block in design.sensitive_blocks]
    return follow_ups.spread(blocks, design.epsilon, design.ask)
