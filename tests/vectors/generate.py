"""Write cells-1.json, the vectors that survey/design/mechanism.py and the randomizer must match.

The Python code is the reference: it writes what it does with explicit random words, and which
inputs must be refused and where. tests/survey/design/test_vectors.py and
tests/js/randomizer.test.mjs read the file. Everything here is deterministic.

    python -m tests.vectors.generate            writes the file
    python -m tests.vectors.generate --check    fails when the file is stale
"""

import argparse
import copy
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from survey.design import (
    Background,
    Block,
    Design,
    Question,
    build,
    canonical_json,
    make_block,
    options_from_texts,
)
from survey.design.kinds.choice import Choice
from survey.design.kinds.number import Number
from survey.design.kinds.several import Several
from survey.design.mechanism import (
    MAX_BOUND,
    MECHANISM,
    SCALE,
    Answer,
    Cells,
    Draw,
    Shape,
    Value,
)

VECTORS = Path(__file__).with_name("cells-1.json")
LAST = SCALE - 1  # the largest random word
SPARE = 3  # words beyond the needed ones, so that drawing too many shows

Json = dict[str, Any]


class Words:
    """Explicit random words as a `draw`, counting how many were used."""

    def __init__(self, words: Iterable[Any]) -> None:
        self.words = list(words)
        self.used = 0

    def __call__(self) -> int:
        self.used += 1
        word: int = self.words[self.used - 1]
        return word


def stream(seed: str) -> Iterator[int]:
    """Yield pseudo-random words, the same everywhere."""
    for i in range(SCALE):
        yield int.from_bytes(hashlib.sha256(f"{seed}/{i}".encode()).digest()[:4])


def take(seed: str, count: int) -> list[int]:
    words = stream(seed)
    return [next(words) for _ in range(count)]


# --- Designs --------------------------------------------------------------------------------------


def question(key: str, size: int, text: str = "") -> Question:
    texts = ["No", "Yes"] if size == 2 else [f"Option {i}" for i in range(1, size + 1)]
    return Choice(key, text or f"Question {key}?", options_from_texts(texts))


def questions(*sizes: int) -> list[Question]:
    return [question(f"q{i}", size) for i, size in enumerate(sizes, 1)]


def one_block(epsilon: float, *sizes: int) -> Design:
    return together(epsilon, *questions(*sizes))


def together(epsilon: float, *asked: Question) -> Design:
    return Design(float(epsilon), 1, (make_block("b1", float(epsilon), asked),))


def after(key: str, size: int, gate: str, *options: str) -> Question:
    """Return a question that is asked only after these options of an earlier one."""
    return replace(question(key, size), only_if=(gate, options))


def number(key: str, least: int, most: int, levels: int) -> Question:
    return Number(key, "How many?", least=least, most=most, levels=levels)


def several(key: str, size: int, picks: int) -> Question:
    return Several(key, f"Question {key}?", question(key, size).options, picks=picks)


