"""The survey's own words, and figures as text."""

from collections.abc import Sequence
from dataclasses import dataclass

from aggregation.analyses.base import question_of
from survey.design import Design

Z = 1.959963984540054  # of a normal distribution, LEVEL lies within


@dataclass(frozen=True)
class Names:
    """The survey's own texts, by key."""

    design: Design

    def question(self, key: str) -> str:
        return question_of(self.design, key).text

    def quoted(self, key: str) -> str:
        return f"“{self.question(key)}”"

    def options(self, key: str) -> list[str]:
        return [option.text for option in question_of(self.design, key).options]

    def option(self, question: str, key: str) -> str:
        options = question_of(self.design, question).options
        return next(option.text for option in options if option.key == key)


def listed(texts: Sequence[str]) -> str:
    """Join texts with commas, and “and” before the last."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def figure(value: float) -> str:
    """Write a ratio with about three digits that count."""
    if value >= 1e4 or 0 < value < 1e-3:
        return "> 10,000" if value >= 1e4 else "< 0.001"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}"


def sentence(words: str) -> str:
    """Write a message of a program as a sentence."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")
