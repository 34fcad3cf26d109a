"""The findings of a table: joint and conditional shares, and measures of association."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from aggregation.analyses.base import Figures, question_of
from aggregation.analyses.crosstab import grids
from aggregation.analyses.crosstab.grids import IMPOSSIBLE, RARE, SHADES, ShareCell, ShareGrid
from aggregation.analyses.wording import Findings, Z, figure
from survey.spreadsheets import Line

MOST_SHOWN = 800  # cells of a table on a page


@dataclass(frozen=True)
class Measure:
    """One measure of association. Its figures are empty if it cannot be estimated."""

    name: str
    words: str
    value: str = ""
    low: str = ""
    high: str = ""


class ConditionalShares(NamedTuple):
    """The shares of a question, given the answers to another."""

    picture: str
    question: str
    given: str
    sums: str  # whether rows or columns add up to 100 %
    grids: list[ShareGrid]


@dataclass(frozen=True)
class CrosstabFindings(Findings):
    title = "Table"
    introduction = (
        "How the answers to two to four questions are associated: the share of people in every "
        "combination."
    )
    template = "aggregation/analyses/crosstab/result.html"

    @property
    def description(self) -> str:
        return " by ".join(map(self.quoted, self.asked["questions"]))

    @property
    def drawn(self) -> bool:
        return False

    @property
    def questions(self) -> list[str]:
        return list(self.asked["questions"])

    @property
    def row(self) -> str:
        return self.text(self.questions[0])

    @property
    def column(self) -> str:
        return self.text(self.questions[1])

    @property
    def cells(self) -> int:
        return math.prod(len(self.options(key)) for key in self.questions)

    @property
    def too_large(self) -> bool:
        return self.cells > MOST_SHOWN

    @property
    def p_value(self) -> float | None:
        return self.figures["independence"]["p_value"] if "independence" in self.figures else None

    @property
    def negative(self) -> bool:
        values, _ = _arrays(self.figures)
        return bool((values < 0).any())

    @cached_property
    def joint(self) -> list[ShareGrid]:
        """The shares of everybody in each combination."""
        values, errors = _arrays(self.figures)
        return self._grids(values, errors, max(float(np.nanmax(values)), 1e-9))

    @cached_property
    def conditional(self) -> list[ConditionalShares]:
        """The shares of each of the first two questions, given all other answers."""
        found = self.figures.get("conditional")
        if not found:
            return []
        # Shares that follow from the other answers, and nothing else, are no finding.
        rows, columns = (self._grids(*_arrays(found[key]), 1.0) for key in self.questions[:2])
        both = [
            ConditionalShares("rows.svg", self.row, self.column, "column", rows),
            ConditionalShares("columns.svg", self.column, self.row, "row", columns),
        ]
        return [
            one._replace(grids=grids)
            for one in both
            if (grids := [grid for grid in one.grids if grid.estimated])
        ]

    @property
    def rare(self) -> bool:
        """Whether too few people gave some answer to estimate shares among them."""
        found = [grid for one in self.conditional for grid in one.grids]
        return any(cell is RARE for grid in found for _, row in grid.rows for cell in row)

    @property
    def impossible(self) -> bool:
        """Whether some combinations cannot occur, because one answer decides about the next."""
        return not self._possible.all()

    @property
    def follow_ups(self) -> list[str]:
        """The questions that not everybody is asked."""
        questions = [question_of(self.design, key) for key in self.questions]
        return [question.text for question in questions if question.only_if]

    @cached_property
    def _possible(self) -> Any:
        values, _ = _arrays(self.figures)
        return np.isfinite(values)

    def _grids(self, values: Any, errors: Any, most: float) -> list[ShareGrid]:
        """Return a grid of the first two questions for each combination of the others.

        Rows, columns and grids in which no combination can occur are left out.
        """
        rows, columns = (self.options(key) for key in self.questions[:2])
        found = []
        for place in product(*(range(size) for size in values.shape[2:])):
            texts = [
                f"{self.text(key)} {self.options(key)[i]}"
                for key, i in zip(self.questions[2:], place, strict=True)
            ]
            shown, noise = values[:, :, *place], errors[:, :, *place]
            possible = self._possible[:, :, *place]
            across = np.flatnonzero(possible.any(axis=0))
            cells = [
                (rows[i], [
                    _cell(shown[i, j], noise[i, j], most) if possible[i, j] else IMPOSSIBLE
                    for j in across
                ])
                for i in np.flatnonzero(possible.any(axis=1))
            ]  # fmt: skip
            if cells:
                found.append(ShareGrid(" · ".join(texts), [columns[j] for j in across], cells))
        return found

    @property
    def measures(self) -> list[Measure]:
        found = self.figures.get("association")
        if found is None:
            return []
        first, second = (self.options(key)[1] for key in self.questions)
        difference = (
            f"“{second}” to “{self.column}”: the share among those who answer “{first}” to "
            f"“{self.row}”, minus the share among the others"
        )
        return [
            _measure(
                "Difference",
                difference,
                found["risk_difference"],
                lambda value: f"{100 * value:.1f} points",
            ),
            _measure(
                "Phi",
                "the correlation of the two answers, from −1 to 1; 0 if they are not associated",
                found["phi"],
                lambda value: f"{value:.2f}",
            ),
            _measure(
                "Odds ratio",
                f"the odds of “{second}” among those who answer “{first}”, divided by the odds "
                "among the others; 1 if they are not associated",
                found["log_odds_ratio"],
                lambda value: figure(math.exp(min(value, 700))),
            ),
        ]

    def lines(self) -> Iterator[Line]:
        """Yield a line for each cell: the joint share, and the shares given other answers."""
        keys = self.questions
        yield [
            *keys, *"n count estimate standard_error low high bounded".split(),
            *(f"{key} given the others{more}" for key in keys
              for more in ("", ", standard_error", ", low", ", high")),
        ]  # fmt: skip
        counts = np.array(self.figures["counts"])
        bounded = np.array(self.figures["bounded"], dtype=float)
        values, errors = _arrays(self.figures)
        conditional = self.figures.get("conditional") or {}
        shares = [_arrays(conditional[key]) for key in keys if key in conditional]
        for place in map(tuple, np.argwhere(self._possible).tolist()):
            options = [self.options(k)[i] for k, i in zip(keys, place, strict=True)]
            yield [
                *options, self.figures["n"], int(counts[place]),
                *_values(values[place], errors[place]), float(bounded[place]),
                *(one for value, error in shares for one in _values(value[place], error[place])),
            ]  # fmt: skip

    def picture(self, name: str) -> bytes | None:
        if self.too_large:
            return None
        kinds = {"figure.svg": ("Share of everybody in each combination", self.joint)}
        for one in self.conditional:
            kinds[one.picture] = (f"“{one.question}” given “{one.given}”", one.grids)
        note, drawn = kinds.get(name, ("", []))
        notes = [
            f"{note}, in percent with 95 % intervals.",
            f"Rows: {self.row}",
            f"Columns: {self.column}",
        ]
        return grids.picture(self.description, notes, drawn) if drawn else None


def _arrays(found: Figures) -> tuple[Any, Any]:
    """Return estimates and standard errors, with nan for None."""
    return (
        np.array(found["estimates"], dtype=float),
        np.array(found["standard_errors"], dtype=float),
    )


def _cell(value: float, error: float, most: float) -> ShareCell | str:
    if not math.isfinite(value) or not math.isfinite(error):
        return RARE
    shade = round(SHADES * min(max(value, 0) / most, 1))
    return ShareCell(float(value), float(value - Z * error), float(value + Z * error), shade)


def _values(value: Any, error: Any) -> list[float | None]:
    """Return estimate, standard error and limits."""
    if not math.isfinite(value) or not math.isfinite(error):
        return [None] * 4
    return [float(value), float(error), float(value - Z * error), float(value + Z * error)]


def _measure(
    name: str, words: str, found: Figures | None, shown: Callable[[float], str]
) -> Measure:
    if found is None or found["estimate"] is None or found["interval"]["low"] is None:
        return Measure(name, words)
    values = (found["estimate"], found["interval"]["low"], found["interval"]["high"])
    return Measure(name, words, *(shown(value).replace("-", "−") for value in values))
