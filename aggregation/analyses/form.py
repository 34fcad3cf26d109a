"""The form in which an analysis is asked for: what the forms of all kinds share."""

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
    """What stands in a form, and what is wrong with it, by field."""

    template: ClassVar[str]
    fields: ClassVar[Mapping[str, str]]  # the field of each place where an analysis can be wrong
    # CSV files to fill in, by name.
    blank_files: ClassVar[Mapping[str, Callable[[Design], Iterator[Line]]]] = {}

    design: Design
    errors: dict[str, list[str]] = field(default_factory=dict, kw_only=True)

    @classmethod
    def given(cls, design: Design, request: HttpRequest) -> Self:
        """Return the form as it was sent; a list has a box for each of its values."""
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
        """Return the form as it was for an earlier analysis."""

    @abstractmethod
    def asked(self) -> dict[str, Any]:
        """Return what is to be asked; what is wrong with it is in the errors."""

    def refuse(self, error: AnalysisError) -> None:
        """Put what an analysis says beside the field that it is about."""
        self.errors.setdefault(self.fields.get(error.where, "all"), []).append(sentence(error.why))

    def check_distinct(self, questions: Sequence[str]) -> None:
        if len(questions) < 2:
            self.errors["questions"] = ["Choose at least two questions."]
        elif len(set(questions)) < len(questions):
            self.errors["questions"] = ["The same question is chosen twice."]

    @property
    def some_asked(self) -> bool:
        """Whether people are asked only some of the blocks."""
        return self.design.ask < len(self.design.sensitive_blocks)

    @property
    def groups(self) -> list[tuple[str, Sequence[Question]]]:
        """The questions to choose from: by block where people are asked only some of them."""
        blocks, found = self.design.sensitive_blocks, list[tuple[str, Sequence[Question]]]()
        if self.some_asked:
            found += [(f"Block {i}", block.questions) for i, block in enumerate(blocks, 1)]
        else:
            found += [("Questions", [one for block in blocks for one in block.questions])]
        if self.design.background:
            found += [("Background questions", self.design.background)]
        return found


def boxes(labels: Sequence[str], values: Sequence[str]) -> list[tuple[str, str]]:
    """Return the label of each box, and what is chosen in it."""
    return list(zip(labels, [*values, *[""] * len(labels)], strict=False))