def kinds() -> dict[str, Design]:
    """Follow-ups, numbers, multiple choice and background questions."""
    yes = ("q1", "yes")
    return {
        "a follow-up of 4 at 2": together(2, question("q1", 2), after("q2", 4, *yes)),
        "follow-ups of 4, 3 and 2 at 2": together(
            2, question("q1", 2), *(after(f"q{size}", size, *yes) for size in (4, 3, 2))
        ),
        "a follow-up of a follow-up at 1.5": together(
            1.5,
            question("q1", 2),
            after("q2", 3, *yes),
            after("q3", 2, "q2", "option-1", "option-3"),
        ),
        "a follow-up before a plain question at 3": together(
            3, question("q1", 3), after("q2", 5, "q1", "option-2"), question("q3", 2)
        ),
        "a number at ln 3": together(math.log(3), number("q1", 18, 100, 1)),
        "a number of 3 levels and a choice at 2": together(
            2, number("q1", 0, 40, 2), question("q2", 3)
        ),
        "a number after a gate, and another, at 2.5": together(
            2.5,
            question("q1", 2),
            replace(number("q2", -3, 4, 3), only_if=("q1", ("yes",))),
            number("q3", 5, 6, 1),
        ),
        "a number that can be declined, after a gate, at 2": together(
            2,
            question("q1", 2),
            replace(
                number("q2", 0, 60, 2),
                only_if=("q1", ("yes",)),
                options=options_from_texts(["Prefer not to say"]),
            ),
        ),
        "the widest number at 4": together(4, number("q1", -MAX_BOUND, MAX_BOUND, 4)),
        "up to 3 of 10 at 2": together(2, several("q1", 10, 3)),
        "up to 1 of 4 at 1": together(1, several("q1", 4, 1)),
        "up to 2 of 2 at 8": together(8, several("q1", 2, 2)),
        "1 of 2 blocks, and two background questions": Design(
            2.0,
            1,
            (
                make_block("b1", 2.0, (question("q1", 2), question("q2", 3))),
                make_block("b2", 2.0, (several("q3", 5, 2),)),
                make_block("g1", 3.0, (question("job", 4),), background=True),
                make_block("g2", 2.5, (question("age", 3),), background=True),
            ),
        ),
        "keys that look like numbers": build(
            2.0,
            [question(str(i), 2) for i in range(1, 11)],
            translations={
                "de": {
                    "questions": {
                        str(i): {"text": f"Frage {i}?", "options": ["Nein", "Ja"]}
                        for i in range(1, 11)
                    }
                }
            },
        ),
    }


def designs() -> dict[str, Design]:
    several = [
        Choice("q1", "Hast du schon einmal „geschwänzt“?", options_from_texts(["Nein", "Ja"])),
        Choice("q2", "你昨天喝酒了吗？ 🍺", options_from_texts(["否", "是", "不想说"])),
        Choice("q3", 'A "quoted" \\ back\nslash\t/\x7f\u2028', options_from_texts(["a", "b"])),
        question("q4", 5),
        question("q5", 7),
        question("q6", 2, "هل سبق لك؟"),
    ]
    age = Choice("age", "Age group", options_from_texts(["under 30", "30–59", "60 and over"]))
    area = Choice("area", "Région", options_from_texts(["Île-de-France", "ailleurs"]))
    return {
        "one yes/no at ln 3": one_block(math.log(3), 2),
        "2 x 2 at 2": one_block(2, 2, 2),
        "four yes/no at 4": one_block(4, 2, 2, 2, 2),
        "choice of 3 at 0.1": one_block(0.1, 3),
        "choice of 5 at 1": one_block(1.0, 5),
        "choice of 20 at 3": one_block(3.0, 20),
        "2 x 3 x 5 at 1.5": one_block(1.5, 2, 3, 5),
        "faint: yes/no at 1e-05": one_block(1e-05, 2),
        "strongest: 2 x 7 at 8": one_block(8, 2, 7),
        "2 of 4 blocks, and background": build(
            3.3,
            several,
            [Background(age), Background(area, 2)],
            [["q1", "q2"], ["q3"], ["q4", "q6"], ["q5"]],
            ask=2,
        ),
        "1 of 3 blocks": build(1.0, questions(2, 2, 3), blocks=[["q1"], ["q2"], ["q3"]], ask=1),
        "all 3 blocks": build(1.1, questions(2, 3, 2), blocks=[["q1"], ["q2"], ["q3"]], ask=3),
        "planned: 10 yes/no at 2": build(2.0, questions(*[2] * 10), [Background(age)]),
        **kinds(),
    }


def protocol(design: Design) -> Json:
    """Return the design as protocol 1 sends it."""
    return {"hash": design.hash, **json.loads(design.canonical)}


def design_case(name: str, design: Design) -> Json:
    return {
        "name": name,
        "design": protocol(design),
        "canonical": design.canonical,
        "hash": design.hash,
    }


# --- What is done with good input -----------------------------------------------------------------


