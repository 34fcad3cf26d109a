"""What a survey will find and what it will promise, before anybody is asked.

Pure: no Django. The design is the one that opening such a survey would freeze (`survey.design`),
and every formula is one of `aggregation.statistics`; here they are only put together.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

from aggregation.planner.planned_design import Kind, designed, kinds
from aggregation.planner.terms import CLEAR, Terms
from aggregation.statistics import planning, privacy
from aggregation.statistics.proportion import Channel
from survey import design as designs
from survey.design import BACKGROUND_EPSILON, Design, Question
from survey.design.mechanism import Cells, Shape

POWER = 0.8
WEAK = math.log(19)  # as on the respondent's page: above, somebody could be over 95 in 100 sure


@dataclass(frozen=True)
class Precision:
    """Of one kind of question: how far intervals reach, for everybody and for one group."""

    kind: Kind
    everybody: float
    group: float | None


@dataclass(frozen=True)
class Difference:
    """The nearest shares of two groups that are told apart with a power of 80 %."""

    first: float
    second: float

    @property
    def gap(self) -> float:
        return abs(self.second - self.first)


@dataclass(frozen=True)
class Cost:
    """What privacy costs: the same survey without noise, and with a trusted curator."""

    clear_people: int  # as precise without noise
    clear: float  # the half-width of as many people without noise
    curator: float  # and with Laplace noise on true counts
    times: float  # how many times as many people the plan has


@dataclass(frozen=True)
class Why:
    """The blocks against others: how many times as many people those need to be as precise."""

    split: float  # every question of everybody, each in a block of its own
    planned: tuple[int, int] | None = None  # where it was overruled: questions a block, ask,
    saved: float = 0.0  # and the part of the people that the planner's own choice would save


@dataclass(frozen=True)
class Odds:
    """How sure somebody can be, out of 100, who thought it 50:50 before."""

    count: int
    more: bool  # more than 99: chance is never rounded to certainty


@dataclass(frozen=True)
class Plan:
    """Terms that fit together, and all that follows from them."""

    terms: Terms

    @property
    def design(self) -> Design:
        return self.terms.design

    @cached_property
    def kinds(self) -> list[Kind]:
        return kinds(self.design)

    @cached_property
    def together(self) -> list[int]:
        """The numbers of questions that blocks have."""
        return sorted({len(block.questions) for block in self.design.blocks})

    @property
    def reports(self) -> int:
        return self.terms.reports(self.terms.people)

    @property
    def invited(self) -> int:
        """How many to invite, so that as many answer as the plan has."""
        return math.ceil(self.terms.people / (1 - self.terms.dropout) * (1 - 1e-12))

    @cached_property
    def moved(self) -> tuple[float, float]:
        """How far forged reports can move an expected estimate, down and up."""
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
    def background_epsilon(self) -> float:
        return BACKGROUND_EPSILON

    @property
    def known_reports(self) -> int:
        """As many reports from a group known exactly would say as much: groups are noisy, too."""
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
        """The question that is known least well: what is said of it holds for all."""
        return max(self.precision, key=lambda precision: precision.everybody)

    @cached_property
    def difference(self) -> Difference | None:
        """The smallest difference between two groups that is found with a power of 80 %."""
        n, terms, channel = self.known_reports, self.terms, self.least.kind.channel
        if terms.groups < 2 or n < 1:
            return None
        found = planning.smallest_difference(
            n, channel, terms.share, POWER, terms.level, terms.forged
        )
        return None if found is None else Difference(*found)

    @cached_property
    def cost(self) -> Cost:
        """A curator shares ε among the questions, and has every answer of everybody."""
        terms, kind = self.terms, self.least.kind
        share = 0.5 if terms.share is None else terms.share
        # One person moves one count of a yes/no question, and two counts of a choice.
        epsilon = terms.epsilon / len(terms.sizes) / (1 if kind.options == 2 else 2)
        price = privacy.price(terms.people, kind.channel, share, epsilon)
        # A curator's noise widens what chance does, and spares what forgers do.
        local, clear = terms.half_widths_of([(kind.channel, terms.people), (CLEAR, terms.people)])
        if terms.share is None:
            local = replace(terms, share=share).half_width_of(kind.channel, terms.people)
        chance = local - planning.forgers_reach(kind.channel, terms.forged)
        curator = planning.forgers_reach(CLEAR, terms.forged) + chance * price.curator / price.local
        clear_people = terms.reports_for(CLEAR)
        return Cost(clear_people, clear, curator, terms.people / clear_people)

    @cached_property
    def why(self) -> Why:
        terms = self.terms
        here = _factor(terms, self.design)
        split = [[i] for i in range(len(terms.sizes))]
        factor = designs.variance_factor(split, terms.sizes, terms.epsilon, len(split))
        if terms.size is None and terms.ask is None:
            return Why(factor / here)
        planned = designed(terms.sizes, terms.epsilon)
        most = max(len(block.questions) for block in planned.blocks)
        return Why(factor / here, (most, planned.ask), 1 - _factor(terms, planned) / here)

    # What the respondent's page says as well, from the same integers.

    @cached_property
    def losses(self) -> list[float]:
        return sorted(block.mechanism.epsilon for block in self.design.blocks)

    @cached_property
    def total(self) -> float:
        return privacy.composed(self.losses[-self.design.ask :])

    @property
    def total_odds(self) -> Odds:
        return odds(self.total)

    @property
    def block_odds(self) -> Odds:
        return odds(self.losses[-1])

    @property
    def weak(self) -> bool:
        return self.total > WEAK


def odds(epsilon: float) -> Odds:
    """Return how sure somebody can become who starts at 50:50.

    They are wrong in half of the least sum of both errors, or more.
    """
    sure = 1 - privacy.least_errors(epsilon) / 2
    count = math.floor(100 * sure + 0.5)  # as JavaScript rounds
    return Odds(min(count, 99), count > 99)


def _factor(terms: Terms, design: Design) -> float:
    return designs.variance_factor(
        [[_position(question) for question in block.questions] for block in design.blocks],
        terms.sizes, terms.epsilon, design.ask,
    )  # fmt: skip


def _position(question: Question) -> int:
    return int(question.key[1:]) - 1
