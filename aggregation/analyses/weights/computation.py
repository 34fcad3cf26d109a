"""The shares and means of all questions, weighted to a population."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aggregation.analyses import coins
from aggregation.analyses.base import (
    LEVEL,
    TEXT,
    Analysis,
    AnalysisError,
    AnalysisRequest,
    Figures,
    ReportTable,
    array_schema,
    object_schema,
    question_of,
    why_not_counted,
)
from aggregation.counting.tables import Axes, Counts
from aggregation.statistics import joint, mean, proportion
from aggregation.statistics.tables.calibrated_measures import Population
from aggregation.statistics.weights import Calibrated, TooFew, Unreachable
from survey.design import DECLINED, Design, Measure, Option, Question

MOST_GIVEN = 1000  # combinations of groups in a request
LARGEST = 1e15  # the largest share or number of people
SHARE: Figures = {"type": "number", "minimum": 0, "maximum": LARGEST}
ADVICE = "Weight by fewer questions, or wait for more responses."


def _by_key(values: Figures) -> Figures:
    return {"type": "object", "additionalProperties": values}


@dataclass(frozen=True)
class Weights(Analysis):
    """The shares and means of all other questions, weighted by the groups of some.

    They are raked to the margins of several questions, or post-stratified by the groups of one or
    the cells of several. Each question has its own table, so that everybody who was asked it
    counts. Groups without a share in the population, such as "Prefer not to say", are left out.
    """

    schema = object_schema(
        [],
        margins=_by_key(_by_key(SHARE))
        | {"description": "The population's share or number of every group, by question."},
        cells=array_schema(
            object_schema(["groups", "share"], groups=_by_key(TEXT), share=SHARE), 1, MOST_GIVEN
        )
        | {"description": "Instead of margins: every combination of groups."},
    )
    questions: tuple[str, ...]
    by: tuple[str, ...]
    population: tuple[tuple[float, ...], ...]  # a margin for each of `by`, or one with all cells

    @classmethod
    def read(cls, request: AnalysisRequest) -> Self:
        given = [name for name in ("margins", "cells") if name in request.members]
        if len(given) != 1:
            raise AnalysisError("margins", "give either margins or cells")
        (name,) = given
        found = (_margins if name == "margins" else _cells)(
            request.members.pop(name), request.design
        )
        by, population = found
        questions = tuple(
            one.key
            for one in request.design.questions
            if one.key not in by and coins.together(request.design, (one.key, *by))
        )
        if not questions:
            raise AnalysisError(name, "no question is left to weight: weight by fewer questions")
        return cls(questions, by, population)

    def tables(self) -> list[Axes]:
        return [(question, *self.by) for question in self.questions]

    def figures(self, views: list[ReportTable]) -> Figures:
        """Weight each question. One that cannot be weighted has an error, unless none can be."""
        found: list[Figures] = []
        problems = []
        for view in views:
            try:
                found.append(self._weighted(view))
            except AnalysisError as error:
                found.append({"question": view.axes[0], "error": error.why})
                problems.append(error)
        if len(problems) == len(found):
            raise problems[0]
        method = "raked" if len(self.population) > 1 else "post-stratified"
        return {"by": list(self.by), "method": method, "questions": found}

    def _weighted(self, view: ReportTable) -> Figures:
        view.check_reports()
        parts = view.parts()
        theta, covariance = joint.cells(view.table, parts)
        margins = [np.array(one) for one in self.population]
        if len(margins) == 1:
            margins = [margins[0].reshape(view.table.shape[1:])]
        try:
            weighted = Population.of(theta, covariance, margins)
        except TooFew as error:
            raise AnalysisError("margins", self._too_few(view.design, error)) from None
        except Unreachable:
            raise AnalysisError(
                "margins",
                "no weights meet all of these margins: there are too few people in some "
                f"combinations of groups. {ADVICE}",
            ) from None
        question = question_of(view.design, view.axes[0])
        raw = _Raw(question, view.table, theta, covariance, parts)
        return {
            "question": question.key,
            "n": covariance.n,
            "estimates": [
                {
                    "measure": measure.name,
                    "option": measure.option or None,
                    "raw": raw.figures(measure),
                    "weighted": _calibrated(
                        weighted.measure(measure.weights, measure.among, LEVEL), measure
                    ),
                }
                for measure in question.measures()
            ],
        }

    def _too_few(self, design: Design, error: TooFew) -> str:
        """Name the group, or the combination of groups, that cannot be weighted."""
        questions = [question_of(design, key) for key in self.by]
        groups = " and ".join(
            f"“{question.options[at].text}” of “{question.text}”"
            for question, at in zip(questions, error.place, strict=True)
            if at is not None
        )
        return f"too few responses to estimate how many people are in {groups}. {ADVICE}"


@dataclass(frozen=True)
class _Raw:
    """The estimates of a question over everybody in a table, as in a release.

    Without intervals: those of the release are the only ones, and depend on its state.
    """

    question: Question
    reports: Counts
    theta: NDArray[np.float64]
    covariance: joint.Covariance
    parts: Sequence[joint.Block]

    def figures(self, measure: Measure) -> Figures | None:
        counts = self.reports.reshape(self.question.values, -1).sum(axis=1)
        keep, stray = self._coin
        scores = measure.scores
        if measure.name == "share":
            place = int(np.argmax(measure.weights))
            kept = keep / measure.weights[place]
            channel = proportion.Channel(kept + stray[place], stray[place])
            return _error(
                proportion.estimate(int(counts[place]), self.covariance.n, channel, LEVEL)
            )
        if scores is not None:
            channels = [proportion.Channel(keep + chance, chance) for chance in stray]
            found = mean.estimate(counts, scores, channels, LEVEL)
            return _error(found) if found.clear else None
        groups = math.prod(self.theta.shape[1:])
        everybody = np.ones(groups), np.ones((groups, 1))
        all_alike = Population(self.theta, self.covariance, *everybody)
        plain = all_alike.measure(measure.weights, measure.among, LEVEL)
        return None if plain is None else _error(plain)

    @property
    def _coin(self) -> tuple[float, list[float]]:
        """Return how often a report shows the person's own value, and each value by chance."""
        part = next(one for one in self.parts if 0 in one.axes)
        others = tuple(i for i, axis in enumerate(part.axes) if axis != 0)
        return part.keep, ((1 - part.keep) * part.chances.sum(axis=others)).tolist()