def choice_cases(name: str, design: Design) -> Iterator[Json]:
    """Yield choices of blocks: low words, high words, rejected words, and mixed ones."""
    needed = design.ask
    for words in (
        [0] * needed,
        [LAST] * 2 * needed + [1] * needed,
        *(take(f"choose {name} {i}", needed) for i in range(6)),
    ):
        draw = Words(words + take(f"spare {name}", needed + SPARE))
        chosen = [block.key for block in design.choose(draw)]
        yield {"design": name, "words": draw.words, "chosen": chosen, "used": draw.used}


def report_cases(name: str, design: Design) -> Iterator[Json]:
    """Yield reports: every coin at its boundary; low, high, rejected and mixed words."""
    for coin, kind in product(("0", "keep-1", "keep", "last"), range(5)):
        seed = f"report {name} {coin} {kind}"
        asked = design.choose(Words(take(f"{seed} blocks", 2 * len(design.blocks))))
        answers = {block.key: some_answers(block, f"{seed} {block.key}") for block in asked}
        words: list[int] = []
        for block in asked:
            words.append({"0": 0, "keep-1": block.keep - 1, "keep": block.keep, "last": LAST}[coin])
            for i, size in enumerate(draws(block.mechanism)):
                words += words_below(kind, size, f"{seed} {block.key} {i}")
        draw = Words(words + take(f"{seed} spare", SPARE))
        report = randomize(design, answers, draw)
        yield {
            "design": name,
            "answers": answers,
            "words": draw.words,
            "report": report,
            "used": draw.used,
        }


def draws(mechanism: Cells) -> list[int]:
    """Return what is drawn after the coin, by how many values each draw has."""
    numbers = [most - least for least, most in (q.bounds for q in mechanism.questions if q.bounds)]
    slots = [question.picks for question in mechanism.questions if question.picks]
    return [*numbers, *slots, mechanism.cells]


def some_answers(block: Block, seed: str) -> list[Answer]:
    answers: list[Answer] = []
    for place, shape in enumerate(block.mechanism.questions):
        words = take(f"answers {seed} {place}", 1 + shape.size)
        if not shape.is_asked(answers):  # type: ignore[arg-type]
            answers.append(None)
        elif shape.picks:
            wanted = sorted(range(shape.size), key=lambda i: words[1 + i])  # noqa: B023
            answers.append(sorted(wanted[: words[0] % (shape.picks + 1)]))
        elif shape.instead and words[1] % 3 == 0:
            answers.append([words[0] % shape.instead])
        else:
            least, most = shape.bounds or (0, shape.size - 1)
            answers.append(least + words[0] % (most - least + 1))
    return answers


def words_below(kind: int, size: int, seed: str) -> list[int]:
    """Yield words for one uniform draw: the first and last accepted, rejected ones before."""
    limit = SCALE - SCALE % size
    rejected = [word for word in (limit, LAST) if limit <= word < SCALE]
    accepted = [word for word in take(seed, 9) if word < limit][:1]
    return [[0], [limit - 1], [*rejected, 0], [*rejected * 3, *accepted], accepted][kind]


def randomize(
    design: Design, answers: dict[str, list[Answer]], draw: Draw
) -> dict[str, list[Value]]:
    """Randomize a whole design with the Python mechanisms, as static/respond/randomizer.js does."""
    return {
        block.key: list(block.mechanism.randomize(answers[block.key], draw))
        for block in design.blocks
        if block.key in answers
    }


# --- What must be refused -------------------------------------------------------------------------

# The Python code refuses some of it in the same words (`python`: how its message begins); the
# rest of the checks on what a browser sends stand in survey/collect/validator.py (`python`: null).

SECRET = 987654  # an "answer" that no message may repeat
BLOCK = ("blocks", 0)
QUESTION = (*BLOCK, "questions", 0)
GROUPS = {"g1": [0], "g2": [1]}  # good answers to the background questions,
TWO = {"b1": [0, 0], "b2": [1], **GROUPS}  # and to two of several blocks besides

