"""What a survey asks: its questions, sensitive and background."""

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
    """A question, sensitive or background: its answers are randomized in the browser.

    A background question is a choice that everybody is asked, in a block of its own and with an ε
    of its own; “Prefer not to say” is always one of its options.
    """

    class Kind(models.TextChoices):
        YES_NO = "yes_no", "Yes or no"
        CHOICE = "choice", "One of several options"

    survey = models.ForeignKey("survey.Survey", models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField(default=0)
    key = models.CharField(max_length=50, validators=[key_validator])
    text = models.TextField()
    kind = models.CharField(max_length=6, choices=Kind, default=Kind.YES_NO)
    options = models.JSONField(default=list, blank=True, help_text="For a choice: one a line.")
    prefer_not_to_say = models.BooleanField(
        "may be declined",
        default=False,
        help_text="Adds “Prefer not to say”, randomized like the other options.",
    )
    block = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Questions with the same number are randomized together. "
        "Empty everywhere: chosen for the least error.",
    )

    background = models.BooleanField(default=False)
    epsilon = models.FloatField(
        "ε",
        null=True,
        blank=True,
        validators=[MinValueValidator(1e-9, "More than 0, please.")],
        help_text="For a background question: what its answer costs. Empty: "
        f"{designs.BACKGROUND_EPSILON:g}.",
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
            raise ValidationError("A background question is a choice that may be declined.")
        if self.background and self.block is not None:
            raise ValidationError({"block": "A background question is a block of its own."})
        if self.epsilon is not None and not self.background:
            raise ValidationError({"epsilon": "Only a background question has an ε of its own."})
        declined = self._words().declined
        keys = [option.key for option in designs.options_from_texts(self.options)]
        if self.prefer_not_to_say and ("prefer-not-to-say" in keys or declined in self.options):
            raise ValidationError({"options": f"“{declined}” stands there twice."})

    @property
    def cost(self) -> float:
        """The ε of a background answer."""
        return self.epsilon or designs.BACKGROUND_EPSILON

    def _words(self) -> Words:
        return languages.words(self.survey.language) or ENGLISH

    def option_texts(self, own: Sequence[str], words: Words) -> list[str]:
        """Return all options in one language: the question's own there, and those that are ours."""
        yes_no = [words.no, words.yes] if self.kind == self.Kind.YES_NO else []
        return [*yes_no, *own, *([words.declined] if self.prefer_not_to_say else [])]

    def as_design(self) -> designs.Question:
        """Keys do not depend on the language: those of our options are made of the English."""
        keyed = designs.options_from_texts(self.option_texts(self.options, ENGLISH))
        texts = self.option_texts(self.options, self._words())
        options = (
            designs.Option(option.key, text) for option, text in zip(keyed, texts, strict=True)
        )
        return designs.Question(self.key, self.text, tuple(options), self.kind)


def check_options(options: Any) -> None:
    """Check what the import command and the admin forms both ask of a list of option texts."""
    if not isinstance(options, list) or not all(
        isinstance(text, str) and text.strip() for text in options
    ):
        raise ValidationError({"options": "A list of texts, none of them empty."})
    if not 2 <= len(options) <= designs.MAX_OPTIONS:
        raise ValidationError(
            {"options": f"2 to {designs.MAX_OPTIONS} options, not {len(options)}."}
        )
    if len(set(options)) < len(options):
        raise ValidationError({"options": "The same option stands there twice."})
