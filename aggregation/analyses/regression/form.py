"""The form of a regression. A box holds the key of a question, or `question:option`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aggregation.analyses.form import Form, select_boxes
from survey.design import Design, Question

LABELS = ["By", "And by (optional)", "Third (optional)", "Fourth (optional)"]


@dataclass
class RegressionForm(Form):
    template = "aggregation/analyses/regression/form.html"
    fields = {"option": "outcome", "questions": "predictors"}

    outcome: str = ""
    predictors: list[str] = field(default_factory=list)

    @classmethod
    def like(cls, design: Design, asked: Mapping[str, Any]) -> Self:
        predictors = [_joined(one, "question") for one in asked["predictors"]]
        return cls(design, _joined(asked, "outcome"), predictors)

    def asked(self) -> dict[str, Any]:
        if not self.outcome:
            self.errors["outcome"] = ["Choose an answer."]
        predictors = [_split(one, "question") for one in self.predictors]
        return {**_split(self.outcome, "outcome"), "predictors": predictors}

    @property
    def boxes(self) -> list[tuple[str, str]]:
        return select_boxes(LABELS, self.predictors)

    @property
    def explaining(self) -> list[Question]:
        """The questions to choose predictors from, background questions first."""
        return [question for _, questions in reversed(self.groups) for question in questions]


def _joined(asked: Mapping[str, Any], question: str) -> str:
    return ":".join(key for key in (asked.get(question), asked.get("option")) if key)


def _split(value: str, question: str) -> dict[str, str]:
    first, _, second = value.partition(":")
    return {name: key for name, key in ((question, first), ("option", second)) if key}
