"""Profiles: latent classes of the answers to several questions.

The answers to a follow-up are those of people who are asked it.
"""

import hashlib
from dataclasses import dataclass
from typing import Self

import numpy as np

from aggregation.analyses.base import (
    TEXT,
    Analysis,
    AnalysisRequest,
    Figures,
    ReportTable,
    array_schema,
    finite,
    object_schema,
    question_of,
)
from aggregation.counting.tables import Axes
from aggregation.statistics import profiles

MOST_QUESTIONS = 20
MOST_CLASSES = 6


@dataclass(frozen=True)
class Profiles(Analysis):
    """Latent classes of the answers to several questions."""

    schema = object_schema(
        ["questions"],
        questions=array_schema(TEXT, 2, MOST_QUESTIONS),
        classes={"type": "integer", "minimum": 2, "maximum": MOST_CLASSES, "default": 2},
    )
    questions: tuple[str, ...]
    classes: int

    @classmethod
    def read(cls, request: AnalysisRequest) -> Self:
        questions = request.questions("questions", 2, MOST_QUESTIONS)
        return cls(questions, request.number("classes", 2, MOST_CLASSES))

    def tables(self) -> list[Axes]:
        return [self.questions]

    def figures(self, views: list[ReportTable]) -> Figures:
        (view,) = views
        view.check_reports()
        seed = int.from_bytes(hashlib.sha256(repr(self).encode()).digest()[:8])
        sizes = [question_of(view.design, key).size for key in self.questions]
        patterns = np.argwhere(view.table)
        counts = view.table[tuple(patterns.T)]
        fit = profiles.fit(patterns, counts, view.parts(), sizes, self.classes, seed)
        return {
            "n": fit.people,
            "shares": fit.shares.tolist(),
            "share_errors": [finite(error) for error in fit.share_errors],
            "answers": {
                key: {
                    "probabilities": found.tolist(),
                    "standard_errors": [[finite(error) for error in row] for row in errors],
                }
                for key, found, errors in zip(
                    self.questions, fit.answers, fit.answer_errors, strict=True
                )
            },
            "log_likelihood": fit.log_likelihood,
            "parameters": fit.parameters,
            "bic": fit.bic,
            "converged": fit.converged,
            "starts": fit.starts,
            "agreeing": fit.agreeing,
            "warning": fit.warning,
        }
