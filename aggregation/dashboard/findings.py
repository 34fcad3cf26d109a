"""What a page says about a question besides its tables."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aggregation.models import Estimate
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.display import either, unit_of, with_unit
from aggregation.releases.estimate import Asked, span_of
from aggregation.statistics import leader, privacy
from aggregation.templatetags.figures import fixed, headline, two_digits
from survey.design import DECLINED, Question


@dataclass(frozen=True)
class Comparison:
    """An option, with the p-value of “it is as frequent as the leading one”."""

    option: str
    p_value: float  # adjusted for all options


@dataclass(frozen=True)
class Leading:
    """Which options may have the largest share."""

    largest: str
    options: list[str]
    of: int  # options
    others: list[Comparison]  # all but the largest

    @property
    def alone(self) -> bool:
        return len(self.options) == 1

    @property
    def unclear(self) -> bool:
        return len(self.options) == self.of

    @property
    def words(self) -> str:
        return either([f"“{option}”" for option in self.options])

    @property
    def p_value(self) -> float:
        """The largest one of the options that do not lead."""
        return max(other.p_value for other in self.others)


def leading(one: Asked, counts: Sequence[int], choice: IntervalChoice) -> Leading | None:
    """Return which options lead. “Prefer not to say” is not compared.

    None if the options are not reported alike, because follow-ups depend on some of them.
    """
    options = one.question.options
    own = [i for i, option in enumerate(options) if option.key != DECLINED]
    compared = [counts[one.first + i] for i in own]
    if not any(compared) or len({one.channels[i] for i in own}) > 1:
        return None
    found = leader.compare(compared, one.channels[own[0]], choice.coverage, choice.interval)
    texts = [options[i].text for i in own]
    return Leading(
        texts[found.largest],
        [texts[i] for i in found.may_lead],
        len(texts),
        [
            Comparison(text, p)
            for i, (text, p) in enumerate(zip(texts, found.adjusted, strict=True))
            if i != found.largest
        ],
    )


@dataclass(frozen=True)
class Total:
    """The sum over a population of known size."""

    population: int
    value: float
    low: float
    high: float
    ends: tuple[float, float]  # of what is possible
    unit: str

    @property
    def words(self) -> str:
        """The total, or a bound if its interval reaches an end."""
        return headline(
            self.value,
            self.low,
            self.high,
            self.ends,
            lambda value: with_unit(self._rounded(value), self.unit),
        )

    @property
    def interval(self) -> str:
        return f"{self._rounded(self.low)} to {self._rounded(self.high)}"

    def _rounded(self, value: float) -> str:
        """Return a number with as many digits as the width of the interval allows."""
        width = self.high - self.low
        zeros = max(0, math.floor(math.log10(width)) - 1) if width else 0
        return fixed(round(value, -zeros), 0)


def total(row: Estimate, population: int | None, question: Question) -> Total | None:
    """Return the total if the size of the population is known, and not too small to be right.

    None, too, if the interval is all that is possible.
    """
    if population is None or row.bounded is None or population < row.n:
        return None
    least, most = span_of(question, question.measures()[0])
    if row.low <= least and row.high >= most:
        return None
    value, low, high = (population * each for each in (row.bounded, row.low, row.high))
    ends = population * least, population * most
    return Total(population, value, low, high, ends, unit_of(question))


@dataclass(frozen=True)
class Worth:
    """How many direct answers would be as precise as the protected ones."""

    protected: int
    direct: float

    @property
    def share(self) -> float:
        return min(1.0, self.direct / self.protected)

    @property
    def counts(self) -> str:
        """The words, without a full stop; the number of direct answers has two digits."""
        digits = max(0, math.floor(math.log10(max(self.direct, 1))) - 1)
        about = fixed(round(self.direct, -digits), 0)
        return f"{self.protected:,} protected answers tell as much as about {about} direct ones"

    @property
    def words(self) -> str:
        return f"{self.counts}."


def worth(n: int, sampling: float, error: float, population: int | None) -> Worth | None:
    """Return what `n` protected answers are worth.

    Direct answers have only an error from sampling: its square is S (1/n - 1/N) for n of N people,
    so m direct answers have the whole error if error**2 = S (1/m - 1/N). None if everybody was
    asked, when there is no error from sampling.
    """
    unasked = 1 / population if population and population >= n else 0.0
    if sampling <= 0 or 1 / n <= unasked:
        return None
    spread = sampling**2 / (1 / n - unasked)
    return Worth(n, 1 / (error**2 / spread + unasked))


def typical(found: Sequence[Worth]) -> Worth | None:
    """Return the one in the middle."""
    return sorted(found, key=lambda one: one.share)[len(found) // 2] if found else None


@dataclass(frozen=True)
class Curator:
    """Standard errors of a mean: ours, and that of a trusted curator with Laplace noise."""

    epsilon: float
    ours: float
    curator: float
    unit: str

    @property
    def ours_words(self) -> str:
        return with_unit(two_digits(self.ours), self.unit)

    @property
    def curator_words(self) -> str:
        return with_unit(two_digits(self.curator), self.unit)

    @property
    def people(self) -> float:
        """How many times as many people have to answer for the curator's precision."""
        return (self.ours / self.curator) ** 2


def curator(row: Estimate, one: Asked, answered: float) -> Curator | None:
    """Compare a mean with what somebody could publish who knows all true answers.

    They would add Laplace noise to the mean, at the same ε. `answered` is the share of people who
    gave a number. None for follow-ups, whose number of people is uncertain, too.
    """
    people = round(row.n * answered)
    if one.question.only_if or not people or row.standard_error is None:
        return None
    (low, high), epsilon = span_of(one.question, one.question.measures()[0]), one.blocks[0].epsilon
    noise = privacy.laplace_error(people, epsilon, low, high)
    error = math.hypot(row.sampling_error or 0.0, noise)
    return Curator(epsilon, row.standard_error, error, unit_of(one.question))
