"""How sure a report can make somebody of an answer. static/respond/odds.js computes the same."""

import math

WEAK = math.log(19)  # above this ε, somebody could become more than 95 in 100 sure


def odds(epsilon: float) -> int:
    """Return how sure, out of 100, somebody guessing 50:50 can become."""
    return math.floor(100 / (1 + math.exp(-epsilon)) + 0.5)  # as JavaScript rounds


def in_words(odds: int) -> str:
    """Write odds out of 100. Chance is never rounded to certainty."""
    return str(odds) if odds <= 99 else "more than 99"
