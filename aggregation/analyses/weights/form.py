"""The form of weights: the population as CSV, in a box or a file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.http import HttpRequest

from aggregation.analyses.form import Form
from aggregation.analyses.weights import margins
from aggregation.analyses.weights.computation import has_groups
from aggregation.analyses.weights.margins import MarginsError
from survey.design import Design, Question
from survey.spreadsheets import Line, csv_parts

LARGEST_FILE = 1_000_000  # bytes of margins


@dataclass
class WeightsForm(Form):
    template = "aggregation/analyses/weights/form.html"
    not_offered = "You cannot weight by these"
    fields = {"cells": "margins", "questions": "margins"}
    blank_files = {"margins": margins.template}

    margins: str = ""

    @classmethod
    def given(cls, design: Design, request: HttpRequest) -> Self:
        """Return the form that was sent. A file replaces the text."""
        form = super().given(design, request)
        if file := request.FILES.get("file"):
            try:
                form.margins = margins.decode(file.read(LARGEST_FILE))
            except MarginsError as error:
                form.errors["margins"] = error.problems
        return form

    @classmethod
    def like(cls, design: Design, asked: Mapping[str, Any]) -> Self:
        return cls(design, _as_csv(_margin_lines(asked)))

    def asked(self) -> dict[str, Any]:
        if not self.errors:
            try:
                return margins.read(self.margins, self.design)
            except MarginsError as error:
                self.errors["margins"] = error.problems
        return {}

    @property
    def offered(self) -> list[Question]:
        """The questions to weight by."""
        return [question for question in self.design.questions if has_groups(question)]

    @property
    def possible(self) -> bool:
        return bool(self.offered) and len(self.design.questions) > 1

    @property
    def text(self) -> str:
        """The margins, or a template."""
        return self.margins or _as_csv(margins.template(self.design))


def _margin_lines(asked: Mapping[str, Any]) -> Iterator[Line]:
    if "margins" in asked:
        yield ["question", "group", "count"]
        for question, groups in asked["margins"].items():
            for group, share in groups.items():
                yield [question, group, share]
    else:
        yield [*asked["cells"][0]["groups"], "count"]
        for cell in asked["cells"]:
            yield [*cell["groups"].values(), cell["share"]]


def _as_csv(lines: Iterator[Line]) -> str:
    return b"".join(csv_parts(lines)).decode()
