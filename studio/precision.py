"""The precision of a draft's results: 95 % half-widths that hold for any answers.

Those of shares are parts of 1; those of means are parts of the range of the numbers or scores.
"""

import math
from collections.abc import Sequence
from operator import itemgetter

from aggregation.planner.planned_design import Kind, Signal, kind_of, kinds, sensitive
from aggregation.planner.solving import MOST_PEOPLE
from aggregation.statistics import planning
from aggregation.statistics.proportion import Channel
from survey import design as designs
from survey.design import Block, Design, DesignError, Question


def least_precise(design: Design, people: int, by: Block | None = None) -> tuple[float, Question]:
    """Return the half-width of the least precise question, or infinity without reports; and it.

    With a background question, it is that in one of its groups, if they have equal sizes.
    """
    widths = [(of_kind(kind, people, by), kind.question) for kind in kinds(design)]
    return max(widths, key=itemgetter(0))


def of_kind(kind: Kind, people: int, by: Block | None = None) -> float:
    """Return the half-width of a question, or in a group of a background question."""
    if by is None:
        return of_signal(kind.signal, kind.reports(people))
    if not (n := kind.reports(people)):
        return math.inf
    share = 1 / (by.questions[0].size - 1)  # nobody is expected to prefer not to say
    group = Channel(*by.mechanism.channel(0))
    return planning.half_width_in_group(n, share, group, kind.channel)


def of_signal(signal: Signal, reports: int) -> float:
    return planning.half_width(reports, signal.channel) if reports else math.inf


def people_for(design: Design, width: float) -> int | None:
    """Return how many people are needed for this half-width, or None if that is far too many."""
    try:
        people = max(
            math.ceil(planning.sample_size(width, kind.channel) / kind.part)
            for kind in kinds(design)
        )
    except ValueError:
        return None
    return people if people <= MOST_PEOPLE else None


def with_question(design: Design, question: Question, people: int) -> float | None:
    """Return the half-width of a question if it were asked in place of the one with its key.

    The blocks stay as they are. None if there is no such design.
    """
    changed = [question if one.key == question.key else one for one in sensitive(design)]
    blocks = [[one.key for one in block.questions] for block in design.sensitive_blocks]
    other = _built(design, changed, blocks, design.ask)
    if other is None:
        return None
    kept = next(one for one in other.questions if one.key == question.key)
    return of_kind(kind_of(other, kept), people)


def cost_of_follow_ups(design: Design, gate: str) -> float | None:
    """Return how many times as many people the follow-ups of a question make necessary.

    The least precise question is then as precise as the least precise one is without them. The
    planner chooses the blocks of both. None if there is no such design.
    """
    questions = sensitive(design)
    dropped = {gate}
    for one in questions:  # each after the one it depends on
        if one.only_if and one.only_if[0] in dropped:
            dropped.add(one.key)
    rest = [one for one in questions if one.key == gate or one.key not in dropped]
    whole, without = _built(design, questions), _built(design, rest)
    if whole is None or without is None:
        return None
    return _needed(whole) / _needed(without)


def _needed(design: Design) -> float:
    """Return how many people the least precise question needs, in some unit."""
    return max(planning.half_width(1, kind.channel) ** 2 / kind.part for kind in kinds(design))


def _built(
    design: Design,
    questions: Sequence[Question],
    blocks: Sequence[Sequence[str]] | None = None,
    ask: int | None = None,
) -> Design | None:
    try:
        return designs.build(design.epsilon, questions, blocks=blocks, ask=ask)
    except DesignError:
        return None
