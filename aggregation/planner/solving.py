"""Find the third of people, ε and half-width from the other two. Pure: no Django."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from aggregation.planner.planned_design import CLEAR
from aggregation.planner.terms import PlanError, Terms, reaches

MOST_PEOPLE = 10**9
MOST_EPSILON = 8.0  # the largest ε to try, which protects hardly anything
STEP = 100  # ε is found to a hundredth


def solve(wanted: str, terms: Terms) -> Terms:
    """Return terms in which `wanted` (half_width, people or epsilon) fits the two others."""
    if wanted == "people":
        return replace(terms, people=people_for(terms))
    if wanted == "epsilon":
        return replace(terms, epsilon=epsilon_for(terms))
    half_width = terms.reach(terms.people)
    if half_width is None:
        least = math.ceil(len(terms.design.blocks) / terms.design.ask)
        raise PlanError(
            "people", f"At least {least} people, so that somebody is asked each question."
        )
    return replace(terms, half_width=half_width)


def people_for(terms: Terms) -> int:
    """Return how many people make every question as precise as wanted."""
    people = math.inf
    alone = max(terms.forgers(kind.signal) for kind in terms.kinds)
    if alone >= terms.half_width:
        raise PlanError(
            "half_width",
            f"The forged reports alone cause ± {100 * alone:.2g} points. Allow a larger "
            "half-width, a larger ε, or fewer forged reports.",
        )
    with suppress(ValueError):  # more than can be counted
        people = max(
            math.ceil(terms.reports_for(kind.signal) * kind.asked[1] / kind.asked[0])
            for kind in terms.hardest
        )
    if people > MOST_PEOPLE:
        raise PlanError(
            "half_width",
            "This would need more than a billion people. Allow a larger half-width or a larger ε.",
        )
    return int(people)


def epsilon_for(terms: Terms) -> float:
    """Return the least ε, in hundredths, that makes every question as precise as wanted."""

    def enough(several: Sequence[int]) -> list[bool]:
        """Return which of these hundredths are enough: together they take no longer than one."""
        found = reaches([replace(terms, epsilon=one / STEP) for one in several], [terms.people])
        return [width is not None and width <= terms.half_width for (width,) in found]

    low, high = 0, int(MOST_EPSILON * STEP)
    if not enough([high])[0]:
        at_best = terms.half_width_of(CLEAR, terms.people)
        why = f"Without any noise {terms.people:,} people give ± {100 * at_best:.2g} points"
        if at_best < terms.half_width:
            why = f"Not even ε = {MOST_EPSILON:g} is enough for {terms.people:,} people"
        raise PlanError("half_width", f"{why}. Ask more people, or allow a larger half-width.")
    while high - low > 1:  # too little, and enough
        quarters = sorted({low + (high - low) * i // 4 for i in (1, 2, 3)} - {low})
        first = bisect_left(enough(quarters), True)
        low, high = ([low, *quarters][first], [*quarters, high][first])
    return high / STEP