Change = Callable[[Json], None]


def put(value: Any, *path: Any) -> Change:
    def change(design: Any) -> None:
        for step in path[:-1]:
            design = design[step]
        design[path[-1]] = value

    return change


def drop(*path: Any) -> Change:
    def change(design: Any) -> None:
        for step in path[:-1]:
            design = design[step]
        del design[path[-1]]

    return change


class Bad:
    """A case that is wrong in one place."""

    def __init__(self) -> None:
        known = designs()
        self.pair = protocol(known["2 x 2 at 2"])
        self.several = protocol(known["2 of 4 blocks, and background"])
        self.known = {name: protocol(design) for name, design in known.items()}

    def design(
        self, name: str, where: str, python: str | None, change: Change, several: bool = False
    ) -> Json:
        design = copy.deepcopy(self.several if several else self.pair)
        change(design)
        return self._case(name, where, python, design, TWO if several else {"b1": [1, 0]}, ())

    def answers(
        self, name: str, where: str, python: str | None, answers: Any, several: bool = False
    ) -> Json:
        return self._case(name, where, python, self.several if several else self.pair, answers, ())

    def of(
        self, known: str, name: str, where: str, python: str | None, change: Change, answers: Any
    ) -> Json:
        """Return a case made from one of the designs by name."""
        design = copy.deepcopy(self.known[known])
        change(design)
        return self._case(f"{known}: {name}", where, python, design, answers, ())

    def words(self, name: str, words: Iterable[Any]) -> Json:
        """Return a case of a coin, a rounding and a cell, drawn from these words."""
        design = self.known["a number of 3 levels and a choice at 2"]
        return self._case(name, "draw", None, design, {"b1": [7, 0]}, words)

    def _case(
        self, name: str, where: str, python: str | None, design: Json, answers: Any,
        words: Iterable[Any],
    ) -> Json:  # fmt: skip
        return {
            "name": name,
            "design": design,
            "answers": answers,
            "words": [*words, *[0] * 12],
            "where": where,
            "python": python,
        }


def bad_parameters(bad: Bad) -> Iterator[Json]:
    at = "design.mechanism"
    for name in ("replace/1", "cells/2", "", "constructor", "__proto__"):
        yield bad.design(f"mechanism {name!r}", at, "mechanism", put(name, "mechanism"))
    yield bad.design("mechanism is a list", at, None, put(["cells/1"], "mechanism"))
    yield bad.design("mechanism is missing", at, None, drop("mechanism"))
    at = "design.scale"
    for scale in (2**31, 2**53, "4294967296"):
        yield bad.design(f"scale {scale!r}", at, "mechanism", put(scale, "scale"))
    yield bad.design("scale is missing", at, None, drop("scale"))
    at = "design.blocks[0].keep"
    for keep in (0, -1, SCALE, 0.5, 2641316663.5, "2641316663", True, None):
        yield bad.design(f"keep {keep!r}", at, "keep", put(keep, *BLOCK, "keep"))
    yield bad.design("keep is missing", at, None, drop(*BLOCK, "keep"))
    yield bad.design("keep a little too high", at, None, put(2641316663 + 20, *BLOCK, "keep"))
    yield bad.design("keep 1 % too high", at, None, put(2667729829, *BLOCK, "keep"))
    yield bad.design("nearly always kept", at, None, put(LAST, *BLOCK, "keep"))
    at = "design.blocks[0].epsilon"
    for epsilon in (0, -2, 8.5, "2", None):
        yield bad.design(f"epsilon {epsilon!r}", at, None, put(epsilon, *BLOCK, "epsilon"))
    at = "design.epsilon"
    for epsilon in (1.99, 0, "2", None):
        yield bad.design(f"epsilon in all {epsilon!r}", at, None, put(epsilon, "epsilon"))
    yield bad.design("two blocks exceed epsilon in all", at, None, put(3.2, "epsilon"), True)
    dear = put(2.0, "blocks", 3, "epsilon")
    yield bad.design("some two blocks exceed epsilon in all", at, None, dear, True)


