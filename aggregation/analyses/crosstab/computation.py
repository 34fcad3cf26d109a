"""The joint shares of two to four questions, and how the answers are related."""

from dataclasses import dataclass
from typing import Self

from aggregation.analyses.base import (
    TEXT,
    Analysis,
    AnalysisRequest,
    Figures,
    ReportTable,
    array_schema,
    effect_json,
    finite_table,
    object_schema,
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
        table, blocks = view.table, view.blocks()
        theta, covariance = joint.cells(table, blocks)
        fit = joint.mle(table, blocks)
        found: Figures = {
            "n": int(table.sum()),
            "counts": table.tolist(),
            "estimates": theta.tolist(),
            "standard_errors": covariance.standard_errors.tolist(),
            "bounded": fit.theta.tolist(),
            "bounded_converged": fit.converged,
            "conditional": self._conditional(table, blocks),
        }
        if len(self.questions) == 2:
            found["independence"] = _independence(joint.independence(table, blocks))
            if table.shape == (2, 2):
                found["association"] = _association(joint.association(table, blocks))
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
