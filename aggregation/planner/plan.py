"""What a planned survey will find and promise. Pure: no Django.

The design is the one that opening such a survey would freeze (`survey.design`). All formulas are in
`aggregation.statistics`.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

from aggregation.planner.planned_design import CLEAR, Kind, Signal
from aggregation.planner.terms import Terms
from aggregation.statistics import planning, privacy
from aggregation.statistics.proportion import Channel
from survey.design import BACKGROUND_EPSILON, Design, Question
from survey.design.kinds.number import Number
from survey.design.kinds.several import Several
from survey.design.mechanism import Cells, Shape
from survey.design.odds import in_words, is_weak, odds

POWER = 0.8


@dataclass(frozen=True)
class Precision:
    """The half-widths for one kind of question: of everybody and of one group.

    Those of a number are in parts of its range. `concerned` is that of a share among those whom a
    follow-up concerns.
    """

    kind: Kind
    everybody: float
    group: float | None
    concerned: float | None

    @property
    def of_range(self) -> bool:
        """Whether the half-widths are parts of the range of a number."""
        return isinstance(self.kind.question, Number)


@dataclass(frozen=True)
class SmallestDifference:
    """The closest shares of two groups that can be told apart with a power of 80 %."""

    first: float
    second: float

    @property
    def gap(self) -> float:
        return abs(self.second - self.first)


@dataclass(frozen=True)
class Cost:
    """The same survey without noise, and with a trusted curator."""

    clear_people: int  # how many people would be as precise without noise
    clear: float  # the half-width without noise
    curator: float  # the half-width with Laplace noise on true counts
    times: float  # how many times as many people the plan needs


@dataclass(frozen=True)
class Plan:
    """Terms that fit together, and what follows from them."""

    terms: Terms

    @property
    def design(self) -> Design:
        return self.terms.design

    @property
    def kinds(self) -> list[Kind]:
        return self.terms.kinds

    @cached_property
    def together(self) -> list[int]:
        """The numbers of questions in the blocks."""
        return sorted({len(block.questions) for block in self.design.blocks})

    @property
    def has_shares(self) -> bool:
        return not all(isinstance(one, Number) for one in self.terms.questions)

    @property
    def has_numbers(self) -> bool:
        return any(isinstance(one, Number) for one in self.terms.questions)

    @property
    def reports(self) -> int:
        return self.terms.reports(self.terms.people)

    @property
    def invited(self) -> int:
        """How many people to invite, so that enough of them answer."""
        return math.ceil(self.terms.people / (1 - self.terms.dropout) * (1 - 1e-12))

    @cached_property
    def moved(self) -> tuple[float, float]:
        """How far forged reports can move the estimate down and up."""
        signal, forged = self.least.kind.signal, self.terms.forged
        share = None if signal.is_mean else self.terms.share
        if signal.is_mean:  # at most from one end of the scores to the other
            return forged / signal.contrast, forged / signal.contrast
        down = privacy.forgery(1.0 if share is None else share, signal.channel, forged)[0]
        up = privacy.forgery(0.0 if share is None else share, signal.channel, forged)[1]
        return -down, up

    @property
    def group_people(self) -> int:
        return self.terms.people // self.terms.groups

    @property
    def group_reports(self) -> int:
        return self.terms.reports(self.group_people)

    def _known(self, reports: int) -> int:
        """Return how many reports from a group known exactly are as precise: groups are noisy."""
        groups = self.terms.groups
        mechanism = Cells.for_epsilon(BACKGROUND_EPSILON, [Shape(groups + 1)])
        membership = Channel(*mechanism.channel(0))
        return int(planning.reports_in_group(reports, 1 / groups, membership)) if reports else 0

    @cached_property
    def precision(self) -> list[Precision]:
        people, terms = self.terms.people, self.terms
        asked: list[tuple[Signal, int]] = []
        for kind in self.kinds:
            n = kind.reports(people)
            asked += [(kind.signal, n), (kind.signal, self._known(n) if terms.groups > 1 else 0)]
            asked.append((kind.concerned or kind.signal, n if kind.concerned else 0))
        widths = iter(terms.half_widths_of([one for one in asked if one[1] > 0]))
        found = [next(widths) if n > 0 else None for _, n in asked]
        return [
            Precision(kind, found[3 * i] or math.inf, found[3 * i + 1], found[3 * i + 2])
            for i, kind in enumerate(self.kinds)
        ]

    @cached_property
    def least(self) -> Precision:
        """The least precise question: what holds for it holds for all."""
        return max(self.precision, key=lambda precision: precision.everybody)

    @cached_property
    def difference(self) -> SmallestDifference | None:
        terms, kind = self.terms, self.least.kind
        n = self._known(kind.reports(terms.people))
        if terms.groups < 2 or n < 1:
            return None
        found = planning.smallest_difference(
            n,
            kind.channel,
            None if kind.signal.is_mean else terms.share,
            POWER,
            terms.level,
            terms.forged,
        )
        return None if found is None else SmallestDifference(*found)

    @cached_property
    def cost(self) -> Cost:
        # A curator divides ε among the questions, and has every answer of everybody.
        terms, kind = self.terms, self.least.kind
        known = None if kind.signal.is_mean else terms.share
        share = 0.5 if known is None else known
        epsilon = terms.epsilon / len(terms.questions) / _moved_by_one(kind.question)
        price = privacy.price(terms.people, kind.channel, share, epsilon)
        # A curator's noise adds to sampling, not to the effect of forgers.
        local, clear = terms.half_widths_of([(kind.signal, terms.people), (CLEAR, terms.people)])
        if known is None and not kind.signal.is_mean:
            local = replace(terms, share=share).half_width_of(kind.signal, terms.people)
        chance = local - terms.forgers(kind.signal)
        curator = terms.forgers(CLEAR) + chance * price.curator / price.local
        clear_people = terms.reports_for(CLEAR)
        return Cost(clear_people, clear, curator, terms.people / clear_people)

    # The respondent's page states these too, from the same integers.

    @cached_property
    def losses(self) -> list[float]:
        return sorted(block.mechanism.epsilon for block in self.design.blocks)

    @cached_property
    def total(self) -> float:
        return privacy.composed(self.losses[-self.design.ask :])

    @property
    def total_odds(self) -> str:
        return in_words(odds(self.total))

    @property
    def block_odds(self) -> str:
        return in_words(odds(self.losses[-1]))

    @property
    def weak(self) -> bool:
        return is_weak(self.total)


def _moved_by_one(question: Question) -> int:
    """Return how many counts one person can move: one of a yes/no question or a sum of numbers."""
    if isinstance(question, Several):
        return question.picks
    return 1 if question.size == 2 or isinstance(question, Number) else 2