def bad_blocks(bad: Bad) -> Iterator[Json]:
    at = "design.blocks[0].questions[0].options"
    one_option = bad.pair["blocks"][0]["questions"][0]["options"][:1]
    yield bad.design("no options", at, "questions[0]", put([], *QUESTION, "options"))
    yield bad.design("one option", at, "questions[0]", put(one_option, *QUESTION, "options"))
    yield bad.design("options are missing", at, None, drop(*QUESTION, "options"))
    yield bad.design("options are a number", at, None, put(2, *QUESTION, "options"))
    question_at = "design.blocks[0].questions[0]"
    yield bad.design("a question is null", question_at, None, put(None, *QUESTION))
    at = "design.blocks[0].questions"
    many = bad.pair["blocks"][0]["questions"][:1] * 21
    yield bad.design("no questions", at, "questions", put([], *BLOCK, "questions"))
    yield bad.design("2^21 cells", at, "questions", put(many, *BLOCK, "questions"))
    first = bad.pair["blocks"][0]["questions"][0]
    gated = {"only_if": {"question": "q1", "options": ["yes"]}}
    deep = [first, *({**first, "key": f"f{i}", **gated} for i in range(60))]
    yield bad.design("60 follow-ups", at, "questions", put(deep, *BLOCK, "questions"))
    yield bad.design("questions are missing", at, None, drop(*BLOCK, "questions"))
    yield bad.design("a block is null", "design.blocks[0]", None, put(None, *BLOCK))
    at = "design.blocks[0].key"
    for key in (None, 1, "", "__proto__", "1", "b 1", "b1\n"):
        yield bad.design(f"block key {key!r}", at, None, put(key, *BLOCK, "key"))
    at = "design.blocks[0].background"
    for value in (False, 1, "true", None):
        yield bad.design(f"background {value!r}", at, None, put(value, *BLOCK, "background"))
    yield bad.design("all in the background", "design.ask", None, put(True, *BLOCK, "background"))
    at = "design.blocks"
    yield bad.design("two blocks of one key", at, None, put("b1", "blocks", 1, "key"), True)
    yield bad.design("no blocks", at, None, put([], "blocks"))
    yield bad.design("blocks are missing", at, None, drop("blocks"))
    for ask in (0, -1, 2, 0.5, "1", True, None):
        yield bad.design(f"ask {ask!r}", "design.ask", None, put(ask, "ask"))


