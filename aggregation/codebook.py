"""What every variable of a survey means: for people, for scripts and for statistics programs.

A codebook is made of the design alone, so that it is the same for every release and tells nothing
that a respondent could not read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aggregation.columns import NOT_TOLD, Column
from aggregation.sheets import Line
from survey.design import Block, Design, Question
from survey.mechanism import SCALE
from survey.models import Survey

DEBIAS = (
    "Of n reports to a question, x have an option. The share of people for whom the option is true "
    "is estimated by (x / n - b) / (a - b), which is unbiased and may leave 0 to 1. Its standard "
    "error is sqrt(x (n - x) / (n - 1)) / (n (a - b)). Here a is the probability that the option "
    "is reported by somebody for whom it is true, a = c + (1 - c) / k, and b that for everybody "
    "else, b = (1 - c) / k, with c = keep / scale and k options. One coin decides for all "
    "questions of a block; tables of several questions need that."
)

# Names that Stata or SPSS keep for themselves, and ours.
TAKEN = (
    "count all and by eq ge gt le lt ne not or to with byte double float if in int long strl using"
).split()
WIDTH = re.compile("str[0-9]+", re.IGNORECASE)  # so does Stata with these
LONGEST_NAME = 26  # Stata takes 32; some get a number at the end


@dataclass(frozen=True)
class Variable:
    """A question or a stratum, and the name of its column in the file of reports."""

    name: str
    asked: Question
    block: Block | None  # none for a stratum, which is sent as it is

    @property
    def kind(self) -> str:
        return "question" if self.block else "stratum"

    @property
    def channel(self) -> tuple[float, float]:
        if self.block is None:
            return 1.0, 0.0
        return self.block.mechanism.channel(self.block.questions.index(self.asked))


def variables(design: Design) -> list[Variable]:
    """The questions, then the strata, under names that every statistics program takes."""
    asked: list[tuple[Question, Block | None]] = [
        (question, block) for block in design.blocks for question in block.questions
    ]
    asked += [(stratum, None) for stratum in design.strata]
    found: list[Variable] = []
    taken = set(TAKEN)
    for one, block in asked:
        name = stem = _stem(one.key)
        number = 2
        while name.lower() in taken or WIDTH.fullmatch(name):  # SPSS does not tell cases apart
            name, number = f"{stem}_{number}", number + 1
        taken.add(name.lower())
        found.append(Variable(name, one, block))
    return found


def _stem(key: str) -> str:
    name = re.sub(r"\W", "_", key, flags=re.ASCII)[:LONGEST_NAME].rstrip("_")
    return name if name[0].isalpha() else f"v{name}"


def document(survey: Survey) -> dict[str, Any]:
    design = survey.frozen_design()
    return {
        "format": 1,
        "survey": survey.slug,
        "title": survey.title,
        "design": survey.design_hash,
        "mechanism": design.mechanism,
        "scale": SCALE,
        "epsilon": design.epsilon,
        "ask": design.ask,
        "blocks": len(design.blocks),
        "debias": DEBIAS,
        "values": "In reports.csv, a value is the position of an option. Empty: the question was "
        f"not asked, or the background question not answered. {NOT_TOLD}: a background group that "
        "was too small to be told apart.",
        "variables": [_entry(variable) for variable in variables(design)],
    }


def _entry(variable: Variable) -> dict[str, Any]:
    a, b = variable.channel
    return {
        "column": variable.name,
        "kind": variable.kind,
        "key": variable.asked.key,
        "text": variable.asked.text,
        "block": variable.block and variable.block.key,
        "epsilon": variable.block and variable.block.epsilon,
        "keep": variable.block and variable.block.keep,
        "a": a,
        "b": b,
        "options": [
            {"position": i, "key": option.key, "text": option.text}
            for i, option in enumerate(variable.asked.options)
        ],
    }


HEADER = (
    "column kind key text position option option_text block epsilon keep scale a b mechanism design"
).split()


def lines(survey: Survey) -> Iterator[Line]:
    """The same as a table: one line an option, the names of the columns first."""
    design = survey.frozen_design()
    yield HEADER
    for variable in variables(design):
        block, asked = variable.block, variable.asked
        own: Line = [block.key, block.epsilon, block.keep, SCALE] if block else [None] * 4
        mechanism = design.mechanism if block else "in clear"
        for i, option in enumerate(asked.options):
            yield [
                *(variable.name, variable.kind, asked.key, asked.text, i, option.key, option.text),
                *own,
                *variable.channel,
                mechanism,
                survey.design_hash,
            ]


# --- For statistics programs ----------------------------------------------------------------------


def columns(chosen: Sequence[Variable]) -> list[Column]:
    """The columns of the reports, as Stata and SPSS have them, without their number."""
    return [
        Column(
            variable.name,
            "code",
            variable.asked.text,
            values={i: option.text for i, option in enumerate(variable.asked.options)},
            hidden="" if variable.block else "Not told apart: too few",
            notes=_channel(variable) | {"key": variable.asked.key, "text": variable.asked.text},
        )
        for variable in chosen
    ]


def _channel(variable: Variable) -> dict[str, str]:
    a, b = variable.channel
    told = f"noisy, block {variable.block.key}" if variable.block else "in clear"
    return {"channel": told, "a": repr(a), "b": repr(b)}


def notes(survey: Survey, chosen: Sequence[Variable]) -> list[str]:
    """What a file of a statistics program says about itself, with every channel."""
    found = [survey.title, f"Design {survey.design_hash}", DEBIAS]
    for variable in chosen:
        told = _channel(variable)
        found.append(f"{variable.name}: {told['channel']}, a = {told['a']}, b = {told['b']}")
    return found
