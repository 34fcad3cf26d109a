"""The design of a planned survey, and how precise its questions will be. Pure: no Django.

A question's precision is that of a yes or no: its options have channels of their own, and a mean
has that of the yes or no whose share would be as precise, in parts of the range of its scores.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from aggregation.planner.notation import describe
from aggregation.releases.estimate import Asked, asked
from aggregation.statistics import planning
from aggregation.statistics.proportion import Channel
from survey import design as designs
from survey.design import Block, Design, Measure, Question, follow_ups
from survey.design.kinds.number import Number
from survey.design.kinds.several import Several

# The part of the people whom a follow-up concerns, where nothing is known yet.
CONCERNED = 0.2
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)  # tried for the least precise share of those concerned


@lru_cache(maxsize=256)
def designed(
    questions: tuple[Question, ...], epsilon: float, size: int | None = None, ask: int | None = None
) -> Design:
    """Return the design of a survey with these questions, in blocks of at most `size`."""
    return designs.build(epsilon, questions, (), _blocks(questions, size), ask)


def _blocks(questions: Sequence[Question], size: int | None) -> list[list[str]] | None:
    """Put the questions into as few blocks of this size as possible, the largest ones apart.

    Follow-ups stay with the question they depend on, and multiple choice is alone.
    """
    if size is None:
        return None
    trees = follow_ups.trees(questions)
    alone = [tree for tree in trees if isinstance(tree[0], Several)]
    others = [tree for tree in trees if not isinstance(tree[0], Several)]
    blocks: list[list[Question]] = [[] for _ in range(math.ceil(sum(map(len, others)) / size))]
    for tree in sorted(others, key=lambda tree: -_combinations(tree)):
        free = [block for block in blocks if len(block) + len(tree) <= size]
        free = free or [block for block in blocks if not block]
        if free:
            min(free, key=_combinations).extend(tree)
        else:
            blocks.append([*tree])
    return [[one.key for one in block] for block in [*blocks, *alone] if block]


def _combinations(questions: Sequence[Question]) -> int:
    return math.prod(question.values for question in questions)


# --- Precision ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signal:
    """The yes or no that is as precise as an estimate; a mean's is in parts of its range."""

    channel: Channel
    contrast: float  # a forged report moves the estimate by 1/contrast at most
    is_mean: bool = False  # then no expected share applies to it


CLEAR = Signal(Channel(1.0, 0.0), 1.0)  # a survey without noise


@dataclass(frozen=True)
class Kind:
    """Questions that are equally precise."""

    question: Question  # one of them
    where: str  # a brief description of the block
    signal: Signal
    concerned: Signal | None  # of a share among those whom a follow-up concerns
    asked: tuple[int, int]  # each person is asked it with this chance
    questions: int = 1

    @property
    def name(self) -> str:
        return describe(self.question)

    @property
    def channel(self) -> Channel:
        return self.signal.channel

    @property
    def part(self) -> float:
        """The part of the people who are asked the question."""
        return self.asked[0] / self.asked[1]

    def reports(self, people: int) -> int:
        """Return how many of these people are asked the question."""
        return people * self.asked[0] // self.asked[1]


def kinds(design: Design) -> list[Kind]:
    """Return the sensitive questions by their precision, in the order of the design."""
    found: dict[tuple[object, ...], Kind] = {}
    for question in sensitive(design):
        kind = kind_of(design, question)
        key = kind.name, kind.where, kind.asked, question.only_if is None, kind.signal
        known = found.get(key)
        found[key] = Kind(
            kind.question, kind.where, kind.signal, kind.concerned, kind.asked,
            known.questions + 1 if known else 1,
        )  # fmt: skip
    return list(found.values())


def sensitive(design: Design) -> list[Question]:
    """Return the sensitive questions, each once, after the one it depends on."""
    background = {question.key for question in design.background}
    return [question for question in design.questions if question.key not in background]


def kind_of(design: Design, question: Question) -> Kind:
    """Return the precision of one question."""
    one = asked(design, question.key)
    blocks = len(design.places[question.key])
    signal, concerned = signals(one)
    chance = design.ask * blocks, len(design.sensitive_blocks)
    return Kind(question, _where(one.blocks), signal, concerned, chance)


def _where(blocks: Sequence[Block]) -> str:
    if len(blocks) > 1:
        return f"in {len(blocks)} blocks"
    members = blocks[0].questions
    if len(members) == 1:
        return "alone"
    if len(members) <= 4 and not any(question.only_if for question in members):
        return f"in a block of {' × '.join(str(size) for size in sorted(q.size for q in members))}"
    return f"in a block of {len(members)}, {blocks[0].mechanism.cells:,} combinations"


def signals(one: Asked) -> tuple[Signal, Signal | None]:
    """Return the signal of a question, and that of a follow-up among those concerned.

    It is that of its shares of everybody, or of a number's mean.
    """
    question = one.question
    if isinstance(question, Number):
        mean = mean_of(one)
        return mean, mean if question.only_if else None
    # The least precise option; of equals the last, such as “yes”.
    channel = max(reversed(one.channels), key=lambda channel: planning.half_width(1, channel))
    signal = Signal(channel, channel.contrast)
    if not question.only_if:
        return signal, None
    measures = [each for each in question.measures() if each.name == "share_of_concerned"]
    return signal, _among(one, measures[0], SHARES)


def mean_of(one: Asked) -> Signal:
    """Return the signal of the mean of a number or a scale, in parts of its range.

    Half of the people are at either end, which is the worst case; of a follow-up, half of those
    concerned.
    """
    measure = next(each for each in one.question.measures() if each.name == "mean")
    return _among(one, measure, (0.5,))


def _among(one: Asked, measure: Measure, shares: Sequence[float]) -> Signal:
    """Return the signal of a mean, or of a share of those concerned, at the worst of `shares`.

    If R is the mean, the reports' scores less R, which are 0 for values that do not count, have the
    variance P c R (1-R) + sum(b t^2) - sum(b t)^2, P being the part of the people who count.
    """
    scores = measure.scores
    assert scores is not None  # noqa: S101  # for the type checker
    known = [score for score in scores if score is not None]
    least, span = min(known), max(known) - min(known)
    part = CONCERNED if one.question.only_if else 1.0
    worst = 0.0
    for share in shares:
        t = [0.0 if score is None else (score - least) / span - share for score in scores]
        square = math.fsum(b * x * x for b, x in zip(one.stray, t, strict=True))
        mean = math.fsum(b * x for b, x in zip(one.stray, t, strict=True))
        worst = max(worst, part * one.keep * share * (1 - share) + square - mean**2)
    contrast = 0.5 * one.keep * part / math.sqrt(worst)
    channel = Channel(0.5 + contrast / 2, 0.5 - contrast / 2)
    return Signal(channel, one.keep * part, is_mean=True)


def overruled(design: Design) -> tuple[int | None, int | None]:
    """Return block size and `ask` if a survey differs from the planner's choice, else None."""
    blocks = design.sensitive_blocks
    planned = designed(tuple(sensitive(design)), design.epsilon)
    if (_shape(blocks), design.ask) == (_shape(planned.blocks), planned.ask):
        return None, None
    return max(len(block.questions) for block in blocks), design.ask


def _shape(blocks: Sequence[Block]) -> list[list[str]]:
    return sorted(sorted(_names(block)) for block in blocks)


def _names(block: Block) -> Iterator[str]:
    return (describe(question) for question in block.questions)