def bad_kinds(bad: Bad) -> Iterator[Json]:
    name, second = "a follow-up of 4 at 2", (*BLOCK, "questions", 1)
    at = "design.blocks[0].questions[1].only_if"
    for only in (
        {"question": "q9", "options": ["yes"]},
        {"question": "q2", "options": ["option-1"]},
        {"question": "q1", "options": ["maybe"]},
        {"question": "q1", "options": ["yes", "maybe"]},
    ):
        yield bad.of(name, f"{only}", at, "q2", put(only, *second, "only_if"), {"b1": [1, 0]})
    for only in (None, {}, "q1", {"question": "q1"}, {"question": "q1", "options": []},
                 {"question": "q1", "options": "yes"}):  # fmt: skip
        yield bad.of(name, f"{only}", at, None, put(only, *second, "only_if"), {"b1": [1, 0]})
    for answers, place in (([0, 0], 1), ([1, None], 1), ([None, None], 0), ([1, 4], 1)):
        where = f"answers.b1[{place}]"
        python = f"answers[{place}]"
        yield bad.of(
            name, f"answers {answers}", where, python, put(2.0, "epsilon"), {"b1": answers}
        )

    name = "a number of 3 levels and a choice at 2"
    for what, value, where in (
        ("least", 40, "least"), ("least", 0.5, "least"), ("least", -(2**31) - 1, "least"),
        ("most", 2**31 + 1, "least"), ("most", "40", "least"), ("levels", 0, "levels"),
        ("levels", 41, "levels"), ("levels", 1.5, "levels"), ("levels", -1, "levels"),
        ("least", True, "least"),
    ):  # fmt: skip
        at = f"design.blocks[0].questions[0].{where}"
        change = put(value, *QUESTION, what)
        yield bad.of(name, f"{what} {value!r}", at, "questions[0]", change, {"b1": [0, 0]})
    for answer in (-1, 41, 0.5, "7", None, True, [7], SECRET):
        nothing = put(2.0, "epsilon")
        answers = {"b1": [answer, 0]}
        yield bad.of(name, f"{answer!r}", "answers.b1[0]", "answers[0]", nothing, answers)
    at = "design.blocks[0].questions[1].only_if"
    gate = put({"question": "q1", "options": ["no"]}, *second, "only_if")
    yield bad.of(name, "a number as a gate", at, "q2", gate, {"b1": [0, 0]})

    name = "a number that can be declined, after a gate, at 2"
    for answer in (61, [1], [-1], [0, 0], [], [True], ["0"], None, SECRET, [SECRET]):
        answers = {"b1": [1, answer]}
        yield bad.of(name, f"{answer!r}", "answers.b1[1]", "answers[1]", nothing, answers)

    name = "up to 3 of 10 at 2"
    for picks in (0, 11, -1, 1.5, "3", True, None):
        at = "design.blocks[0].questions[0].picks"
        change = put(picks, *QUESTION, "picks")
        python = "questions[0]" if picks else "q1"
        yield bad.of(name, f"picks {picks!r}", at, python, change, {"b1": [[]]})
    for answer in ([0, 1, 2, 3], [1, 0], [1, 1], [10], [-1], [0.5], ["1"], [None], 1, None, "1"):
        nothing = put(2.0, "epsilon")
        answers = {"b1": [answer]}
        yield bad.of(name, f"{answer!r}", "answers.b1[0]", "answers[0]", nothing, answers)
    pair = [bad.known[name]["blocks"][0]["questions"][0], bad.pair["blocks"][0]["questions"][1]]
    for place, both in enumerate((pair, pair[::-1])):
        at = f"design.blocks[0].questions[{place}]"
        change = put(both, *BLOCK, "questions")
        python = f"questions[{place}]"
        yield bad.of(name, f"not alone {place}", at, python, change, {"b1": [[], 0]})

    name = "1 of 2 blocks, and two background questions"
    for keys in ("b1", "b1 g1", "g1 g2", "b1 b2 g1 g2", "b1 g1 b2"):
        given = {"b1": [0, 0], "b2": [[]], "g1": [0], "g2": [0]}
        answers = {key: given[key] for key in keys.split()}
        yield bad.of(name, f"only {keys}", "answers", None, put(2.0, "epsilon"), answers)


def bad_answers(bad: Bad) -> Iterator[Json]:
    answers: Any
    for answers in (None, 1, "b1", [[1, 0]], {}, {"b2": [1, 0]}, {"b1": [1, 0], "b2": [0]}):
        yield bad.answers(f"answers {answers!r}", "answers", None, answers)
    yield bad.answers("too few blocks", "answers", None, {"b1": [0, 0], **GROUPS}, True)
    yield bad.answers("too many blocks", "answers", None, {**TWO, "b4": [0]}, True)
    yield bad.answers("an unknown block besides", "answers", None, {**TWO, "b9": [SECRET]}, True)
    for answers in ([], [1], [1, 0, SECRET]):
        yield bad.answers(f"{len(answers)} answers", "answers.b1", "answers", {"b1": answers})
    for answers in (None, SECRET, "10", {"0": 1, "1": 0, "length": 2}):
        yield bad.answers(f"not a list: {answers!r}", "answers.b1", None, {"b1": answers})
    for answer in (2, -1, SECRET, 0.5, "1", True, None, [1]):
        for i, answers in enumerate(([answer, 0], [0, answer])):
            at = f"answers.b1[{i}]"
            yield bad.answers(f"answer {i} is {answer!r}", at, f"answers[{i}]", {"b1": answers})
    second = {"b2": [1], "b4": [SECRET], **GROUPS}
    yield bad.answers("the second block is wrong", "answers.b4[0]", "answers", second, True)
    for group in (3, SECRET, None, [0]):
        answers = {**TWO, "g1": [group]}
        yield bad.answers(f"the group is {group!r}", "answers.g1[0]", "answers[0]", answers, True)


