"""The findings of weights: weighted and raw shares of every other question."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from aggregation.analyses.base import LEVEL, Figures, question_of
from aggregation.analyses.wording import Findings, listed, sentence
from aggregation.svg import tracks, whiskers
from aggregation.svg.axis import SHARES, Point
from aggregation.templatetags.figures import hundred, percent
from survey.spreadsheets import Line


@dataclass(frozen=True)
class WeightedShare:
    """The weighted and the raw share of an option."""

    label: str
    weighted: Figures
    raw: Figures

    @property
    def points(self) -> list[Point]:
        return [_point(self.weighted), _point(self.raw, raw=True)]

    @property
    def picture(self) -> SafeString:
        weighted, raw = self.points
        words = (
            f"{self.label}: weighted {weighted.value:.1%}, {LEVEL:.0%} interval "
            f"{weighted.low:.1%} to {weighted.high:.1%}; raw {raw.value:.1%}"
        )
        return tracks.track(self.points, words)

    @property
    def open(self) -> bool:
        """Whether the interval covers everything."""
        interval = self.weighted["interval"]
        return bool(interval["low"] <= 0 and interval["high"] >= 1)

    @property
    def shift(self) -> float:
        return float(self.weighted["estimate"] - self.raw["estimate"])


@dataclass(frozen=True)
class WeightedQuestion:
    """A question with its figures, or the reason why there are none."""

    text: str
    figures: Figures
    error: str
    rows: list[WeightedShare]


@dataclass(frozen=True)
class WeightsFindings(Findings):
    title = "Weights"
    introduction = "What the shares would be if the people who responded were like the population."
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
        key = figures["question"]
        rows = [
            WeightedShare(self.option(key, one["option"]), one["weighted"], one["raw"])
            for one in figures.get("options", [])
        ]
        options = [option.key for option in question_of(self.design, key).options]
        return rows[1:] if options == ["no", "yes"] else rows  # “no” is the rest

    def lines(self) -> Iterator[Line]:
        yield (
            "question option method n raw raw_standard_error raw_low raw_high "
            "weighted weighted_standard_error weighted_low weighted_high "
            "design_effect effective_size"
        ).split()
        for figures in self.figures["questions"]:
            key = figures["question"]
            for one in figures.get("options", []):
                raw, weighted = one["raw"], one["weighted"]
                yield [
                    self.text(key), self.option(key, one["option"]),
                    self.figures["method"], figures["n"], *_limits(raw), *_limits(weighted),
                    weighted["design_effect"], weighted["effective_size"],
                ]  # fmt: skip

    def picture(self, name: str) -> bytes | None:
        rows: list[whiskers.Row] = []
        for section in self.sections:
            if section.rows:
                rows.append(whiskers.Row(section.text))
            for row in section.rows:
                weighted, _ = row.points
                limits = f"{hundred(weighted.low)} to {hundred(weighted.high)}"
                figures = (percent(row.weighted["estimate"]), limits)
                rows.append(whiskers.Row(row.label, row.points, figures))
        if not rows or name != "figure.svg":
            return None
        notes = ["Filled: weighted, with 95 % intervals and figures. Open: raw."]
        names = ("Weighted", "95\u00a0% interval")
        unit = "Estimated share of people"
        return whiskers.picture(self.description, notes, SHARES, rows, names, unit)


def _point(found: Figures, raw: bool = False) -> Point:
    return Point(found["estimate"], found["interval"]["low"], found["interval"]["high"], raw)


def _limits(found: Figures) -> list[float]:
    interval = found["interval"]
    return [found["estimate"], found["standard_error"], interval["low"], interval["high"]]
