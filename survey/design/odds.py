"""How sure a report can make somebody of an answer. static/respond/odds.js computes the same."""

import math
from typing import Literal

Grade = Literal["hardly", "guess", "nearly"]


def odds(epsilon: float) -> int:
    """Return how sure, out of 100, somebody guessing 50:50 can become."""
    return math.floor(100 / (1 + math.exp(-epsilon)) + 0.5)  # as JavaScript rounds


def grade(epsilon: float) -> Grade:
    """Return which words are true: whether a report hardly tells, allows a guess, or nearly tells.

    It follows from the rounded odds, so that the words never contradict the figure beside them.
    """
    sure = odds(epsilon)
    return "hardly" if sure <= 75 else "guess" if sure <= 90 else "nearly"


def is_weak(epsilon: float) -> bool:
    """Return whether people must be warned that the protection is weak."""
    return grade(epsilon) == "nearly"


def in_words(odds: int) -> str:
    """Write odds out of 100. Chance is never rounded to certainty."""
    return str(odds) if odds <= 99 else "more than 99"
