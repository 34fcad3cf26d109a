"""The form in which an analysis is asked for: what stands in it, and what is wrong with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from aggregation.analyses.base import AnalysisError
from aggregation.analyses.weights import margins
from aggregation.analyses.weights.margins import MarginsError
from aggregation.analyses.wording import sentence
from survey.design import Design
from survey.spreadsheets import Line, csv_parts

LARGEST_FILE = 1_000_000  # bytes of margins
SLOTS = ["Rows", "Columns", "Slices (optional)", "More slices (optional)"]
PREDICTORS = ["By", "And by (optional)", "Third (optional)", "Fourth (optional)"]
CLASSES = list("23456")
# Where the form has another name, or another place, for what an analysis names.
FIELDS = {"option": "outcome", "cells": "margins"}
# The field that says which questions are put together.
TOGETHER = {"regression": "predictors", "weights": "margins"}


@dataclass
class Form:
    """What stands in the form, and what is wrong with it, by field."""

    kind: str = ""
    questions: list[str] = field(default_factory=list)
    outcome: str = ""
    predictors: list[str] = field(default_factory=list)
    classes: str = "2"
    margins: str = ""
    errors: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def given(cls, request: HttpRequest) -> "Form":
        """As it was sent; a file of margins is put in place of their text."""
        post = request.POST
        form = cls(
            kind=post.get("kind", ""),
            questions=[key for key in post.getlist("questions") if key],
            outcome=post.get("outcome", ""),
            predictors=[key for key in post.getlist("predictors") if key],
            classes=post.get("classes", ""),
            margins=post.get("margins", ""),
        )
        if file := request.FILES.get("file"):
            try:
                form.margins = margins.decode(file.read(LARGEST_FILE))
            except MarginsError as error:
                form.errors["margins"] = error.problems
        return form

    @classmethod
    def like(cls, asked: Mapping[str, Any]) -> "Form":
        """As it was for an analysis that is there already."""
        return cls(
            kind=asked["kind"],
            questions=list(asked.get("questions", [])),
            outcome=_choice(asked, "outcome", "option"),
            predictors=[_choice(one, "question", "option") for one in asked.get("predictors", [])],
            classes=str(asked.get("classes", 2)),
            margins=as_csv(_margin_lines(asked)) if asked["kind"] == "weights" else "",
        )

    def asked(self, design: Design) -> dict[str, Any]:
        """Return what is to be asked; what is wrong with it is in the errors."""
        found: dict[str, Any] = {"kind": self.kind}
        if self.kind in ("crosstab", "profiles"):
            found["questions"] = self.questions
            if len(self.questions) < 2:
                self.errors["questions"] = ["Choose at least two questions."]
            elif len(set(self.questions)) < len(self.questions):
                self.errors["questions"] = ["The same question is chosen twice."]
        if self.kind == "regression":
            found |= _chosen(self.outcome, "outcome", "option")
            found["predictors"] = [_chosen(one, "question", "option") for one in self.predictors]
            if not self.outcome:
                self.errors["outcome"] = ["Choose an answer."]
            if not self.predictors:
                self.errors["predictors"] = ["Choose at least one question or answer."]
        if self.kind == "profiles":
            found["classes"] = int(self.classes) if self.classes in CLASSES else 0
        if self.kind == "weights" and not self.errors:
            try:
                found |= margins.read(self.margins, design)
            except MarginsError as error:
                self.errors["margins"] = error.problems
        return found

    def refuse(self, error: AnalysisError) -> None:
        """Put what an analysis says beside the field that it is about."""
        where = FIELDS.get(error.where, error.where)
        if where == "questions":
            where = TOGETHER.get(self.kind, where)
        known = where in ("questions", "outcome", "predictors", "classes", "margins")
        self.errors.setdefault(where if known else "all", []).append(sentence(error.why))


def _choice(asked: Mapping[str, Any], question: str, option: str) -> str:
    """Return the keys of a question and, if there is one, its option, with a colon between."""
    return ":".join(key for key in (asked.get(question), asked.get(option)) if key)


def _chosen(given: str, question: str, option: str) -> dict[str, str]:
    """Return the same as members of what is asked."""
    first, _, second = given.partition(":")
    return {name: key for name, key in ((question, first), (option, second)) if key}


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


def as_csv(lines: Iterator[Line]) -> str:
    return b"".join(csv_parts(lines)).decode()
