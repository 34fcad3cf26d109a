"""What the findings of all kinds share: the survey's own words, and figures as text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aggregation.analyses.base import Figures, question_of
from survey.design import Design

Z = 1.959963984540054  # of a normal distribution, LEVEL lies within


@dataclass(frozen=True)
class Names:
    """The survey's own texts, by key."""

    design: Design

    def question(self, key: str) -> str:
        return question_of(self.design, key).text

    def options(self, key: str) -> list[str]:
        return [option.text for option in question_of(self.design, key).options]

    def option(self, question: str, key: str) -> str:
        options = question_of(self.design, question).options
        return next(option.text for option in options if option.key == key)

    def choice(self, question: str, option: str | None) -> str:
        """Return an option that stands for yes; without one, the last of two."""
        text = self.options(question)[-1] if option is None else self.option(question, option)
        return f"“{text}” to “{self.question(question)}”"

    def predictor(self, question: str, option: str | None) -> str:
        """Return what explains: one option of a question, or without one the whole question."""
        return self.choice(question, option) if option else f"“{self.question(question)}”"


def described(asked: Mapping[str, Any], design: Design) -> str:
    """Say in words what was asked."""
    names = Names(design)
    if asked["kind"] == "crosstab":
        return " by ".join(f"“{names.question(key)}”" for key in asked["questions"])
    if asked["kind"] == "regression":
        on = [names.predictor(one["question"], one.get("option")) for one in asked["predictors"]]
        return f"{names.choice(asked['outcome'], asked.get('option'))} on {_listed(on)}"
    if asked["kind"] == "profiles":
        texts = [f"“{names.question(key)}”" for key in asked["questions"]]
        if len(texts) > 3:
            texts = [*texts[:2], f"{len(texts) - 2} more questions"]
        return f"{asked.get('classes', 2)} profiles from {_listed(texts)}"
    by = [f"“{names.question(key)}”" for key in weighted_by(asked)]
    return f"Every question, weighted to the population by {_listed(by)}"


def weighted_by(asked: Mapping[str, Any]) -> list[str]:
    """Return the keys of the questions whose groups are known of the population."""
    return list(asked["cells"][0]["groups"] if "cells" in asked else asked["margins"])


def _listed(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


@dataclass(frozen=True)
class Found:
    """What one analysis found."""

    asked: Mapping[str, Any]
    design: Design
    figures: Figures

    @property
    def names(self) -> Names:
        return Names(self.design)


def figure(value: float) -> str:
    """Write a ratio with about three digits that count."""
    if value >= 1e4 or 0 < value < 1e-3:
        return "> 10,000" if value >= 1e4 else "< 0.001"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}"


def sentence(words: str) -> str:
    """Write a message of a program as a sentence."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")
