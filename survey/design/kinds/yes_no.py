"""Yes or no. Both options are ours, in every language that we know."""

from dataclasses import dataclass

from survey.design.questions import Question


@dataclass(frozen=True)
class YesNo(Question):
    kind = "yes_no"
    label = "Yes or no"
    own_options = (0, 0)
    our_options = 2
