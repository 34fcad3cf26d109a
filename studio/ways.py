"""What other ways to ask would cost, for the author who chooses between them.

A number gives an average, and a scale made of its range gives a distribution. Multiple choice costs
more with every pick that is allowed, and follow-ups cost precision for all questions.
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from aggregation.statistics import planning
from aggregation.statistics.numeric.normal import quantile
from aggregation.statistics.proportion import Channel
from aggregation.templatetags.figures import half_width, times
from studio import dial
from survey.design import (
    DECLINED,
    KINDS,
    Block,
    Design,
    DesignError,
    Option,
    Question,
    follow_ups,
    make_block,
)
from survey.design.kinds.number import Number
from survey.design.kinds.several import Several
from survey.design.mechanism import SCALE
from survey.models import Survey

RANGES = (4, 5, 6)  # options that the range of a number is offered to be divided into
USUAL_PICKS = 3
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def of(survey: Survey, people: int, design: Design | None = None) -> dict[str, dict[str, Any]]:
    """Return the figures that apply to each sensitive question, by its key."""
    try:
        design = design or dial.sized(survey)
    except DesignError:
        return {}
    numbers = {block.key: i for i, block in enumerate(design.sensitive_blocks, 1)}
    found: dict[str, dict[str, Any]] = {}
    for key, places in design.places.items():
        block, place = places[0]
        if block.background:
            continue
        reports = people * design.ask * len(places) // len(design.sensitive_blocks)
        its: dict[str, Any] = {"blocks": [numbers[one.key] for one, _ in places]}
        question = block.questions[place]
        if isinstance(question, Number) and reports:
            its |= _of_number(question, block, place, reports)
        if isinstance(question, Several) and reports:
            its["picks"] = [*_of_picks(question, block, reports)]
        found[key] = its
    for gate, said in _branches(survey, design):
        found[gate]["follow_ups"] = said
    return found


# --- Numbers --------------------------------------------------------------------------------------


def _of_number(question: Number, block: Block, place: int, reports: int) -> dict[str, Any]:
    width = half_width_of_mean(block, place, reports)
    ranges = {}
    for count in RANGES:
        with contextlib.suppress(DesignError):  # too many combinations of answers
            channel = _as_scale(question, block, place, count)
            ranges[str(count)] = f"{half_width(planning.half_width(reports, channel))} points"
    return {"average": _amount(width, question), "ranges": ranges}


def half_width_of_mean(block: Block, place: int, reports: int, level: float = 0.95) -> float:
    """Return the half-width of a mean in the worst case, with half of the people at either end.

    Everybody is taken to be asked and to give a number.
    """
    question, mechanism = block.questions[place], block.mechanism
    mean = next(one for one in question.measures() if one.name == "mean")
    among = mean.among or (1.0,) * question.values
    weights = [w for w, counts in zip(mean.weights, among, strict=True) if counts]
    low, high = min(weights), max(weights)
    middle, kept = (low + high) / 2, mechanism.keep / SCALE
    scores = [w - middle * one for w, one in zip(mean.weights, among, strict=True)]
    chances = mechanism.chances(place)
    squares = math.fsum(chance * s**2 for chance, s in zip(chances, scores, strict=True))
    drawn = math.fsum(chance * s for chance, s in zip(chances, scores, strict=True))
    variance = kept * ((high - low) / 2) ** 2 + (1 - kept) * squares - ((1 - kept) * drawn) ** 2
    return float(quantile(level)) * math.sqrt(variance / reports) / kept


def _amount(width: float, question: Number) -> str:
    """Return a half-width in units, or say that it tells nothing about the mean."""
    if width > (question.most - question.least) / 2:
        return "over the whole range"
    digits = max(0, 1 - math.floor(math.log10(width)))
    return f"± {width:,.{digits}f} {question.unit}".strip().replace(" ", "\u202f")


def _as_scale(question: Number, block: Block, place: int, count: int) -> Channel:
    """Return the channel of an option if the range became a scale with so many options."""
    count = min(count, question.most - question.least + 1)
    options = tuple(Option(f"o{i}", "?", float(i)) for i in range(count)) + question.options
    scale = KINDS["scale"](question.key, "?", options, question.only_if)
    questions = [*block.questions[:place], scale, *block.questions[place + 1 :]]
    mechanism = make_block(block.key, block.epsilon, questions).mechanism
    return Channel(*mechanism.channel(place))


# --- Multiple choice ------------------------------------------------------------------------------


def _of_picks(question: Several, block: Block, reports: int) -> Iterator[dict[str, Any]]:
    """Yield what fewer or more picks cost: one, a few, those that were chosen, and all."""
    options = sum(option.key != DECLINED for option in question.options)
    counts = {count for count in (1, USUAL_PICKS, question.picks, options) if count <= options}
    widths = {}
    for count in sorted(counts):
        made = make_block(block.key, block.epsilon, [replace(question, picks=count)])
        widths[count] = planning.half_width(reports, Channel(*made.mechanism.channel(0)))
    for count, width in widths.items():
        yield {
            "picks": count,
            "what": _pick(count, options),
            "error": f"{half_width(width)} points",
            "people": "" if count == 1 else times((width / widths[1]) ** 2),
        }


def _pick(count: int, options: int) -> str:
    if count == options:
        return "All that apply"
    return "Pick one" if count == 1 else f"Up to {_word(count)}"


# --- Follow-ups -----------------------------------------------------------------------------------


def _branches(survey: Survey, design: Design) -> Iterator[tuple[str, str]]:
    """Yield each question that decides about others, with what all that depend on it cost."""
    known = {question.key: question for question in design.questions}
    asked = [known[one.key] for one in survey.sensitive_questions() if one.key in known]
    for gate in {one.only_if[0]: None for one in asked if one.only_if}:
        branch = _depending(gate, asked)
        factor = people_for_branch(design, asked, branch, survey.blocks, survey.ask)
        if math.isfinite(factor):
            yield gate, _said(len(branch), factor)


def _depending(gate: str, asked: Sequence[Question]) -> set[str]:
    """Return the keys of all questions that depend on this one, directly or not."""
    found: set[str] = set()
    for question in asked:
        if question.only_if and question.only_if[0] in {gate, *found}:
            found.add(question.key)
    return found


def people_for_branch(
    design: Design,
    asked: Sequence[Question],
    branch: set[str],
    blocks: Sequence[Sequence[str]],
    ask: int | None,
) -> float:
    """Return how many times as many people are needed as without these follow-ups.

    It is the mean over the questions of the people that each needs. `blocks` and `ask` are those
    that the author chose; otherwise the rest would be grouped again.
    """
    rest = [question for question in asked if question.key not in branch]
    known = {question.key: question for question in rest}
    try:
        if blocks:
            left = [[known[key] for key in block if key in known] for block in blocks]
            left = [block for block in left if block]
            fewer = min(design.ask, len(left))
        else:
            planned = follow_ups.choose_blocks(rest, design.epsilon, ask)
            left = [[rest[i] for i in block] for block in planned.blocks]
            fewer = planned.ask
    except DesignError:
        return math.inf
    now = [block.questions for block in design.sensitive_blocks]
    with_them = follow_ups.spread(now, design.epsilon, design.ask) / len(asked)
    return with_them / (follow_ups.spread(left, design.epsilon, fewer) / len(rest))


def _said(count: int, factor: float) -> str:
    these = "This follow-up" if count == 1 else f"These {_word(count)} follow-ups"
    if factor < 1.05:
        return f"{these} cost{'s' if count == 1 else ''} hardly any precision."
    return (
        f"{these} need{'s' if count == 1 else ''} {times(factor)} times as many people for the "
        "same precision."
    )


def _word(count: int) -> str:
    return WORDS[count] if count < len(WORDS) else f"{count}"
