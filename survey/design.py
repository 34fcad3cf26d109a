"""The frozen design of a survey: what is asked, in which blocks, and what it costs in privacy.

Pure: no Django. A design is a value with a canonical JSON form (RFC 8785) and the SHA-256 of
that; it is fixed when a survey opens, and every report names the hash it was made under.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from heapq import heapreplace
from itertools import chain, combinations, product
from typing import Any

from survey.mechanism import (
    MAX_CELLS,
    MAX_EPSILON,
    MECHANISMS,
    SCALE,
    Draw,
    MechanismError,
    Replacement,
    uniform,
)

MAX_QUESTIONS = 100
MAX_OPTIONS = 20
MAX_STRATUM_OPTIONS = 100
MAX_KEY = 50  # characters of an option's key, before it is made distinct
MAX_WORK = 22  # bits: some minutes of a slow phone
PASSES = "RSABSSA-SHA384-PSS-Randomized"
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,49}")
# Control characters and halves of characters, which no database takes, and what lets a text be read
# as another: letters without a width, and what turns the direction of writing. Plain marks and
# joiners, as Arabic and Persian have, may stay.
NO_TEXT = re.compile(
    "[\0-\x08\x0b-\x1f\x80-\x9f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


class DesignError(ValueError):
    """A design that is refused: `where` it is wrong and `what` is wrong with it."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what


@dataclass(frozen=True)
class Option:
    key: str
    text: str


@dataclass(frozen=True)
class Question:
    """Something asked with a fixed list of options; a stratum when it is asked in clear."""

    key: str
    text: str
    options: tuple[Option, ...]

    def __post_init__(self) -> None:
        if not KEY.fullmatch(self.key):
            raise DesignError(
                self.key or "key", "a key is 1 to 50 letters, digits, hyphens or underscores"
            )
        for text in (self.text, *(option.text for option in self.options)):
            if not text.strip():
                raise DesignError(self.key, "a text is empty")
            if any("\ud800" <= character <= "\udfff" for character in text):
                raise DesignError(self.key, "a text is not Unicode: it has half a character in it")

    @property
    def size(self) -> int:
        return len(self.options)


@dataclass(frozen=True)
class Block:
    """Questions whose answers are kept or replaced together."""

    key: str
    epsilon: float
    keep: int
    questions: tuple[Question, ...]

    @cached_property
    def mechanism(self) -> Replacement:
        return Replacement(self.keep, tuple(question.size for question in self.questions))


@dataclass(frozen=True)
class Design:
    epsilon: float  # what one respondent spends in all
    ask: int  # how many of the blocks one respondent is asked
    blocks: tuple[Block, ...]
    strata: tuple[Question, ...] = ()
    mechanism: str = field(default=Replacement.name)
    # By language, what survey.languages.freeze gives; only texts, so that no report depends on it.
    translations: dict[str, Any] = field(default_factory=dict, hash=False)
    # Where people are invited: the public key of their passes, as survey.passes.public_text has it.
    passes: dict[str, str] = field(default_factory=dict, hash=False)
    work: int = 0  # bits of the proof of work that a report carries
    # What respondents are told besides: who asks, why, how to reach them, how long it is kept.
    told: dict[str, Any] = field(default_factory=dict, hash=False)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        return tuple(question for block in self.blocks for question in block.questions)

    @property
    def sure(self) -> int:
        """Out of 100: how sure one can be after a report, who thought it 50:50 before."""
        return round(100 / (1 + math.exp(-self.epsilon)))

    @cached_property
    def canonical(self) -> str:
        return canonical_json(
            {
                "mechanism": self.mechanism,
                "scale": SCALE,
                "epsilon": self.epsilon,
                "ask": self.ask,
                "blocks": [
                    {
                        "key": block.key,
                        "epsilon": block.epsilon,
                        "keep": block.keep,
                        "questions": [_question_json(question) for question in block.questions],
                    }
                    for block in self.blocks
                ],
                "strata": [_question_json(stratum) for stratum in self.strata],
            }
            # Absent where there are none: designs from before there were any keep their hash.
            | ({"translations": self.translations} if self.translations else {})
            | ({"passes": self.passes} if self.passes else {})
            | ({"work": self.work} if self.work else {})
            | ({"told": self.told} if self.told else {})
        )

    @cached_property
    def hash(self) -> str:
        return "sha256:" + hashlib.sha256(self.canonical.encode()).hexdigest()

    @classmethod
    def from_json(cls, text: str) -> "Design":
        """The design that `canonical` wrote; refuses a mechanism or scale it does not know."""
        data = json.loads(text)
        if data["mechanism"] not in MECHANISMS or data["scale"] != SCALE:
            raise DesignError(
                "mechanism", f"{data['mechanism']} over {data['scale']} is not known here"
            )
        if data.get("passes", {}).get("scheme", PASSES) != PASSES:
            raise DesignError("passes", f"{data['passes']['scheme']} is not known here")
        return cls(
            epsilon=float(data["epsilon"]),
            ask=data["ask"],
            blocks=tuple(
                Block(
                    block["key"],
                    float(block["epsilon"]),
                    block["keep"],
                    tuple(_question_from_json(question) for question in block["questions"]),
                )
                for block in data["blocks"]
            ),
            strata=tuple(_question_from_json(stratum) for stratum in data["strata"]),
            mechanism=data["mechanism"],
            translations=data.get("translations", {}),
            passes=data.get("passes", {}),
            work=data.get("work", 0),
            told=data.get("told", {}),
        )

    def choose(self, draw: Draw) -> tuple[Block, ...]:
        """The blocks that one respondent is asked: `ask` of them, every set equally likely."""
        positions = list(range(len(self.blocks)))
        for i in range(self.ask):
            j = i + uniform(len(positions) - i, draw)
            positions[i], positions[j] = positions[j], positions[i]
        return tuple(self.blocks[i] for i in sorted(positions[: self.ask]))


