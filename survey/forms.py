"""Forms of the admin pages."""

from typing import Any

from django import forms

from survey.models import Question, Stratum


class LinesField(forms.CharField):
    """A list of texts, edited as one a line."""

    widget = forms.Textarea(attrs={"rows": 4, "cols": 30})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(data) != list(initial or [])


class QuestionForm(forms.ModelForm):
    options = LinesField(required=False, help_text="For a choice: one option a line, 2 to 20.")

    class Meta:
        model = Question
        fields = ["position", "key", "text", "kind", "options", "prefer_not_to_say", "block"]
        widgets = {"text": forms.Textarea(attrs={"rows": 3, "cols": 40})}


class StratumForm(forms.ModelForm):
    options = LinesField(help_text="One option a line.")

    class Meta:
        model = Stratum
        fields = ["position", "key", "text", "options"]
        widgets = {"text": forms.Textarea(attrs={"rows": 3, "cols": 40})}
