"""Forms of the admin pages, and of who asks."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from survey.design import DesignError, languages
from survey.models import Question, Survey


class LinesField(forms.CharField):
    """A list of texts, edited as one a line."""

    widget = forms.Textarea(attrs={"rows": 4, "cols": 30})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(data) != list(initial or [])


class TranslationsField(forms.CharField):
    """Translations, edited as the JSON of a survey file; what was typed stays as it was typed."""

    widget = forms.Textarea(attrs={"rows": 12, "cols": 80, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False, indent=2) if value else ""

    def to_python(self, value: Any) -> Any:
        if not value or not value.strip():
            return {}
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValidationError(f"This is not JSON: {error}") from None

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != (initial or {}))
        except ValidationError:
            return True


class SurveyForm(forms.ModelForm):
    translations = TranslationsField(
        required=False,
        help_text="As in a survey file; what is left out is shown in the survey's own language: "
        '{"de": {"title": "…", "introduction": "…", "questions": {"q1": {"text": "…", '
        '"options": ["…", "…"]}}}}. '
        "Who asks, why and the contact are asked_by, purpose and contact. "
        "Yes, no and “prefer not to say” are translated into "
        f"{', '.join(languages.WORDS)}; in other languages, list them as well.",
    )

    class Meta:
        model = Survey
        fields = ["title", "slug", "introduction", "asked_by", "purpose", "contact", "expected",
                  "retention_days", "language", "translations", "epsilon", "ask", "crowd",
                  "access", "work", "results_public"]  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in {"access", "work"} & self.fields.keys():  # left out, they are the default's
            self.fields[name].required = False

    def clean(self) -> dict[str, Any]:
        """Look at the shape; how it fits the questions is said with the design."""
        data = super().clean() or {}
        if {"language", "translations"} <= data.keys():
            try:
                languages.check(data["language"], data["translations"])
            except DesignError as error:
                self.add_error("translations", str(error))
        return data


class QuestionForm(forms.ModelForm):
    options = LinesField(required=False, help_text="For a choice: one option a line, 2 to 20.")

    class Meta:
        model = Question
        fields = [
            "position", "key", "text", "kind", "options", "prefer_not_to_say", "block",
            "background", "epsilon",
        ]  # fmt: skip
        widgets = {"text": forms.Textarea(attrs={"rows": 3, "cols": 40})}
