"""The form of a regression.

A box holds the key of a question, `question:option`, or `question:option:from` for a scale that is
cut in two there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Self

from aggregation.analyses.base import mean_of, why_not_counted
from aggregation.analyses.form import Form, select_boxes
from aggregation.analyses.regression.computation import cuts, why_not_both
from aggregation.statistics import least_squares, regression
from survey.design import Design, Question

LABELS = ["By", "And by (optional)", "Third (optional)", "Fourth (optional)"]

Boxes = list[tuple[Question, list[tuple[str, str]]]]  # by question, the value and text of each


@dataclass
class RegressionForm(Form):
    template = "aggregation/analyses/regression/form.html"
    not_offered = "Not offered to compare by"
    fields = {"option": "outcome", "questions": "predictors"}

    outcome: str = ""
    predictors: list[str] = field(default_factory=list)

    @classmethod
    def like(cls, design: Design, asked: Mapping[str, Any]) -> Self:
        predictors = [_joined(one, "question") for one in asked["predictors"]]
        outcome = _joined(asked, "outcome")
        question = next(one for one in design.questions if one.key == asked["outcome"])
        if "option" not in asked and not mean_of(question):  # then it is the last of two
            outcome = f"{outcome}:{question.options[-1].key}"
        return cls(design, outcome, predictors)

    def asked(self) -> dict[str, Any]:
        if not self.outcome:
            self.errors["outcome"] = ["Choose an answer."]
        predictors = [_split(one, "question") for one in self.predictors]
        return {**_split(self.outcome, "outcome"), "predictors": predictors}

    @property
    def possible(self) -> bool:
        return bool(self.offered) and len([*self.outcomes]) > 1

    @property
    def boxes(self) -> list[tuple[str, str]]:
        return select_boxes(LABELS, self.predictors)

    @property
    def outcomes(self) -> Boxes:
        """What can be explained: means, and single answers."""
        found = []
        for question in self.design.questions:
            entries = [(question.key, "Mean")] if mean_of(question) else []
            if not why_not_counted(question):
                entries += [(f"{question.key}:{one.key}", one.text) for one in question.options]
            if entries:
                found.append((question, entries))
        return found

    @property
    def explaining(self) -> Boxes:
        """What to choose predictors from, background questions first."""
        found = []
        for _, questions in reversed(self.groups):
            for question in questions:
                entries = [(question.key, question.text)]
                if question.values > 2:
                    entries += [(f"{question.key}:{one.key}", one.text) for one in question.options]
                texts = {option.key: option.text for option in question.options}
                if len(cut := cuts(question)) > 1:
                    last = texts[cut[-1]]
                    entries += [
                        (f"{question.key}:{key}:from", f"{texts[key]} to {last}")
                        for key in cut[:-1]
                    ]
                found.append((question, entries))
        return found

    def further_rules(self) -> dict[str, Any]:
        """Return the pairs that cannot be combined, and how many places each question has."""
        pairs = [*combinations((one.key for one in self.design.questions), 2)]
        return {
            "apart": {
                name: [pair for pair in pairs if why_not_both(self.design, *pair, means)]
                for name, means in (("mean", True), ("option", False))
            },
            "places": {one.key: one.values for one in self.design.questions},
            "most": {"mean": least_squares.MOST_CELLS, "option": regression.MOST_CELLS},
        }


def _joined(asked: Mapping[str, Any], question: str) -> str:
    if "from" in asked:
        return f"{asked[question]}:{asked['from']}:from"
    return ":".join(key for key in (asked.get(question), asked.get("option")) if key)


def _split(value: str, question: str) -> dict[str, str]:
    first, _, second = value.partition(":")
    option, _, cut = second.partition(":")
    name = "from" if cut else "option"
    return {member: key for member, key in ((question, first), (name, option)) if key}
