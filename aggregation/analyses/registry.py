"""Analyses: the registry of their kinds, and how a request becomes one."""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

from aggregation.analyses.base import (
    LEVEL,
    Analysis,
    AnalysisError,
    Asked,
    Counts,
    Figures,
    View,
    place_of,
    question_of,
    sizes,
)
from aggregation.analyses.crosstab.computation import Crosstab
from aggregation.analyses.profiles.computation import Profiles
from aggregation.analyses.regression.computation import Regression
from aggregation.analyses.weights.computation import Weights
from survey.design import Design, canonical_json

__all__ = [
    "KINDS",
    "LEVEL",
    "Analysis",
    "AnalysisError",
    "Counts",
    "Figures",
    "digest",
    "figures",
    "question_of",
    "read",
    "sizes",
]

MOST_CELLS = 2**20

KINDS: dict[str, type[Analysis]] = {
    kind.kind: kind for kind in (Crosstab, Regression, Profiles, Weights)
}


def read(asked: Any, design: Design) -> Analysis:
    """The analysis that a request describes; AnalysisError says what is wrong with it."""
    if not isinstance(asked, dict):
        raise AnalysisError("analysis", "an object with a kind")
    members = Asked(asked, design)
    kind = members.members.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise AnalysisError("kind", f"one of {', '.join(KINDS)}")
    analysis = KINDS[kind].read(members)
    members.nothing_else()
    _check_asked_together(analysis, design)
    cells = math.prod(sizes(analysis.axes(), design))
    if cells > MOST_CELLS:
        raise AnalysisError(
            "questions", f"a table of {cells:,} cells; at most {MOST_CELLS:,}: ask about fewer"
        )
    return analysis


def _check_asked_together(analysis: Analysis, design: Design) -> None:
    """Refuse a table of questions that nobody is asked together: it is empty for ever."""
    places = [place_of(design, key)[0] for key in analysis.axes()]
    blocks = {block.key for block in places if not block.background}
    if len(blocks) > design.ask:
        raise AnalysisError(
            "questions",
            f"nobody is asked all of these: they are in {len(blocks)} blocks, and each person is "
            f"asked {design.ask} of {len(design.sensitive_blocks)}",
        )


def digest(asked: Mapping[str, Any]) -> str:
    """The same for the same question, in whatever order its members came."""
    return hashlib.sha256(canonical_json(dict(asked)).encode()).hexdigest()


def figures(analysis: Analysis, design: Design, table: Counts) -> Figures:
    """Return what an analysis finds in its table; AnalysisError where nobody is in it."""
    if not table.any():
        raise AnalysisError("reports", "nobody has been asked all of these questions yet")
    return analysis.figures(View(design, analysis.axes(), table))