def bad_words(bad: Bad) -> Iterator[Json]:
    for word in (-1, SCALE, 0.5, "7", None, True, [7]):
        for i in range(3):
            yield bad.words(f"word {i} is {word!r}", [*[5] * i, word])


def bad_cases() -> Iterator[Json]:
    bad = Bad()
    for cases in (bad_parameters, bad_blocks, bad_kinds, bad_answers, bad_words):
        yield from cases(bad)


# --- The whole file -------------------------------------------------------------------------------


def keep_cases() -> Iterator[Json]:
    epsilons = (1e-05, 0.01, 0.1, 0.5, 1.0, math.log(3), 1.5, 2.0, math.log(9), 3.0, 4.0, 5.5, 8.0)
    shapes = ([2], [3], [5], [20], [2, 2], [2, 3], [3, 3, 3], [2] * 4, [2] * 10, [2, 3, 5, 20])
    for epsilon, sizes in product(epsilons, shapes):
        keep = Cells.for_epsilon(epsilon, [Shape(size) for size in sizes]).keep
        yield {"epsilon": epsilon, "sizes": sizes, "keep": keep}


def canonical_cases() -> Iterator[Json]:
    numbers: tuple[float, ...] = (
        1.0986122886681098, 0.1, 2.0, 1e-05, 1e-06, 1e-07, 1.5e-09, 0.30000000000000004, 5e-324,
        123456789.125, 1e16, 1.2345e20, 1e21, 1.7976931348623157e308, 2**53 - 1, SCALE, 0.0, -1.5,
    )  # fmt: skip
    texts = ("", 'a "b" \\ /', "\b\f\n\r\t\x00\x1f\x7f", "äöü ß ﬁ", "\u2028\u2029\ufeff", "😀")
    value: Any
    objects = ({}, {"b": 1, "a": [0.5, {"z": "é", "y": 2}]}, {"2": 0, "10": 1, "1": {"a": 2}})
    for value in (*numbers, *texts, True, None, [], *objects):
        yield {"value": value, "canonical": canonical_json(value)}


def vectors() -> Json:
    known = designs()
    return {
        "about": "Written by python -m tests.vectors.generate; do not edit.",
        "mechanism": MECHANISM,
        "scale": SCALE,
        "keeps": list(keep_cases()),
        "canonical": list(canonical_cases()),
        "designs": [design_case(name, design) for name, design in known.items()],
        "choices": [case for name in known for case in choice_cases(name, known[name])],
        "reports": [case for name in known for case in report_cases(name, known[name])],
        "bad": list(bad_cases()),
    }


def render() -> str:
    """Return the vectors as text, one case per line, so that diffs are readable."""
    parts = []
    for key, value in vectors().items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines = ",\n".join("  " + json.dumps(case, ensure_ascii=True) for case in value)
            parts.append(f' "{key}": [\n{lines}\n ]')
        else:
            parts.append(f' "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail when the file is stale")
    text = render()
    if parser.parse_args().check:
        fresh = VECTORS.exists() and VECTORS.read_text(encoding="ascii") == text
        print(f"{VECTORS.name}: {'up to date' if fresh else 'stale; write it anew'}")
        return 0 if fresh else 1
    VECTORS.write_text(text, encoding="ascii")
    print(f"{VECTORS.name}: {len(text):,} characters")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
