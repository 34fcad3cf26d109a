"""Multiple choice: up to r of d options. Picking none is an answer, too.

A report shows one of r slots, drawn at random, so every share of the slots is a share of the people
divided by r.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from survey.design.mechanism import Answer, Shape
from survey.design.questions import DECLINED, DesignError, Field, Measure, Question


@dataclass(frozen=True)
class Several(Question):
    kind = "several"
    label = "Several of many options"
    fields = {"picks": Field(int, "a whole number", required=True)}
    members = ("picks",)
    can_be_gate = False

    picks: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.picks:
            raise DesignError(self.key, "multiple choice needs the number of picks")
        if self.only_if:
            raise DesignError(self.key, "multiple choice cannot be a follow-up")

    @classmethod
    def sample(cls, options: Sequence[str]) -> dict[str, Any]:
        return {"picks": 1}

    @classmethod
    def check(cls, options: Sequence[str], details: Mapping[str, Any]) -> None:
        picks = details["picks"]
        if not 1 <= picks <= len(options):
            raise DesignError(
                "picks", f"must be from 1 to {len(options)}, the number of options, not {picks}"
            )

    @property
    def may_be_none(self) -> bool:
        return True

    def shape(self, earlier: Sequence[Question]) -> Shape:
        return Shape(self.size, picks=self.picks)

    def simulate(self, shares: Sequence[float], random: Random) -> Answer:
        """Return the options picked; `shares` are those of the people who would pick each.

        Somebody who would pick too many picks some of them, and who declines picks nothing else.
        """
        wanted = [i for i, share in enumerate(shares) if random.random() < share]
        declined = [i for i in wanted if self.options[i].key == DECLINED]
        return declined or sorted(random.sample(wanted, min(self.picks, len(wanted))))

    def measures(self) -> list[Measure]:
        """Return the share of people who picked each option, and how many options they picked.

        The latter is among those who did not decline.
        """
        picks = float(self.picks)
        own = [i for i, option in enumerate(self.options) if option.key != DECLINED]
        shares = [
            Measure("share", tuple(picks * (i == j) for j in range(self.values)), option.key)
            for i, option in enumerate(self.options)
        ]
        weights = tuple(picks * (i in own) for i in range(self.values))
        declined = [i not in own for i in range(self.size)]
        among = tuple(1 - picks * one for one in [*declined, False]) if any(declined) else None
        return [*shares, Measure("picks", weights, among=among)]
