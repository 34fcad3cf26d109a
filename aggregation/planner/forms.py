"""The planner's form. All its values are in the address."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from aggregation.planner import notation
from aggregation.planner.plan import Plan
from aggregation.planner.planned_design import overruled, sensitive
from aggregation.planner.solving import MOST_PEOPLE, solve
from aggregation.planner.terms import PlanError, Terms
from aggregation.releases.forms import LEVELS
from survey.design import MAX_QUESTIONS, Design, Question

# As in the address. Half-width in points; share, level, drop-out and forged in percent.
DEFAULTS = {
    "solve": "half_width",
    "people": "1000",
    "epsilon": "2",
    "half_width": "3",
    "questions": "5 yes/no",
    "share": "",
    "groups": "2",
    "level": "95",
    "size": "",
    "ask": "",
    "dropout": "",
    "forged": "",
    "looks": "",
}
SOLVE = {
    "half_width": "How precise will it be?",
    "people": "How many people do I need?",
    "epsilon": "Which ε is enough?",
}
LOOKS = {"": "once", "every": "always"}


class QuestionsField(forms.CharField):
    """Questions in a few words, such as “2 yes/no, 1 scale of 5”."""

    def __init__(self, **more: Any) -> None:
        wanted = f"Name the questions, such as {notation.EXAMPLE}."
        super().__init__(error_messages={"required": wanted}, **more)

    def clean(self, value: Any) -> tuple[Question, ...]:
        try:
            return notation.read(super().clean(value))
        except notation.NotationError as error:
            raise ValidationError(str(error)) from None


def number(kind: Any, low: float, high: float, **more: Any) -> Any:
    """Return a number field with one error message for all errors."""
    least, most = (f"{limit:,.10g}" for limit in (low, high))
    words = (
        f"{'A number' if kind is forms.FloatField else 'A whole number'} from {least} to {most}."
    )
    messages = dict.fromkeys(["required", "invalid", "min_value", "max_value"], words)
    return kind(min_value=low, max_value=high, error_messages=messages, **more)


class PlanForm(forms.Form):
    solve = forms.ChoiceField(choices=list(SOLVE.items()))
    people = number(forms.IntegerField, 1, MOST_PEOPLE)
    epsilon = number(forms.FloatField, 0.01, 8 * MAX_QUESTIONS)
    half_width = number(forms.FloatField, 0.01, 50)
    questions = QuestionsField(max_length=1000)
    share = number(forms.FloatField, 0, 100, required=False)
    groups = number(forms.IntegerField, 1, 100)
    level = forms.ChoiceField(choices=[(level, f"{level} %") for level in LEVELS])
    size = number(forms.IntegerField, 1, 20, required=False)
    ask = number(forms.IntegerField, 1, MAX_QUESTIONS, required=False)
    dropout = number(forms.FloatField, 0, 90, required=False)
    forged = number(forms.FloatField, 0, 50, required=False)
    looks = forms.ChoiceField(choices=list(LOOKS.items()), required=False)

    def __init__(self, given: dict[str, str]) -> None:
        data = DEFAULTS | {name: value for name, value in given.items() if name in DEFAULTS}
        if data["solve"] in SOLVE:  # ignore any value for what is to be found
            data[data["solve"]] = DEFAULTS[data["solve"]]
        super().__init__(data)
        self.plan: Plan | None = None

    def clean(self) -> dict[str, Any]:
        """Find the missing value. An impossible plan is an error at its field."""
        data = super().clean() or {}
        if not self.errors:
            try:
                self.plan = Plan(solve(data["solve"], self.terms(data)))
            except PlanError as error:
                self.add_error(error.field, str(error))
        return data

    def terms(self, data: dict[str, Any]) -> Terms:
        return Terms(
            questions=data["questions"],
            epsilon=data["epsilon"],
            people=data["people"],
            half_width=data["half_width"] / 100,
            share=None if data["share"] is None else data["share"] / 100,
            groups=data["groups"],
            level=int(data["level"]) / 100,
            size=data["size"],
            ask=data["ask"],
            dropout=(data["dropout"] or 0) / 100,
            forged=(data["forged"] or 0) / 100,
            looks=data["looks"] or "one",
        )

    def shown(self) -> dict[str, str]:
        """Return the value of every field, including the one that was found."""
        values = {name: str(self.data[name]) for name in DEFAULTS}
        if self.plan:
            terms = self.plan.terms
            found = {
                "half_width": f"{100 * terms.half_width:.3g}",
                "people": str(terms.people),
                "epsilon": f"{terms.epsilon:.10g}",
            }
            values[values["solve"]] = found[values["solve"]]
        elif values["solve"] in SOLVE:
            values[values["solve"]] = ""
        return values


def of_survey(design: Design, people: int) -> dict[str, str]:
    """Return a survey's numbers as values of the form."""
    size, ask = overruled(design)
    groups = design.background[0].size - 1 if design.background else 1
    return {
        "epsilon": f"{design.epsilon:.10g}",
        "people": str(people or DEFAULTS["people"]),
        "questions": notation.write(sensitive(design)),
        "groups": str(groups),
        "size": str(size or ""),
        "ask": str(ask or ""),
    }
