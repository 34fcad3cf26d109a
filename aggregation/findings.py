"""What an analysis found, with its words: rows for a page, lines for a spreadsheet, pictures.

Pure: a design, what was asked and the figures of a job go in. Nothing is estimated here; limits,
odds and shades follow from the figures.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from django.utils.safestring import SafeString

from aggregation import pictures
from aggregation.analyses import LEVEL, Figures, question_of
from aggregation.pictures import Axis, Bars, Cell, Grid, Point
from aggregation.sheets import Line
from survey.design import Design, Question

Z = 1.959963984540054  # of a normal distribution, LEVEL lies within
MOST_SHOWN = 800  # cells of a table on a page
NOT_GIVEN = "Not given"
KINDS = {
    "crosstab": "Table",
    "regression": "Regression",
    "profiles": "Profiles",
    "weights": "Weights",
}


@dataclass(frozen=True)
class Names:
    """The survey's own texts, by key."""

    design: Design

    def question(self, key: str) -> str:
        return question_of(self.design, key).text

    def options(self, key: str) -> list[str]:
        return [option.text for option in question_of(self.design, key).options]

    def option(self, question: str, key: str) -> str:
        options = question_of(self.design, question).options
        return next(option.text for option in options if option.key == key)

    def stratum(self, key: str) -> Question:
        return next(stratum for stratum in self.design.strata if stratum.key == key)

    def group(self, stratum: str, key: str | None) -> str:
        options = self.stratum(stratum).options
        return next((option.text for option in options if option.key == key), NOT_GIVEN)

    def groups(self, place: Mapping[str, str | None]) -> str:
        return ", ".join(self.group(stratum, key) for stratum, key in place.items())

    def choice(self, question: str, option: str | None) -> str:
        """An option that stands for yes; without one, the last of two."""
        text = self.options(question)[-1] if option is None else self.option(question, option)
        return f"“{text}” to “{self.question(question)}”"


def described(asked: Mapping[str, Any], design: Design) -> str:
    """What was asked, in words."""
    names = Names(design)
    strata = _listed([f"“{names.stratum(key).text}”" for key in strata_of(asked)])
    if asked["kind"] == "crosstab":
        crossed = " by ".join(f"“{names.question(key)}”" for key in asked["questions"])
        return crossed + (f", in each group of {strata}" if strata else "")
    if asked["kind"] == "regression":
        on = [strata] if strata else []
        others = asked.get("predictors", [])
        on += [names.choice(one["question"], one.get("option")) for one in others]
        return f"{names.choice(asked['outcome'], asked.get('option'))} on {_listed(on)}"
    if asked["kind"] == "profiles":
        texts = [f"“{names.question(key)}”" for key in asked["questions"]]
        if len(texts) > 3:
            texts = [*texts[:2], f"{len(texts) - 2} more questions"]
        return f"{asked.get('classes', 2)} profiles from {_listed(texts)}"
    return f"Every question, weighted to the population by {strata}"


def strata_of(asked: Mapping[str, Any]) -> list[str]:
    """The keys of the strata that an analysis is about."""
    if asked["kind"] != "weights":
        return list(asked.get("strata", []))
    cells = asked.get("cells")
    return list(cells[0]["groups"] if cells else asked["margins"])


