"""The commands of the systemd units and the container image, run from the files in the image.

With the settings of the example, on PostgreSQL and Redis, behind nginx; without systemd and
containers.
"""

import contextlib
import fnmatch
import http.client
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from survey.collect import door
from tests.support.nginx import Nginx
from tests.support.repository import DEPLOY, UNITS, repository_files
from tests.support.services import (
    ROOT,
    START_SECONDS,
    STOP_SECONDS,
    clean_environment,
    die_with_parent,
    free_port,
    production,
    wait_until,
)

pytestmark = [pytest.mark.faults, pytest.mark.postgresql, pytest.mark.redis]

BIN = Path(sys.executable).parent


def image(folder: Path) -> Path:
    """Copy the source as `COPY . ./` would."""
    patterns = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    top = [one[1:] for one in patterns if one.startswith("/")]
    deep = [one[3:] for one in patterns if one.startswith("**/")]
    for path in repository_files():
        parts = path.relative_to(ROOT).parts
        if any(fnmatch.fnmatch(parts[0], one) for one in top):
            continue
        if any(fnmatch.fnmatch(part, one) for part in parts for one in deep):
            continue
        there = folder.joinpath(*parts)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, there)
    return folder


def settings(var: Path, servers: dict[str, str]) -> dict[str, str]:
    """Return the settings of the example, filled in."""
    lines = (DEPLOY / "env.example").read_text().splitlines()
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    given = {
        "CANDOR_SECRET_KEY": secrets.token_urlsafe(48),
        "CANDOR_HOSTS": "localhost",
        "CANDOR_METRICS_TOKEN": secrets.token_urlsafe(24),
        "CANDOR_VAR": str(var),
        **servers,
    }
    assert set(given) <= set(example)
    return {**clean_environment(), **example, **given}


@contextlib.contextmanager
def running(command: list[str], folder: Path, env: dict[str, str]) -> Iterator[None]:
    with (folder.parent / "log").open("ab") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, preexec_fn=die_with_parent(signal.SIGKILL),
        )  # fmt: skip
    try:
        yield
        process.terminate()
        assert process.wait(STOP_SECONDS) == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ask(url: str, **headers: str) -> tuple[int, str]:
    try:
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


class Site(NamedTuple):
    folder: Path
    env: dict[str, str]
    port: int


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    tmp_path = tmp_path_factory.mktemp("units")
    folder, var = image(tmp_path / "candor"), tmp_path / "var"
    var.mkdir()
    assert not (folder / "tests").exists() and not (folder / "deploy").exists()
    port = free_port()
    commands: dict[str, list[str]] = {}
    for unit in UNITS:
        for name, line in re.findall(r"^(ExecStart(?:Pre)?)=(.*)$", unit.read_text(), re.M):
            here = line.replace("/opt/candor/.venv/bin", str(BIN))
            commands[unit.stem + name] = here.replace("--port 8000", f"--port {port}").split()
    with production() as servers, contextlib.ExitStack() as stack:
        env = settings(var, servers)
        manage = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0"]
        subprocess.run(manage, cwd=folder, env=env, check=True)
        subprocess.run(commands.pop("candor-webExecStartPre"), cwd=folder, env=env, check=True)
        for command in commands.values():
            stack.enter_context(running(command, folder, env))
        wait_until(
            lambda: ask(f"http://127.0.0.1:{port}/readyz")[0] == 200, START_SECONDS, "readyz"
        )
        yield Site(folder, env, port)


def test_the_units_make_a_site_that_is_ready(site: Site) -> None:
    url = f"http://127.0.0.1:{site.port}"
    assert json.loads(ask(f"{url}/readyz")[1])["worker"] == "ok"
    token = f"Bearer {site.env['CANDOR_METRICS_TOKEN']}"
    assert "candor_last_tick_seconds" in ask(f"{url}/metrics", Authorization=token)[1]
    proxied = {"Host": site.env["CANDOR_HOSTS"], "X-Forwarded-Proto": "https"}
    assert ask(f"{url}/s/", **proxied)[0] == 200


# --- Behind nginx ---------------------------------------------------------------------------------

OF_A_CONNECTION = ("server", "date", "connection", "transfer-encoding")


@pytest.mark.nginx
@pytest.mark.openssl
def test_the_site_comes_through_nginx_unchanged(site: Site) -> None:
    def exchange(connection: http.client.HTTPConnection, *request: Any) -> tuple[Any, ...]:
        with contextlib.closing(connection):
            connection.request(*request)
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            for name in OF_A_CONNECTION:
                headers.pop(name, None)
            return response.status, headers, response.read()

    proxied = {"Host": "localhost", "X-Forwarded-Proto": "https"}
    report = ("POST", "/api/v1/surveys/nowhere/reports/", b"x" * (door.MAX_BODY + 1))
    with Nginx(site.port) as nginx:
        for path in ("/s/", "/verify/", "/nowhere/", "/robots.txt"):
            through = exchange(nginx.connect(), "GET", path)
            direct = http.client.HTTPConnection("127.0.0.1", site.port, timeout=20)
            assert through == exchange(direct, "GET", path, None, proxied)
            assert "strict-transport-security" in through[1]
        refused = exchange(nginx.connect(), *report, {"Content-Type": "application/json"})
        assert refused[0] == 413 and b"at most 16 KiB" in refused[2]
        done = subprocess.run(
            [sys.executable, "manage.py", "selftest", nginx.url, "--log", str(nginx.log)],
            cwd=site.folder, env=site.env | {"SSL_CERT_FILE": str(nginx.certificate)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        assert nginx.tail() == ""
