"""What an analysis found, with its words: rows for a page, lines for a spreadsheet, pictures.

Pure: a design, what was asked and the figures of a job go in. Nothing is estimated here; limits,
odds and shades follow from the figures.
"""

from aggregation.findings.base import described, weighted_by
from aggregation.findings.crosstab import Crosstab
from aggregation.findings.profiles import Profiles
from aggregation.findings.regression import Regression
from aggregation.findings.weights import Weights

__all__ = [
    "KINDS",
    "Crosstab",
    "Profiles",
    "Regression",
    "Result",
    "Weights",
    "described",
    "weighted_by",
]

KINDS = {
    "crosstab": "Table",
    "regression": "Regression",
    "profiles": "Profiles",
    "weights": "Weights",
}

Result = Crosstab | Regression | Profiles | Weights
