"""Options in order, each with a score: never … always, disagree … agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from survey.design.questions import DECLINED, DesignError, Field, Measure, Option, Question

MAX_SCORE = 1_000_000


@dataclass(frozen=True)
class Scale(Question):
    kind = "scale"
    label = "Scale: options in order"
    fields = {"scores": Field(list, "a list of numbers, one per option")}

    @classmethod
    def make(
        cls, key: str, text: str, options: tuple[Option, ...], details: Mapping[str, Any]
    ) -> "Scale":
        """Give each option its score; “Prefer not to say”, which comes last, has none."""
        own = [option for option in options if option.key != DECLINED]
        scores = map(float, details.get("scores") or range(1, len(own) + 1))
        scored = [replace(option, score=score) for option, score in zip(own, scores, strict=True)]
        return cls(key, text, (*scored, *options[len(own) :]))

    @classmethod
    def check(cls, options: Sequence[str], details: Mapping[str, Any]) -> None:
        scores = details.get("scores")
        if scores is None:
            return
        if len(scores) != len(options):
            raise DesignError(
                "scores", f"give one score per option: {len(options)}, not {len(scores)}"
            )
        for score in scores:
            if type(score) not in (int, float) or not abs(score) <= MAX_SCORE:
                raise DesignError(
                    "scores", f"each must be a number within ±{MAX_SCORE:,}, not {score!r}"
                )
        steps = [later - earlier for earlier, later in zip(scores, scores[1:], strict=False)]
        if not (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
            raise DesignError("scores", "each must be above the one before, or each below it")

    def measures(self) -> list[Measure]:
        scores = [option.score for option in self.options]
        scored = [i for i, score in enumerate(scores) if score is not None]
        weights = *(score or 0.0 for score in scores), *[0.0] * self.may_be_none
        among = None if len(scored) == self.values else self._only(*scored)
        return [*super().measures(), Measure("mean", weights, among=among)]
