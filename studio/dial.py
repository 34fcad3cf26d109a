"""The figures of the privacy dial: what a draft promises, and how precise its results will be.

They follow from the design that opening would freeze and from the planner's formulas, and depend on
no texts, so a draft with missing texts has figures too.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from aggregation.planner import blocks
from aggregation.planner.planned_design import CONCERNED, Kind, kind_of, mean_of
from aggregation.releases.estimate import asked
from aggregation.templatetags.figures import WIDEST, half_width, plain, times
from studio import precision
from survey import design as designs
from survey.design import DECLINED, Background, Design, DesignError, Option, Question
from survey.design.kinds.number import Number
from survey.design.kinds.scale import Scale
from survey.design.kinds.several import Several
from survey.design.odds import in_words, is_weak, odds
from survey.models import Survey

PRESETS = {"Very strong": 0.5, "Strong": 1.0, "Usual": 2.0, "Weak": 3.0}
PEOPLE = 500  # the default for the expected number of people
BINS = 5  # of a scale in place of a number


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
        "weak": is_weak(survey.epsilon),
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
    chosen = survey.ask is not None or bool(survey.blocks)
    return {
        "everybody": with_unit(*precision.least_precise(design, people)),
        "by_group": [
            {
                "groups": block.questions[0].size - 1,
                "error": with_unit(*precision.least_precise(design, people, block)),
            }
            for block in design.background_blocks
        ],
        "blocks": blocks.explain(design, chosen),
        "questions": [
            of_question(design, question.key, people) for question in survey.sensitive_questions()
        ],
    }


def of_question(design: Design, key: str, people: int) -> dict[str, Any]:
    """Return the expected margins of error of a question.

    `error` has its unit: points for shares, the question's own for a number. `blocks` are the
    numbers of its blocks, of which the first is `block`. `more` are sentences about its kind.
    """
    question = next(one for one in design.questions if one.key == key)
    kind = kind_of(design, question)
    numbers = [
        number
        for number, block in enumerate(design.sensitive_blocks, 1)
        if any(one.key == key for one in block.questions)
    ]
    error = with_unit(precision.of_kind(kind, people), question)
    found: dict[str, Any] = {"error": error, "block": numbers[0], "blocks": numbers}
    return found | {"more": list(_sentences(design, kind, people))}


def _sentences(design: Design, kind: Kind, people: int) -> Iterator[str]:
    question = kind.question
    if isinstance(question, Number):
        yield from _average_or_distribution(design, question, people)
    if isinstance(question, Several):
        yield _picks(design, question, people)
    if isinstance(question, Scale):
        scores = [option.score for option in question.options if option.score is not None]
        mean = mean_of(asked(design, question.key))
        width = precision.of_signal(mean, kind.reports(people))
        told = shown_with(width, max(scores) - min(scores), "")
        yield f"Mean score: {told}{_if_concerned(question)}."
    if kind.concerned and not isinstance(question, Number):
        width = precision.of_signal(kind.concerned, kind.reports(people))
        yield f"Among those concerned: {in_points(width)}{_if_concerned(question)}."
    yield from _follow_ups(design, question)


def _if_concerned(question: Question) -> str:
    return f" if {100 * CONCERNED:.0f}\u202f% are concerned" if question.only_if else ""


def _average_or_distribution(design: Design, number: Number, people: int) -> Iterator[str]:
    """Compare the average of a number with a scale of bins, which shows the distribution."""
    options = tuple(Option(f"bin-{i}", "?", float(i)) for i in range(1, BINS + 1))
    bins = Scale(number.key, number.text, (*options, *number.options), number.only_if)
    width = precision.with_question(design, bins, people)
    if width is not None:
        yield (
            f"This gives the average. A scale of {BINS} bins would give the distribution, with "
            f"{in_points(width)} for each bin."
        )


def _picks(design: Design, question: Several, people: int) -> str:
    """Say what it costs to allow one pick, some, or as many as there are options."""
    own = sum(option.key != DECLINED for option in question.options)
    costs = []
    for picks in sorted({1, min(3, own), question.picks, own}):
        width = precision.with_question(design, replace(question, picks=picks), people)
        name = "all that apply" if picks == own else "one pick" if picks == 1 else f"up to {picks}"
        if width is not None:
            costs.append(f"{name} {in_points(width)}")
    return f"What the number of picks costs: {', '.join(costs)}."


def _follow_ups(design: Design, gate: Question) -> Iterator[str]:
    """Say what the follow-ups of a question cost."""
    count, known = 0, {gate.key}
    for one in design.questions:
        if one.only_if and one.only_if[0] in known:
            known.add(one.key)
            count += 1
    factor = precision.cost_of_follow_ups(design, gate.key) if count else None
    if factor is not None:
        these = "This follow-up needs" if count == 1 else f"These {count} follow-ups need"
        yield (
            f"{these} {times(factor)} times as many people."
            if factor >= 1.05
            else f"{these} no more people."
        )


def with_unit(width: float, question: Question) -> str:
    """Return a question's half-width in points, or that of a number's mean in its own unit."""
    if isinstance(question, Number):
        return shown_with(width, question.most - question.least, question.unit)
    return in_points(width)


def in_points(width: float) -> str:
    """Return a half-width in percentage points, or a dash if nobody would be asked."""
    return f"{half_width(width)} points" if math.isfinite(width) else "–"


def shown_with(width: float, span: float, unit: str) -> str:
    """Return a half-width, given as a part of a range, in the unit of the range."""
    if not math.isfinite(width):
        return "–"
    if width > WIDEST:
        return f"> ±\u202f{WIDEST * span:,.3g} {unit}".rstrip()
    return f"±\u202f{rounded(width * span)} {unit}".rstrip()


def rounded(error: float) -> str:
    """Return a margin of error with two digits, or all before its decimal point."""
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{error:,.{min(digits, 3)}f}"


def sure(epsilon: float) -> str:
    """Return how sure somebody who is guessing 50:50 can become at most."""
    return f"{in_words(odds(epsilon))}\u202f%"
