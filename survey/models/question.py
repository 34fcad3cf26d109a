"""The questions of a survey, sensitive and background."""

from collections.abc import Sequence
from dataclasses import replace
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

    survey = models.ForeignKey("survey.Survey", models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField(default=0)
    key = models.CharField(max_length=50, validators=[key_validator])
    text = models.TextField()
    kind = models.CharField(max_length=10, default="yes_no")  # one of survey/design/kinds/
    options = models.JSONField(default=list, blank=True, help_text="For a choice: one per line.")
    # What the kind adds: bounds, scores, picks (survey/design/kinds/).
    details = models.JSONField(default=dict, blank=True)
    # A follow-up: {"question": key, "options": [keys]} of an earlier question, or null.
    only_if = models.JSONField(null=True, blank=True)
    shuffled = models.BooleanField(
        "options in random order",
        default=False,
        help_text="Each device shows the options in an order of its own.",
    )
    prefer_not_to_say = models.BooleanField(
        "may be declined",
        default=False,
        help_text="Adds “Prefer not to say”, randomized like the other options.",
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
                    background=True, kind="choice", prefer_not_to_say=True, only_if__isnull=True
                ),
                name="question_background",
            ),
        ]

    def __str__(self) -> str:
        return self.key

    def clean(self) -> None:
        if self.kind not in designs.KINDS:
            known = ", ".join(designs.KINDS)
            raise ValidationError({"kind": f"must be one of {known}, not {self.kind}"})
        kind = self.design_kind
        check_options(self.options, kind)
        try:
            kind.check_details(self.options, self.details)
        except designs.DesignError as error:
            raise ValidationError({"details": str(error)}) from None
        if self.background and (self.kind != "choice" or not self.prefer_not_to_say):
            raise ValidationError("A background question must be a choice that may be declined.")
        if self.background and self.only_if:
            raise ValidationError({"only_if": "Everybody is asked every background question."})
        if self.epsilon is not None and not self.background:
            raise ValidationError({"epsilon": "Only a background question has its own ε."})
        declined = self._words().declined
        keys = [option.key for option in designs.options_from_texts(self.options)]
        if self.prefer_not_to_say and (designs.DECLINED in keys or declined in self.options):
            raise ValidationError({"options": f"Remove “{declined}”: it is added automatically."})

    @property
    def design_kind(self) -> type[designs.Question]:
        return designs.KINDS[self.kind]

    @property
    def cost(self) -> float:
        """The ε of a background answer."""
        return self.epsilon or designs.BACKGROUND_EPSILON

    def _words(self) -> Words:
        return languages.words(self.survey.language) or ENGLISH

    def option_texts(self, own: Sequence[str], words: Words) -> list[str]:
        """Return all options in one language: the question's own and the ones that we add."""
        yes_no = [words.no, words.yes] if self.kind == "yes_no" else []
        return [*yes_no, *own, *([words.declined] if self.prefer_not_to_say else [])]

    def as_design(self) -> designs.Question:
        """Return the design of this question. The keys of our options come from the English."""
        self.design_kind.check_details(self.options, self.details, f"questions {self.key}.")
        keyed = designs.options_from_texts(self.option_texts(self.options, ENGLISH))
        texts = self.option_texts(self.options, self._words())
        options = tuple(
            designs.Option(option.key, text) for option, text in zip(keyed, texts, strict=True)
        )
        return self._gated(self.design_kind.make(self.key, self.text, options, self.details))

    def without_texts(self) -> designs.Question:
        """Return the design of this question as far as it is finished, with placeholder texts."""
        kind, details = self.design_kind, self.details
        try:
            kind.check_details(self.options, details)
        except designs.DesignError:
            details = kind.sample(self.options)
        keyed = designs.options_from_texts(self.option_texts(self.options, ENGLISH))
        missing = kind.own_options[0] + kind.our_options - len(keyed)
        added = [designs.Option(f"missing-{i}", "?") for i in range(missing)]
        options = [*(designs.Option(one.key, "?") for one in keyed), *added]
        return self._gated(kind.make(self.key, "?", tuple(options), details))

    def _gated(self, made: designs.Question) -> designs.Question:
        gate = self.only_if and (self.only_if["question"], tuple(self.only_if["options"]))
        return replace(made, only_if=gate, shuffled=self.shuffled)


def check_options(options: Any, kind: type[designs.Question]) -> None:
    """Refuse an invalid list of option texts."""
    if not isinstance(options, list) or not all(
        isinstance(text, str) and text.strip() for text in options
    ):
        raise ValidationError({"options": "Give a list of texts, none of them empty."})
    least, most = kind.own_options
    if not most and options:
        raise ValidationError(
            {"options": f"A question of the kind {kind.kind} has no options of its own."}
        )
    if not least <= len(options) <= most:
        raise ValidationError({"options": f"Give {least} to {most} options, not {len(options)}."})
    if len(set(options)) < len(options):
        raise ValidationError({"options": "Two options are the same."})