def _listed(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


@dataclass(frozen=True)
class Found:
    """What one analysis found."""

    asked: Mapping[str, Any]
    design: Design
    figures: Figures

    @property
    def names(self) -> Names:
        return Names(self.design)


# --- Tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    """One measure of association, in words and figures."""

    name: str
    words: str
    value: str
    low: str
    high: str


@dataclass(frozen=True)
class Table:
    """The table of one group, as slices of two questions each."""

    title: str
    n: int
    joint: list[Grid]
    given_columns: list[Grid]
    given_rows: list[Grid]
    measures: list[Measure]
    p_value: float | None
    negative: bool
    rare: bool  # some condition is met by too few to say anything


@dataclass(frozen=True)
class Crosstab(Found):
    @property
    def questions(self) -> list[str]:
        return list(self.asked["questions"])

    @property
    def row(self) -> str:
        return self.names.question(self.questions[0])

    @property
    def column(self) -> str:
        return self.names.question(self.questions[1])

    @property
    def cells(self) -> int:
        sizes = [question_of(self.design, key).size for key in self.questions]
        return math.prod(sizes) * len(self.figures["tables"])

    @property
    def too_large(self) -> bool:
        return self.cells > MOST_SHOWN

    def tables(self) -> list[Table]:
        return [self._table(found) for found in self.figures["tables"]]

    def _table(self, found: Figures) -> Table:
        values = np.array(found["estimates"], dtype=float)
        errors = np.array(found["standard_errors"], dtype=float)
        conditional = found.get("conditional")
        given: list[list[Grid]] = [[], []]
        if conditional:
            for axis in (0, 1):
                shares = conditional[self.questions[axis]]
                given[axis] = self._grids(
                    np.array(shares["estimates"], dtype=float),
                    np.array(shares["standard_errors"], dtype=float),
                    1.0,
                )
        rare = any(
            cell.value is None for grids in given for grid in grids for _, row in grid.rows
            for cell in row
        )  # fmt: skip
        return Table(
            title=self.names.groups(found["group"]),
            n=found["n"],
            joint=self._grids(values, errors, max(float(values.max()), 1e-9)),
            given_columns=given[0],
            given_rows=given[1],
            measures=self._measures(found.get("association")),
            p_value=found["independence"]["p_value"] if "independence" in found else None,
            negative=bool((values < 0).any()),
            rare=rare,
        )

    def _grids(self, values: Any, errors: Any, most: float) -> list[Grid]:
        """A grid of the first two questions for each combination of the others."""
        names, others = self.names, self.questions[2:]
        rows, columns = (names.options(key) for key in self.questions[:2])
        grids = []
        for place in product(*(range(size) for size in values.shape[2:])):
            texts = [
                f"{names.question(key)} {names.options(key)[i]}"
                for key, i in zip(others, place, strict=True)
            ]
            cells = [
                [
                    _cell(values[i, j, *place], errors[i, j, *place], most)
                    for j in range(len(columns))
                ]
                for i in range(len(rows))
            ]
            grids.append(Grid(" · ".join(texts), columns, list(zip(rows, cells, strict=True))))
        return grids

    def _measures(self, found: Figures | None) -> list[Measure]:
        if found is None:
            return []
        first, second = (self.names.options(key)[1] for key in self.questions)
        difference = (
            f"“{second}” to “{self.column}”: the share among those who answer “{first}” to "
            f"“{self.row}”, less the share among the others"
        )
        return [
            _measure("Difference", difference, found["risk_difference"], _points),
            _measure(
                "Phi",
                "the correlation of the two answers, from −1 to 1; 0 where they have nothing "
                "to do with each other",
                found["phi"],
                lambda value: f"{value:.2f}",
            ),
            _measure(
                "Odds ratio",
                f"the odds of “{second}” among those who answer “{first}”, over the odds among "
                "the others; 1 where they have nothing to do with each other",
                found["log_odds_ratio"],
                lambda value: figure(math.exp(min(value, 700))),
            ),
        ]

    def lines(self) -> Iterator[Line]:
        """A line for each cell: the joint share, and those given the other answers."""
        keys, strata = self.questions, strata_of(self.asked)
        yield [
            *(f"stratum {key}" for key in strata), *keys,
            *"n count estimate standard_error low high bounded".split(),
            *(f"{key} given the others{more}" for key in keys
              for more in ("", ", standard_error", ", low", ", high")),
        ]  # fmt: skip
        for table in self.figures["tables"]:
            groups = [self.names.group(key, table["group"][key]) for key in strata]
            counts = np.array(table["counts"])
            names = ("estimates", "standard_errors", "bounded")
            values, errors, bounded = (np.array(table[name], dtype=float) for name in names)
            conditional = table.get("conditional") or {}
            shares = [
                [np.array(conditional[key][name], dtype=float) for name in names[:2]]
                for key in keys
                if key in conditional
            ]
            for place in np.ndindex(*counts.shape):
                options = [self.names.options(k)[i] for k, i in zip(keys, place, strict=True)]
                yield [
                    *groups, *options, table["n"], int(counts[place]),
                    *_four(values[place], errors[place]), float(bounded[place]),
                    *(one for value, error in shares for one in _four(value[place], error[place])),
                ]  # fmt: skip

    def picture(self, name: str) -> str | None:
        """The joint shares, or those given one of the two answers; None where there is none."""
        if self.too_large:
            return None
        tables = self.tables()
        kinds = {
            "figure.svg": ("Share of everybody in each combination", [t.joint for t in tables]),
            "rows.svg": (f"“{self.row}” given “{self.column}”", [t.given_columns for t in tables]),
            "columns.svg": (f"“{self.column}” given “{self.row}”", [t.given_rows for t in tables]),
        }
        note, grids = kinds.get(name, ("", [[] for _ in tables]))
        drawn = [
            Grid(" · ".join(filter(None, [table.title, grid.caption])), grid.columns, grid.rows)
            for table, group in zip(tables, grids, strict=True)
            for grid in group
        ]
        notes = [
            f"{note}, in percent with 95 % intervals.",
            f"Rows: {self.row}",
            f"Columns: {self.column}",
        ]
        title = described(self.asked, self.design)
        return pictures.heat(title, notes, drawn) if drawn else None


def _cell(value: float, error: float, most: float) -> Cell:
    if not math.isfinite(value) or not math.isfinite(error):
        return Cell(None, None, None, 0)
    shade = round(pictures.SHADES * min(max(value, 0) / most, 1))
    return Cell(float(value), float(value - Z * error), float(value + Z * error), shade)


def _four(value: Any, error: Any) -> list[float | None]:
    """Estimate, standard error and limits, for a spreadsheet."""
    if not math.isfinite(value) or not math.isfinite(error):
        return [None] * 4
    return [float(value), float(error), float(value - Z * error), float(value + Z * error)]


def _points(value: float) -> str:
    return f"{100 * value:.1f} points".replace("-", "−")


def _measure(name: str, words: str, found: Figures | None, shown: Any) -> Measure:
    if found is None or found["estimate"] is None or found["interval"]["low"] is None:
        return Measure(name, words, "", "", "")
    low, high = found["interval"]["low"], found["interval"]["high"]
    texts = [shown(value).replace("-", "−") for value in (found["estimate"], low, high)]
    return Measure(name, words, *texts)


def figure(value: float) -> str:
    """A ratio, with about three digits that count."""
    if value >= 1e4 or 0 < value < 1e-3:
        return "> 10,000" if value >= 1e4 else "< 0.001"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}"


