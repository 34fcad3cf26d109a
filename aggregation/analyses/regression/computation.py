"""Regression of an answer on the answers to other questions.

Logistic for one option; least squares for the mean of a number or of a scale's scores.
"""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, Self

import numpy as np
from scipy.special import ndtr

from aggregation.analyses.base import (
    TEXT,
    Analysis,
    AnalysisError,
    AnalysisRequest,
    Figures,
    ReportTable,
    array_schema,
    categories,
    check_length,
    decide_each_other,
    effect_json,
    finite,
    interval_json,
    mean_of,
    object_schema,
    question_of,
    root_of,
    why_not_counted,
)
from aggregation.counting.tables import Axes, Counts
from aggregation.statistics import joint, least_squares, regression
from survey.design import Design, Question

MOST_PREDICTORS = 4  # each adds noise
WHOLE = 10**12  # chances as whole numbers

Places = tuple[int, ...]


class Predictor(NamedTuple):
    """A question, and groups of its values: what the others are compared with comes first."""

    question: str
    groups: tuple[Places, ...]
    others: bool = False  # whether one option is compared with all others


@dataclass(frozen=True)
class Regression(Analysis):
    """The log-odds of one option, or the mean of a number or scale, given other answers."""

    schema = object_schema(
        ["outcome", "predictors"],
        outcome=TEXT | {"description": "The question to explain."},
        option=TEXT
        | {
            "description": "Its option to explain. Without one, the mean of a number or scale, or "
            "the last of two options."
        },
        predictors=array_schema(
            object_schema(
                ["question"],
                question=TEXT,
                option=TEXT | {"description": "Compare this option with all others."},
                **{"from": TEXT | {"description": "Compare a scale from here on with before."}},
            ),
            1,
            MOST_PREDICTORS,
        ),
    )
    outcome: str
    option: int | None  # None for the mean
    predictors: tuple[Predictor, ...]

    @classmethod
    def read(cls, request: AnalysisRequest) -> Self:
        design, key = request.design, request.members.get("outcome")
        known = {question.key for question in design.questions}
        mean = "option" not in request.members and isinstance(key, str) and key in known
        if mean and mean_of(question_of(design, str(key))):
            outcome, option = request.question("outcome"), None
        else:
            outcome, option = request.choice("outcome", "option")
        predictors = _read_predictors(request, option is None)
        if any(one.question == outcome for one in predictors):
            raise AnalysisError("predictors", f"{outcome} is the question to explain")
        keys = [outcome, *(one.question for one in predictors)]
        for first, second in combinations(keys, 2):
            if why := why_not_both(design, first, second, option is None):
                raise AnalysisError("predictors", why)
        if option is None:
            cells = math.prod(question_of(design, one).values for one in keys)
            most = least_squares.MOST_CELLS
        else:
            cells = 2 * math.prod(len(one.groups) for one in predictors)
            most = regression.MOST_CELLS
        if cells > most:
            raise AnalysisError(
                "predictors",
                f"{cells:,} combinations of answers; at most {most:,}: choose fewer questions"
                + ("" if option is None else ", or one option of each"),
            )
        return cls(outcome, option, predictors)

    def tables(self) -> list[Axes]:
        return [(self.outcome, *(one.question for one in self.predictors))]

    def figures(self, views: list[ReportTable]) -> Figures:
        (view,) = views
        view.check_reports()
        design = view.design
        names: list[Figures] = [{"intercept": True}]
        names += [term for one in self.predictors for term in _terms(design, one)]
        if self.option is None:
            return self._means(view, names)
        own = self.option
        others = tuple(i for i in range(view.table.shape[0]) if i != own)
        groups = [(others, (own,)), *(one.groups for one in self.predictors)]
        table, chances, blocks = view.table, [np.empty(0)] * len(groups), []
        for part in view.parts():
            blocks.append(joint.Block(part.keep, part.axes))
            for i, axis in enumerate(part.axes):
                rest = tuple(j for j in range(len(part.axes)) if j != i)
                # Questions of one block do not depend on each other here.
                chances[axis] = part.chances.sum(axis=rest)
        for axis, chosen in enumerate(groups):
            table = _merge(table, axis, chosen)
        options = [
            [max(round(WHOLE * float(chance[list(one)].sum())), 1) for one in chosen]
            for chance, chosen in zip(chances, groups, strict=True)
        ]
        fit = regression.predictors(table, blocks, options)
        found = zip(names, fit.coefficients, fit.standard_errors, strict=True)
        return {
            "outcome": {
                "question": self.outcome,
                "option": question_of(design, self.outcome).options[self.option].key,
            },
            "n": int(table.sum()),
            "converged": bool(fit.converged),
            "separated": bool(fit.separated),
            "log_likelihood": finite(fit.log_likelihood),
            "terms": [name | _coefficient(value, error) for name, value, error in found],
        }

    def _means(self, view: ReportTable, names: list[Figures]) -> Figures:
        """Return the figures of least squares."""
        columns = []
        for one in self.predictors:
            places = {place: i for i, group in enumerate(one.groups) for place in group}
            values = question_of(view.design, one.question).values
            columns.append([places.get(place) for place in range(values)])
        mean = mean_of(question_of(view.design, self.outcome))
        scores = mean and mean.scores or []
        try:
            fit = least_squares.fit(view.table, view.parts(), scores, columns)
        except least_squares.TooFew:
            raise AnalysisError(
                "reports",
                "too few people are in the groups that the others are compared with. Choose fewer "
                "questions, or wait for more responses",
            ) from None
        return {
            "outcome": {"question": self.outcome, "option": None},
            "n": int(view.table.sum()),
            "share": finite(fit.share),
            "converged": bool(np.isfinite(fit.coefficients).any()),
            "separated": bool(np.isnan(fit.coefficients).any()),
            "terms": [
                name
                | {
                    "estimate": finite(fit.coefficients[i]),
                    "standard_error": finite(fit.standard_errors[i]),
                    "interval": interval_json(fit.low[i], fit.high[i]),
                    "p_value": finite(fit.p_values[i]) if i else None,
                }
                for i, name in enumerate(names)
            ],
        }


