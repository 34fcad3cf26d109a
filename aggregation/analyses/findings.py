"""What an analysis found, with its words: rows for a page, lines for a spreadsheet, pictures.

Pure: a design, what was asked and the figures of a job go in. Nothing is estimated here; limits,
odds and shades follow from the figures.
"""

from collections.abc import Callable, Mapping
from typing import Any

from aggregation.analyses.base import Figures
from aggregation.analyses.crosstab.wording import Crosstab
from aggregation.analyses.profiles.wording import Profiles
from aggregation.analyses.regression.wording import Regression
from aggregation.analyses.weights.wording import Weights
from aggregation.analyses.wording import described, weighted_by
from survey.design import Design

__all__ = [
    "KINDS",
    "Crosstab",
    "Profiles",
    "Regression",
    "Result",
    "Weights",
    "described",
    "found",
    "weighted_by",
]

KINDS = {
    "crosstab": "Table",
    "regression": "Regression",
    "profiles": "Profiles",
    "weights": "Weights",
}

Result = Crosstab | Regression | Profiles | Weights


def found(asked: Mapping[str, Any], design: Design, figures: Figures) -> Result:
    """Put what an analysis found into words."""
    kinds: dict[str, Callable[..., Result]] = {
        "crosstab": Crosstab, "regression": Regression, "profiles": Profiles, "weights": Weights,
    }  # fmt: skip
    return kinds[asked["kind"]](asked, design, figures)
