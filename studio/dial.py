"""The figures of the privacy dial: what a draft would promise and what it would find.

All of it from the design that opening would freeze, and from the formulas of the planner. A draft
whose texts are missing has its figures all the same: they depend on the numbers of options alone.
"""

import math
from typing import Any

from aggregation import plan
from aggregation.statistics import planning, privacy
from aggregation.statistics.proportion import Channel
from aggregation.templatetags.figures import half_width, times
from survey import design as designs
from survey.design import Design, DesignError, Option, Question
from survey.languages import ENGLISH
from survey.models import Survey

PRESETS = {"Very strong": 0.5, "Strong": 1.0, "Usual": 2.0, "Weak": 3.0}
PEOPLE = 500  # hoped for, until somebody says
MOST_PEOPLE = plan.MOST_PEOPLE


def presets(most: float) -> list[dict[str, Any]]:
    """Total ε in plain words, as far as the site allows, with the odds out of 100."""
    return [
        {"name": name, "epsilon": epsilon, "sure": plan.odds(epsilon).count}
        for name, epsilon in PRESETS.items()
        if epsilon <= most
    ]


def sized(survey: Survey) -> Design:
    """The design of the draft as far as figures go: with any texts, and two options at least."""
    questions = list(survey.questions.all())
    numbers = sorted({q.block for q in questions if q.block is not None})
    if numbers and any(question.block is None for question in questions):
        raise DesignError("blocks", "give every question a block, or none of them")
    blocks = [[q.key for q in questions if q.block == number] for number in numbers]
    asked = [
        Question(q.key, "?", _options(max(2, len(q.option_texts(q.options, ENGLISH)))))
        for q in questions
    ]
    return designs.build(survey.epsilon, asked, (), blocks or None, survey.ask)


def _options(count: int) -> tuple[Option, ...]:
    return tuple(Option(str(i), "?") for i in range(count))


def figures(survey: Survey, people: int, design: Design | None = None) -> dict[str, Any]:
    """What the page shows beside the dial and the questions, in words."""
    try:
        design = design or sized(survey)
    except DesignError as error:
        # How sure somebody can be follows from ε alone, but for a rounding that protects more.
        promised = {"sure": sure(survey.epsilon), "weak": survey.epsilon > plan.WEAK}
        return promised | {"problem": {"where": error.where, "what": f"{_capital(error.what)}."}}
    losses = sorted(block.mechanism.epsilon for block in design.blocks)
    total = privacy.composed(losses[-design.ask :])
    reports = people * design.ask // len(design.blocks)
    group, groups = largest(survey)
    in_group = (people // groups) * design.ask // len(design.blocks)
    channels = channels_of(design)
    keys = [question.key for question in survey.questions.all()]
    worst = min((channels[key] for key in keys), key=lambda channel: channel.contrast)
    number = {q.key: i for i, block in enumerate(design.blocks, 1) for q in block.questions}
    return {
        "sure": sure(total),
        "weak": total > plan.WEAK,
        "everybody": points(worst, reports),
        "group": points(worst, in_group) if group else "",
        "groups": f"in one of {groups} equal groups of “{group}”" if group else "",
        "hidden": bool(group) and in_group < survey.crowd,
        "reports": f"{reports:,}",
        "blocks": explained(design, survey),
        "questions": [
            {"error": points(channels[key], reports), "block": number[key]} for key in keys
        ],
    }


def sure(epsilon: float) -> dict[str, Any]:
    odds = plan.odds(epsilon)
    return {"count": odds.count, "more": odds.more}


def largest(survey: Survey) -> tuple[str, int]:
    """The background question with the most groups: the smallest groups are its."""
    strata = list(survey.strata.all())
    if not strata:
        return "", 1
    most = max(strata, key=lambda stratum: len(stratum.options))
    return most.text or "a background question", max(2, len(most.options))


def channels_of(design: Design) -> dict[str, Channel]:
    return {
        question.key: Channel(*block.mechanism.channel(i))
        for block in design.blocks
        for i, question in enumerate(block.questions)
    }


def points(channel: Channel, reports: int) -> str:
    """Points to either side at 95 %, whatever the share turns out to be."""
    return half_width(planning.half_width(reports, channel)) if reports else "–"


def explained(design: Design, survey: Survey) -> str:
    """In two sentences how people are asked, and why so."""
    questions, blocks = len(design.questions), len(design.blocks)
    if questions == 1:
        return "One question is one block. Everybody is asked it."
    if blocks == 1:
        first = f"All {questions} questions are one block, which everybody is asked."
    elif design.ask == blocks:
        first = f"The questions are in {blocks} blocks, and everybody is asked all of them."
    else:
        first = (
            f"The questions are in {blocks} blocks, and chance picks {design.ask} of them for "
            "each person."
        )
    chosen = survey.ask is not None or any(q.block is not None for q in survey.questions.all())
    return f"{first} {_chosen(design) if chosen else _planned(design)}"


def _planned(design: Design) -> str:
    sizes = tuple(question.size for question in design.questions)
    split = [[i] for i in range(len(sizes))]
    factor = designs.variance_factor(split, sizes, design.epsilon, len(split)) / _factor(design)
    if factor < 1.05:
        return "Of all ways to ask, this has the least error on average."
    return (
        "Of all ways to ask, this has the least error: everything asked of everybody would need "
        f"{times(factor) if math.isfinite(factor) else 'far'} times as many people."
    )


def _chosen(design: Design) -> str:
    sizes = tuple(question.size for question in design.questions)
    planned = plan.designed(sizes, design.epsilon)
    saved = 1 - _factor(planned) / _factor(design)
    if saved < 0.005:
        return "This is your choice, and as good as the planner’s."
    return f"This is your choice; the planner’s needs {saved:.0%} fewer people for the same error."


def _factor(design: Design) -> float:
    """Of the questions in the order in which the blocks have them."""
    sizes = tuple(question.size for question in design.questions)
    grouping, first = [], 0
    for block in design.blocks:
        grouping.append(list(range(first, first + len(block.questions))))
        first += len(block.questions)
    return designs.variance_factor(grouping, sizes, design.epsilon, design.ask)


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
