"""What the server's pages and letters promise: words that are true at a survey's ε."""

from collections.abc import Sequence
from dataclasses import dataclass

from survey.design import Design
from survey.design.odds import grade, is_weak
from survey.words import Catalogue


@dataclass(frozen=True)
class Promise:
    weak: bool
    sentences: Sequence[str]  # that hold for every survey, and the grade of this one
    odds: str  # the figure behind the grade

    def __str__(self) -> str:
        return " ".join(self.sentences)


def promise(words: Catalogue, design: Design) -> Promise:
    """Return what a report reveals of the sensitive answers, in words and as a figure."""
    texts = words["protection"]
    sentences = [texts["change"], texts["nobody"], texts["grades"][grade(design.epsilon)]]
    if design.background_blocks:
        sentences.append(texts["background"])
    odds = texts["odds_without_background" if design.background_blocks else "odds"]
    said = words.fill(odds, sure=sure(words, design.sure))
    return Promise(is_weak(design.epsilon), sentences, said)


def sure(words: Catalogue, odds: int) -> str:
    """Write how sure, out of 100, somebody can become. Chance is never rounded to certainty."""
    texts = words["protection"]
    return words.fill(texts["at_most"], count=odds) if odds <= 99 else str(texts["above"])
