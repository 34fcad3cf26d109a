"""The form for choosing intervals, whose values are in the address of a page or file."""

from dataclasses import replace
from typing import Any

from django import forms

from aggregation.releases.choice import ALWAYS, FIXED, IntervalChoice

LEVELS = ("80", "90", "95", "99")
INTERVALS = {ALWAYS: "Valid at every look", FIXED: "For one look"}
MOST_FORGED = 20  # percent


class IntervalForm(forms.Form):
    """Level, kind of interval and fake responses; the default replaces wrong or missing values."""

    level = forms.TypedChoiceField(
        coerce=int,
        required=False,
        empty_value=None,
        choices=[(level, f"{level} %") for level in LEVELS],
        error_messages={"invalid_choice": "80, 90, 95 or 99."},
    )
    interval = forms.ChoiceField(
        required=False,
        choices=list(INTERVALS.items()),
        error_messages={"invalid_choice": "fixed or always."},
    )
    forged = forms.FloatField(
        min_value=0,
        max_value=MOST_FORGED,
        required=False,
        error_messages=dict.fromkeys(
            ["invalid", "min_value", "max_value"], f"A number from 0 to {MOST_FORGED}."
        ),
    )

    def __init__(self, given: dict[str, str], default: IntervalChoice) -> None:
        super().__init__({name: value for name, value in given.items() if name in self.base_fields})
        self.default = default

    @property
    def choice(self) -> IntervalChoice:
        """The choice. After this, `errors` has the values that were wrong."""
        self.full_clean()
        return replace(self.default, **self.given)

    @property
    def problems(self) -> list[str]:
        """The errors in words, each with the value that is used instead."""
        choice = self.choice
        shown = {name: getattr(choice, name) for name in self.fields}
        shown["forged"] = f"{choice.forged:.6g}"
        return [
            f"{self[name].label}: {error} Showing {shown[name]} instead."
            for name, errors in self.errors.items()
            for error in errors
        ]

    @property
    def given(self) -> dict[str, Any]:
        """The values that differ from the default, for the address."""
        chosen = {
            name: value for name, value in self.cleaned_data.items() if value not in (None, "")
        }
        return {
            name: value for name, value in chosen.items() if value != getattr(self.default, name)
        }
