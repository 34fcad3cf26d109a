"""What every variable of a survey means: for people, for scripts and for statistics programs.

A codebook depends only on the design, so it is the same for every release and contains nothing
that respondents cannot read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aggregation.exports.columns import Column
from survey.design import Block, Design, Question
from survey.design.mechanism import MECHANISM, SCALE
from survey.models import Survey
from survey.spreadsheets import Line

DEBIAS = (
    "Of n reports to a question, x have an option. The share of people for whom the option is true "
    "is estimated by (x / n - b) / (a - b), which is unbiased and may leave 0 to 1. Its standard "
    "error is sqrt(x (n - x) / (n - 1)) / (n (a - b)). Here a is the probability that the option "
    "is reported by somebody for whom it is true, and b that for everybody else; a - b is "
    "keep / scale. One coin decides for all questions of a block; tables of several questions "
    "need that."
)
BY_GROUP = (
    "Background answers are randomized like all others, so a reported group need not be the true "
    "one. For each of the n reports to both questions let y be 1 if it has the option, else 0, and "
    "s be 1 if it has the group, else 0; let u = (y - b) / (a - b) and w = (s - b') / (a' - b'), "
    "with the channel (a, b) of the question and (a', b') of the background question. The share of "
    "the option within the group is estimated by R = sum(u w) / sum(w), which follows from the "
    "counts by group and option. Its standard error is sqrt(n / (n - 1) sum((u - R)^2 w^2)) / "
    "sum(w). The interval has all shares r for which the mean of (u - r) w does not differ "
    "significantly from 0, with its variance under r (Fieller, Some problems in interval "
    "estimation, Journal of the Royal Statistical Society B 16, 1954, 175-185). Where sum(w) is "
    "too small to be told from 0, the interval is 0 to 1 and there is no standard error."
)
VALUES = (
    "In reports.csv, a value is the position of an option. Empty: the question was not asked. "
    "Every value, background questions included, was randomized before it was sent."
)

# Names that Stata or SPSS reserve, and our own `count`.
TAKEN = (
    "count all and by eq ge gt le lt ne not or to with byte double float if in int long strl using"
).split()
WIDTH = re.compile("str[0-9]+", re.IGNORECASE)  # also reserved by Stata
LONGEST_NAME = 26  # Stata takes 32; some get a number at the end


@dataclass(frozen=True)
class Variable:
    """A question, and the name of its column in the file of reports."""

    name: str
    asked: Question
    block: Block

    @property
    def channel(self) -> tuple[float, float]:
        return self.block.mechanism.channel(self.block.questions.index(self.asked))


def variables(design: Design) -> list[Variable]:
    """Return all questions, in the order of a report, under names that every program accepts."""
    found: list[Variable] = []
    taken = set(TAKEN)
    for block in design.blocks:
        for question in block.questions:
            name = stem = _stem(question.key)
            number = 2
            while name.lower() in taken or WIDTH.fullmatch(name):  # SPSS ignores the case
                name, number = f"{stem}_{number}", number + 1
            taken.add(name.lower())
            found.append(Variable(name, question, block))
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
        "mechanism": MECHANISM,
        "scale": SCALE,
        "epsilon": design.epsilon,
        "report_epsilon": design.report_epsilon,
        "ask": design.ask,
        "blocks": len(design.sensitive_blocks),
        "debias": DEBIAS,
        "by_group": BY_GROUP,
        "values": VALUES,
        "variables": [_entry(variable) for variable in variables(design)],
    }


def _entry(variable: Variable) -> dict[str, Any]:
    asked, block = variable.asked, variable.block
    a, b = variable.channel
    return {
        "column": variable.name,
        "background": block.background,
        "kind": asked.kind,
        "key": asked.key,
        "text": asked.text,
        "block": block.key,
        "epsilon": block.epsilon,
        "keep": block.keep,
        "a": a,
        "b": b,
        "options": [
            {"position": i, "key": option.key, "text": option.text}
            for i, option in enumerate(asked.options)
        ],
    }


HEADER = (
    "column background kind key text position option option_text block epsilon keep scale a b "
    "mechanism design"
).split()


def lines(survey: Survey) -> Iterator[Line]:
    """Yield the same as a table: the names of its columns, then a line for each option."""
    yield HEADER
    same = {"scale": SCALE, "mechanism": MECHANISM, "design": survey.design_hash}
    for variable in variables(survey.frozen_design()):
        entry = _entry(variable) | same | {"background": int(variable.block.background)}
        for option in entry["options"]:
            names = {"option": option["key"], "option_text": option["text"]}
            line = entry | names | {"position": option["position"]}
            yield [line[name] for name in HEADER]


# --- For statistics programs ----------------------------------------------------------------------


def columns(design: Design) -> list[Column]:
    """Return the columns of the reports for Stata and SPSS, without `count`."""
    return [
        Column(
            variable.name,
            "code",
            variable.asked.text,
            values={i: option.text for i, option in enumerate(variable.asked.options)},
            notes=_channel(variable) | {"key": variable.asked.key, "text": variable.asked.text},
        )
        for variable in variables(design)
    ]


def _channel(variable: Variable) -> dict[str, str]:
    a, b = variable.channel
    return {
        "block": variable.block.key,
        "background": "yes" if variable.block.background else "no",
        "epsilon": repr(variable.block.epsilon),
        "keep": str(variable.block.keep),
        "a": repr(a),
        "b": repr(b),
    }


def notes(survey: Survey) -> list[str]:
    """Return the notes in a file for statistics programs: formulas, and every channel."""
    found = [survey.title, f"Design {survey.design_hash}", DEBIAS, BY_GROUP]
    for variable in variables(survey.frozen_design()):
        channel = ", ".join(f"{name} = {text}" for name, text in _channel(variable).items())
        found.append(f"{variable.name}: {channel}")
    return found
