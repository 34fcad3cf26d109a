"""The form of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aggregation.analyses.form import Form, select_boxes
from survey.design import Design

LABELS = ["Rows", "Columns", "Slices (optional)", "More slices (optional)"]


@dataclass
class CrosstabForm(Form):
    template = "aggregation/analyses/crosstab/form.html"

    questions: list[str] = field(default_factory=list)

    @classmethod
    def like(cls, design: Design, asked: Mapping[str, Any]) -> Self:
        return cls(design, list(asked["questions"]))

    def asked(self) -> dict[str, Any]:
        return {"questions": self.questions}

    @property
    def boxes(self) -> list[tuple[str, str]]:
        return select_boxes(LABELS, self.questions)
