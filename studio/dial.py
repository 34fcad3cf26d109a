"""The figures of the privacy dial: what a draft promises, and how precise its results will be.

They follow from the design that opening would freeze and from the planner's formulas. They depend
only on the numbers of options, so a draft with missing texts has figures too.
"""

import math
from typing import Any

from aggregation.planner import blocks
from aggregation.statistics import planning
from aggregation.statistics.proportion import Channel
from aggregation.templatetags.figures import half_width, plain
from studio import precision
from survey import design as designs
from survey.design import Background, Design, DesignError
from survey.design.odds import WEAK, in_words, odds
from survey.models import Survey

PRESETS = {"Very strong": 0.5, "Strong": 1.0, "Usual": 2.0, "Weak": 3.0}
PEOPLE = 500  # the default for the expected number of people


def presets(most: float) -> list[dict[str, Any]]:
    """Return the presets for ε that the site allows, with the odds out of 100."""
    return [
        {"name": name, "epsilon": epsilon, "sure": odds(epsilon)}
        for name, epsilon in PRESETS.items()
        if epsilon <= most
    ]


def sized(survey: Survey) -> Design:
    """Return a design with the draft's numbers but placeholder texts, for the figures."""
    asked = [question.without_texts() for question in survey.sensitive_questions()]
    background = [Background(q.without_texts(), q.cost) for q in survey.background_questions()]
    return designs.build(survey.epsilon, asked, background, survey.blocks or None, survey.ask)


def figures(survey: Survey, people: int, design: Design | None = None) -> dict[str, Any]:
    """Return the texts that the page shows next to the dial and the questions.

    The promise depends only on every ε, so it is included even for a draft without a design.
    """
    try:
        design = design or sized(survey)
    except DesignError as error:
        what = f"{error.what[0].upper()}{error.what[1:]}."
        return promised(survey) | {"problem": {"where": error.where, "what": what}}
    return promised(survey) | expected(survey, people, design)


def promised(survey: Survey) -> dict[str, Any]:
    """Return the costs of the sensitive answers, each background answer and the whole report."""
    background = [question.cost for question in survey.background_questions()]
    total = math.fsum([survey.epsilon, *background])
    return {
        "sure": sure(survey.epsilon),
        "dots": min(odds(survey.epsilon), 99),
        "weak": survey.epsilon > WEAK,
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
    asked = survey.sensitive_questions()
    chosen = survey.ask is not None or bool(survey.blocks)
    reports = precision.reports(design, people)
    questions = {}
    for number, block in enumerate(design.sensitive_blocks, 1):
        for i, question in enumerate(block.questions):
            channel = Channel(*block.mechanism.channel(i))
            width = planning.half_width(reports, channel) if reports else math.inf
            questions[question.key] = {"error": shown(width), "block": number}
    return {
        "everybody": shown(precision.half_width(design, people)),
        "by_group": [
            {
                "groups": block.questions[0].size - 1,
                "error": shown(precision.half_width(design, people, block)),
            }
            for block in design.background_blocks
        ],
        "blocks": blocks.explain(design, chosen),
        "questions": [questions[question.key] for question in asked],
    }


def shown(width: float) -> str:
    """Return a half-width in points, or a dash if nobody would be asked."""
    return half_width(width) if math.isfinite(width) else "–"


def sure(epsilon: float) -> str:
    """Return how sure somebody who is guessing 50:50 can become at most."""
    return f"{in_words(odds(epsilon))}\u202f%"