# --- Regression -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """A coefficient: a group of a stratum or an answer, its figures, and its track."""

    label: str
    about: str  # the stratum
    against: str
    estimate: float
    error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    runaway: bool
    picture: SafeString

    @property
    def odds(self) -> str:
        return figure(math.exp(min(self.estimate, 700)))

    @property
    def odds_limits(self) -> tuple[str, str] | None:
        if self.low is None or self.high is None:
            return None
        return figure(math.exp(min(self.low, 700))), figure(math.exp(min(self.high, 700)))


@dataclass(frozen=True)
class Regression(Found):
    @property
    def outcome(self) -> str:
        found = self.figures["outcome"]
        return self.names.choice(found["question"], found["option"])

    @property
    def references(self) -> list[str]:
        """The groups against which the others are compared, one a stratum."""
        found = {
            term["stratum"]: self.names.group(term["stratum"], term["against"])
            for term in self.figures["terms"]
            if "stratum" in term
        }
        return [f"{self.names.stratum(key).text} {text}" for key, text in found.items()]

    @property
    def axis(self) -> Axis:
        ends = [
            float(term["interval"][end])
            for term in self.figures["terms"][1:]
            for end in ("low", "high")
            if term["interval"][end] is not None
        ]
        low, high = max(min([-1.0, *ends]), -8.0), min(max([1.0, *ends]), 8.0)
        low, high = math.floor(2 * low) / 2, math.ceil(2 * high) / 2
        ticks = pictures.nice(low, high, 6)
        return Axis(low, high, [(tick, f"{tick:g}".replace("-", "−")) for tick in ticks], 0.0)

    @property
    def baseline(self) -> Term:
        return self._term(self.figures["terms"][0], self.axis)

    @property
    def baseline_share(self) -> float:
        value = min(max(self.figures["terms"][0]["estimate"], -700), 700)
        return 1 / (1 + math.exp(-value))

    @property
    def rare(self) -> bool:
        """Whether it is how often the other answers go together that has no maximum."""
        away = any(term.get("runaway") for term in self.figures["terms"])
        return bool(self.figures["separated"] and self.asked.get("predictors") and not away)

    @property
    def runaways(self) -> list[str]:
        found = [term for term in self.terms if term.runaway]
        texts = [f"{term.label} ({term.about})" if term.about else term.label for term in found]
        return texts if texts else ["the baseline"]

    @property
    def terms(self) -> list[Term]:
        axis = self.axis
        return [self._term(term, axis) for term in self.figures["terms"][1:]]

    @property
    def example(self) -> Term | None:
        """The clearest one, to be said in words."""
        usable = [term for term in self.terms if term.p_value is not None]
        return min(usable, key=lambda term: term.p_value or 0.0, default=None)

    def _term(self, term: Figures, axis: Axis) -> Term:
        low, high = term["interval"]["low"], term["interval"]["high"]
        label, about, against = self._label(term)
        picture = pictures.NOTHING
        if low is not None and high is not None:
            words = (
                f"{label}: log-odds {term['estimate']:.2f}, 95 % interval {low:.2f} to {high:.2f}"
            )
            picture = pictures.track(axis, [Point(term["estimate"], low, high)], words)
        return Term(
            label, about, against, term["estimate"], term["standard_error"], low, high,
            term.get("p_value"), bool(term.get("runaway")), picture,
        )  # fmt: skip

    def _label(self, term: Figures) -> tuple[str, str, str]:
        if "intercept" in term:
            return "Baseline", "", ""
        if "stratum" in term:
            key = term["stratum"]
            against = self.names.group(key, term["against"])
            label = (
                "Groups not shown" if term.get("rest") else self.names.group(key, term["option"])
            )
            return label, self.names.stratum(key).text, against
        return self.names.choice(term["question"], term["option"]), "", "any other answer"

    def lines(self) -> Iterator[Line]:
        yield (
            "term stratum against estimate standard_error low high p_value "
            "odds_ratio odds_low odds_high"
        ).split()
        for term in [self.baseline, *self.terms]:
            odds = [
                None if value is None else math.exp(min(value, 700))
                for value in (term.estimate, term.low, term.high)
            ]
            yield [
                term.label, term.about, term.against, term.estimate, term.error,
                term.low, term.high, term.p_value, *odds,
            ]  # fmt: skip

    def picture(self, name: str) -> str | None:
        rows = [
            pictures.Row(
                f"{term.about} {term.label} (against {term.against})".strip(),
                [Point(term.estimate, term.low, term.high)],
                f"{term.odds} ({term.odds_limits[0]} to {term.odds_limits[1]})",
            )
            for term in self.terms
            if term.low is not None and term.high is not None and term.odds_limits
        ]
        if not rows or name != "figure.svg":
            return None
        notes = [
            "Coefficients on the scale of log-odds with 95 % intervals; on the right odds ratios."
        ]
        title = described(self.asked, self.design)
        return pictures.whiskers(title, notes, self.axis, rows)