def why_not_both(design: Design, first: str, second: str, means: bool) -> str:
    """Return why a regression cannot have both questions; "" if it can.

    Where one decides whether the other is asked, its answer is known of everybody who gave the
    other. Means count only people who were asked everything; otherwise not being asked is an answer
    as well, and the same for all follow-ups of a question.
    """
    if decide_each_other(design, first, second):
        return f"the answer to one of {first} and {second} decides whether the other is asked"
    if not means and root_of(design, first) == root_of(design, second):
        return f"{first} and {second} depend on the same question: choose one of them"
    return ""


def _read_predictors(request: AnalysisRequest, means: bool) -> tuple[Predictor, ...]:
    given = request.members.pop("predictors", [])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise AnalysisError("predictors", "must be a list of objects with a question")
    check_length("predictors", given, 1, MOST_PREDICTORS)
    found = []
    for one in given:
        predictor = AnalysisRequest(one, request.design)
        try:
            found.append(_read_predictor(predictor, means))
            predictor.refuse_others()
        except AnalysisError as error:
            raise AnalysisError("predictors", f"{error.where}: {error.why}") from None
    keys = [one.question for one in found]
    if len(set(keys)) < len(keys):
        raise AnalysisError("predictors", "choose each question only once")
    return tuple(found)


def _read_predictor(request: AnalysisRequest, means: bool) -> Predictor:
    """Read one option against the others, a scale cut in two, or all options against the first.

    People who were not asked do not count for means.
    """
    key = request.question("question")
    question = question_of(request.design, key)
    if why := why_not_counted(question):
        raise AnalysisError("question", f"{key}: {why}")
    places = range(question.size if means else question.values)
    if "option" in request.members:
        request.members["question"] = key
        _, option = request.choice("question", "option")
        return Predictor(key, (tuple(i for i in places if i != option), (option,)), True)
    if "from" not in request.members:
        return Predictor(key, tuple((place,) for place in places))
    cut, known = request.members.pop("from"), cuts(question)
    if cut not in known:
        raise AnalysisError("from", f"must be one of {', '.join(known) or 'a scale’s options'}")
    options = [option.key for option in question.options]
    at, last = options.index(cut), options.index(known[-1])
    rest = [(place,) for place in places if place > last]
    return Predictor(key, (tuple(range(at)), tuple(range(at, last + 1)), *rest))


def cuts(question: Question) -> list[str]:
    """Return the options at which a scale can be cut in two."""
    return [option.key for option in question.options if option.score is not None][1:]


def _merge(table: Counts, axis: int, groups: tuple[Places, ...]) -> Counts:
    """Return the table with a place for each group of places of an axis."""
    return np.stack([table.take(group, axis).sum(axis) for group in groups], axis)


def _terms(design: Design, one: Predictor) -> list[Figures]:
    """Describe the coefficients of a predictor. `against` is None for all other options.

    Options from one to another of a scale have an `option_to`; None is “not asked”.
    """
    keys = [key for key, _ in categories(question_of(design, one.question))]

    def named(name: str, group: Places) -> Figures:
        ends = {name: keys[group[0]], f"{name}_to": keys[group[-1]]}
        return ends if len(group) > 1 else {name: keys[group[0]]}

    reference = one.groups[0]
    apart = one.others and len(reference) > 1
    against = {"against": None} if apart else named("against", reference)
    return [
        {"question": one.question} | named("option", group) | against for group in one.groups[1:]
    ]


def _coefficient(value: float, error: float) -> Figures:
    """Return a coefficient with Wald's test, or without figures if it is not determined."""
    known = error > 0
    p_value = 2 * float(ndtr(-abs(value) / error)) if known else None
    return effect_json(joint.Effect(value if known else math.nan, error)) | {"p_value": p_value}
