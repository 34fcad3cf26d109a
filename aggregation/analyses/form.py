"""What the forms of all kinds of analyses share."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from django.http import HttpRequest

from aggregation.analyses.base import AnalysisError, why_not_counted
from aggregation.analyses.wording import listed, sentence
from survey.design import Design, Question
from survey.spreadsheets import Line


@dataclass
class Form(ABC):
    """The values of a form, and its errors by field."""

    not_offered: ClassVar[str] = "Not offered"
    template: ClassVar[str]
    fields: ClassVar[Mapping[str, str]] = {}  # of members that are no field themselves
    # Templates for CSV files, by name.
    blank_files: ClassVar[Mapping[str, Callable[[Design], Iterator[Line]]]] = {}

    design: Design
    errors: dict[str, list[str]] = field(default_factory=dict, kw_only=True)

    @classmethod
    def given(cls, design: Design, request: HttpRequest) -> Self:
        """Return the form that was sent; lists have several fields of the same name."""
        form, post = cls(design), request.POST
        for name, value in vars(form).items():
            if isinstance(value, list):
                setattr(form, name, [chosen for chosen in post.getlist(name) if chosen])
            elif isinstance(value, str):
                setattr(form, name, post.get(name, ""))
        return form

    @classmethod
    @abstractmethod
    def like(cls, design: Design, asked: Mapping[str, Any]) -> Self:
        """Return the form of an earlier analysis."""

    @abstractmethod
    def asked(self) -> dict[str, Any]:
        """Return the request. If it is not valid, there are errors."""

    def refuse(self, error: AnalysisError) -> None:
        """Add an error at its field."""
        name = self.fields.get(error.where, error.where)
        self.errors.setdefault(name if name in vars(self) else "all", []).append(
            sentence(error.why)
        )

    @property
    def offered(self) -> list[Question]:
        """The questions to choose from."""
        return [one for one in self.design.questions if not why_not_counted(one)]

    @property
    def possible(self) -> bool:
        """Whether the survey has questions enough for such an analysis."""
        return len(self.offered) > 1

    @property
    def left_out(self) -> list[str]:
        """Why some questions are not offered, in a sentence for each reason."""
        found: dict[str, list[str]] = {}
        for question in self.design.questions:
            if question not in self.offered and (why := why_not_counted(question)):
                found.setdefault(why, []).append(f"“{question.text}”")
        return [
            f"{self.not_offered}: {listed(texts)}, because {why}." for why, texts in found.items()
        ]

    @property
    def rules(self) -> str:
        """Which questions can be combined, for the page's script; the server checks it again."""
        sensitive = {block.key for block in self.design.sensitive_blocks}
        blocks = {
            key: [block.key for block, _ in places if block.key in sensitive]
            for key, places in self.design.places.items()
        }
        return json.dumps({"ask": self.design.ask, "blocks": blocks, **self.further_rules()})

    def further_rules(self) -> dict[str, Any]:
        """Return what this kind of analysis adds to the rules."""
        return {}

    @property
    def some_asked(self) -> bool:
        """Whether people are asked only some of the blocks."""
        return self.design.ask < len(self.design.sensitive_blocks)

    @property
    def groups(self) -> list[tuple[str, Sequence[Question]]]:
        """The questions to choose from, by block if people are asked only some of them."""
        numbers = {block.key: i for i, block in enumerate(self.design.sensitive_blocks, 1)}
        found: dict[str, list[Question]] = {}
        for question in self.offered:
            blocks = [block for block, _ in self.design.places[question.key]]
            label = "Questions"
            if blocks[0].background:
                label = "Background questions"
            elif self.some_asked:
                several = "Blocks" if len(blocks) > 1 else "Block"
                label = f"{several} {listed([str(numbers[block.key]) for block in blocks])}"
            found.setdefault(label, []).append(question)
        return list(found.items())


def select_boxes(labels: Sequence[str], values: Sequence[str]) -> list[tuple[str, str]]:
    """Return the label of each select box, and what is chosen in it."""
    return list(zip(labels, [*values, *[""] * len(labels)], strict=False))
