"""Writes replace-1.json, the vectors that hold survey/mechanism.py and the randomizer together.

The Python code is the reference: it writes what it does with explicit random words, and which
inputs must be refused and where. tests/survey/test_vectors.py and tests/js/randomizer.test.mjs
read the file. Everything here is deterministic.

    python -m tests.vectors.generate            writes the file
    python -m tests.vectors.generate --check    fails when the file is stale
"""

import argparse
import copy
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from survey.design import Block, Design, Question, build, canonical_json, options_from_texts
from survey.mechanism import MECHANISMS, SCALE, Draw, Replacement

VECTORS = Path(__file__).with_name("replace-1.json")
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
    """Words without end that look random and are the same everywhere."""
    for i in range(SCALE):
        yield int.from_bytes(hashlib.sha256(f"{seed}/{i}".encode()).digest()[:4])


def take(seed: str, count: int) -> list[int]:
    words = stream(seed)
    return [next(words) for _ in range(count)]


# --- Designs --------------------------------------------------------------------------------------


def question(key: str, size: int, text: str = "") -> Question:
    texts = ["No", "Yes"] if size == 2 else [f"Option {i}" for i in range(1, size + 1)]
    return Question(key, text or f"Question {key}?", options_from_texts(texts))


def questions(*sizes: int) -> list[Question]:
    return [question(f"q{i}", size) for i, size in enumerate(sizes, 1)]


def one_block(epsilon: float, *sizes: int) -> Design:
    asked = questions(*sizes)
    return build(epsilon, asked, blocks=[[q.key for q in asked]], ask=1)


def designs() -> dict[str, Design]:
    several = [
        Question("q1", "Hast du schon einmal „geschwänzt“?", options_from_texts(["Nein", "Ja"])),
        Question("q2", "你昨天喝酒了吗？ 🍺", options_from_texts(["否", "是", "不想说"])),
        Question("q3", 'A "quoted" \\ back\nslash\t/\x7f\u2028', options_from_texts(["a", "b"])),
        question("q4", 5),
        question("q5", 7),
        question("q6", 2, "هل سبق لك؟"),
    ]
    age = Question("age", "Age group", options_from_texts(["under 30", "30–59", "60 and over"]))
    area = Question("area", "Région", options_from_texts(["Île-de-France", "ailleurs"]))
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
        "2 of 4 blocks, strata": build(
            3.3, several, [age, area], [["q1", "q2"], ["q3"], ["q4", "q6"], ["q5"]], ask=2
        ),
        "1 of 3 blocks": build(1.0, questions(2, 2, 3), blocks=[["q1"], ["q2"], ["q3"]], ask=1),
        "all 3 blocks": build(1.1, questions(2, 3, 2), blocks=[["q1"], ["q2"], ["q3"]], ask=3),
        "planned: 10 yes/no at 2": build(2.0, questions(*[2] * 10), [age]),
    }


def protocol(design: Design) -> Json:
    """The design as protocol 1 sends it."""
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
    """Choosing blocks: low words, high words, words to be rejected, and mixed ones."""
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
    """Reports: every coin at its boundary, options from low, high, rejected and mixed words."""
    for coin, kind in product(("0", "keep-1", "keep", "last"), range(5)):
        seed = f"report {name} {coin} {kind}"
        asked = design.choose(Words(take(f"{seed} blocks", 2 * len(design.blocks))))
        answers = {block.key: some_answers(block, f"{seed} {block.key}") for block in asked}
        words: list[int] = []
        for block in asked:
            words.append({"0": 0, "keep-1": block.keep - 1, "keep": block.keep, "last": LAST}[coin])
            for i, size in enumerate(block.mechanism.sizes):
                words += option_words(kind, size, f"{seed} {block.key} {i}")
        draw = Words(words + take(f"{seed} spare", SPARE))
        report = randomize(design, answers, draw)
        yield {
            "design": name,
            "answers": answers,
            "words": draw.words,
            "report": report,
            "used": draw.used,
        }


def some_answers(block: Block, seed: str) -> list[int]:
    sizes = block.mechanism.sizes
    words = take(f"answers {seed}", len(sizes))
    return [word % size for word, size in zip(words, sizes, strict=True)]


def option_words(kind: int, size: int, seed: str) -> list[int]:
    """Words for one uniform option: the first accepted, the last accepted, rejected ones before."""
    limit = SCALE - SCALE % size
    rejected = [word for word in (limit, LAST) if limit <= word < SCALE]
    accepted = [word for word in take(seed, 3) if word < limit][:1]
    return [[0], [limit - 1], [*rejected, 0], [*rejected * 3, *accepted], accepted][kind]


def randomize(design: Design, answers: dict[str, list[int]], draw: Draw) -> dict[str, list[int]]:
    """What static/respond/randomizer.js does for a whole design, by the Python mechanisms."""
    return {
        block.key: list(block.mechanism.randomize(answers[block.key], draw))
        for block in design.blocks
        if block.key in answers
    }


# --- What must be refused -------------------------------------------------------------------------

# The Python code refuses some of it in the same words (`python`: how its message begins); the
# rest of the checks on what a browser sends stand in survey/ingest.py (`python`: null).