def has_groups(question: Question) -> bool:
    """Return whether a survey can be weighted by a question: all are asked it, for one option."""
    return not why_not_counted(question) and question.only_if is None


def groups_of(question: Question) -> list[Option]:
    """Return the groups of a population: all options except “Prefer not to say”."""
    return [option for option in question.options if option.key != DECLINED]


def _margins(given: Any, design: Design) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]:
    """Read the share or number of every group of some questions."""
    if not isinstance(given, dict) or not given:
        raise AnalysisError("margins", "must be an object of questions, each with its groups")
    known = {question.key: question for question in design.questions if has_groups(question)}
    for key in given:
        if key not in known:
            raise AnalysisError("margins", f"there is no {str(key)[:50]!r} in this survey")
    by = tuple(key for key in known if key in given)
    return by, tuple(_margin(known[key], given[key]) for key in by)


def _margin(question: Question, given: Any) -> tuple[float, ...]:
    groups = groups_of(question)
    if not isinstance(given, dict) or not set(given) <= {group.key for group in groups}:
        keys = ", ".join(group.key for group in groups)
        raise AnalysisError("margins", f"{question.key}: its groups are {keys}")
    if missing := [group.text for group in groups if group.key not in given]:
        raise AnalysisError("margins", f"{question.key}: no share for {', '.join(missing[:5])}")
    values = [given.get(option.key, 0) for option in question.options]
    return _shares("margins", question.key, values)


def _cells(given: Any, design: Design) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]:
    """Read the share or number of every combination of groups."""
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_GIVEN:
        raise AnalysisError("cells", f"must be a list of 1 to {MOST_GIVEN:,} cells")
    found: dict[tuple[str, ...], Any] = {}
    by: list[Question] = []
    for i, cell in enumerate(given):
        groups = cell.get("groups") if isinstance(cell, dict) else None
        if not isinstance(groups, dict) or set(cell) != {"groups", "share"}:
            raise AnalysisError("cells", f"[{i}]: must be an object with groups and a share")
        by = by or [one for one in design.questions if one.key in groups and has_groups(one)]
        if not by or {question.key for question in by} != set(groups):
            raise AnalysisError(
                "cells", f"[{i}]: every cell must have groups of the same questions"
            )
        place = tuple(_group(i, question, groups) for question in by)
        if place in found:
            raise AnalysisError("cells", f"[{i}]: this combination appears twice")
        found[place] = cell["share"]
    wanted = math.prod(len(groups_of(question)) for question in by)
    if len(found) < wanted:
        raise AnalysisError(
            "cells",
            f"{wanted - len(found):,} of {wanted:,} combinations are missing. Give 0 to those with "
            "nobody.",
        )
    keys = [[option.key for option in question.options] for question in by]
    values = [found.get(place, 0) for place in product(*keys)]
    return tuple(question.key for question in by), (_shares("cells", "the cells", values),)


def _group(cell: int, question: Question, groups: Mapping[str, Any]) -> str:
    keys = [option.key for option in groups_of(question)]
    if groups[question.key] not in keys:
        raise AnalysisError("cells", f"[{cell}]: {question.key} must be one of {', '.join(keys)}")
    return str(groups[question.key])


def _shares(where: str, name: str, values: Sequence[Any]) -> tuple[float, ...]:
    """Turn shares or numbers of people into shares."""
    for value in values:
        if type(value) not in (int, float) or not 0 <= value <= LARGEST:
            raise AnalysisError(where, f"{name}: must be numbers from 0 to {LARGEST:.0e}")
    if not sum(values) > 0:
        raise AnalysisError(where, f"{name}: must not all be 0")
    return tuple(value / sum(values) for value in values)


def _error(found: proportion.Estimate | mean.Estimate | Calibrated) -> Figures:
    return {"estimate": found.value, "standard_error": found.standard_error}


def _share(found: Calibrated) -> Figures:
    return _error(found) | {"interval": {"level": LEVEL, "low": found.low, "high": found.high}}


def _calibrated(found: Calibrated | None, measure: Measure) -> Figures | None:
    """Return weighted figures. Only shares of everybody have an effective size."""
    if found is None:
        return None
    size, variance = None, found.standard_error**2
    if measure.name == "share" and 0 < found.value < 1 and variance > 0:
        size = found.value * (1 - found.value) / variance
    return _share(found) | {"design_effect": found.design_effect, "effective_size": size}
