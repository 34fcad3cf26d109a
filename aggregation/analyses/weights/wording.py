"""The findings of weights: weighted and raw shares and means of every other question."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from aggregation.analyses.base import LEVEL, Figures, question_of
from aggregation.analyses.wording import Findings, listed, sentence
from aggregation.svg import tracks, whiskers
from aggregation.svg.axis import SHARES, Axis, Point, nice, signed
from aggregation.templatetags.figures import (
    NONE,
    change,
    decimal,
    headline,
    hundred,
    one_sided,
    percent,
)
from survey.design import Question
from survey.spreadsheets import Line

CONCERNED = "share_of_concerned"


@dataclass(frozen=True)
class WeightedShare:
    """A weighted and a raw estimate. One is None if too few people are concerned to tell."""

    label: str
    weighted: Figures | None
    raw: Figures | None
    axis: Axis = SHARES
    unit: str = ""  # of a mean

    @property
    def points(self) -> list[Point]:
        found = []
        if self.weighted:
            value, low, high = _figures(self.weighted)
            bound = one_sided(low, high, (self.axis.low, self.axis.high))
            found.append(Point(None if self.open else value, low, high, open=bound))
        if self.raw:
            value = self.raw["estimate"]
            found.append(Point(value, value, value, quiet=True))
        return found

    @property
    def picture(self) -> SafeString:
        if not self.points:
            return tracks.NOTHING
        words = []
        if self.weighted:
            value, limits = self.weighted_words[0], self.interval(self.weighted)
            words.append(f"weighted {value or NONE}, {LEVEL:.0%} interval {limits}")
        if self.raw:
            words.append(f"raw {self.raw_words}")
        return tracks.track(self.points, f"{self.label}: {'; '.join(words)}", self.axis)

    def shown(self, value: float) -> str:
        return percent(value) if self.axis is SHARES else decimal(value)

    def interval(self, figures: Figures | None) -> str:
        if figures is None:
            return ""
        low, high = figures["interval"]["low"], figures["interval"]["high"]
        limit = hundred if self.axis is SHARES else decimal
        return f"{limit(low)} to {limit(high)}"

    @property
    def weighted_words(self) -> tuple[str, str]:
        """The weighted estimate and its interval; none if it says nothing."""
        if self.weighted is None or self.open:
            return "", ""
        value, low, high = _figures(self.weighted)
        ends = self.axis.low, self.axis.high
        return headline(value, low, high, ends, self.shown), self.interval(self.weighted)

    @property
    def raw_words(self) -> str:
        """The raw estimate. Its interval is that of the release, with the results."""
        return self.shown(self.raw["estimate"]) if self.raw else ""

    @property
    def open(self) -> bool:
        """Whether the interval covers everything."""
        if self.weighted is None:
            return True
        interval = self.weighted["interval"]
        return bool(interval["low"] <= self.axis.low and interval["high"] >= self.axis.high)

    @property
    def shift(self) -> str:
        if self.weighted is None or self.raw is None or self.open:
            return "–"
        shift = self.weighted["estimate"] - self.raw["estimate"]
        return change(shift) if self.axis is SHARES else f"{shift:+.2f}".replace("-", "−")


@dataclass(frozen=True)
class WeightedQuestion:
    """A question with its figures, or the reason why there are none."""

    text: str
    figures: Figures
    error: str
    rows: list[WeightedShare]

    @property
    def tables(self) -> list[tuple[str, list[str], list[WeightedShare]]]:
        """Shares, then means: the name, the words below the axis, and the rows of each."""
        shares = [row for row in self.rows if row.axis is SHARES]
        found = [("Answer", ["0 %", "50 %", "100 %"], shares)] if shares else []
        means = [row for row in self.rows if row.axis is not SHARES]
        return found + [(row.label, list(row.axis.ends), [row]) for row in means]


@dataclass(frozen=True)
class WeightsFindings(Findings):
    title = "Weights"
    introduction = (
        "What shares and means would be if the people who responded were like the population."
    )
    template = "aggregation/analyses/weights/result.html"

    @property
    def description(self) -> str:
        by = self.asked["cells"][0]["groups"] if "cells" in self.asked else self.asked["margins"]
        return f"Every question, weighted to the population by {listed([*map(self.quoted, by)])}"

    @property
    def sections(self) -> list[WeightedQuestion]:
        return [
            WeightedQuestion(
                self.text(one["question"]),
                one,
                sentence(one["error"]) if "error" in one else "",
                self._rows(one),
            )
            for one in self.figures["questions"]
        ]

    def _rows(self, figures: Figures) -> list[WeightedShare]:
        question = question_of(self.design, figures["question"])
        rows = [self._row(question, one) for one in figures.get("estimates", [])]
        options = [option.key for option in question.options]
        return rows[1:2] if options == ["no", "yes"] and not question.only_if else rows

    def _row(self, question: Question, one: Figures) -> WeightedShare:
        label, axis, unit = self._label(question, one), SHARES, ""
        if not one["option"]:
            measure = next(each for each in question.measures() if each.name == one["measure"])
            scores = [score for score in measure.weights if score] + [0.0]
            if (known := measure.scores) and one["measure"] == "mean":
                scores = [score for score in known if score is not None]
            low, high = min(scores), max(scores)
            axis = Axis(low, high, [(tick, signed(tick)) for tick in nice(low, high, 5)])
            unit = f" {given}" if (given := getattr(question, "unit", "")) else ""
        return WeightedShare(label, one["weighted"], one["raw"], axis, unit)

    def _label(self, question: Question, one: Figures) -> str:
        if one["option"]:
            text = next(each.text for each in question.options if each.key == one["option"])
            return f"{text} (among those asked)" if one["measure"] == CONCERNED else text
        return "Mean number of picks" if one["measure"] == "picks" else "Mean"

    def lines(self) -> Iterator[Line]:
        yield (
            "question measure option method n raw raw_standard_error "
            "weighted weighted_standard_error weighted_low weighted_high "
            "design_effect effective_size"
        ).split()
        for figures in self.figures["questions"]:
            question = question_of(self.design, figures["question"])
            texts = {option.key: option.text for option in question.options}
            for one in figures.get("estimates", []):
                raw, weighted = one["raw"] or {}, one["weighted"] or {}
                yield [
                    question.text, one["measure"], texts.get(one["option"]),
                    self.figures["method"], figures["n"],
                    raw.get("estimate"), raw.get("standard_error"), *_limits(weighted),
                    weighted.get("design_effect"), weighted.get("effective_size"),
                ]  # fmt: skip

    def picture(self, name: str) -> bytes | None:
        rows: list[whiskers.Row] = []
        for section in self.sections:
            shares = [row for row in section.rows if row.axis is SHARES and row.weighted]
            if shares:
                rows.append(whiskers.Row(section.text))
            for row in shares:
                figures = (row.weighted_words[0] or NONE, row.interval(row.weighted))
                rows.append(whiskers.Row(row.label, row.points, figures))
        if not rows or name != "figure.svg":
            return None
        notes = ["Green: weighted, with 95 % intervals for one look. Grey: raw."]
        names = ("Weighted", "95\u00a0% interval")
        unit = "Estimated share of people"
        return whiskers.picture(self.description, notes, SHARES, rows, names, unit)


def _figures(found: Figures) -> tuple[float, float, float]:
    return found["estimate"], found["interval"]["low"], found["interval"]["high"]


def _limits(found: Figures | None) -> list[float | None]:
    if not found:
        return [None] * 4
    interval = found["interval"]
    return [found["estimate"], found["standard_error"], interval["low"], interval["high"]]
