"""Download files of a release, and texts that try to break them."""

import csv
import io
from typing import Any

from django.test import Client

from aggregation.exports import files
from survey.models import Survey
from tests.support import builders

OF_REPORTS = ["reports.csv", "reports.dta", "reports.sav"]


HOSTILE = [
    '=HYPERLINK("http://x","y")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1+1",
    "'=1", "x;=1+1;y", "x\n=1+1", "＝1+1", "\u00a0=1", 'say "hi", you', "`=1' $S_OS \"' end",
    "it's 'so'.", "{0} %s \\",
]  # fmt: skip


def get(client: Client, name: str, slug: str = "small", number: Any = 2) -> bytes:
    """Get a file from both addresses and check that they agree."""
    found = []
    for root in ("/surveys", "/api/v1/surveys"):
        response = client.get(f"{root}/{slug}/releases/{number}/{name}")
        assert response.status_code == 200, (name, response.status_code)
        assert response["Content-Type"] == files.FILES[name].content_type
        assert "no-store" in response["Cache-Control"]
        assert response["Content-Disposition"].startswith("attachment; filename=")
        found.append(response.getvalue())
    if not name.endswith((".xlsx", ".zip")):
        assert found[0] == found[1]
    return found[0]


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def hostile() -> Survey:
    """Return a closed survey whose texts all try to be formulas or to end a quotation."""
    question = {"key": "q2", "text": HOSTILE[0], "kind": "choice", "options": HOSTILE}
    others = [{"key": f"h{i}", "text": text, "kind": "yes_no"} for i, text in enumerate(HOSTILE)]
    age = {"key": "age", "text": HOSTILE[2], "options": HOSTILE[:2]}
    return builders.finished(
        300, title=HOSTILE[0], questions=[question, *others], background=[age], blocks=[],
        epsilon=8,
    )  # fmt: skip


# A survey with every kind of question, with follow-ups and a gate in two blocks.
YES = {"question": "harassed", "options": ["yes"]}
EVERY_KIND: dict[str, Any] = {
    "questions": [
        {"key": "harassed", "text": "Were you harassed?", "kind": "yes_no"},
        {"key": "who", "text": "By whom?", "kind": "choice",
         "options": ["Boss", "Colleague", "Patient"], "only_if": YES, "prefer_not_to_say": True},
        {"key": "often", "text": "How often?", "kind": "scale",
         "options": ["Once", "Sometimes", "Often"], "scores": [0, 1, 4], "only_if": YES},
        {"key": "days", "text": "Days ill?", "kind": "number", "least": 0, "most": 60,
         "unit": "days", "prefer_not_to_say": True},
        {"key": "mood", "text": "Mood?", "kind": "scale", "options": ["Bad", "Fair", "Good"]},
        {"key": "pills", "text": "Which?", "kind": "several", "options": [*"ABCDE"], "picks": 3},
        {"key": "more", "text": "Which others?", "kind": "several", "options": [*"ABC"],
         "picks": 2, "prefer_not_to_say": True},
    ],
    "background": [{"key": "job", "text": "Job?", "options": ["Nurse", "Other"], "epsilon": 4}],
    "blocks": [["harassed", "who"], ["harassed", "often"], ["days"], ["mood"], ["pills"], ["more"]],
    "ask": 1,
}  # fmt: skip
