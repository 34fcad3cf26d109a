"""The demo's open survey, for tests and pictures that need a survey in every language."""

import json
from typing import Any

from operations.demo import OPEN
from tests.support.services import ROOT


def demo_file(slug: str, *keys: str) -> dict[str, Any]:
    """Return the survey file with another slug.

    With keys it asks everybody only these questions, which no other one depends on.
    """
    survey: dict[str, Any] = json.loads((ROOT / f"survey/demo/{OPEN}.json").read_text())
    if keys:
        survey["questions"] = [one for one in survey["questions"] if one["key"] in keys]
        survey["blocks"] = [list(keys)]
        kept = {one["key"] for one in (*survey["questions"], *survey["background"])}
        for translation in survey["translations"].values():
            texts = translation["questions"]
            translation["questions"] = {key: texts[key] for key in texts.keys() & kept}
    return survey | {"slug": slug}
