"""The questions of a survey, sensitive and background."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

from survey import design as designs
from survey.design import languages
from survey.design.languages import ENGLISH, Words

key_validator = RegexValidator(
    rf"\A{designs.KEY.pattern}\Z", "Use 1 to 50 letters, digits, hyphens or underscores."
)


class Question(models.Model):
    """A sensitive or background question, whose answers are randomized in the browser.

    A background question is a choice that everybody is asked. It has its own block and its own ε,
    and “Prefer not to say” is always one of its options.
    """

    class Kind(models.TextChoices):
        YES_NO = "yes_no", "Yes or no"
        CHOICE = "choice", "One of several options"

    survey = models.ForeignKey("survey.Survey", models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField(default=0)
    key = models.CharField(max_length=50, validators=[key_validator])
    text = models.TextField()
    kind = models.CharField(max_length=6, choices=Kind, default=Kind.YES_NO)
    options = models.JSONField(default=list, blank=True, help_text="For a choice: one per line.")
    prefer_not_to_say = models.BooleanField(
        "may be declined",
        default=False,
        help_text="Adds “Prefer not to say”, randomized like the other options.",
    )
    block = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Questions with the same number are randomized together. "
        "If all are empty, the grouping with the smallest error is chosen.",
    )

    background = models.BooleanField(default=False)
    epsilon = models.FloatField(
        "ε",
        null=True,
        blank=True,
        validators=[MinValueValidator(1e-9, "Enter a number above 0.")],
        help_text="For a background question: the privacy cost of its answer. "
        f"{designs.BACKGROUND_EPSILON:g} if empty.",
    )

    class Meta:
        ordering = ["background", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["survey", "key"], name="question_key_once_a_survey"),
            models.CheckConstraint(
                condition=models.Q(background=False, epsilon__isnull=True)
                | models.Q(
                    background=True, kind="choice", prefer_not_to_say=True, block__isnull=True
                ),
                name="question_background",
            ),
        ]

    def __str__(self) -> str:
        return self.key

    def clean(self) -> None:
        if self.kind == self.Kind.YES_NO and self.options:
            raise ValidationError({"options": "A yes/no question has no options of its own."})
        if self.kind == self.Kind.CHOICE:
            check_options(self.options)
        if self.background and (self.kind != self.Kind.CHOICE or not self.prefer_not_to_say):
            raise ValidationError("A background question must be a choice that may be declined.")
        if self.background and self.block is not None:
            raise ValidationError({"block": "A background question always has its own block."})
        if self.epsilon is not None and not self.background:
            raise ValidationError({"epsilon": "Only a background question has its own ε."})
        declined = self._words().declined
        keys = [option.key for option in designs.options_from_texts(self.options)]
        if self.prefer_not_to_say and ("prefer-not-to-say" in keys or declined in self.options):
            raise ValidationError({"options": f"Remove “{declined}”: it is added automatically."})

    @property
    def cost(self) -> float:
        """The ε of a background answer."""
        return self.epsilon or designs.BACKGROUND_EPSILON

    def _words(self) -> Words:
        return languages.words(self.survey.language) or ENGLISH

    def option_texts(self, own: Sequence[str], words: Words) -> list[str]:
        """Return all options in one language: the question's own and the ones that we add."""
        yes_no = [words.no, words.yes] if self.kind == self.Kind.YES_NO else []
        return [*yes_no, *own, *([words.declined] if self.prefer_not_to_say else [])]

    def as_design(self) -> designs.Question:
        """Return the design of this question. The keys of our options come from the English."""
        keyed = designs.options_from_texts(self.option_texts(self.options, ENGLISH))
        texts = self.option_texts(self.options, self._words())
        options = (
            designs.Option(option.key, text) for option, text in zip(keyed, texts, strict=True)
        )
        return designs.Question(self.key, self.text, tuple(options), self.kind)


def check_options(options: Any) -> None:
    """Refuse an invalid list of option texts."""
    if not isinstance(options, list) or not all(
        isinstance(text, str) and text.strip() for text in options
    ):
        raise ValidationError({"options": "Give a list of texts, none of them empty."})
    if not 2 <= len(options) <= designs.MAX_OPTIONS:
        raise ValidationError(
            {"options": f"Give 2 to {designs.MAX_OPTIONS} options, not {len(options)}."}
        )
    if len(set(options)) < len(options):
        raise ValidationError({"options": "Two options are the same."})
