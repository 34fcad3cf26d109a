"""How pages and figures display estimates: which of them, their words and their axis."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from aggregation.models import Estimate
from aggregation.releases.estimate import span_of
from aggregation.svg.axis import SHARES, Axis, Point, nice
from aggregation.templatetags import figures
from aggregation.templatetags.figures import change, fixed, fixed_change, hundred, percent
from survey.design import DECLINED, Design, Question
from survey.design.kinds.number import Number

ORDER = ("mean", "share_of_concerned", "share", "picks")  # of measures, on pages
TICKS = 6  # at most, on the axis of a mean


# --- What it is counted in ------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity:
    """What estimates of one measure are counted in: their axis, and numbers in words."""

    axis: Axis = SHARES
    name: str = "Estimated share of people"
    ends: tuple[str, ...] = ("0 %", "50 %", "100 %")  # of the axis
    step: float = 0.01  # the smallest between two ticks of a trend

    def words(self, value: float) -> str:
        """Return a value with its unit."""
        return percent(value)

    def plain(self, value: float) -> str:
        """Return a value without its unit."""
        return hundred(value)

    def cell(self, value: float) -> str:
        """Return a value for a table whose title has the unit."""
        return percent(value)

    def interval(self, low: float, high: float) -> str:
        return f"{percent(low)} to {percent(high)}"

    def tick(self, value: float) -> str:
        """Return a tick of an axis that has no unit."""
        return f"{100 * value:.0f}\u202f%"

    def change(self, value: float) -> str:
        """Return a difference between two values without its unit."""
        return change(value)

    @property
    def unit_of_changes(self) -> str:
        return "percentage points"


@dataclass(frozen=True)
class Mean(Quantity):
    """The mean of numbers, scores or picks. Its digits depend on the range alone."""

    unit: str = ""
    digits: int = 0

    def words(self, value: float) -> str:
        return with_unit(self.plain(value), self.unit)

    def plain(self, value: float) -> str:
        return fixed(value, self.digits)

    def cell(self, value: float) -> str:
        return self.plain(value)

    def interval(self, low: float, high: float) -> str:
        return f"{self.plain(low)} to {self.plain(high)}"

    def tick(self, value: float) -> str:
        return _short(value, self.digits)

    def change(self, value: float) -> str:
        return fixed_change(value, self.digits)

    @property
    def unit_of_changes(self) -> str:
        return self.unit


SHARE = Quantity()


def quantity_of(question: Question, measure: str) -> Quantity:
    """Return what a measure of a question is counted in."""
    found = next(one for one in question.measures() if one.name == measure)
    if found.option:
        return SHARE
    low, high = span_of(question, found)
    digits = max(0, 2 - math.floor(math.log10((high - low) / 2)))
    unit = unit_of(question)
    name = label_of(question, measure)

    return Mean(
        axis=Axis(low, high, [(tick, _short(tick, digits)) for tick in nice(low, high, TICKS)]),
        name=f"{name}, in {unit}" if unit else name,
        ends=tuple(_short(end, digits) for end in (low, (low + high) / 2, high)),
        step=10.0**-digits,
        unit=unit,
        digits=digits,
    )


def _short(value: float, digits: int) -> str:
    """Return a number without zeros at the end of its decimals."""
    return fixed(value, digits).rstrip("0").rstrip(".") if digits else fixed(value, 0)


def unit_of(question: Question) -> str:
    return question.unit if isinstance(question, Number) else ""


def with_unit(number: str, unit: str) -> str:
    return f"{number}\u00a0{unit}" if unit else number


# --- Which ones, and their labels -----------------------------------------------------------------


def tables(question: Question, rows: Iterable[Estimate]) -> dict[str, list[Estimate]]:
    """Return the rows that are shown by their measure, in the order of pages."""
    found: dict[str, list[Estimate]] = {measure: [] for measure in ORDER}
    for row in shown_options(question, rows):
        found[row.measure].append(row)
    return {measure: some for measure, some in found.items() if some}


def in_order(design: Design) -> Iterator[Question]:
    """Yield all questions, each followed by those that depend on it."""

    def with_follow_ups(question: Question) -> Iterator[Question]:
        yield question
        for other in design.questions:
            if other.only_if and other.only_if[0] == question.key:
                yield from with_follow_ups(other)

    for question in design.questions:
        if question.only_if is None:
            yield from with_follow_ups(question)


def shown_options(question: Question, rows: Iterable[Estimate]) -> list[Estimate]:
    """Return all rows, or only those of “yes” for a plain yes/no question: “no” is the rest."""
    if plain_yes_no(question):
        return [row for row in rows if row.option == "yes"]
    return list(rows)


def plain_yes_no(question: Question) -> bool:
    return [option.key for option in question.options] == ["no", "yes"]


def headline(question: Question, rows: Sequence[Estimate]) -> Estimate:
    """Return the most telling row of everybody: a number's mean, “yes”, or the largest share.

    Of a follow-up it is a share of those concerned, unless they are too few to tell.
    """
    if rows[0].measure == "mean":
        return rows[0]
    shown = tables(question, rows)
    concerned = [row for row in shown.get("share_of_concerned", []) if row.value is not None]
    return max(
        concerned or shown["share"], key=lambda row: (row.option == "yes", row.bounded or 0.0)
    )


def headline_words(
    quantity: Quantity, row: Estimate, words: Callable[[float], str] | None = None
) -> str:
    """Return an estimate, or a bound: “below 14 %” if its lower limit is 0.

    `words` formats a number, by default with its unit.
    """
    axis = quantity.axis
    ends = axis.low, axis.high
    return figures.headline(row.bounded, row.low, row.high, ends, words or quantity.words)


def point(quantity: Quantity, row: Estimate) -> Point:
    """Return an estimate for a picture: without a dot if it says nothing, open if it is a bound."""
    value, axis = row.bounded, quantity.axis
    if row.low <= axis.low and row.high >= axis.high:
        value = None
    one_sided = figures.one_sided(row.low, row.high, (axis.low, axis.high))
    return Point(value, row.low, row.high, open=one_sided)


def error_parts(row: Estimate) -> tuple[float, float] | None:
    """Return the parts of the standard error from sampling and from privacy.

    None for groups, and where the estimates of the parts do not add up: if a share is outside the
    possible range, its part from privacy alone can be larger than the whole.
    """
    whole, sampling, privacy = row.standard_error, row.sampling_error, row.privacy_error
    if whole is None or sampling is None or privacy is None:
        return None
    adds_up = math.isclose(math.hypot(sampling, privacy), whole, rel_tol=1e-6)
    return (sampling, privacy) if adds_up else None


def says_nothing(quantity: Quantity, row: Estimate) -> bool:
    """Return whether too few people answered: the interval is all that is possible."""
    axis = quantity.axis
    return row.value is None or (row.low <= axis.low and row.high >= axis.high)


def label_of(question: Question, measure: str, option: str = "") -> str:
    """Return what is estimated: the text of an option, or the name of a mean."""
    if option:
        return next(one.text for one in question.options if one.key == option)
    if measure == "picks":
        return "Options picked per person"
    return "Mean score" if has_scores(question) else "Mean"


def title_of(question: Question, row: Estimate, concerned: str) -> str:
    """Return the title of estimates of one measure, or nothing if that of the question does.

    `concerned` are the people whom a follow-up is about, in words.
    """
    among = f"among {concerned}" if concerned and row.measure != "share" else ""
    if row.option:
        among = among or ("among everybody" if concerned else "")
        one = "" if len(question.options) > 1 else label_of(question, "share", row.option)
        title = ", ".join(filter(None, [one, among]))
        return title[:1].upper() + title[1:]
    quantity = quantity_of(question, row.measure)
    low, high = quantity.ends[0], quantity.ends[-1]
    if has_scores(question):
        texts = {option.score: option.text for option in question.options}
        low, high = (
            f"{end} ({texts[score]})"
            for end, score in ((low, quantity.axis.low), (high, quantity.axis.high))
        )
    average = ", on average" if row.measure == "picks" else ""
    return ", ".join(filter(None, [f"{quantity.name}{average}, from {low} to {high}", among]))


def has_scores(question: Question) -> bool:
    return any(option.score is not None for option in question.options)


def stacked(rows: Sequence[Estimate]) -> list[float] | None:
    """Return the shares of all options for one bar: none below 0, and 1 together.

    None if there are too few to tell.
    """
    if all(says_nothing(SHARE, row) for row in rows):
        return None
    shares = [row.bounded for row in rows if row.bounded is not None]
    whole = math.fsum(shares)
    return [share / whole for share in shares] if len(shares) == len(rows) and whole else None


def shades(rows: Iterable[Estimate]) -> list[float | None]:
    """Return how strong the colour of each option is in a bar; None for “Prefer not to say”."""
    options = [row.option for row in rows]
    own = [option for option in options if option != DECLINED]
    steps = max(1, len(own) - 1)
    return [
        None if option == DECLINED else 1 - 0.8 * own.index(option) / steps for option in options
    ]


# --- People concerned -----------------------------------------------------------------------------


def concerned(questions: Iterable[Question], question: Question) -> str:
    """Return whom a follow-up is about, in words; nothing if it is about everybody."""
    if question.only_if is None:
        return ""
    key, wanted = question.only_if
    gate = next(one for one in questions if one.key == key)
    options = [f"“{option.text}”" for option in gate.options if option.key in wanted]
    return f"people who answered {either(options)} to “{gate.text}”"


def either(words: Sequence[str]) -> str:
    """Return words as a list with “or”."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"
