"""The texts of a catalogue in survey/words/, one by one."""

from collections.abc import Iterator
from typing import Any

from survey.words import Template

FORMS = {"zero", "one", "two", "few", "many", "other"}


def leaves(texts: Any, path: str = "") -> Iterator[tuple[str, Template]]:
    """Yield each text with its path. A plural is one text."""
    if isinstance(texts, str) or set(texts) <= FORMS:
        yield path, texts
        return
    for name, inner in texts.items():
        yield from leaves(inner, f"{path}.{name}" if path else name)