def build(
    epsilon: float,
    questions: Sequence[Question],
    strata: Sequence[Question] = (),
    blocks: Sequence[Sequence[str]] | None = None,
    ask: int | None = None,
    translations: dict[str, Any] | None = None,
    told: dict[str, Any] | None = None,
) -> Design:
    """The design for these questions; blocks and `ask` of least variance where none are given."""
    _check_epsilon(epsilon)
    epsilon = float(epsilon)
    _check_questions("questions", questions, 2, MAX_OPTIONS + 1)
    if not questions:
        raise DesignError("questions", "a survey needs at least one question")
    if len(questions) > MAX_QUESTIONS:
        raise DesignError("questions", f"at most {MAX_QUESTIONS}, not {len(questions)}")
    _check_questions("strata", strata, 2, MAX_STRATUM_OPTIONS)
    if ask is not None and (type(ask) is not int or ask < 1):
        raise DesignError("ask", f"a whole number of blocks, 1 or more, not {ask!r}")
    most = len(questions if blocks is None else blocks)
    if ask is not None and ask > most:
        raise DesignError("ask", f"{ask} blocks are asked for, but there are at most {most}")
    if ask is not None:
        _check_share(epsilon, ask)

    sizes = tuple(question.size for question in questions)
    if blocks is None:
        grouping, ask = plan(sizes, epsilon, ask)
    else:
        grouping = _check_blocks(blocks, [question.key for question in questions])
        ask = ask or _best_ask(grouping, sizes, epsilon)
    share = _check_share(epsilon, ask)
    return Design(
        epsilon=epsilon,
        ask=ask,
        blocks=tuple(
            _block(f"b{number}", share, tuple(questions[i] for i in members))
            for number, members in enumerate(grouping, 1)
        ),
        strata=tuple(strata),
        translations=translations or {},
        told=told or {},
    )


def block_epsilon(epsilon: float, ask: int) -> float:
    """A respondent's share for one of `ask` blocks, rounded so that the sum is never above ε."""
    share = epsilon / ask
    while Fraction(share) * ask > Fraction(epsilon):
        share = math.nextafter(share, 0)
    return share


# A draft's design is built again and again while it is edited, mostly of the same blocks.
_mechanism = lru_cache(maxsize=1024)(Replacement.for_epsilon)


def _block(key: str, epsilon: float, questions: tuple[Question, ...]) -> Block:
    try:
        mechanism = _mechanism(epsilon, tuple(question.size for question in questions))
    except MechanismError as error:
        members = ", ".join(question.key for question in questions)
        raise DesignError(f"block {key} ({members})", str(error)) from error
    return Block(key, epsilon, mechanism.keep, questions)


def _check_share(epsilon: float, ask: int) -> float:
    share = block_epsilon(epsilon, ask)
    if share > MAX_EPSILON:
        raise DesignError(
            "epsilon", f"{share:g} for one block; at most {MAX_EPSILON} (total {epsilon:g})"
        )
    return share


def _check_epsilon(epsilon: float) -> None:
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float):
        raise DesignError("epsilon", f"a number, not {epsilon!r}")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise DesignError("epsilon", f"above 0 and finite, not {epsilon}")
    if epsilon < 2 / SCALE:
        raise DesignError("epsilon", f"{epsilon} is too small to be told from 0")