# --- Profiles -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Probability:
    value: float
    half: float | None  # of the interval
    picture: SafeString


@dataclass(frozen=True)
class Profiles(Found):
    @property
    def classes(self) -> list[Probability]:
        pairs = zip(self.figures["shares"], self.figures["share_errors"], strict=True)
        return [_probability(share, error) for share, error in pairs]

    @property
    def questions(self) -> list[tuple[str, list[tuple[str, list[Probability]]]]]:
        """For every question its options, each with the probability in every class."""
        found = []
        for key, answers in self.figures["answers"].items():
            options = []
            for i, text in enumerate(self.names.options(key)):
                pairs = zip(answers["probabilities"], answers["standard_errors"], strict=True)
                options.append((text, [_probability(p[i], error[i]) for p, error in pairs]))
            found.append((self.names.question(key), options))
        return found

    def lines(self) -> Iterator[Line]:
        yield "profile share share_error question option probability standard_error".split()
        for c, (share, error) in enumerate(
            zip(self.figures["shares"], self.figures["share_errors"], strict=True)
        ):
            for key, answers in self.figures["answers"].items():
                for i, text in enumerate(self.names.options(key)):
                    p, e = answers["probabilities"][c][i], answers["standard_errors"][c][i]
                    yield [c + 1, share, error, self.names.question(key), text, p, e]

    def picture(self, name: str) -> str | None:
        if name != "figure.svg":
            return None
        columns = [
            f"Profile {i}: {pictures.percent(one.value)} %" for i, one in enumerate(self.classes, 1)
        ]
        parts = [
            Bars(
                question,
                [
                    (text, [(one.value, f"{pictures.percent(one.value)} %") for one in shares])
                    for text, shares in options
                ],
            )
            for question, options in self.questions
        ]
        notes = ["The probability of each answer within each profile."]
        title = described(self.asked, self.design)
        return pictures.bars(title, notes, columns, parts)


