"""What a survey will find and what it will promise, before anybody is asked.

Pure: no Django. The design is the one that opening such a survey would freeze (`survey.design`),
and every formula is one of `aggregation.statistics`; here they are only put together.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import itemgetter

from aggregation.statistics import planning, privacy
from aggregation.statistics.proportion import Channel
from survey import design as designs
from survey.design import BACKGROUND_EPSILON, Block, Design, DesignError, Option, Question
from survey.design.mechanism import Cells, Shape

POWER = 0.8
WEAK = math.log(19)  # as on the respondent's page: above, somebody could be over 95 in 100 sure
MOST_PEOPLE = 10**9
MOST_EPSILON = 8.0  # a search for ε ends here, where hardly anything is protected
STEP = 100  # ε is looked for in hundredths
CLEAR = Channel(1.0, 0.0)  # a survey without noise


class PlanError(ValueError):
    """Terms that no survey can meet: which of them (a field of `Terms`), and what is wrong."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(what)
        self.field = field


@dataclass(frozen=True)
class Terms:
    """What a survey is planned with. Shares and half-widths are parts of 1, not percent."""

    sizes: tuple[int, ...]  # of every question, its number of options
    epsilon: float  # what one respondent spends in all
    people: int
    half_width: float
    share: float | None = None  # None: the worst case
    groups: int = 1  # equal ones, to be compared
    level: float = 0.95
    size: int | None = None  # at most so many questions a block; None: the planner's choice
    ask: int | None = None  # blocks a person; None: the planner's choice
    dropout: float = 0.0  # the part of the invited who begin and do not send
    forged: float = 0.0  # the part of the reports that may be forged
    looks: str = "one"  # or "every": intervals that are valid at every look

    @cached_property
    def design(self) -> Design:
        try:
            return designed(self.sizes, self.epsilon, self.size, self.ask)
        except DesignError as error:
            what = f"{error.what[0].upper()}{error.what[1:]}."
            raise PlanError(_field(error, self), what) from None

    def reports(self, people: int) -> int:
        """How many of so many people are asked any one question."""
        return people * self.design.ask // len(self.design.blocks)

    def reach(self, people: int) -> float | None:
        """The half-width of the least precise question; None if nobody would be asked it."""
        return reaches([self], [people])[0][0]

    @cached_property
    def hardest(self) -> "list[Kind]":
        """The kinds of questions of which one is known least well: others have less of both,

        of what chance and of what forgers do. What chance does at every look is in the order of
        what it does at one, and takes a thousand times as long to compute.
        """

        harms = [
            (
                planning.half_width(1, kind.channel, self.share),
                planning.forgers_reach(kind.channel, self.forged),
                kind,
            )
            for kind in kinds(self.design)
        ]
        found: list[Kind] = []
        most = -1.0
        for _, alone, kind in sorted(harms, key=itemgetter(0, 1), reverse=True):
            if alone > most:
                found.append(kind)
                most = alone
        return found

    def half_width_of(self, channel: Channel, reports: int) -> float:
        return self.half_widths_of([(channel, reports)])[0]

    def half_widths_of(self, asked: Sequence[tuple[Channel, int]]) -> list[float]:
        """Of channels and numbers of reports. At every look, all of them take as long as one."""
        return planning.half_widths(
            [reports for _, reports in asked], [channel for channel, _ in asked],
            self.share, self.level, forged=self.forged, looks=self.looks,
        )  # fmt: skip

    def reports_for(self, channel: Channel) -> int:
        """How many reports make a question as precise as wanted; ValueError: none do."""
        return planning.sample_size(
            self.half_width, channel, self.share, self.level, forged=self.forged, looks=self.looks
        )


def reaches(several: Sequence[Terms], people: Sequence[int]) -> list[list[float | None]]:
    """`Terms.reach` of each of several terms, which differ in ε alone, at so many people."""
    asked = [
        (i, j, kind.channel, terms.reports(n))
        for i, terms in enumerate(several)
        for j, n in enumerate(people)
        for kind in terms.hardest
        if terms.reports(n) > 0
    ]
    found: list[list[float | None]] = [[None] * len(people) for _ in several]
    widths = several[0].half_widths_of([(channel, n) for _, _, channel, n in asked])
    for (i, j, *_), width in zip(asked, widths, strict=True):
        found[i][j] = max(found[i][j] or 0.0, width)
    return found