def _check_questions(where: str, questions: Sequence[Question], least: int, most: int) -> None:
    keys = [question.key for question in questions]
    for key in keys:
        if keys.count(key) > 1:
            raise DesignError(where, f"the key {key!r} is used twice")
    for question in questions:
        if not least <= question.size <= most:
            raise DesignError(
                f"{where} {question.key}", f"{least} to {most} options, not {question.size}"
            )
        options = [option.key for option in question.options]
        if len(set(options)) < len(options):
            raise DesignError(f"{where} {question.key}", "two options have the same key")
        for text in (question.text, *(option.text for option in question.options)):
            check_text(f"{where} {question.key}", text)


def check_text(where: str, text: str) -> None:
    if found := NO_TEXT.search(text):
        raise DesignError(where, f"a character that is no text, {found[0]!r}")


def _check_blocks(blocks: Sequence[Sequence[str]], keys: list[str]) -> tuple[tuple[int, ...], ...]:
    if not blocks or not all(blocks):
        raise DesignError("blocks", "a block needs at least one question")
    members = [key for block in blocks for key in block]
    for key in members:
        if key not in keys:
            raise DesignError("blocks", f"there is no question {key!r}")
        if members.count(key) > 1:
            raise DesignError("blocks", f"the question {key!r} is in two blocks")
    for key in keys:
        if key not in members:
            raise DesignError("blocks", f"the question {key!r} is in no block")
    return tuple(tuple(keys.index(key) for key in block) for block in blocks)


# Which questions belong together, and how many blocks to ask one person.
#
# Seen alone, a question in a block of K cells with keep probability c has, at equal shares of its
# options, 1/c^2 times the variance of the same question asked in clear, and c = t/(t + K) with
# t = e^(epsilon/ask) - 1. A person is asked `ask` of B blocks, so that per respondent the factor
# is (B/ask) (1 + K/t)^2. We choose the grouping and `ask` with the least mean factor.


def variance_factor(
    grouping: Sequence[Sequence[int]], sizes: Sequence[int], epsilon: float, ask: int
) -> float:
    """Mean over questions of n Var / (variance without privacy, everybody asked everything)."""
    t = math.expm1(epsilon / ask)
    cost = sum(
        len(members) * (1 + math.prod(sizes[i] for i in members) / t) ** 2 for members in grouping
    )
    return cost * len(grouping) / (ask * len(sizes))


Sizes = tuple[int, ...]  # the numbers of options of the questions in one block, sorted
REFINED = 6  # of the numbers of blocks, with `ask`, that look best at first
EXHAUSTIVE = 8  # so many questions are divided anew three blocks at a time, not only two


