"""Estimates in plain words, each with a bar, for the people who answered.

A share is a count out of 100, a mean is in its unit, and the limits of an interval are rounded
outwards. A limit at the end of what is possible is not named: the words are then “fewer than” or
“more than”, because nobody can say that something never or always happens.
"""

import math
from dataclasses import dataclass

from django.utils.safestring import SafeString

from aggregation.dashboard.sections import Section
from aggregation.dashboard.tables import TableRow
from aggregation.models import Estimate
from aggregation.releases import display
from aggregation.svg import tracks
from aggregation.svg.axis import Point
from survey.design import Question
from survey.design.kinds.several import Several
from survey.words import Catalogue
from survey.words.reader import Content, Text

TINY = 1e-9  # rounding errors of floating point


@dataclass(frozen=True)
class Line:
    """One estimate. A bar of a mean has the ends of its range."""

    label: Text
    words: str
    bar: SafeString
    ends: tuple[str, str] | None = None


@dataclass(frozen=True)
class Part:
    """The estimates of one group, or of everybody."""

    group: Text | None
    lines: list[Line]


@dataclass(frozen=True)
class PlainQuestion:
    key: str
    text: Text
    notes: list[str]
    parts: list[Part]


@dataclass(frozen=True)
class Teller:
    """What tells the estimates: the texts of the survey and our own, in one language."""

    content: Content
    words: Catalogue

    def question(self, section: Section, by: Question | None) -> PlainQuestion:
        question = section.question
        groups = self.content.options(by) if by and section.groups else {}
        parts: dict[str, list[Line]] = {}
        for measure, table in (section.groups or section.everybody).items():
            if section.concerned and measure == "share":
                continue  # of everybody; “among those asked” is what people expect
            for row in table.rows:
                parts.setdefault(row.estimate.group, []).append(self.line(question, row))
        return PlainQuestion(
            question.key,
            self.content.question(question),
            self.notes(question),
            [Part(groups.get(group), lines) for group, lines in parts.items()],
        )

    def notes(self, question: Question) -> list[str]:
        """Return who was asked, if not everybody, and whether several options could be picked."""
        texts = self.words["results"]
        notes = [texts["several"]] if isinstance(question, Several) else []
        if question.only_if:
            key, wanted = question.only_if
            gate = next(one for one in self.content.design.questions if one.key == key)
            options = self.content.options(gate)
            quoted = [self.words.quoted(options[one.key].text) for one in gate.options
                      if one.key in wanted]  # fmt: skip
            notes.append(
                self.words.fill(
                    texts["concerned"],
                    options=self.words.either(quoted),
                    question=self.words.quoted(self.content.question(gate).text),
                )
            )
        return notes

    def line(self, question: Question, row: TableRow) -> Line:
        estimate, quantity = row.estimate, row.quantity
        shown = Point(estimate.bounded, estimate.low, estimate.high)
        bar = tracks.estimate(shown, quantity.axis)
        if not isinstance(quantity, display.Mean):
            label = self.content.options(question)[estimate.option]
            return Line(label, self.share(estimate), bar)
        texts = self.words["results"]
        label = texts["average_picks" if estimate.measure == "picks" else "average"]
        words = self.mean(question, estimate, quantity)
        return Line(Text(label, self.words.tag), words, bar, self.ends(question, quantity))

    def share(self, row: Estimate) -> str:
        """Return a share as a count out of 100."""
        low = min(max(0, math.floor(100 * row.low + TINY)), 99)
        high = max(1, min(100, math.ceil(100 * row.high - TINY)))
        texts = self.words["results"]
        if row.bounded is None or (low == 0 and high == 100):
            return str(texts["too_few"])
        if low == 0:
            return self.words.fill(texts["share_low"], high=high)
        if high == 100:
            return self.words.fill(texts["share_high"], low=low)
        value = min(max(round(100 * row.bounded), low), high)
        return self.words.fill(texts["share"], value=value, low=low, high=high)

    def mean(self, question: Question, row: Estimate, quantity: display.Mean) -> str:
        """Return a mean in its unit."""
        size = 10.0**quantity.digits
        low = math.floor(row.low * size + TINY) / size
        high = math.ceil(row.high * size - TINY) / size
        is_least, is_most = low <= quantity.axis.low, high >= quantity.axis.high
        texts = self.words["results"]

        def number(value: float, unit: str = "") -> str:
            isolated = f"\u2068{unit}\u2069" if unit else ""
            return display.with_unit(self.words.number(value, quantity.digits), isolated)

        unit = self.content.unit(question).text
        if row.bounded is None or (is_least and is_most):
            return str(texts["too_few"])
        if is_least:
            return self.words.fill(texts["mean_low"], high=number(high, unit))
        if is_most:
            return self.words.fill(texts["mean_high"], low=number(low, unit))
        return self.words.fill(
            texts["mean"], value=number(row.bounded, unit), low=number(low), high=number(high)
        )

    def ends(self, question: Question, quantity: display.Mean) -> tuple[str, str]:
        """Return the ends of a mean's range; those of scores with the options that have them."""
        scored = {option.score: option.key for option in question.options}
        options = self.content.options(question)
        least, most = (
            self.words.number(end, 0 if end == int(end) else quantity.digits)
            + (f" (\u2068{options[scored[end]].text}\u2069)" if end in scored else "")
            for end in (quantity.axis.low, quantity.axis.high)
        )
        return least, most