def _field(error: DesignError, terms: Terms) -> str:
    """Which of the terms a refused design is the fault of."""
    if error.where in ("epsilon", "ask"):
        return error.where
    return "size" if error.where.startswith("block") and terms.size else "sizes"


# --- The design -----------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def designed(
    sizes: tuple[int, ...], epsilon: float, size: int | None = None, ask: int | None = None
) -> Design:
    """The design that a survey of such questions would have."""
    return designs.build(epsilon, _questions(sizes), (), _blocks(sizes, size), ask)


@lru_cache(maxsize=64)
def _questions(sizes: tuple[int, ...]) -> tuple[Question, ...]:
    return tuple(
        Question(f"q{number}", "?", tuple(Option(f"o{i}", "?") for i in range(size)))
        for number, size in enumerate(sizes, 1)
    )


def _blocks(sizes: tuple[int, ...], size: int | None) -> list[list[str]] | None:
    """As few blocks of at most so many questions as there can be, the largest questions apart."""
    if size is None:
        return None
    blocks: list[list[int]] = [[] for _ in range(math.ceil(len(sizes) / size))]
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        free = (block for block in blocks if len(block) < size)
        min(free, key=lambda block: math.prod(sizes[j] for j in block)).append(i)
    return [[f"q{i + 1}" for i in block] for block in blocks]


@dataclass(frozen=True)
class Kind:
    """Questions that have the same channel."""

    options: int
    block: tuple[int, ...]  # the options of every question in their block
    channel: Channel
    questions: int

    @property
    def beside(self) -> str:
        """The block in a few letters."""
        if len(self.block) == 1:
            return "alone"
        if len(self.block) <= 4:
            return f"in a block of {' × '.join(str(size) for size in self.block)}"
        return f"in a block of {len(self.block)}, {math.prod(self.block):,} combinations"


def kinds(design: Design) -> list[Kind]:
    """Return the sensitive questions by their channel, those with the fewest options first."""
    found: dict[tuple[int, tuple[int, ...]], tuple[Channel, int]] = {}
    for block in design.sensitive_blocks:
        members = tuple(sorted(question.size for question in block.questions))
        for position, question in enumerate(block.questions):
            key = question.size, members
            channel, count = found.get(key) or (Channel(*block.mechanism.channel(position)), 0)
            found[key] = channel, count + 1
    return [Kind(*key, *found[key]) for key in sorted(found)]


def half_width_in_group(by: Block, reports: int, channel: Channel) -> float:
    """Return the half-width of a share in one of the equal groups of a background question.

    Equal groups of those who name one: nobody is planned to prefer not to say.
    """
    groups = by.questions[0].size - 1
    membership = Channel(*by.mechanism.channel(0))
    return planning.half_width_in_group(reports, 1 / groups, membership, channel)


# --- Two are given, the third follows -------------------------------------------------------------


def solve(wanted: str, terms: Terms) -> Terms:
    """The terms with `wanted` (half_width, people or epsilon) made to fit the two others."""
    if wanted == "people":
        return replace(terms, people=people_for(terms))
    if wanted == "epsilon":
        return replace(terms, epsilon=epsilon_for(terms))
    half_width = terms.reach(terms.people)
    if half_width is None:
        least = math.ceil(len(terms.design.blocks) / terms.design.ask)
        raise PlanError("people", f"At least {least}, so that somebody is asked each question.")
    return replace(terms, half_width=half_width)


def people_for(terms: Terms) -> int:
    """How many people make every question as precise as wanted."""
    design, people = terms.design, math.inf
    alone = max(planning.forgers_reach(kind.channel, terms.forged) for kind in kinds(design))
    if alone >= terms.half_width:
        raise PlanError(
            "half_width",
            f"The forged reports alone take ± {100 * alone:.2g} points. Allow more, a larger ε, "
            "or fewer forged.",
        )
    try:
        reports = max(terms.reports_for(kind.channel) for kind in terms.hardest)
        people = math.ceil(reports * len(design.blocks) / design.ask)
    except ValueError:  # more than can be counted
        pass
    if people > MOST_PEOPLE:
        raise PlanError(
            "half_width", "This would need more than a billion people. Allow more, or a larger ε."
        )
    return int(people)


