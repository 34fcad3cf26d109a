"""The kinds of questions. To add one, write its module and name its class here."""

from typing import Any

from survey.design.kinds.choice import Choice
from survey.design.kinds.number import Number
from survey.design.kinds.scale import Scale
from survey.design.kinds.several import Several
from survey.design.kinds.yes_no import YesNo
from survey.design.questions import Option, Question

KINDS: dict[str, type[Question]] = {
    one.kind: one for one in (YesNo, Choice, Scale, Number, Several)
}


def question_from_json(data: dict[str, Any]) -> Question:
    """Return the question that `Question.as_json` wrote."""
    kind = KINDS[data["kind"]]
    options = tuple(Option(one["key"], one["text"], one.get("score")) for one in data["options"])
    only = data.get("only_if")
    return kind(
        data["key"],
        data["text"],
        options,
        (only["question"], tuple(only["options"])) if only else None,
        data.get("shuffled", False),
        **{name: data[name] for name in kind.members if name in data},
    )
