"""Template surveys for common topics, from the files in the folder `topics`."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "topics"


@dataclass(frozen=True)
class Topic:
    key: str
    about: str  # one line for the page
    document: dict[str, Any]

    @property
    def questions(self) -> list[str]:
        return [question["text"] for question in self.document["questions"]]


@cache
def topics() -> dict[str, Topic]:
    """Return the topics by key, in the order of their titles."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")]
    files.sort(key=lambda data: str(data["survey"]["title"]))
    return {
        data["survey"]["slug"]: Topic(data["survey"]["slug"], data["about"], data["survey"])
        for data in files
    }
