"""The API from outside: the examples in docs/api.md, and schemathesis."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4
from zipfile import ZipFile

import pytest

from tests.support.services import ROOT, Candor

pytestmark = [pytest.mark.once, pytest.mark.xdist_group("api")]

SLUG = "wellbeing-at-work"


@pytest.fixture(scope="module")
def site() -> Iterator[Candor]:
    """Yield a running installation with an answered survey."""
    with Candor() as candor:
        survey = (ROOT / f"survey/demo/{SLUG}.json").read_text()
        candor.manage("import_survey", "-", "--open", stdin=survey)
        candor.manage("simulate", SLUG, "--people", "400", "--seed", "1")
        yield candor


@pytest.fixture(scope="module")
def token(site: Candor) -> str:
    return site.manage("api_token", "alice", "--create", "--survey", SLUG).split()[-1]


# --- The examples of the documentation ------------------------------------------------------------


def examples(language: str) -> str:
    text = (ROOT / "docs/api.md").read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return "\n".join(block for block in found if "survey.example.org" not in block)


def run(command: list[str], site: Candor, token: str, folder: Path) -> str:
    environment = {**os.environ, "SITE": site.url, "TOKEN": token, "SURVEY": SLUG}
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.curl
@pytest.mark.slow
def test_the_examples_in_curl_do_what_they_say(site: Candor, token: str, tmp_path: Path) -> None:
    out = run(["bash", "-euo", "pipefail", "-c", examples("sh")], site, token, tmp_path)
    assert out.count('"state":"done"') == 2  # the release, the analysis
    assert f'"slug":"{SLUG}"' in out and '"question":"harassed"' in out
    assert (tmp_path / "estimates.csv").read_text().startswith("release,question,")
    with ZipFile(tmp_path / "everything.zip") as everything:
        assert "estimates.csv" in everything.namelist()


@pytest.mark.slow
def test_the_examples_in_python_do_what_they_say(site: Candor, token: str, tmp_path: Path) -> None:
    out = run([sys.executable, "-I", "-c", examples("python")], site, token, tmp_path)
    assert f"{SLUG} open 2.0" in out and "release 1, 380 reports" in out
    assert re.search(r"^harassed share yes: 0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)$", out, re.MULTILINE)
    assert re.search(r"^\d+ \[\[", out, re.MULTILINE) and "400 {'questions': [" in out
    assert json.loads((tmp_path / "codebook.json").read_text())


# --- Everything else ------------------------------------------------------------------------------

CONFIGURATION = """
# DELETE cancels a job; what became of it stays to be read.
[[operations]]
include-operation-id = ["job", "cancel"]
checks.use_after_free.enabled = false

# What such a body may hold depends on the survey's design, which no description can know.
[[operations]]
include-operation-id = ["report", "analyse"]
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401]
"""


def described(site: Candor) -> dict[str, Any]:
    """Return the site's OpenAPI description with its survey's name and valid bodies."""
    with urllib.request.urlopen(f"{site.url}/api/schema/?format=json") as response:
        description: dict[str, Any] = json.load(response)
    with urllib.request.urlopen(f"{site.url}/api/v1/surveys/{SLUG}/") as response:
        design = json.load(response)["design"]
    sensitive = [block for block in design["blocks"] if not block.get("background")]
    background = [block for block in design["blocks"] if block.get("background")]
    report = {
        "id": str(uuid4()),
        "design": design["hash"],
        "blocks": {
            block["key"]: [0] * len(block["questions"])
            for block in [*sensitive[: design["ask"]], *background]
        },
    }
    bodies = {
        "report": report,
        "reports": {"reports": [report, {}]},
        "analyse": {"kind": "crosstab", "questions": ["exhausted", "leaving"]},
    }
    for operation in [one for path in description["paths"].values() for one in path.values()]:
        for parameter in operation.get("parameters", []):
            if parameter["name"] == "slug":
                parameter["schema"] = {"type": "string", "enum": [SLUG]}
        if body := bodies.pop(operation["operationId"], None):
            operation["requestBody"]["content"]["application/json"]["example"] = body
    assert not bodies
    return description


@pytest.mark.parametrize(("who", "examples"), [("researcher", 20), ("nobody", 6)])
@pytest.mark.slow
def test_schemathesis_finds_nothing(
    site: Candor, token: str, who: str, examples: int, tmp_path: Path
) -> None:
    """Send hundreds of invalid and valid requests to every operation.

    Send fewer without a token, because most of those are refused at once.
    """
    (tmp_path / "schema.json").write_text(json.dumps(described(site)))
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", "schema.json", "--url", site.url),
            *("--generation-deterministic", f"--max-examples={examples}"),
            *("--no-color", "--continue-on-failure", "--warnings=off"),
            *(["--header", f"Authorization: Token {token}"] if who == "researcher" else []),
        ],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Tested: {sum(map(len, described(site)['paths'].values()))}" in done.stdout
    generated = int(re.search(r"(\d+) generated", done.stdout)[1])  # type: ignore[index]
    assert generated > 20 * examples
