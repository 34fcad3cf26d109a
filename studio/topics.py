"""Template surveys for common topics, from the files in the folder `topics`."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "topics"


@cache
def topics() -> dict[str, dict[str, Any]]:
    """Return the files by slug, in the order of their titles: `about`, one line, and `survey`."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")]
    files.sort(key=lambda topic: str(topic["survey"]["title"]))
    return {topic["survey"]["slug"]: topic for topic in files}