SECRET = 987654  # an "answer" that no message may repeat
BLOCK = ("blocks", 0)
QUESTION = (*BLOCK, "questions", 0)
TWO = {"b1": [0, 0], "b2": [1]}  # good answers to two of several blocks

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
    """One case that is wrong in one place, made from something good."""

    def __init__(self) -> None:
        known = designs()
        self.pair = protocol(known["2 x 2 at 2"])
        self.several = protocol(known["2 of 4 blocks, strata"])

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

    def words(self, name: str, words: Iterable[Any]) -> Json:
        return self._case(name, "draw", None, self.pair, {"b1": [1, 0]}, words)

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
    for name in ("replace/2", "", "constructor", "__proto__"):
        yield bad.design(f"mechanism {name!r}", at, "mechanism", put(name, "mechanism"))
    yield bad.design("mechanism is a list", at, None, put(["replace/1"], "mechanism"))
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
    yield bad.design("no options", at, "sizes", put([], *QUESTION, "options"))
    yield bad.design("one option", at, "sizes", put(one_option, *QUESTION, "options"))
    yield bad.design("options are missing", at, None, drop(*QUESTION, "options"))
    yield bad.design("options are a number", at, None, put(2, *QUESTION, "options"))
    yield bad.design("a question is null", at, None, put(None, *QUESTION))
    at = "design.blocks[0].questions"
    many = bad.pair["blocks"][0]["questions"][:1] * 21
    yield bad.design("no questions", at, "sizes", put([], *BLOCK, "questions"))
    yield bad.design("2^21 cells", at, "sizes", put(many, *BLOCK, "questions"))
    yield bad.design("questions are missing", at, None, drop(*BLOCK, "questions"))
    yield bad.design("a block is null", "design.blocks[0]", None, put(None, *BLOCK))
    at = "design.blocks[0].key"
    for key in (None, 1, "", "__proto__", "1", "b 1", "b1\n"):
        yield bad.design(f"block key {key!r}", at, None, put(key, *BLOCK, "key"))
    at = "design.blocks"
    yield bad.design("two blocks of one key", at, None, put("b1", "blocks", 1, "key"), True)
    yield bad.design("no blocks", at, None, put([], "blocks"))
    yield bad.design("blocks are missing", at, None, drop("blocks"))
    for ask in (0, -1, 2, 0.5, "1", True, None):
        yield bad.design(f"ask {ask!r}", "design.ask", None, put(ask, "ask"))


def bad_answers(bad: Bad) -> Iterator[Json]:
    answers: Any
    for answers in (None, 1, "b1", [[1, 0]], {}, {"b2": [1, 0]}, {"b1": [1, 0], "b2": [0]}):
        yield bad.answers(f"answers {answers!r}", "answers", None, answers)
    yield bad.answers("too few blocks", "answers", None, {"b1": [0, 0]}, True)
    yield bad.answers("too many blocks", "answers", None, {**TWO, "b4": [0]}, True)
    yield bad.answers("an unknown block besides", "answers", None, {**TWO, "b9": [SECRET]}, True)
    for answers in ([], [1], [1, 0, SECRET]):
        yield bad.answers(f"{len(answers)} answers", "answers.b1", "answers", {"b1": answers})
    for answers in (None, SECRET, "10", {"0": 1, "1": 0, "length": 2}):
        yield bad.answers(f"not a list: {answers!r}", "answers.b1", None, {"b1": answers})
    for answer in (2, -1, SECRET, 0.5, "1", True, None, [1]):
        for i, answers in enumerate(([answer, 0], [0, answer])):
            at = f"answers.b1[{i}]"
            yield bad.answers(f"answer {i} is {answer!r}", at, "answers", {"b1": answers})
    second = {"b2": [1], "b4": [SECRET]}
    yield bad.answers("the second block is wrong", "answers.b4[0]", "answers", second, True)


def bad_words(bad: Bad) -> Iterator[Json]:
    for word in (-1, SCALE, 0.5, "7", None, True, [7]):
        for i in range(3):
            yield bad.words(f"word {i} is {word!r}", [*[5] * i, word])


def bad_cases() -> Iterator[Json]:
    bad = Bad()
    for cases in (bad_parameters, bad_blocks, bad_answers, bad_words):
        yield from cases(bad)


# --- The whole file -------------------------------------------------------------------------------


def keep_cases() -> Iterator[Json]:
    epsilons = (1e-05, 0.01, 0.1, 0.5, 1.0, math.log(3), 1.5, 2.0, math.log(9), 3.0, 4.0, 5.5, 8.0)
    shapes = ([2], [3], [5], [20], [2, 2], [2, 3], [3, 3, 3], [2] * 4, [2] * 10, [2, 3, 5, 20])
    for epsilon, sizes in product(epsilons, shapes):
        keep = Replacement.for_epsilon(epsilon, sizes).keep
        yield {"epsilon": epsilon, "sizes": sizes, "keep": keep}


def canonical_cases() -> Iterator[Json]:
    numbers: tuple[float, ...] = (
        1.0986122886681098, 0.1, 2.0, 1e-05, 1e-06, 1e-07, 1.5e-09, 0.30000000000000004, 5e-324,
        123456789.125, 1e16, 1.2345e20, 1e21, 1.7976931348623157e308, 2**53 - 1, SCALE, 0.0, -1.5,
    )  # fmt: skip
    texts = ("", 'a "b" \\ /', "\b\f\n\r\t\x00\x1f\x7f", "äöü ß ﬁ", "\u2028\u2029\ufeff", "😀")
    value: Any
    for value in (*numbers, *texts, True, None, [], {}, {"b": 1, "a": [0.5, {"z": "é", "y": 2}]}):
        yield {"value": value, "canonical": canonical_json(value)}


def vectors() -> Json:
    known = designs()
    return {
        "about": "Written by python -m tests.vectors.generate; do not edit.",
        "mechanisms": sorted(MECHANISMS),
        "scale": SCALE,
        "keeps": list(keep_cases()),
        "canonical": list(canonical_cases()),
        "designs": [design_case(name, design) for name, design in known.items()],
        "choices": [case for name in known for case in choice_cases(name, known[name])],
        "reports": [case for name in known for case in report_cases(name, known[name])],
        "bad": list(bad_cases()),
    }


def render() -> str:
    """The vectors as text: one case a line, so that a change shows as what it is."""
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
