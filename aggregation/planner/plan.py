"""What a planned survey will find and promise. Pure: no Django.

The design is the one that opening such a survey would freeze (`survey.design`). All formulas are in
`aggregation.statistics`.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

from aggregation.planner.planned_design import Kind, kinds
from aggregation.planner.terms import CLEAR, Terms
from aggregation.statistics import planning, privacy
from aggregation.statistics.proportion import Channel
from survey.design import BACKGROUND_EPSILON, Design
from survey.design.mechanism import Cells, Shape
from survey.design.odds import WEAK, in_words, odds

POWER = 0.8


@dataclass(frozen=True)
class Precision:
    """The half-widths for one kind of question: of everybody and of one group."""

    kind: Kind
    everybody: float
    group: float | None


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

    @cached_property
    def kinds(self) -> list[Kind]:
        return kinds(self.design)

    @cached_property
    def together(self) -> list[int]:
        """The numbers of questions in the blocks."""
        return sorted({len(block.questions) for block in self.design.blocks})

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
        share, channel, forged = self.terms.share, self.least.kind.channel, self.terms.forged
        down = privacy.forgery(1.0 if share is None else share, channel, forged)[0]
        up = privacy.forgery(0.0 if share is None else share, channel, forged)[1]
        return -down, up

    @property
    def group_people(self) -> int:
        return self.terms.people // self.terms.groups

    @property
    def group_reports(self) -> int:
        return self.terms.reports(self.group_people)

    @property
    def known_reports(self) -> int:
        """How many reports from a group known exactly would be as precise: groups are noisy."""
        groups = self.terms.groups
        mechanism = Cells.for_epsilon(BACKGROUND_EPSILON, [Shape(groups + 1)])
        membership = Channel(*mechanism.channel(0))
        return int(planning.reports_in_group(self.reports, 1 / groups, membership))

    @cached_property
    def precision(self) -> list[Precision]:
        channels = [kind.channel for kind in self.kinds]
        grouped = self.terms.groups > 1 and self.known_reports > 0
        sizes = [self.reports, self.known_reports] if grouped else [self.reports]
        found = self.terms.half_widths_of([(one, n) for n in sizes for one in channels])
        everybody, groups = found[: len(channels)], found[len(channels) :]
        none = [None] * len(channels)
        rows = zip(self.kinds, everybody, groups or none, strict=True)
        return [Precision(*row) for row in rows]

    @cached_property
    def least(self) -> Precision:
        """The least precise question: what holds for it holds for all."""
        return max(self.precision, key=lambda precision: precision.everybody)

    @cached_property
    def difference(self) -> SmallestDifference | None:
        n, terms, channel = self.known_reports, self.terms, self.least.kind.channel
        if terms.groups < 2 or n < 1:
            return None
        found = planning.smallest_difference(
            n, channel, terms.share, POWER, terms.level, terms.forged
        )
        return None if found is None else SmallestDifference(*found)

    @cached_property
    def cost(self) -> Cost:
        # A curator divides ε among the questions, and has every answer of everybody.
        terms, kind = self.terms, self.least.kind
        share = 0.5 if terms.share is None else terms.share
        # One person moves one count of a yes/no question, and two counts of a choice.
        epsilon = terms.epsilon / len(terms.sizes) / (1 if kind.options == 2 else 2)
        price = privacy.price(terms.people, kind.channel, share, epsilon)
        # A curator's noise adds to sampling, not to the effect of forgers.
        local, clear = terms.half_widths_of([(kind.channel, terms.people), (CLEAR, terms.people)])
        if terms.share is None:
            local = replace(terms, share=share).half_width_of(kind.channel, terms.people)
        chance = local - planning.forgers_reach(kind.channel, terms.forged)
        curator = planning.forgers_reach(CLEAR, terms.forged) + chance * price.curator / price.local
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
        return self.total > WEAK
