"""The form of profiles."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from aggregation.analyses.form import Form
from aggregation.analyses.profiles.computation import MOST_CLASSES
from survey.design import Design


@dataclass
class ProfilesForm(Form):
    template = "aggregation/analyses/profiles/form.html"
    numbers: ClassVar[list[str]] = [str(number) for number in range(2, MOST_CLASSES + 1)]

    questions: list[str] = field(default_factory=list)
    classes: str = "2"

    @classmethod
    def like(cls, design: Design, asked: Mapping[str, Any]) -> Self:
        return cls(design, list(asked["questions"]), str(asked.get("classes", 2)))

    def asked(self) -> dict[str, Any]:
        classes = int(self.classes) if self.classes in self.numbers else 0
        return {"questions": self.questions, "classes": classes}
