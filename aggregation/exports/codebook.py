"""What every variable of a survey means: for people, for scripts and for statistics programs.

A codebook depends only on what was frozen when the survey opened, so it is the same for every
release and contains nothing that respondents cannot read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from aggregation.exports.columns import Column
from survey.design import Block, Design, Question
from survey.design.kinds.number import Number
from survey.design.kinds.several import Several
from survey.design.mechanism import MECHANISM, SCALE
from survey.models import Survey
from survey.spreadsheets import Line

DEBIAS = (
    "Of the n reports that answer a question, let f[v] be the part with value v. A report shows "
    "the person's own value with probability c = keep / scale; otherwise it shows value v by "
    "chance, with probability b[v] in all. What is estimated is a weighted sum of the shares of "
    "values, with the weights w[v] of a measure: E = sum(w[v] (f[v] - b[v])) / c, which is "
    "unbiased and may leave the possible range. A measure of some people only also has weights "
    "m[v] (among), 1 for the values of these people and 0 for others, and is the ratio "
    "R = sum(w[v] (f[v] - b[v])) / sum(m[v] (f[v] - b[v])). The standard error is "
    "sqrt(s / (n - 1)) / c, with s the variance of w[v] over the n reports; for a ratio it is "
    "sqrt(s / (n - 1)) / |sum(m[v] (f[v] - b[v]))|, with s the variance of w[v] - R m[v]. For an "
    "option of a plain question, E is (x / n - b) / (a - b), where x reports show it and a is the "
    "probability that it is reported by somebody for whom it is true. A report to a multiple "
    "choice question shows one of r slots, r being the number of picks, so a - b is c / r there "
    "and the weights are r times as large. A population of known size makes the standard error "
    "smaller. One coin decides for all questions of a block; tables of several questions need that."
)
POOLED = (
    "A question that others depend on can be in several blocks, of which each person is asked one. "
    "Its reports are pooled: c and b[v] are then the averages of those of the blocks, weighted by "
    "the numbers of reports that contain each block."
)
BY_GROUP = (
    "Background answers are randomized like all others, so a reported group need not be the true "
    "one. For each of the n reports to both questions let u = (w[v] - sum(w b)) / c be the "
    "question's part, and for a measure of some people only t = (m[v] - sum(m b)) / c, otherwise "
    "t = 1; let s be 1 if it has the group, else 0, and g = (s - b') / (a' - b') with the channel "
    "(a', b') of the background question. The measure within the group is estimated by "
    "R = sum(u g) / sum(t g), which follows from the counts by group and value. Its standard error "
    "is sqrt(n / (n - 1) sum((u - R t)^2 g^2)) / sum(t g). The interval has all r for which the "
    "mean of (u - r t) g does not differ significantly from 0, with its variance under r (Fieller, "
    "Some problems in interval estimation, Journal of the Royal Statistical Society B 16, 1954, "
    "175-185). Where sum(t g) is too small to be told from 0, the interval is the whole range and "
    "there is no estimate."
)
VALUES = (
    "In reports.csv, a value is the position of an option, or of a level to which a number was "
    "rounded at random; options that can be chosen instead of a number follow its levels. The last "
    "value of a follow-up means that the question did not apply (not asked), and that of a "
    "multiple choice question that the slot drawn was blank (nothing picked). Empty: the block of "
    "the question was not among those that this respondent was asked. Every value, background "
    "questions included, was randomized before it was sent."
)
RANDOMIZED = "[randomized]"  # begins labels, so that nobody takes reported frequencies for results
NOT_ASKED, NOTHING_PICKED = "Not asked", "Nothing picked"

# Names that Stata or SPSS reserve, and our own `count`.
TAKEN = (
    "count all and by eq ge gt le lt ne not or to with byte double float if in int long strl using"
).split()
WIDTH = re.compile("str[0-9]+", re.IGNORECASE)  # also reserved by Stata
LONGEST_NAME = 26  # Stata takes 32; some get a number at the end


class Value(NamedTuple):
    """A value in a report."""

    position: int
    option: str  # the key of the option, if it is one
    text: str
    number: float | None  # what it stands for in a mean


class Channel(NamedTuple):
    """How likely a value is reported: if it is true, and if it is not."""

    a: float
    b: float


@dataclass(frozen=True)
class Variable:
    """A question, the name of its column in the file of reports, and the blocks that it is in."""

    name: str
    asked: Question
    places: tuple[tuple[Block, int], ...]

    @property
    def blocks(self) -> list[Block]:
        return [block for block, _ in self.places]

    @property
    def background(self) -> bool:
        return self.blocks[0].background

    @cached_property
    def values(self) -> list[Value]:
        """All values of a report, in order."""
        asked = self.asked
        found: list[tuple[str, str, float | None]] = []
        if isinstance(asked, Number):
            for place in range(asked.levels + 1):
                number = asked.level(place)
                found.append(("", f"{number:.15g} {asked.unit}".rstrip(), number))
        found += [(option.key, option.text, option.score) for option in asked.options]
        if asked.may_be_none:
            found.append(("", NOTHING_PICKED if isinstance(asked, Several) else NOT_ASKED, None))
        return [Value(i, *each) for i, each in enumerate(found)]

    def channels(self, block: Block, position: int) -> list[Channel]:
        """Return the channel of each value in one of the blocks."""
        mechanism = block.mechanism
        found = [Channel(*mechanism.channel(position, i)) for i in range(self.asked.size)]
        if self.asked.may_be_none:  # of multiple choice: if nothing is picked, all slots are blank
            stray = (SCALE - block.keep) / SCALE * mechanism.chances(position)[-1]
            found.append(Channel(block.keep / SCALE + stray, stray))
        return found


def variables(design: Design) -> list[Variable]:
    """Return all questions, in the order of a report, under names that every program accepts."""
    found: list[Variable] = []
    taken = set(TAKEN)
    for question in design.questions:
        name = stem = _stem(question.key)
        number = 2
        while name.lower() in taken or WIDTH.fullmatch(name):  # SPSS ignores the case
            name, number = f"{stem}_{number}", number + 1
        taken.add(name.lower())
        found.append(Variable(name, question, design.places[question.key]))
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
        "population": survey.population,
        "debias": DEBIAS,
        "pooled": POOLED,
        "by_group": BY_GROUP,
        "values": VALUES,
        "variables": [_entry(variable) for variable in variables(design)],
    }


def _entry(variable: Variable) -> dict[str, Any]:
    asked = variable.asked
    details = {name: getattr(asked, name) for name in asked.members}
    return {
        "column": variable.name,
        "background": variable.background,
        "kind": asked.kind,
        "key": asked.key,
        "text": asked.text,
        "only_if": asked.only_if and {"question": asked.only_if[0], "options": [*asked.only_if[1]]},
        **details,
        "values": [
            {
                "value": value.position,
                "option": value.option or None,
                "text": value.text,
                "number": value.number,
            }
            for value in variable.values
        ],
        "blocks": [
            {
                "block": block.key,
                "epsilon": block.epsilon,
                "keep": block.keep,
                "cells": block.mechanism.cells,
                "channels": [
                    {"value": i, "a": channel.a, "b": channel.b}
                    for i, channel in enumerate(variable.channels(block, position))
                ],
            }
            for block, position in variable.places
        ],
        "measures": [
            {
                "measure": measure.name,
                "option": measure.option or None,
                "weights": measure.weights,
                "among": measure.among,
            }
            for measure in asked.measures()
        ],
    }


HEADER = (
    "column background kind key text only_if least most levels unit picks "
    "block epsilon keep scale cells value option value_text number a b "
    "population mechanism design"
).split()


def lines(survey: Survey) -> Iterator[Line]:
    """Yield the same as a table: the names of its columns, then a line for each value and block."""
    yield HEADER
    same = {
        "scale": SCALE,
        "population": survey.population,
        "mechanism": MECHANISM,
        "design": survey.design_hash,
    }
    for variable in variables(survey.frozen_design()):
        asked = variable.asked
        question = {name: getattr(asked, name) for name in asked.members} | {
            "column": variable.name,
            "background": int(variable.background),
            "kind": asked.kind,
            "key": asked.key,
            "text": asked.text,
            "only_if": asked.only_if and f"{asked.only_if[0]}: {', '.join(asked.only_if[1])}",
        }
        for block, position in variable.places:
            coin = {
                "block": block.key,
                "epsilon": block.epsilon,
                "keep": block.keep,
                "cells": block.mechanism.cells,
            }
            channels = variable.channels(block, position)
            for value, channel in zip(variable.values, channels, strict=True):
                line = same | question | coin | channel._asdict() | {
                    "value": value.position,
                    "option": value.option,
                    "value_text": value.text,
                    "number": value.number,
                }  # fmt: skip
                yield [line.get(name) for name in HEADER]


# --- For statistics programs ----------------------------------------------------------------------


def columns(design: Design) -> list[Column]:
    """Return the columns of the reports for Stata and SPSS, without `count`."""
    return [
        Column(
            variable.name,
            "code",
            f"{RANDOMIZED} {variable.asked.text}",
            values={value.position: f"{RANDOMIZED} {value.text}" for value in variable.values},
            notes=_channel(variable) | {"key": variable.asked.key, "text": variable.asked.text},
        )
        for variable in variables(design)
    ]


def _channel(variable: Variable) -> dict[str, str]:
    """Return the coin, and the channel of each value, those of several blocks one after another."""
    found = {"background": "yes" if variable.background else "no", "kind": variable.asked.kind}
    channels = [variable.channels(*place) for place in variable.places]
    for name in ("key", "epsilon", "keep"):
        found[name if name != "key" else "block"] = " | ".join(
            str(getattr(block, name)) for block in variable.blocks
        )
    for name in ("a", "b"):
        found[name] = " | ".join(
            " ".join(repr(getattr(channel, name)) for channel in each) for each in channels
        )
    return found


def notes(survey: Survey) -> list[str]:
    """Return the notes in a file for statistics programs: formulas, and every channel."""
    found = [survey.title, f"Design {survey.design_hash}", DEBIAS, POOLED, BY_GROUP]
    for variable in variables(survey.frozen_design()):
        channel = ", ".join(f"{name} = {text}" for name, text in _channel(variable).items())
        found.append(f"{variable.name}: {channel}")
    return found
