"""The planner's form. All its values are in the address."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from aggregation.planner.plan import Plan
from aggregation.planner.planned_design import overruled, sizes_of
from aggregation.planner.solving import MOST_PEOPLE, solve
from aggregation.planner.terms import PlanError, Terms
from aggregation.releases.forms import LEVELS
from survey.design import MAX_OPTIONS, MAX_QUESTIONS, Design

# As in the address. Half-width in points; share, level, drop-out and forged in percent.
DEFAULTS = {
    "solve": "half_width",
    "people": "1000",
    "epsilon": "2",
    "half_width": "3",
    "yes_no": "5",
    "choices": "",
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
FIELDS = {"sizes": "yes_no"}  # fields named differently than their term


class ChoicesField(forms.CharField):
    """Numbers of options, such as “4, 5”."""

    def clean(self, value: Any) -> tuple[int, ...]:
        parts = super().clean(value).replace(",", " ").split()
        most = MAX_OPTIONS + 1  # with “prefer not to say”
        if len(parts) > MAX_QUESTIONS:
            raise ValidationError(f"At most {MAX_QUESTIONS} questions.")
        if not all(part.isascii() and part.isdigit() for part in parts):
            raise ValidationError("Whole numbers of options, such as 4, 5.")
        if not all(len(part) <= 3 and 2 <= int(part) <= most for part in parts):
            raise ValidationError(f"A question has 2 to {most} options.")
        return tuple(int(part) for part in parts)


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
    yes_no = number(forms.IntegerField, 0, MAX_QUESTIONS)
    choices = ChoicesField(required=False, max_length=400)
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
            sizes = (2,) * data["yes_no"] + data["choices"]
            if not 1 <= len(sizes) <= MAX_QUESTIONS:
                self.add_error("yes_no", f"1 to {MAX_QUESTIONS} questions in all.")
                return data
            try:
                self.plan = Plan(solve(data["solve"], self.terms(data, sizes)))
            except PlanError as error:
                self.add_error(FIELDS.get(error.field, error.field), str(error))
        return data

    def terms(self, data: dict[str, Any], sizes: tuple[int, ...]) -> Terms:
        return Terms(
            sizes=sizes,
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
    options = sizes_of(design)
    groups = design.background[0].size - 1 if design.background else 1
    return {
        "epsilon": f"{design.epsilon:.10g}",
        "people": str(people or DEFAULTS["people"]),
        "yes_no": str(options.count(2)),
        "choices": ", ".join(str(size) for size in options if size != 2),
        "groups": str(groups),
        "size": str(size or ""),
        "ask": str(ask or ""),
    }
