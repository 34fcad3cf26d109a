"""The kinds of analyses, and how a request becomes an analysis.

To add a kind, write its folder and add it to KINDS. Nothing else names a kind.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aggregation.analyses import coins
from aggregation.analyses.base import (
    Analysis,
    AnalysisError,
    AnalysisRequest,
    Figures,
    ReportTable,
    sizes,
)
from aggregation.analyses.crosstab.computation import Crosstab
from aggregation.analyses.crosstab.form import CrosstabForm
from aggregation.analyses.crosstab.wording import CrosstabFindings
from aggregation.analyses.form import Form
from aggregation.analyses.profiles.computation import Profiles
from aggregation.analyses.profiles.form import ProfilesForm
from aggregation.analyses.profiles.wording import ProfilesFindings
from aggregation.analyses.regression.computation import Regression
from aggregation.analyses.regression.form import RegressionForm
from aggregation.analyses.regression.wording import RegressionFindings
from aggregation.analyses.weights.computation import Weights
from aggregation.analyses.weights.form import WeightsForm
from aggregation.analyses.weights.wording import WeightsFindings
from aggregation.analyses.wording import Findings
from aggregation.counting.tables import Axes, Counts, Tally
from survey.design import Design, canonical_json


class AnalysisKind(NamedTuple):
    analysis: type[Analysis]
    form: type[Form]
    findings: type[Findings]


KINDS = {
    "crosstab": AnalysisKind(Crosstab, CrosstabForm, CrosstabFindings),
    "regression": AnalysisKind(Regression, RegressionForm, RegressionFindings),
    "profiles": AnalysisKind(Profiles, ProfilesForm, ProfilesFindings),
    "weights": AnalysisKind(Weights, WeightsForm, WeightsFindings),
}

MOST_CELLS = 2**20  # of one table
MOST_TOGETHER = 4 * MOST_CELLS  # of all tables of an analysis, 32 MB while counting


def read(asked: Any, design: Design) -> Analysis:
    """Return the analysis for a request; AnalysisError if it is not valid."""
    if not isinstance(asked, dict):
        raise AnalysisError("analysis", "must be an object with a kind")
    request = AnalysisRequest(asked, design)
    kind = request.members.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise AnalysisError("kind", f"must be one of {', '.join(KINDS)}")
    analysis = KINDS[kind].analysis.read(request)
    request.refuse_others()
    cells = []
    for axes in analysis.tables():
        _check_asked_together(axes, design)
        cells.append(math.prod(sizes(axes, design)))
    for what, found, most in (
        ("a table", max(cells), MOST_CELLS),
        ("tables", sum(cells), MOST_TOGETHER),
    ):
        if found > most:
            raise AnalysisError(
                "questions", f"{what} of {found:,} cells; at most {most:,}. Choose fewer"
            )
    return analysis


def _check_asked_together(axes: Axes, design: Design) -> None:
    """Refuse a table of questions that nobody is asked together, which stays empty."""
    if not coins.together(design, axes):
        raise AnalysisError(
            "questions",
            "nobody is asked all of these: they are in different blocks, and each person is asked "
            f"{design.ask} of {len(design.sensitive_blocks)}",
        )


def digest(asked: Mapping[str, Any]) -> str:
    """Hash a request. The order of its members does not matter."""
    return hashlib.sha256(canonical_json(dict(asked)).encode()).hexdigest()


def figures(
    analysis: Analysis, design: Design, tables: Sequence[Counts], tally: Tally | None = None
) -> Figures:
    """Return the figures of an analysis; AnalysisError if its tables are empty.

    `tally` is that of the release, for questions in several blocks.
    """
    pairs = zip(analysis.tables(), tables, strict=True)
    return analysis.figures([ReportTable(design, axes, table, tally) for axes, table in pairs])
