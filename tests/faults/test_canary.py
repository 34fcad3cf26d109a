"""No address, user agent, time, code or pass of a respondent in database, logs or broker."""

import http.client
import json
import re
from uuid import uuid4

import pytest

from survey.design import passes
from tests.support import builders
from tests.support.harness import WAIT_SECONDS
from tests.support.marks import BOTH_INSTALLATIONS
from tests.support.services import Candor, wait_until
from tests.support.storage import everything, rows

pytestmark = pytest.mark.faults

ADDRESS = "127.0.77.99"  # all of 127/8 is this machine
FORWARDED = "203.0.113.77"
AGENT = "CanaryBrowser/99.77 (tests)"


@pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
def test_nothing_of_the_sender_is_kept(candor_server: Candor) -> None:
    slug = f"s{uuid4().hex[:16]}"
    data = builders.FILE | {"slug": slug}
    candor_server.open_survey(data)
    log_before = candor_server.log.read_text()
    design = json.loads(request(candor_server, "GET", f"/api/v1/surveys/{slug}/"))["design"]
    reports = [
        {"id": str(uuid4()), "design": design["hash"], "blocks": {"b1": [1, 2], "g1": [1]}}
        for _ in range(45)
    ]  # fmt: skip
    path = f"/api/v1/surveys/{slug}/reports/"
    for report in reports[:42]:
        request(candor_server, "POST", path, report)
    request(candor_server, "POST", path, {"id": "wrong", "canary": 1})
    request(candor_server, "POST", path + "batch/", {"reports": reports[42:]})
    request(candor_server, "GET", f"/s/{slug}/")

    stored = dict(everything(candor_server, slug))
    waiting = dict(stored)
    await_release(candor_server, slug)
    stored |= {f"{name} later": content for name, content in everything(candor_server, slug)}
    stored["log"] = candor_server.log.read_bytes()
    for name, content in stored.items():
        for canary in (ADDRESS, FORWARDED, AGENT, "CanaryBrowser"):
            assert canary.encode() not in content, f"{canary} in {name}"
    ids = [report["id"].replace("-", "").encode() for report in reports]
    database = b"".join(content for name, content in waiting.items() if "log" not in name)
    assert any(pk in database or pk in database.replace(b"-", b"") for pk in ids)  # it works

    # No table about reports contains a time of day.
    for name in ("survey_report", "aggregation_batch"):
        text = rows(candor_server, name)
        assert text and not re.search(r"\d\d:\d\d", text)
    log = candor_server.log.read_text()[len(log_before) :]
    assert not any(report["id"] in log for report in reports)
    assert "/reports/" not in log


@pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
def test_codes_passes_and_addresses_are_kept_nowhere_else(candor_server: Candor) -> None:
    """One invitation is used for a report; another waits at its address."""
    slug, email = f"s{uuid4().hex[:16]}", f"{uuid4().hex}@example.org"
    data = builders.FILE | {"slug": slug, "access": "invited"}
    candor_server.open_survey(data)
    made = candor_server.manage(
        "shell", "-v0", "-c",
        "from survey.access import invitations\nfrom survey.models import Survey\n"
        f"survey = Survey.objects.get(slug='{slug}')\n"
        f"invitations.add_people(survey, ['{email}'])\n"
        "print(*invitations.make(survey, 45))",
    )  # fmt: skip
    codes, path = made.split(), f"/api/v1/surveys/{slug}/"
    design = json.loads(request(candor_server, "GET", path))["design"]
    key = passes.public_key(design["passes"])
    secrets = [*codes, "CanaryBrowser", ADDRESS, FORWARDED]
    for code in codes:
        prepared = passes.prepare()
        blinded, inverse = passes.blind(key, prepared)
        asked = {"code": code, "blinded": passes.to_text(blinded)}
        signed = json.loads(request(candor_server, "POST", f"{path}passes/", asked))["signature"]
        signature = passes.finalize(key, prepared, passes.from_text(signed, 256), inverse)
        one = passes.Pass(prepared, signature)
        report = {"id": one.id, "design": design["hash"], "blocks": {"b1": [1, 2], "g1": [1]},
                  "pass": one.as_text()}  # fmt: skip
        assert json.loads(request(candor_server, "POST", f"{path}reports/", report)) == {
            "id": one.id
        }
        secrets += [asked["blinded"], signed, *one.as_text().values()]
    await_release(candor_server, slug)
    stored = dict(everything(candor_server, slug)) | {"log": candor_server.log.read_bytes()}
    for name, content in stored.items():
        assert [one for one in secrets if one.encode() in content] == [], name
    holds = {name for name, content in stored.items() if email.encode() in content}
    assert holds and all(name.startswith(("candor.sqlite3", "survey_invitation")) for name in holds)


def await_release(candor: Candor, slug: str) -> None:
    """Wait until the beat and the worker have finished with this survey."""
    done = (
        f"from survey.models import Survey; survey = Survey.objects.get(slug='{slug}')\n"
        "print(survey.releases.exists() and not survey.jobs.filter(active=True).exists())"
    )
    shown = lambda: candor.manage("shell", "-v0", "-c", done).strip() == "True"  # noqa: E731
    wait_until(shown, WAIT_SECONDS, "a release that nobody asked for")


def request(candor: Candor, method: str, path: str, body: object = None) -> bytes:
    connection = http.client.HTTPConnection(
        "127.0.0.1", candor.port, timeout=WAIT_SECONDS, source_address=(ADDRESS, 0)
    )
    headers = {
        "User-Agent": AGENT,
        "X-Forwarded-For": FORWARDED,
        "X-Real-IP": FORWARDED,
        "Forwarded": f"for={FORWARDED}",
        "Content-Type": "application/json",
    }
    connection.request(method, path, json.dumps(body) if body else None, headers)
    content = connection.getresponse().read()
    connection.close()
    return content
