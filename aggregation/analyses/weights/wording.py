"""Weighted shares beside raw ones, of every question that is not weighted by."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from aggregation.analyses.base import LEVEL, Figures, question_of
from aggregation.analyses.findings import Findings
from aggregation.analyses.wording import Names, listed, sentence
from aggregation.svg import tracks, whiskers
from aggregation.svg.axis import SHARES, Point
from aggregation.templatetags.figures import hundred, percent
from survey.design import Design
from survey.spreadsheets import Line


def describe(asked: Mapping[str, Any], design: Design) -> str:
    by = asked["cells"][0]["groups"] if "cells" in asked else asked["margins"]
    return (
        f"Every question, weighted to the population by {listed([*map(Names(design).quoted, by)])}"
    )


@dataclass(frozen=True)
class Weighted:
    """An option: weighted, and raw beside it."""

    label: str
    weighted: Figures
    raw: Figures
    picture: SafeString

    @property
    def open(self) -> bool:
        """Whether the interval covers everything, so that there is nothing to say."""
        interval = self.weighted["interval"]
        return bool(interval["low"] <= 0 and interval["high"] >= 1)

    @property
    def shift(self) -> float:
        return float(self.weighted["estimate"] - self.raw["estimate"])


@dataclass(frozen=True)
class Section:
    """A question with its figures, or why there are none."""

    text: str
    figures: Figures
    error: str
    rows: list[Weighted]


@dataclass(frozen=True)
class WeightsFindings(Findings):
    @property
    def sections(self) -> list[Section]:
        return [
            Section(
                self.names.question(one["question"]),
                one,
                sentence(one["error"]) if "error" in one else "",
                self._rows(one),
            )
            for one in self.figures["questions"]
        ]

    def _rows(self, figures: Figures) -> list[Weighted]:
        rows, key = [], figures["question"]
        for one in figures.get("options", []):
            label = self.names.option(key, one["option"])
            points = [_point(one["weighted"]), _point(one["raw"], raw=True)]
            words = (
                f"{label}: weighted {points[0].value:.1%}, {LEVEL:.0%} interval "
                f"{points[0].low:.1%} to {points[0].high:.1%}; raw {points[1].value:.1%}"
            )
            picture = tracks.track(points, words)
            rows.append(Weighted(label, one["weighted"], one["raw"], picture))
        if [option.key for option in question_of(self.design, key).options] == ["no", "yes"]:
            return rows[1:]  # “no” is the rest
        return rows

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
                    self.names.question(key), self.names.option(key, one["option"]),
                    self.figures["method"], figures["n"], *_limits(raw), *_limits(weighted),
                    weighted["design_effect"], weighted["effective_size"],
                ]  # fmt: skip

    def picture(self, name: str) -> bytes | None:
        rows: list[whiskers.Row] = []
        for section in self.sections:
            if section.rows:
                rows.append(whiskers.Row(section.text))
            for row in section.rows:
                points = [_point(row.weighted), _point(row.raw, raw=True)]
                limits = f"{hundred(points[0].low)} to {hundred(points[0].high)}"
                share = percent(row.weighted["estimate"])
                rows.append(whiskers.Row(row.label, points, (share, limits)))
        if not rows or name != "figure.svg":
            return None
        title = describe(self.asked, self.design)
        notes = ["Filled: weighted, with its 95 % interval, also in figures. Open: raw."]
        names = ("Weighted", "95\u00a0% interval")
        return whiskers.picture(title, notes, SHARES, rows, names, "Estimated share of people")


def _point(found: Figures, raw: bool = False) -> Point:
    return Point(found["estimate"], found["interval"]["low"], found["interval"]["high"], raw)


def _limits(found: Figures) -> list[float]:
    interval = found["interval"]
    return [found["estimate"], found["standard_error"], interval["low"], interval["high"]]
