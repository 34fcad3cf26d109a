"""One of several options, in no particular order."""

from dataclasses import dataclass

from survey.design.questions import Question


@dataclass(frozen=True)
class Choice(Question):
    kind = "choice"
    label = "One of several options"