def _probability(value: float, error: float | None) -> Probability:
    return Probability(value, None if error is None else Z * error, pictures.bar(value))


# --- Weights --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Weighted:
    """An option: weighted, and raw beside it."""

    label: str
    weighted: Figures
    raw: Figures
    picture: SafeString

    @property
    def shift(self) -> float:
        return float(self.weighted["estimate"] - self.raw["estimate"])


@dataclass(frozen=True)
class Section:
    """A question with the outcome of its job: figures, or why there are none."""

    text: str
    figures: Figures | None
    error: str
    rows: list[Weighted]


@dataclass(frozen=True)
class Weights:
    """Several analyses together: the same margins, a question each."""

    asked: Mapping[str, Any]
    design: Design
    found: Sequence[tuple[str, Figures | None, str]]  # question, figures, what went wrong

    @property
    def sections(self) -> list[Section]:
        names = Names(self.design)
        return [
            Section(names.question(key), figures, error, self._rows(key, figures))
            for key, figures, error in self.found
        ]

    def _rows(self, key: str, figures: Figures | None) -> list[Weighted]:
        rows = []
        for one in figures["options"] if figures else []:
            label = Names(self.design).option(key, one["option"])
            points = [_point(one["weighted"]), _point(one["raw"], raw=True)]
            words = (
                f"{label}: weighted {points[0].value:.1%}, {LEVEL:.0%} interval "
                f"{points[0].low:.1%} to {points[0].high:.1%}; raw {points[1].value:.1%}"
            )
            picture = pictures.track(pictures.SHARES, points, words)
            rows.append(Weighted(label, one["weighted"], one["raw"], picture))
        if [option.key for option in question_of(self.design, key).options] == ["no", "yes"]:
            return rows[1:]  # “no” is the rest
        return rows

    def lines(self) -> Iterator[Line]:
        yield (
            "question option method n design_effect kish_size "
            "raw raw_standard_error raw_low raw_high "
            "weighted weighted_standard_error weighted_low weighted_high effective_size"
        ).split()
        names = Names(self.design)
        for key, figures, _ in self.found:
            for one in figures["options"] if figures else []:
                assert figures is not None  # noqa: S101  # for the type checker
                raw, weighted = one["raw"], one["weighted"]
                yield [
                    names.question(key), names.option(key, one["option"]), figures["method"],
                    figures["n"], figures["design_effect"], figures["kish_size"],
                    *_limits(raw), *_limits(weighted), weighted["effective_size"],
                ]  # fmt: skip

    def picture(self, name: str) -> str | None:
        rows: list[pictures.Row] = []
        for section in self.sections:
            if section.rows:
                rows.append(pictures.Row(section.text))
            for row in section.rows:
                points = [_point(row.weighted), _point(row.raw, raw=True)]
                texts = [
                    pictures.percent(v) for v in (points[0].value, points[0].low, points[0].high)
                ]
                figures = f"{texts[0]} % ({texts[1]} to {texts[2]})"
                rows.append(pictures.Row(row.label, points, figures))
        if not rows or name != "figure.svg":
            return None
        notes = ["Filled: weighted, with its 95 % interval, also in figures. Open: raw."]
        title = described(self.asked, self.design)
        return pictures.whiskers(title, notes, pictures.SHARES, rows)


def _point(found: Figures, raw: bool = False) -> Point:
    return Point(found["estimate"], found["interval"]["low"], found["interval"]["high"], raw)


def _limits(found: Figures) -> list[float]:
    interval = found["interval"]
    return [found["estimate"], found["standard_error"], interval["low"], interval["high"]]


Result = Crosstab | Regression | Profiles | Weights
