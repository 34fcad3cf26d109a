"""Half-widths for different numbers of people and ε. Pure: no Django."""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from aggregation.planner.notation import write
from aggregation.planner.planned_design import CLEAR
from aggregation.planner.terms import PlanError, Terms, reaches


@dataclass(frozen=True)
class Curve:
    """The half-widths at one ε, for each number of people. None is a survey without noise."""

    epsilon: float | None
    half_widths: list[float | None]


@dataclass(frozen=True)
class Grid:
    people: list[int]
    curves: list[Curve]


def make_grid(terms: Terms) -> Grid:
    """Return half-widths for a tenth to ten times the people."""
    exponent = math.log10(terms.people)
    first = max(1, math.floor(exponent - 0.7))
    last = max(first + 2, math.ceil(exponent + 0.7))
    steps = [10**e * digit for e in range(first, last) for digit in (1, 3)] + [10**last]
    people = sorted({*steps, terms.people})
    several = list(_neighbours(terms))
    rows = zip(several, reaches(several, people), strict=True)
    clear = terms.half_widths_of([(CLEAR, n) for n in people])
    return Grid(people, [*(Curve(each.epsilon, row) for each, row in rows), Curve(None, [*clear])])


def _neighbours(terms: Terms) -> Iterator[Terms]:
    """Yield the same survey at each ε for which it is possible."""
    rounded = [float(f"{terms.epsilon * factor:.3g}") for factor in (0.25, 0.5, 2)]
    for epsilon in sorted([*rounded, terms.epsilon]):
        each = replace(terms, epsilon=epsilon)
        with suppress(PlanError):
            each.design  # noqa: B018  # raises PlanError if there is none
            yield each


def caption(terms: Terms) -> list[str]:
    """Return the assumptions of a plan, for the caption of its figure."""
    design = terms.design
    most = max(len(block.questions) for block in design.blocks)
    share = "the worst case" if terms.share is None else f"a share of {100 * terms.share:g} %"
    looks = "one look" if terms.looks == "one" else "every look"
    found = (
        f"Questions: {write(terms.questions)}, in blocks of up to {most}, {design.ask} of "
        f"{len(design.blocks)} asked of a person. Half-widths at {100 * terms.level:g} %, for "
        f"{looks} and {share}, for the least precise question."
    )
    if terms.forged:
        found += f" Up to {100 * terms.forged:g} % of the reports may be forged."
    return [found, "Planned with Candor."]
