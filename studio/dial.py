"""The figures of the privacy dial: what a draft promises respondents and how precise it will be.

They follow from the design that opening would freeze and from the planner's formulas. They depend
only on the numbers of options, so a draft with missing texts has figures too.
"""

import math
from typing import Any

from aggregation.planner import plan
from aggregation.planner.planned_design import designed
from aggregation.statistics import planning
from aggregation.statistics.proportion import Channel
from aggregation.templatetags.figures import half_width, plain, times
from studio import precision
from survey import design as designs
from survey.design import Background, Block, Design, DesignError, Option, Question
from survey.design.languages import ENGLISH
from survey.models import Survey

PRESETS = {"Very strong": 0.5, "Strong": 1.0, "Usual": 2.0, "Weak": 3.0}
PEOPLE = 500  # the default for the expected number of people


def presets(most: float) -> list[dict[str, Any]]:
    """Return the presets for ε that the site allows, with the odds out of 100."""
    return [
        {"name": name, "epsilon": epsilon, "sure": plan.odds(epsilon).count}
        for name, epsilon in PRESETS.items()
        if epsilon <= most
    ]


def sized(survey: Survey) -> Design:
    """Return a design with the draft's numbers but placeholder texts, for the figures."""
    questions = survey.sensitive_questions()
    numbers = sorted({q.block for q in questions if q.block is not None})
    if numbers and any(question.block is None for question in questions):
        raise DesignError("blocks", "give every question a block, or none of them")
    blocks = [[q.key for q in questions if q.block == number] for number in numbers]
    asked = [
        Question(q.key, "?", _options(max(2, len(q.option_texts(q.options, ENGLISH)))))
        for q in questions
    ]
    background = [  # with one more option, for “Prefer not to say”
        Background(Question(q.key, "?", _options(max(2, len(q.options)) + 1)), q.cost)
        for q in survey.background_questions()
    ]
    return designs.build(survey.epsilon, asked, background, blocks or None, survey.ask)


def _options(count: int) -> tuple[Option, ...]:
    return tuple(Option(str(i), "?") for i in range(count))


def figures(survey: Survey, people: int, design: Design | None = None) -> dict[str, Any]:
    """Return the texts that the page shows next to the dial and the questions.

    The promise depends only on every ε, so it is included even for a draft without a design.
    """
    try:
        design = design or sized(survey)
    except DesignError as error:
        problem = {"where": error.where, "what": f"{_capital(error.what)}."}
        return promised(survey) | {"problem": problem}
    return promised(survey) | expected(survey, people, design)


def promised(survey: Survey) -> dict[str, Any]:
    """Return the costs of the sensitive answers, each background answer and the whole report."""
    background = [question.cost for question in survey.background_questions()]
    total = math.fsum([survey.epsilon, *background])
    return {
        "sure": sure(survey.epsilon),
        "dots": plan.odds(survey.epsilon).count,
        "weak": survey.epsilon > plan.WEAK,
        "costs": [{"epsilon": plain(epsilon), "sure": sure(epsilon)} for epsilon in background],
        "report": {"epsilon": plain(total), "sure": sure(total)},
    }


def costs(design: Design) -> list[dict[str, str]]:
    """Return the rows of the table of privacy costs; the whole report comes last."""
    rows = [("Sensitive answers", design.epsilon)]
    rows += [(f"“{block.questions[0].text}”", block.epsilon) for block in design.background_blocks]
    if design.background_blocks:
        rows.append(("Whole report", design.report_epsilon))
    return [{"name": name, "epsilon": plain(cost), "sure": sure(cost)} for name, cost in rows]


def expected(survey: Survey, people: int, design: Design) -> dict[str, Any]:
    """Return the expected margins of error: overall, by group and of each question."""
    reports = precision.reports(design, people)
    questions = {
        question.key: {"error": error_of(block, i, reports), "block": number}
        for number, block in enumerate(design.sensitive_blocks, 1)
        for i, question in enumerate(block.questions)
    }
    by_group = [
        {
            "groups": block.questions[0].size - 1,
            "error": shown(precision.half_width_in_group(design, block, people)),
        }
        for block in design.background_blocks
    ]
    return {
        "everybody": shown(precision.half_width(design, people)),
        "by_group": by_group,
        "blocks": explained(design, survey),
        "questions": [questions[question.key] for question in survey.sensitive_questions()],
    }


def error_of(block: Block, position: int, reports: int) -> str:
    channel = Channel(*block.mechanism.channel(position))
    return shown(planning.half_width(reports, channel) if reports else math.inf)


def shown(width: float) -> str:
    """Return a half-width in points, or a dash if nobody would be asked."""
    return half_width(width) if math.isfinite(width) else "–"


def sure(epsilon: float) -> str:
    """Return how sure somebody who is guessing 50:50 can become at most."""
    odds = plan.odds(epsilon)
    return f"more than {odds.count}\u202f%" if odds.more else f"{odds.count}\u202f%"


def explained(design: Design, survey: Survey) -> str:
    """Explain how the sensitive questions are asked, and why."""
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
    questions_of = survey.sensitive_questions()
    chosen = survey.ask is not None or any(q.block is not None for q in questions_of)
    return f"{first} {_chosen(design) if chosen else _planned(design)}"


def _planned(design: Design) -> str:
    sizes = sizes_of(design)
    split = [[i] for i in range(len(sizes))]
    factor = designs.variance_factor(split, sizes, design.epsilon, len(split)) / _factor(design)
    if factor < 1.05:
        return "This gives the smallest margin of error on average."
    more = times(factor) if math.isfinite(factor) else "far"
    return (
        "This gives the smallest margin of error: asking everybody everything separately would "
        f"need {more} times as many people."
    )


def _chosen(design: Design) -> str:
    planned = designed(sizes_of(design), design.epsilon)
    saved = 1 - _factor(planned) / _factor(design)
    if saved < 0.005:
        return "You chose these blocks. The planner’s would be no better."
    return f"You chose these blocks. The planner’s need {saved:.0%} fewer people."


def sizes_of(design: Design) -> tuple[int, ...]:
    """Return the number of options of each sensitive question, in the order of the blocks."""
    return tuple(q.size for block in design.sensitive_blocks for q in block.questions)


def _factor(design: Design) -> float:
    grouping, first = [], 0
    for block in design.sensitive_blocks:
        grouping.append(list(range(first, first + len(block.questions))))
        first += len(block.questions)
    return designs.variance_factor(grouping, sizes_of(design), design.epsilon, design.ask)


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
