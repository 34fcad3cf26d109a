"""Download files of a release, and texts that try to break them."""

import csv
import io
from typing import Any

from django.test import Client

from aggregation.exports import files

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
