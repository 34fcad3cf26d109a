"""The joint shares of two to four questions, and what they have to do with each other."""

from dataclasses import dataclass
from typing import Self

from aggregation.analyses.base import (
    TEXT,
    Analysis,
    Asked,
    Counts,
    Figures,
    View,
    array,
    effect_json,
    members,
    plain_table,
)
from aggregation.counting.tables import Axes
from aggregation.statistics import joint

MOST_QUESTIONS = 4
MOST_CONDITIONAL = 4096  # cells of a table whose conditional shares are computed


@dataclass(frozen=True)
class Crosstab(Analysis):
    """The joint shares of two to four questions, and the shares of each given the others."""

    schema = members(["questions"], questions=array(TEXT, 2, MOST_QUESTIONS))
    questions: tuple[str, ...]

    @classmethod
    def read(cls, asked: Asked) -> Self:
        return cls(asked.questions("questions", 2, MOST_QUESTIONS))

    def tables(self) -> list[Axes]:
        return [self.questions]

    def figures(self, views: list[View]) -> Figures:
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
        """For each question the shares of its options, given the answers to the others."""
        if table.size > MOST_CONDITIONAL:
            return None
        shares = {}
        for axis, key in enumerate(self.questions):
            found = joint.conditional(table, blocks, axis)
            shares[key] = {
                "estimates": plain_table(found.shares),
                "standard_errors": plain_table(found.standard_errors),
            }
        return shares


def _association(found: joint.Association) -> Figures:
    names = ("covariance", "risk_difference", "phi", "log_odds_ratio")
    effects = {name: getattr(found, name) for name in names}
    return {name: effect and effect_json(effect) for name, effect in effects.items()}


def _independence(found: joint.Independence) -> Figures:
    def test(chi: joint.ChiSquare | None) -> Figures | None:
        return None if chi is None else chi._asdict()

    return {
        "p_value": found.p_value,
        "g2": test(found.g2),
        "x2": test(found.x2),
        "fisher": found.fisher,
        "cells": test(found.cells),
    }
