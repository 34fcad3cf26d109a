"""What an analysis found, with its words: rows for a page, lines for a spreadsheet, pictures.

Pure: a design, what was asked and the figures of a job go in. Nothing is estimated here; limits,
odds and shades follow from the figures.
"""

from aggregation.analyses.crosstab.wording import Crosstab
from aggregation.analyses.profiles.wording import Profiles
from aggregation.analyses.regression.wording import Regression
from aggregation.analyses.weights.wording import Weights
from aggregation.analyses.wording import described, weighted_by

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
