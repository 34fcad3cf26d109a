"""Every acknowledged report is counted exactly once, whatever is killed."""

import contextlib
import json
import os
import re
import signal
import threading
import urllib.error
import urllib.request
from collections import Counter
from typing import Any
from uuid import uuid4

import pytest

from tests.support import builders
from tests.support.harness import WAIT_SECONDS
from tests.support.marks import BOTH_INSTALLATIONS
from tests.support.services import Candor, command_line, wait_until

pytestmark = pytest.mark.faults

SENDERS = 4
EACH = 150


class Api:
    """The API of a running installation, as its own researcher sees it."""

    def __init__(self, candor: Candor, slug: str) -> None:
        self.base = f"{candor.url}/api/v1"
        self.surveys = f"{self.base}/surveys/{slug}"
        self.token = candor.manage("api_token", "alice", "--create", "--survey", slug).split()[-1]

    def call(self, url: str, data: Any = None, method: str | None = None) -> Any:
        request = urllib.request.Request(
            url,
            json.dumps(data).encode() if data is not None else None,
            {"Content-Type": "application/json", "Authorization": f"Token {self.token}"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as response:
            return response.status, json.load(response)


def kill(candor: Candor, *words: str) -> None:
    """Kill with -9 every process of the installation whose command line has all these words."""
    for pid in candor.processes():
        if all(word in command_line(pid) for word in words):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
def test_nothing_is_lost_when_workers_and_web_servers_are_killed(candor_server: Candor) -> None:
    """Four senders; the worker is killed four times and the web server once, under load.

    Every report has its own content pattern, so that the tallies tell whether each is counted once.
    """
    slug = f"s{uuid4().hex[:16]}"
    data = builders.FILE | {"slug": slug}
    candor_server.open_survey(data)
    api = Api(candor_server, slug)
    design = api.call(f"{api.surveys}/")[1]["design"]
    acknowledged: Counter[tuple[int, int, int]] = Counter()
    lock = threading.Lock()
    trouble: list[BaseException] = []

    def sender(number: int) -> None:
        try:
            for i in range(EACH):
                cell = (i % 2, (i + number) % 4, i % 3)
                send_until_stored(cell)
        except BaseException as error:
            trouble.append(error)

    def send_until_stored(cell: tuple[int, int, int]) -> None:
        report = {
            "id": str(uuid4()),
            "design": design["hash"],
            "blocks": {"b1": list(cell[:2]), "g1": [cell[2]]},
        }

        def stored() -> bool:
            try:
                api.call(f"{api.surveys}/reports/", report)
            except (OSError, urllib.error.HTTPError, ValueError):
                return False  # not acknowledged: the same bytes again
            with lock:
                acknowledged[cell] += 1
            return True

        wait_until(stored, WAIT_SECONDS, "the acknowledgement of a report", pause=0.2)

    def await_stored(reports: int) -> None:
        enough = lambda: acknowledged.total() >= reports or bool(trouble)  # noqa: E731
        wait_until(enough, WAIT_SECONDS, f"{reports} reports")

    senders = [threading.Thread(target=sender, args=(i,)) for i in range(SENDERS)]
    for thread in senders:
        thread.start()
    for round_ in range(4):
        await_stored(100 * (round_ + 1))
        ask_for_release(api)
        await_stored(100 * (round_ + 1) + 50)
        kill(candor_server, "celery", "worker")
        if round_ == 2:
            kill(candor_server, "operations.serve")
    for thread in senders:
        thread.join()
    assert not trouble and sum(acknowledged.values()) == SENDERS * EACH

    close(candor_server, slug)

    def released() -> bool:
        try:
            return bool(api.call(f"{api.surveys}/estimates/")[1]["final"])
        except (OSError, urllib.error.HTTPError):
            return False

    wait_until(released, WAIT_SECONDS, "the last release")
    final = api.call(f"{api.surveys}/estimates/")[1]
    assert final["reports"] == SENDERS * EACH
    shown = {
        (row["question"], row["option"], row["group"]): row["count"] for row in final["estimates"]
    }
    yes = sum(count for cell, count in acknowledged.items() if cell[0] == 1)
    assert shown["q1", "yes", None] == yes
    for group, age in (("under-30", 0), ("30-and-over", 1), ("prefer-not-to-say", 2)):
        expected = sum(n for cell, n in acknowledged.items() if cell[0] == 1 and cell[2] == age)
        assert shown["q1", "yes", group] == expected


def close(candor: Candor, slug: str) -> None:
    code = f"from survey.models import Survey; Survey.objects.get(slug='{slug}').close()"
    candor.manage("shell", "-v0", "-c", code)


def ask_for_release(api: Api) -> None:
    with contextlib.suppress(OSError):  # the web server is being killed; the beat asks as well
        api.call(f"{api.surveys}/releases/", method="POST")


@pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
def test_tasks_that_run_twice_and_at_once_count_once(candor_server: Candor) -> None:
    """Six processes move and publish the same survey concurrently."""
    import subprocess
    import sys

    from tests.support.services import ROOT

    slug = f"s{uuid4().hex[:16]}"
    data = builders.FILE | {"slug": slug}
    candor_server.open_survey(data)
    candor_server.manage("simulate", slug, "--people", "1500", "--seed", "1")
    code = (
        "from aggregation.releases import collect, publish; "
        f"s = Survey.objects.get(slug='{slug}'); "
        "print(collect.collect(s)); publish.publish(s)"
    )
    movers = [
        subprocess.Popen(
            [sys.executable, "manage.py", "shell", "-v0", "-c", code],
            cwd=ROOT, env=candor_server.env, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(6)
    ]  # fmt: skip
    moved = [int(mover.communicate(timeout=WAIT_SECONDS)[0]) for mover in movers]
    assert all(mover.returncode == 0 for mover in movers)
    out = candor_server.manage(
        "shell", "-v0", "-c",
        "from aggregation.models import *; "
        f"s = Survey.objects.get(slug='{slug}'); "
        "print(sum(b.reports for b in s.batches.all()), s.pending().count(),"
        " *s.releases.order_by('number').values_list('reports', flat=True))",
    )  # fmt: skip
    held, waiting, *published = map(int, out.split())
    # A crowd stays behind while the survey is open.
    assert (held, waiting, published[-1]) == (1480, 20, 1480)
    # The installation's worker may have published some of them first.
    assert sum(moved) <= 1480 and published == sorted(set(published))


def test_sqlite_forgets_moved_reports_at_once(embedded_candor: Candor) -> None:
    """Neither the file nor its write-ahead log holds an id beside a content after the move."""
    slug = f"s{uuid4().hex[:16]}"
    data = builders.FILE | {"slug": slug}
    embedded_candor.open_survey(data)
    api = Api(embedded_candor, slug)
    design = api.call(f"{api.surveys}/")[1]["design"]
    ids: list[str] = []

    def send(reports: int) -> None:
        for _ in range(reports):
            ids.append(str(uuid4()))
            blocks = {"b1": [1, 2], "g1": [1]}
            body = {"id": ids[-1], "design": design["hash"], "blocks": blocks}
            api.call(f"{api.surveys}/reports/", body)

    def found() -> int:
        files = [path.read_bytes() for path in embedded_candor.var.glob("candor.sqlite3*")]
        return sum(
            re.search(re.escape(pk) + rb".{0,2}\x01\x02\x01", content, re.DOTALL) is not None
            for pk in (one.replace("-", "").encode() for one in ids)
            for content in files
        )

    send(39)
    assert found() > 0  # while they wait for one more, they are there
    send(11)
    close(embedded_candor, slug)
    wait_until(lambda: found() == 0, WAIT_SECONDS, "emptied files")
