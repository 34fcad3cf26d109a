"""The frozen design of a survey: its questions, its blocks and their privacy cost.

Pure: no Django. A design is a value with a canonical JSON form (RFC 8785), identified by the
SHA-256 of that form. It is frozen when a survey opens, and every report names the design's hash.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from survey.design.canonical import canonical_json
from survey.design.follow_ups import Grouping, choose_blocks, items_of
from survey.design.grouping import best_ask
from survey.design.kinds import question_from_json
from survey.design.mechanism import (
    MAX_EPSILON,
    MECHANISM,
    SCALE,
    Cells,
    Draw,
    MechanismError,
    uniform,
)
from survey.design.odds import odds
from survey.design.questions import (
    MAX_QUESTIONS,
    DesignError,
    Question,
    check_questions,
    shapes,
)

ABSENT = 255  # in the bytes of a stored report: the question was not asked
BACKGROUND_EPSILON = 3.0  # the default for a background answer
MAX_WORK = 22  # bits; takes a slow phone a few minutes
PASSES = "RSABSSA-SHA384-PSS-Randomized"


@dataclass(frozen=True)
class Block:
    """Questions whose answers are kept or replaced together."""

    key: str
    epsilon: float
    keep: int
    questions: tuple[Question, ...]
    background: bool = False  # everybody is asked, and it has an ε of its own

    @cached_property
    def mechanism(self) -> Cells:
        return Cells(self.keep, shapes(self.questions))


@dataclass(frozen=True)
class Design:
    epsilon: float  # what one respondent spends on the sensitive blocks
    ask: int  # how many sensitive blocks one respondent is asked
    blocks: tuple[Block, ...]  # the background blocks come last
    # The output of languages.freeze by language. Only texts, so no report depends on them.
    translations: dict[str, Any] = field(default_factory=dict, hash=False)
    # For surveys by invitation: the public key for passes, in the form of passes.public_text.
    passes: dict[str, str] = field(default_factory=dict, hash=False)
    work: int = 0  # bits of the proof of work that each report must carry
    # Who asks, why, how to reach them, and for how long the data is kept.
    disclosures: dict[str, Any] = field(default_factory=dict, hash=False)
    shuffled: bool = False  # each device asks the blocks in an order of its own
    fillers: bool = False  # who is asked fewer questions sees neutral ones, which are not sent

    @cached_property
    def sensitive_blocks(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if not block.background)

    @cached_property
    def background_blocks(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.background)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """All questions once, also those in several blocks; the background questions come last."""
        found = {question.key: question for block in self.blocks for question in block.questions}
        return tuple(found.values())

    @cached_property
    def places(self) -> dict[str, tuple[tuple[Block, int], ...]]:
        """The blocks of each question by its key, with its position in each.

        Only the gate of follow-ups can be in several blocks, and then one person is asked one.
        """
        found: dict[str, tuple[tuple[Block, int], ...]] = {}
        for block in self.blocks:
            for position, question in enumerate(block.questions):
                found[question.key] = (*found.get(question.key, ()), (block, position))
        return found

    @cached_property
    def background(self) -> tuple[Question, ...]:
        return tuple(question for block in self.background_blocks for question in block.questions)

    @property
    def report_epsilon(self) -> float:
        """The ε of a whole report: the sensitive answers plus every background answer."""
        return math.fsum([self.epsilon, *(block.epsilon for block in self.background_blocks)])

    @property
    def sure(self) -> int:
        """How sure, out of 100, a report can make someone who was guessing 50:50."""
        return odds(self.epsilon)

    @cached_property
    def canonical(self) -> str:
        return canonical_json(
            {
                "mechanism": MECHANISM,
                "scale": SCALE,
                "epsilon": self.epsilon,
                "ask": self.ask,
                "blocks": [
                    {
                        "key": block.key,
                        "epsilon": block.epsilon,
                        "keep": block.keep,
                        "questions": [question.as_json() for question in block.questions],
                    }
                    | ({"background": True} if block.background else {})
                    for block in self.blocks
                ],
            }
            # Empty members are left out.
            | ({"translations": self.translations} if self.translations else {})
            | ({"passes": self.passes} if self.passes else {})
            | ({"work": self.work} if self.work else {})
            | ({"disclosures": self.disclosures} if self.disclosures else {})
            | ({"shuffled": True} if self.shuffled else {})
            | ({"fillers": True} if self.fillers else {})
        )

    @cached_property
    def hash(self) -> str:
        return "sha256:" + hashlib.sha256(self.canonical.encode()).hexdigest()

    @classmethod
    def from_json(cls, text: str) -> "Design":
        """Return the design that `canonical` wrote, if its mechanism and scale are supported."""
        data = json.loads(text)
        if data["mechanism"] != MECHANISM or data["scale"] != SCALE:
            raise DesignError(
                "mechanism", f"{data['mechanism']} over {data['scale']} is not supported"
            )
        if data.get("passes", {}).get("scheme", PASSES) != PASSES:
            raise DesignError("passes", f"{data['passes']['scheme']} is not supported")
        return cls(
            epsilon=float(data["epsilon"]),
            ask=data["ask"],
            blocks=tuple(
                Block(
                    block["key"],
                    float(block["epsilon"]),
                    block["keep"],
                    tuple(question_from_json(question) for question in block["questions"]),
                    block.get("background", False),
                )
                for block in data["blocks"]
            ),
            translations=data.get("translations", {}),
            passes=data.get("passes", {}),
            work=data.get("work", 0),
            disclosures=data.get("disclosures", {}),
            shuffled=data.get("shuffled", False),
            fillers=data.get("fillers", False),
        )

    def choose(self, draw: Draw) -> tuple[Block, ...]:
        """Choose the blocks to ask one respondent.

        These are all background blocks and `ask` of the others, every subset equally likely.
        """
        others = list(self.sensitive_blocks)
        for i in range(self.ask):
            j = i + uniform(len(others) - i, draw)
            others[i], others[j] = others[j], others[i]
        chosen = {block.key for block in others[: self.ask]}
        return tuple(block for block in self.blocks if block.background or block.key in chosen)


class Background(NamedTuple):
    """A background question with the ε of its answer."""

    question: Question
    epsilon: float = BACKGROUND_EPSILON


def build(
    epsilon: float,
    questions: Sequence[Question],
    background: Sequence[Background] = (),
    blocks: Sequence[Sequence[str]] | None = None,
    ask: int | None = None,
    translations: dict[str, Any] | None = None,
    disclosures: dict[str, Any] | None = None,
) -> Design:
    """Return the design for these questions.

    By default, choose the blocks and `ask` with the least variance. Every background question is a
    block of its own.
    """
    _check_epsilon("epsilon", epsilon)
    epsilon = float(epsilon)
    check_questions("questions", questions, [question.key for question in questions])
    keys = [question.key for question in (*questions, *(one.question for one in background))]
    check_questions("background", [one.question for one in background], keys)
    for one in background:
        where = f"background {one.question.key}.epsilon"
        _check_epsilon(where, one.epsilon)
        if one.epsilon > MAX_EPSILON:
            raise DesignError(where, f"must be at most {MAX_EPSILON}, not {one.epsilon:g}")
    if not questions:
        raise DesignError("questions", "a survey needs at least one question")
    if len(keys) > MAX_QUESTIONS:
        raise DesignError("questions", f"at most {MAX_QUESTIONS} in total, not {len(keys)}")
    if ask is not None and (type(ask) is not int or ask < 1):
        raise DesignError("ask", f"must be a whole number of blocks, 1 or more, not {ask!r}")
    chosen = None if blocks is None else _check_blocks(blocks, questions)
    most = len(questions if blocks is None else blocks)
    if ask is not None and ask > most:
        raise DesignError("ask", f"cannot ask {ask} blocks: there are at most {most}")
    if ask is not None:
        _check_share(epsilon, ask)

    if chosen is None:
        grouping = choose_blocks(questions, epsilon, ask)
    else:
        grouping = Grouping(chosen, _ask_of(chosen, questions, epsilon, ask))
    ask = grouping.ask
    share = _check_share(epsilon, ask)
    return Design(
        epsilon=epsilon,
        ask=ask,
        blocks=(
            *(
                make_block(f"b{number}", share, _fitted([questions[i] for i in members], share))
                for number, members in enumerate(grouping.blocks, 1)
            ),
            *(
                make_block(f"g{number}", float(one.epsilon), [one.question], background=True)
                for number, one in enumerate(background, 1)
            ),
        ),
        translations=translations or {},
        disclosures=disclosures or {},
    )


def block_epsilon(epsilon: float, ask: int) -> float:
    """Return the ε for each of `ask` blocks, rounded so that their sum never exceeds ε."""
    share = epsilon / ask
    while Fraction(share) * ask > Fraction(epsilon):
        share = math.nextafter(share, 0)
    return share


# Cached because editing a draft rebuilds its design often, mostly from the same blocks.
_mechanism = lru_cache(maxsize=1024)(Cells.for_epsilon)


def make_block(
    key: str, epsilon: float, questions: Sequence[Question], background: bool = False
) -> Block:
    """Return a block of these questions that costs at most `epsilon`."""
    try:
        mechanism = _mechanism(epsilon, shapes(questions))
    except MechanismError as error:
        named = ", ".join(question.key for question in questions)
        raise DesignError(f"block {key} ({named})", str(error)) from error
    return Block(key, epsilon, mechanism.keep, tuple(questions), background)


def _fitted(questions: Sequence[Question], epsilon: float) -> list[Question]:
    """Return the questions of a block with what depends on the block and on ε."""
    block = list(questions)
    for place, question in enumerate(questions):
        block[place] = question.fitted(block, epsilon)
    return block


def _check_share(epsilon: float, ask: int) -> float:
    share = block_epsilon(epsilon, ask)
    if share > MAX_EPSILON:
        raise DesignError(
            "epsilon", f"at most {MAX_EPSILON} for one block, not {share:g} (total {epsilon:g})"
        )
    return share


def _check_epsilon(where: str, epsilon: float) -> None:
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float):
        raise DesignError(where, f"must be a number, not {epsilon!r}")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise DesignError(where, f"must be above 0 and finite, not {epsilon}")
    if epsilon < 2 / SCALE:
        raise DesignError(where, f"{epsilon} is too close to 0")


def _check_blocks(
    blocks: Sequence[Sequence[str]], questions: Sequence[Question]
) -> tuple[tuple[int, ...], ...]:
    """Return an author's blocks; refuse a question that is missing, or one that is in two blocks.

    Only the gate of follow-ups may be in several.
    """
    if not blocks or not all(blocks):
        raise DesignError("blocks", "a block needs at least one question")
    keys = [question.key for question in questions]
    gates = {one.key: one.only_if[0] for one in questions if one.only_if}
    for key in (key for block in blocks for key in block):
        if key not in keys:
            raise DesignError("blocks", f"there is no question {key!r}")
    for key in keys:
        within = [block for block in blocks if key in block]
        if not within:
            raise DesignError("blocks", f"the question {key!r} is in no block")
        needed = all(key in [gates.get(other) for other in block] for block in within)
        if any(block.count(key) > 1 for block in within) or (len(within) > 1 and not needed):
            raise DesignError("blocks", f"the question {key!r} is in two blocks")
        if key in gates and any(gates[key] not in block for block in within):
            raise DesignError(
                "blocks", f"{key!r} depends on {gates[key]!r}: put both into the same block"
            )
    return tuple(tuple(sorted(keys.index(key) for key in block)) for block in blocks)


def _ask_of(
    blocks: Sequence[Sequence[int]],
    questions: Sequence[Question],
    epsilon: float,
    ask: int | None,
) -> int:
    """Return how many of an author's blocks to ask.

    If a question is in several blocks it is one, so that nobody is asked it twice.
    """
    if sum(map(len, blocks)) > len(questions):
        if ask not in (None, 1):
            raise DesignError("ask", f"must be 1, not {ask}: a question is in several blocks")
        return 1
    items = items_of([[questions[i] for i in block] for block in blocks])
    return ask or best_ask([[i] for i in range(len(items))], items, epsilon)