@lru_cache(maxsize=256)
def plan(
    sizes: tuple[int, ...], epsilon: float, ask: int | None = None
) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The grouping and `ask` with the least variance: (positions of the questions by block, ask).

    For a fixed grouping and K >= 2, asking one block less is better while epsilon/(ask - 1) stays
    below the root 2.177 of sinh y = 2y, which bounds `ask` from above; the ceiling on a block's
    epsilon bounds it from below. Every number of blocks gets a first grouping; the few with the
    least factor are refined. The tests compare the result with all groupings of 6 questions.
    """
    least = max(1, math.ceil(epsilon / MAX_EPSILON))
    most = min(len(sizes), max(least, math.floor(1 + epsilon / 2.177318985)))
    candidates: list[tuple[float, int, list[Sizes]]] = []
    for asked in [ask] if ask else range(least, most + 1):
        for blocks in range(asked, len(sizes) + 1):
            groups = _spread(sizes, blocks)
            candidates.append((_factor(groups, epsilon, asked), asked, groups))
    candidates.sort(key=lambda candidate: (candidate[0], candidate[1], len(candidate[2])))
    best: tuple[float, int, list[Sizes]] | None = None
    for first, asked, groups in candidates[:REFINED]:
        if first == math.inf:
            break
        refined = _refine(groups, math.expm1(epsilon / asked))
        factor = _factor(refined, epsilon, asked)
        if best is None or factor < best[0] * (1 - 1e-9):
            best = factor, asked, refined
    if best is None:
        raise DesignError(
            "epsilon",
            f"{epsilon:g} in all needs at least {ask or least} blocks of at most "
            f"{MAX_EPSILON} each, and "
            + ("one question does" if len(sizes) == 1 else f"{len(sizes)} questions do")
            + " not give as many",
        )
    return _assign(best[2], sizes), best[1]


def _best_ask(grouping: Sequence[Sequence[int]], sizes: tuple[int, ...], epsilon: float) -> int:
    least = max(1, math.ceil(epsilon / MAX_EPSILON))
    if least > len(grouping):
        raise DesignError(
            "epsilon",
            f"{epsilon:g} in all needs at least {least} blocks of at most {MAX_EPSILON} each, "
            f"and there are {len(grouping)}",
        )
    return min(
        range(least, len(grouping) + 1),
        key=lambda ask: (round(variance_factor(grouping, sizes, epsilon, ask), 9), ask),
    )


def _cost(block: Sizes, t: float) -> float:
    cells = math.prod(block)
    allowed = len(block) > 0 and cells <= MAX_CELLS
    return len(block) * (1 + cells / t) ** 2 if allowed else math.inf


def _factor(groups: Sequence[Sizes], epsilon: float, ask: int) -> float:
    """variance_factor of blocks that are given by their sizes; infinite where one is refused."""
    t = math.expm1(epsilon / ask)
    return sum(_cost(block, t) for block in groups) * len(groups) / (ask * sum(map(len, groups)))


def _spread(sizes: Sequence[int], blocks: int) -> list[Sizes]:
    """A first grouping: the largest question first, always into the smallest block."""
    groups: list[Sizes] = [()] * blocks
    smallest_first = [(1, 0, number) for number in range(blocks)]  # cells, questions, which block
    for size in sorted(sizes, reverse=True):
        cells, questions, number = smallest_first[0]
        groups[number] = (size, *groups[number])
        heapreplace(smallest_first, (cells * size, questions + 1, number))
    return groups


def _refine(first: Sequence[Sizes], t: float) -> list[Sizes]:
    """Divide two or three blocks anew, in the best way, as long as that lowers the cost."""
    groups = list(first)
    few = sum(map(len, groups)) <= EXHAUSTIVE

    @cache
    def two(pool: Sizes) -> tuple[float, tuple[Sizes, ...]]:
        return min((_cost(x, t) + _cost(y, t), (x, y)) for x, y in _divisions(pool))

    @cache
    def three(pool: Sizes) -> tuple[float, tuple[Sizes, ...]]:
        return min((_cost(x, t) + two(y)[0], (x, *two(y)[1])) for x, y in _divisions(pool) if x)

    def improved(count: int, best: Callable[[Sizes], tuple[float, tuple[Sizes, ...]]]) -> bool:
        for chosen in dict.fromkeys(combinations(sorted(groups), count)):
            cost, divided = best(tuple(sorted(chain(*chosen))))
            if cost < sum(_cost(block, t) for block in chosen) * (1 - 1e-12):
                for block in chosen:
                    groups.remove(block)
                groups.extend(divided)
                return True
        return False

    while improved(2, two) or (few and improved(3, three)):
        pass
    return groups


def _divisions(block: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every way to divide a multiset of sizes in two."""
    counts = sorted(Counter(block).items())
    for taken in product(*(range(count + 1) for _, count in counts)):
        pairs = list(zip(counts, taken, strict=True))
        first = tuple(size for (size, _), take in pairs for _ in range(take))
        second = tuple(size for (size, count), take in pairs for _ in range(count - take))
        yield first, second


def _assign(groups: Sequence[Sizes], sizes: Sizes) -> tuple[tuple[int, ...], ...]:
    """Blocks of sizes as blocks of positions: earlier questions into earlier blocks."""
    waiting = {size: [i for i, other in enumerate(sizes) if other == size] for size in set(sizes)}
    return tuple(sorted(tuple(sorted(waiting[size].pop(0) for size in group)) for group in groups))


def options_from_texts(texts: Sequence[str]) -> tuple[Option, ...]:
    """Options with keys made from their texts: lower case, the rest as hyphens, made distinct."""
    options: list[Option] = []
    for text in texts:
        stem = re.sub(r"[\W_]+", "-", text.lower()).strip("-")[:MAX_KEY].strip("-") or "option"
        taken = {option.key for option in options}
        key, number = stem, 2
        while key in taken:
            key, number = f"{stem}-{number}", number + 1
        options.append(Option(key, text))
    return tuple(options)


def canonical_json(value: Any) -> str:
    """JSON in the canonical form of RFC 8785, for the types that a design has."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))  # by code units, 3.2.3
        members = (f"{canonical_json(key)}:{canonical_json(value[key])}" for key in keys)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    if isinstance(value, float):
        return _canonical_float(value)
    return json.dumps(value, ensure_ascii=False)


def _canonical_float(value: float) -> str:
    """The shortest decimal that reads back as `value`, written as ECMAScript writes it."""
    digits = repr(value or 0.0)  # there is one zero
    if "e" not in digits:
        return digits.removesuffix(".0")
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(digits), "f").removesuffix(".0")
    mantissa, exponent = digits.split("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"


def _question_json(question: Question) -> dict[str, Any]:
    return {
        "key": question.key,
        "text": question.text,
        "options": [{"key": option.key, "text": option.text} for option in question.options],
    }


def _question_from_json(data: dict[str, Any]) -> Question:
    options = tuple(Option(option["key"], option["text"]) for option in data["options"])
    return Question(data["key"], data["text"], options)
