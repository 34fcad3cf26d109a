"""The joint shares of two to four questions, and how the answers are related.

“Not asked” is an answer of its own to a follow-up. Combinations that cannot occur have no figures.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aggregation.analyses.base import (
    TEXT,
    Analysis,
    AnalysisRequest,
    Figures,
    ReportTable,
    array_schema,
    categories,
    effect_json,
    finite_table,
    object_schema,
    question_of,
)
from aggregation.counting.tables import Axes, Counts
from aggregation.statistics import joint

MOST_QUESTIONS = 4
MOST_CONDITIONAL = 4096  # the largest number of cells with conditional shares


@dataclass(frozen=True)
class Crosstab(Analysis):
    """A table of two to four questions."""

    schema = object_schema(["questions"], questions=array_schema(TEXT, 2, MOST_QUESTIONS))
    questions: tuple[str, ...]

    @classmethod
    def read(cls, request: AnalysisRequest) -> Self:
        return cls(request.questions("questions", 2, MOST_QUESTIONS))

    def tables(self) -> list[Axes]:
        return [self.questions]

    def figures(self, views: list[ReportTable]) -> Figures:
        (view,) = views
        view.check_reports()
        blocks = view.parts()
        theta, covariance = joint.cells(view.table, blocks)
        occur = joint.possible(view.table.shape, blocks)
        likeliest = joint.mle(view.table, blocks)

        def possible(values: NDArray[np.float64]) -> Any:
            return finite_table(np.where(occur, values, np.nan))

        found: Figures = {
            "n": covariance.n,
            "options": {
                key: [option for option, _ in categories(question_of(view.design, key))]
                for key in self.questions
            },
            "counts": view.table.tolist(),
            "estimates": possible(theta),
            "standard_errors": possible(covariance.standard_errors),
            "bounded": possible(likeliest.theta),
            "bounded_converged": likeliest.converged,
            "conditional": self._conditional(view.table, blocks),
        }
        if len(self.questions) == 2 and occur.all():
            found["independence"] = _independence(joint.independence(view.table, blocks))
            if theta.shape == (2, 2):
                found["association"] = _association(joint.association(view.table, blocks))
        return found

    def _conditional(self, table: Counts, blocks: list[joint.Block]) -> Figures | None:
        """Return the shares of the options of each question, given the answers to the others."""
        if table.size > MOST_CONDITIONAL:
            return None
        shares = {}
        for axis, key in enumerate(self.questions):
            found = joint.conditional(table, blocks, axis)
            shares[key] = {
                "estimates": finite_table(found.shares),
                "standard_errors": finite_table(found.standard_errors),
            }
        return shares


def _association(found: joint.Association) -> Figures:
    names = ("covariance", "risk_difference", "phi", "log_odds_ratio")
    effects = {name: getattr(found, name) for name in names}
    return {name: effect and effect_json(effect) for name, effect in effects.items()}


def _independence(found: joint.Independence) -> Figures:
    return {
        "p_value": found.p_value,
        "g2": found.g2 and found.g2._asdict(),
        "x2": found.x2 and found.x2._asdict(),
        "fisher": found.fisher,
        "cells": found.cells and found.cells._asdict(),
    }
