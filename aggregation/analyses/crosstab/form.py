"""The form of a table: two to four questions, in order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from django.http import HttpRequest

from aggregation.analyses.form import Form, boxes, chosen
from survey.design import Design

LABELS = ["Rows", "Columns", "Slices (optional)", "More slices (optional)"]


@dataclass
class CrosstabForm(Form):
    fields: ClassVar[Mapping[str, str]] = {"questions": "questions"}

    questions: list[str] = field(default_factory=list)

    @classmethod
    def given(cls, design: Design, request: HttpRequest) -> Self:
        return cls(design, chosen(request, "questions"))

    @classmethod
    def like(cls, design: Design, asked: Mapping[str, Any]) -> Self:
        return cls(design, list(asked["questions"]))

    def asked(self) -> dict[str, Any]:
        self.check_distinct(self.questions)
        return {"questions": self.questions}

    @property
    def boxes(self) -> list[tuple[str, str]]:
        return boxes(LABELS, self.questions)
