"""Logistic regression of one option on the answers to other questions."""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from scipy.special import ndtr

from aggregation.analyses.base import (
    TEXT,
    Analysis,
    AnalysisError,
    AnalysisRequest,
    Choice,
    Figures,
    ReportTable,
    array_schema,
    check_length,
    choice_json,
    effect_json,
    finite,
    object_schema,
    question_of,
)
from aggregation.counting.tables import Axes, Counts
from aggregation.statistics import joint, regression
from survey.design import Design

MOST_PREDICTORS = 4  # each adds noise


class Predictor(NamedTuple):
    """A question, and its options with a coefficient. The others are the reference."""

    question: str
    options: tuple[int, ...]


@dataclass(frozen=True)
class Regression(Analysis):
    """The log-odds of one option, given groups and options of other questions."""

    schema = object_schema(
        ["outcome", "predictors"],
        outcome=TEXT | {"description": "The question to explain."},
        option=TEXT | {"description": "Its option to explain. Required if it has more than two."},
        predictors=array_schema(
            object_schema(["question"], question=TEXT, option=TEXT), 1, MOST_PREDICTORS
        ),
    )
    outcome: Choice
    predictors: tuple[Predictor, ...]

    @classmethod
    def read(cls, request: AnalysisRequest) -> Self:
        outcome = request.choice("outcome", "option")
        predictors = _read_predictors(request)
        if any(one.question == outcome.question for one in predictors):
            raise AnalysisError("predictors", f"{outcome.question} is the question to explain")
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

    def figures(self, views: list[ReportTable]) -> Figures:
        (view,) = views
        view.check_reports()
        kept = [(self.outcome.option,), *(one.options for one in self.predictors)]
        table, options = view.table, []
        for axis, chosen in enumerate(kept):
            options.append((table.shape[axis] - len(chosen), *[1] * len(chosen)))
            table = _merge_others(table, axis, chosen)
        fit = regression.predictors(table, view.blocks(), options)
        names: list[Figures] = [{"intercept": True}]
        names += [term for one in self.predictors for term in _terms(view.design, one)]
        found = zip(names, fit.coefficients, fit.standard_errors, strict=True)
        return {
            "outcome": choice_json(view.design, self.outcome),
            "n": int(table.sum()),
            "converged": bool(fit.converged),
            "separated": bool(fit.separated),
            "log_likelihood": finite(fit.log_likelihood),
            "terms": [name | _coefficient(value, error) for name, value, error in found],
        }


def _read_predictors(request: AnalysisRequest) -> tuple[Predictor, ...]:
    """Read the predictors: one option against the others, or all options against the first."""
    given = request.members.pop("predictors", [])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise AnalysisError("predictors", "must be a list of objects with a question")
    check_length("predictors", given, 1, MOST_PREDICTORS)
    found = []
    for one in given:
        predictor = AnalysisRequest(one, request.design)
        try:
            if "option" in one:
                choice = predictor.choice("question", "option")
                found.append(Predictor(choice.question, (choice.option,)))
            else:
                key = predictor.question("question")
                others = range(1, question_of(request.design, key).size)
                found.append(Predictor(key, tuple(others)))
            predictor.refuse_others()
        except AnalysisError as error:
            raise AnalysisError("predictors", f"{error.where}: {error.why}") from None
    keys = [one.question for one in found]
    if len(set(keys)) < len(keys):
        raise AnalysisError("predictors", "choose each question only once")
    return tuple(found)


def _merge_others(table: Counts, axis: int, chosen: tuple[int, ...]) -> Counts:
    """Return the table with the sum of all other options of an axis, then the chosen ones."""
    kept = table.take(chosen, axis)
    rest = table.sum(axis, keepdims=True) - kept.sum(axis, keepdims=True)
    return np.concatenate([rest, kept], axis)


def _terms(design: Design, one: Predictor) -> list[Figures]:
    """Describe the coefficients of a predictor. `against` is None for all other options."""
    question = question_of(design, one.question)
    others = [i for i in range(question.size) if i not in one.options]
    against = question.options[others[0]].key if len(others) == 1 else None
    return [
        choice_json(design, Choice(one.question, i)) | {"against": against} for i in one.options
    ]


def _coefficient(value: float, error: float) -> Figures:
    """Return a coefficient with Wald's test, or without figures if it is not determined."""
    known = error > 0
    p_value = 2 * float(ndtr(-abs(value) / error)) if known else None
    return effect_json(joint.Effect(value if known else math.nan, error)) | {"p_value": p_value}
