"""A release as pages show it: by question, with the intervals that the reader chose.

Nothing here asks who reads: people with a login and strangers get the same.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, groupby

from django.utils.safestring import SafeString

from aggregation import charts
from aggregation.models import NOT_GIVEN, Estimate, Release, group_keys
from aggregation.statistics import difference, privacy
from aggregation.statistics.proportion import Channel
from survey.design import Block, Design, Question

MISFIT = 0.001  # below this, the reports do not look like what the channel can produce
FIXED, ALWAYS = "fixed", "always"
METHODS = {FIXED: "restricted Blaker", ALWAYS: "confidence sequence"}
MOST_PAIRS = 60  # compared for one question; of more groups there is the test alone
FEW = 5  # expected reports in a cell below which a chi-square test is rough


@dataclass(frozen=True)
class Choice:
    """Which intervals: level and the part of forged reports in percent. As it is, what is stored.

    While a survey is open people look again and again, so the default is valid at every look.
    """

    level: int = 95
    interval: str = FIXED
    forged: float = 0.0

    @classmethod
    def default(cls, release: Release) -> "Choice":
        return cls(interval=FIXED if release.final else ALWAYS)

    @property
    def always(self) -> bool:
        return self.interval == ALWAYS

    @property
    def coverage(self) -> float:
        return self.level / 100

    @property
    def wrong(self) -> int:
        """In how many of 100 surveys an interval may miss the truth."""
        return 100 - self.level


@dataclass(frozen=True)
class Row:
    """One estimate with the words for it."""

    label: str
    estimate: Estimate
    picture: SafeString

    @property
    def misfit(self) -> bool:
        return self.estimate.misfit is not None and self.estimate.misfit < MISFIT


@dataclass(frozen=True)
class Table:
    """The estimates of a question over everybody, or by one stratum."""

    title: str
    as_of: int
    groups: list[tuple[str, list[Row]]]


@dataclass(frozen=True)
class Cost:
    """What privacy cost a question: standard errors, the root mean square over its options.

    `clear` and `curator` are those of a survey that asked all its people everything: without any
    noise, and with Laplace noise on the true counts by somebody whom all trust, who divides the
    same ε among the questions.
    """

    sampling: float
    noise: float
    people: int
    clear: float
    curator: float
    picture: SafeString

    @property
    def error(self) -> float:
        return math.hypot(self.sampling, self.noise)

    # Parts of the square, since variances add up.

    @property
    def sampled(self) -> float:
        return (self.sampling / self.error) ** 2

    @property
    def private(self) -> float:
        return 1 - self.sampled


@dataclass(frozen=True)
class Pair:
    """One share in two groups; limits and p-value are adjusted over all pairs of the question."""

    option: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Differences:
    """Whether the groups of a table differ, for one look; those who gave no group are left out."""

    groups: int
    p_value: float  # of "all groups answer alike", adjusted over the questions of the page
    questions: int  # how many those are
    rough: bool
    pairs: list[Pair]
    alpha: float

    @property
    def differ(self) -> bool:
        return self.p_value <= self.alpha

    @property
    def largest(self) -> Pair:
        return max(self.pairs, key=lambda pair: abs(pair.difference))


@dataclass(frozen=True)
class Section:
    question: Question
    block: str
    a: float
    b: float
    everybody: Table
    groups: Table | None
    cost: Cost | None
    differences: Differences | None

    @property
    def headline(self) -> Row | None:
        """What is said first of the question, if anything of it is shown."""
        rows = [row for _, rows in self.everybody.groups for row in rows]
        shown = [row for row in rows if not row.estimate.suppressed]
        return max(shown, key=lambda row: telling(row.estimate), default=None)


@dataclass(frozen=True)
class Asked:
    """A question of a design, and the block that it is in."""

    question: Question
    block: Block
    channel: Channel


def asked(design: Design) -> dict[str, Asked]:
    return {
        question.key: Asked(question, block, Channel(*block.mechanism.channel(position)))
        for block in design.blocks
        for position, question in enumerate(block.questions)
    }


def sections(release: Release, by: Question | None, choice: Choice | None = None) -> list[Section]:
    """The estimates of a release, by question: over everybody, and by one stratum.

    One and not all: with ten strata a page of all would be megabytes that nobody reads.
    """
    design = release.survey.frozen_design()
    choice = choice or Choice.default(release)
    questions = asked(design)
    wanted = release.estimates.filter(stratum__in=["", by.key] if by else [""])
    found: dict[str, list[list[Estimate]]] = {
        key: [list(table) for _, table in groupby(rows, key=lambda row: row.stratum)]
        for key, rows in groupby(wanted, key=lambda row: row.question)
    }
    restate(
        (
            row
            for key, tables in found.items()
            for table in tables
            for row in shown_options(questions[key].question, table)
        ),
        questions,
        choice,
    )
    people = _people(release, {tables[0][0].as_of for tables in found.values()})
    compared = _differences(design, by, questions, found, choice) if by else {}
    result = []
    for key, tables in found.items():
        one = questions[key]
        shown = [_table(design, one.question, rows[0].stratum, rows) for rows in tables]
        channel = one.channel
        result.append(
            Section(
                question=one.question,
                block=one.block.key,
                a=channel.a,
                b=channel.b,
                everybody=shown[0],
                groups=shown[1] if by else None,
                cost=_cost(design, one, tables[0], people[tables[0][0].as_of]),
                differences=compared.get(key),
            )
        )
    return result


def restate(rows: Iterable[Estimate], questions: dict[str, Asked], choice: Choice) -> None:
    """Give rows, in memory only, the limits of a choice: one call for every channel."""
    if choice == Choice():
        return
    members: dict[Channel, list[Estimate]] = {}
    for row in rows:
        row.level, row.method = choice.coverage, METHODS[choice.interval]
        if not row.suppressed:
            members.setdefault(questions[row.question].channel, []).append(row)
    for channel, some in members.items():
        lows, highs = privacy.manipulations(
            [row.count or 0 for row in some],
            [row.n or 0 for row in some],
            channel,
            choice.forged / 100,
            choice.coverage,
            choice.interval,
        )
        for row, low, high in zip(some, lows.tolist(), highs.tolist(), strict=True):
            row.low, row.high = low, high


def _people(release: Release, numbers: set[int]) -> dict[int, int]:
    """How many reports the release with each of these numbers had."""
    if numbers <= {release.number}:
        return {release.number: release.reports}
    releases = release.survey.releases.filter(number__in=numbers)
    return dict(releases.values_list("number", "reports"))


def _table(design: Design, question: Question, stratum: str, rows: list[Estimate]) -> Table:
    title, names = "Everybody", {"": ""}
    if stratum:
        title, names = _names(design, stratum)
    groups = [
        (names[group], [_row(question, names[group], row) for row in members])
        for group, members in groupby(shown_options(question, rows), key=lambda row: row.group)
    ]
    return Table(title, rows[0].as_of, groups)


def _names(design: Design, stratum: str) -> tuple[str, dict[str, str]]:
    """The text of a stratum, and those of its groups by their keys."""
    found = next(s for s in design.strata if s.key == stratum)
    texts = [option.text for option in found.options]
    return found.text, dict(zip(group_keys(design, stratum), [*texts, NOT_GIVEN], strict=True))


def telling(row: Estimate) -> tuple[bool, float]:
    """The larger the more it says of its question: “yes” before all, else the larger share."""
    return row.option == "yes", row.bounded or 0.0


def plain_yes_no(question: Question) -> bool:
    return [option.key for option in question.options] == ["no", "yes"]


def shown_options(question: Question, rows: list[Estimate]) -> list[Estimate]:
    """All options, but of a plain yes/no question only “yes”: “no” is the rest."""
    if plain_yes_no(question):
        return [row for row in rows if row.option == "yes"]
    return rows


def label_of(question: Question, row: Estimate) -> str:
    return next(option.text for option in question.options if option.key == row.option)


def _row(question: Question, group: str, row: Estimate) -> Row:
    label = label_of(question, row)
    if row.bounded is None or row.low is None or row.high is None:
        return Row(label, row, SafeString(""))
    where = f"{label}, {group}" if group else label
    description = (
        f"{where}: {row.bounded:.1%}, {row.level:.0%} interval {row.low:.1%} to {row.high:.1%}"
    )
    picture = charts.dot_and_whisker(row.bounded, row.low, row.high, description)
    return Row(label, row, picture)


# --- What privacy cost ----------------------------------------------------------------------------


def _cost(design: Design, one: Asked, rows: list[Estimate], people: int) -> Cost | None:
    """None where the estimates are suppressed, or exactly known."""
    if any(row.suppressed for row in rows):
        return None
    # One person moves one count of a yes/no question, and two counts of a choice.
    epsilon = design.epsilon / len(design.questions) / (1 if one.question.size == 2 else 2)
    prices = [privacy.price(people, one.channel, row.bounded or 0.0, epsilon) for row in rows]
    sampling = _mean_square(row.sampling_error or 0.0 for row in rows)
    noise = _mean_square(row.privacy_error or 0.0 for row in rows)
    if not noise:
        return None
    return Cost(
        sampling=sampling,
        noise=noise,
        people=people,
        clear=_mean_square(price.sampling for price in prices),
        curator=_mean_square(price.curator for price in prices),
        picture=charts.parts(sampling**2 / (sampling**2 + noise**2)),
    )


def _mean_square(values: Iterable[float]) -> float:
    squares = [value * value for value in values]
    return math.sqrt(math.fsum(squares) / len(squares))


# --- Whether groups differ ------------------------------------------------------------------------


def _differences(
    design: Design,
    by: Question,
    questions: dict[str, Asked],
    found: dict[str, list[list[Estimate]]],
    choice: Choice,
) -> dict[str, Differences]:
    """Of every question with two groups or more to compare."""
    names = _names(design, by.key)[1]
    not_given = list(names)[-1]
    tables: dict[str, dict[str, list[int]]] = {}
    for key, (_, rows) in found.items():
        groups: dict[str, list[int]] = {}
        for row in rows:
            if row.count is not None and row.group != not_given:
                groups.setdefault(row.group, []).append(row.count)
        if len(groups) >= 2:
            tables[key] = groups
    tests = [difference.homogeneity(groups.values()).p_value for groups in tables.values()]
    return {
        key: Differences(
            groups=len(groups),
            p_value=adjusted,
            questions=len(tables),
            rough=_rough(list(groups.values())),
            pairs=_pairs(questions[key], names, groups, choice),
            alpha=1 - choice.coverage,
        )
        for (key, groups), adjusted in zip(tables.items(), difference.holm(tests), strict=True)
    }


def _rough(table: list[list[int]]) -> bool:
    """Whether an expected count is small, of those that the test looks at."""
    options: list[int] = [sum(column) for column in zip(*table, strict=True)]
    least = min(total for total in options if total) * min(sum(row) for row in table)
    return least < FEW * sum(options)


def _pairs(
    one: Asked, names: dict[str, str], groups: dict[str, list[int]], choice: Choice
) -> list[Pair]:
    """Every option in every two groups; all limits hold together, as do all p-values (Holm)."""
    plain = plain_yes_no(one.question)
    sizes = {key: sum(counts) for key, counts in groups.items()}
    couples = [
        (option.text, x, y, (groups[x][i], sizes[x], groups[y][i], sizes[y]))
        for i, option in enumerate(one.question.options)
        for x, y in combinations(groups, 2)
        if not (plain and option.key == "no")
    ]
    if len(couples) > MOST_PAIRS:
        return []
    level = 1 - (1 - choice.coverage) / len(couples)
    adjusted = difference.holm(difference.z_test(*counts).p_value for *_, counts in couples)
    return [
        Pair(
            "" if plain else text,
            names[first],
            names[second],
            *difference.interval(*counts, one.channel, level),
            p_value,
        )
        for (text, first, second, counts), p_value in zip(couples, adjusted, strict=True)
    ]
