"""The log-odds of one option as it depends on the answers to other questions."""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from scipy.special import ndtr

from aggregation.analyses.base import (
    TEXT,
    Analysis,
    AnalysisError,
    Asked,
    Choice,
    Counts,
    Figures,
    View,
    array,
    effect_json,
    members,
    named,
    plain,
    question_of,
)
from aggregation.counting.tables import Axes
from aggregation.statistics import joint, regression
from survey.design import Design

MOST_PREDICTORS = 4  # the noise of each adds to that of the others


class Predictor(NamedTuple):
    """A question, and the options of it that have a coefficient; the others are one reference."""

    question: str
    options: tuple[int, ...]


@dataclass(frozen=True)
class Regression(Analysis):
    """The log-odds of one option on groups, and on options of other questions."""

    schema = members(
        ["outcome", "predictors"],
        outcome=TEXT | {"description": "The question to explain."},
        option=TEXT | {"description": "The option of it that is meant, of more than two."},
        predictors=array(members(["question"], question=TEXT, option=TEXT), 1, MOST_PREDICTORS),
    )
    outcome: Choice
    predictors: tuple[Predictor, ...]

    @classmethod
    def read(cls, asked: Asked) -> Self:
        outcome = asked.choice("outcome", "option")
        predictors = _read_predictors(asked)
        if any(one.question == outcome.question for one in predictors):
            raise AnalysisError("predictors", f"{outcome.question} is what is to be explained")
        cells = 2 * math.prod(1 + len(one.options) for one in predictors)
        if cells > regression.MOST_CELLS:
            raise AnalysisError(
                "predictors",
                f"{cells:,} combinations of answers; at most {regression.MOST_CELLS:,}: choose "
                "fewer questions, or one option of each",
            )
        return cls(outcome, predictors)

    def tables(self) -> list[Axes]:
        return [(self.outcome.question, *(one.question for one in self.predictors))]

    def figures(self, views: list[View]) -> Figures:
        (view,) = views
        view.check_reports()
        told = [(self.outcome.option,), *(one.options for one in self.predictors)]
        table, options = view.table, []
        for axis, chosen in enumerate(told):
            options.append((table.shape[axis] - len(chosen), *[1] * len(chosen)))
            table = _told_apart(table, axis, chosen)
        fit = regression.predictors(table, view.blocks(), options)
        names: list[Figures] = [{"intercept": True}]
        names += [term for one in self.predictors for term in _terms(view.design, one)]
        found = zip(names, fit.coefficients, fit.standard_errors, strict=True)
        return {
            "outcome": named(view.design, self.outcome),
            "n": int(table.sum()),
            "converged": bool(fit.converged),
            "separated": bool(fit.separated),
            "log_likelihood": plain(fit.log_likelihood),
            "terms": [name | _coefficient(value, error) for name, value, error in found],
        }


def _read_predictors(asked: Asked) -> tuple[Predictor, ...]:
    """Return the questions that explain: each whole, or one option of it against the others.

    Whole, the first option is what the others are compared with.
    """
    given = asked.members.pop("predictors", [])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise AnalysisError(
            "predictors", "a list of objects with a question, and perhaps an option"
        )
    if not 1 <= len(given) <= MOST_PREDICTORS:
        raise AnalysisError("predictors", f"1 to {MOST_PREDICTORS} of them, not {len(given)}")
    found = []
    for one in given:
        members = Asked(one, asked.design)
        try:
            if "option" in one:
                choice = members.choice("question", "option")
                found.append(Predictor(choice.question, (choice.option,)))
            else:
                key = members.question("question")
                found.append(Predictor(key, tuple(range(1, question_of(asked.design, key).size))))
            members.nothing_else()
        except AnalysisError as error:
            raise AnalysisError("predictors", f"{error.where}: {error.why}") from None
    keys = [one.question for one in found]
    if len(set(keys)) < len(keys):
        raise AnalysisError("predictors", "the same question stands there twice")
    return tuple(found)


def _told_apart(table: Counts, axis: int, chosen: tuple[int, ...]) -> Counts:
    """Return the table with these options of an axis, and the sum of all others before them."""
    told = table.take(chosen, axis)
    rest = table.sum(axis, keepdims=True) - told.sum(axis, keepdims=True)
    return np.concatenate([rest, told], axis)


def _terms(design: Design, one: Predictor) -> list[Figures]:
    """Name the coefficients of a predictor; `against` is None for all other options together."""
    question = question_of(design, one.question)
    others = [i for i in range(question.size) if i not in one.options]
    against = question.options[others[0]].key if len(others) == 1 else None
    return [named(design, Choice(one.question, i)) | {"against": against} for i in one.options]


def _coefficient(value: float, error: float) -> Figures:
    """Return a coefficient with Wald's test; without figures where it is not determined."""
    known = error > 0
    p_value = 2 * float(ndtr(-abs(value) / error)) if known else None
    return effect_json(joint.Effect(value if known else math.nan, error)) | {"p_value": p_value}
