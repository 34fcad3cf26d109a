"""The design of a planned survey, and the kinds of its questions. Pure: no Django."""

import math
from dataclasses import dataclass
from functools import lru_cache

from aggregation.statistics.proportion import Channel
from survey import design as designs
from survey.design import KINDS, Block, Design, Option, Question


@lru_cache(maxsize=256)
def designed(
    sizes: tuple[int, ...], epsilon: float, size: int | None = None, ask: int | None = None
) -> Design:
    """Return the design of a survey with questions of these numbers of options."""
    return designs.build(epsilon, _questions(sizes), (), _blocks(sizes, size), ask)


@lru_cache(maxsize=64)
def _questions(sizes: tuple[int, ...]) -> tuple[Question, ...]:
    return tuple(
        KINDS["choice"](f"q{number}", "?", tuple(Option(f"o{i}", "?") for i in range(size)))
        for number, size in enumerate(sizes, 1)
    )


def _blocks(sizes: tuple[int, ...], size: int | None) -> list[list[str]] | None:
    """Put the questions into as few blocks of this size as possible, the largest ones apart."""
    if size is None:
        return None
    blocks: list[list[int]] = [[] for _ in range(math.ceil(len(sizes) / size))]
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        free = (block for block in blocks if len(block) < size)
        min(free, key=lambda block: math.prod(sizes[j] for j in block)).append(i)
    return [[f"q{i + 1}" for i in block] for block in blocks]


@dataclass(frozen=True)
class Kind:
    """Questions that have the same channel."""

    options: int
    block: tuple[int, ...]  # the number of options of every question in their block
    channel: Channel
    questions: int

    @property
    def where(self) -> str:
        """A brief description of the block."""
        if len(self.block) == 1:
            return "alone"
        if len(self.block) <= 4:
            return f"in a block of {' × '.join(str(size) for size in self.block)}"
        return f"in a block of {len(self.block)}, {math.prod(self.block):,} combinations"


def kinds(design: Design) -> list[Kind]:
    """Return the sensitive questions by their channel, those with the fewest options first."""
    found: dict[tuple[int, tuple[int, ...]], tuple[Channel, int]] = {}
    for block in design.sensitive_blocks:
        members = tuple(sorted(question.size for question in block.questions))
        for position, question in enumerate(block.questions):
            key = question.size, members
            channel, count = found.get(key) or (Channel(*block.mechanism.channel(position)), 0)
            found[key] = channel, count + 1
    return [Kind(*key, *found[key]) for key in sorted(found)]


def sizes_of(design: Design) -> tuple[int, ...]:
    """Return the number of options of each sensitive question, in the order of the blocks."""
    return tuple(q.size for block in design.sensitive_blocks for q in block.questions)


def overruled(design: Design) -> tuple[int | None, int | None]:
    """Return block size and `ask` if a survey differs from the planner's choice, else None."""
    blocks = design.sensitive_blocks
    planned = designed(sizes_of(design), design.epsilon)
    if (_shape(blocks), design.ask) == (_shape(planned.blocks), planned.ask):
        return None, None
    return max(len(block.questions) for block in blocks), design.ask


def _shape(blocks: tuple[Block, ...]) -> list[tuple[int, ...]]:
    return sorted(tuple(sorted(question.size for question in block.questions)) for block in blocks)