def epsilon_for(terms: Terms) -> float:
    """The least ε, in hundredths, with which every question is as precise as wanted."""

    def enough(several: Sequence[int]) -> list[bool]:
        """Of hundredths, together: at every look that takes hardly longer than one of them."""
        found = reaches([replace(terms, epsilon=one / STEP) for one in several], [terms.people])
        return [width is not None and width <= terms.half_width for (width,) in found]

    low, high = 0, int(MOST_EPSILON * STEP)
    if not enough([high])[0]:
        at_best = terms.half_width_of(CLEAR, terms.people)
        why = f"Without any noise {terms.people:,} people give ± {100 * at_best:.2g} points"
        if at_best < terms.half_width:
            why = f"Not even ε = {MOST_EPSILON:g} is enough for {terms.people:,} people"
        raise PlanError("half_width", f"{why}. Ask more people, or allow more.")
    while high - low > 1:  # too little, and enough
        quarters = sorted({low + (high - low) * i // 4 for i in (1, 2, 3)} - {low})
        first = bisect_left(enough(quarters), True)
        low, high = ([low, *quarters][first], [*quarters, high][first])
    return high / STEP


# --- What follows ---------------------------------------------------------------------------------


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
    """Whoever starts at 50:50 errs in half of the least sum of both errors, at the least."""
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


# --- Half-width against people --------------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """Half-widths at the people of a `Grid`; epsilon None is a survey without noise."""

    epsilon: float | None
    half_widths: list[float | None]


@dataclass(frozen=True)
class Grid:
    people: list[int]
    curves: list[Curve]


def grid(terms: Terms) -> Grid:
    """About a tenth to ten times as many people, at a quarter to twice the ε, and without noise."""
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
    """The same survey at other ε, as far as there can be such a survey."""
    rounded = [float(f"{terms.epsilon * factor:.3g}") for factor in (0.25, 0.5, 2)]
    for epsilon in sorted([*rounded, terms.epsilon]):
        each = replace(terms, epsilon=epsilon)
        with suppress(PlanError):
            each.design  # noqa: B018  # an error if there is none
            yield each


def words(terms: Terms) -> list[str]:
    """What a plan assumes, for a caption."""
    design = terms.design
    yes_no, most = terms.sizes.count(2), max(len(block.questions) for block in design.blocks)
    choices = [str(size) for size in terms.sizes if size != 2]
    asked = [f"{yes_no} yes/no"] if yes_no else []
    asked += [f"{len(choices)} with {', '.join(choices)} options"] if choices else []
    share = "the worst case" if terms.share is None else f"a share of {100 * terms.share:g} %"
    looks = "one look" if terms.looks == "one" else "every look"
    found = (
        f"Questions: {' and '.join(asked)}, in blocks of up to {most}, {design.ask} of "
        f"{len(design.blocks)} asked of a person. Half-widths at {100 * terms.level:g} %, for "
        f"{looks} and {share}, of the question that is known least well."
    )
    if terms.forged:
        found += f" Up to {100 * terms.forged:g} % of the reports may be forged."
    return [found, "Planned with Candor."]


# --- From a survey that there is ------------------------------------------------------------------


def overruled(design: Design) -> tuple[int | None, int | None]:
    """Block size and `ask` where a survey differs from the planner's choice, else nothing."""
    blocks = design.sensitive_blocks
    sizes = tuple(question.size for block in blocks for question in block.questions)
    planned = designed(sizes, design.epsilon)
    if (_shape(blocks), design.ask) == (_shape(planned.blocks), planned.ask):
        return None, None
    return max(len(block.questions) for block in blocks), design.ask


def _shape(blocks: tuple[Block, ...]) -> list[tuple[int, ...]]:
    return sorted(tuple(sorted(question.size for question in block.questions)) for block in blocks)
