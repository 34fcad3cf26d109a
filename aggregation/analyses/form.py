"""What the forms of all kinds of analyses share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from django.http import HttpRequest

from aggregation.analyses.base import AnalysisError
from aggregation.analyses.wording import sentence
from survey.design import Design, Question
from survey.spreadsheets import Line


@dataclass
class Form(ABC):
    """The values of a form, and its errors by field."""

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
    def some_asked(self) -> bool:
        """Whether people are asked only some of the blocks."""
        return self.design.ask < len(self.design.sensitive_blocks)

    @property
    def groups(self) -> list[tuple[str, Sequence[Question]]]:
        """The questions to choose from, by block if people are asked only some of them."""
        blocks, found = self.design.sensitive_blocks, list[tuple[str, Sequence[Question]]]()
        if self.some_asked:
            found += [(f"Block {i}", block.questions) for i, block in enumerate(blocks, 1)]
        else:
            found += [("Questions", [one for block in blocks for one in block.questions])]
        if self.design.background:
            found += [("Background questions", self.design.background)]
        return found


def select_boxes(labels: Sequence[str], values: Sequence[str]) -> list[tuple[str, str]]:
    """Return the label of each select box, and what is chosen in it."""
    return list(zip(labels, [*values, *[""] * len(labels)], strict=False))
