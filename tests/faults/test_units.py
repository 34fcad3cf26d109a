"""What the systemd units and the container image run, run: from the files that an image would hold.

With the settings of the example, on PostgreSQL and Redis; without systemd, nginx and containers.
"""

import contextlib
import fnmatch
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

import pytest

from tests.services import (
    ROOT,
    clean_environment,
    die_with_parent,
    free_port,
    production,
    wait_until,
)
from tests.test_deploy import DEPLOY, UNITS
from tests.test_repository import repository_files

pytestmark = [pytest.mark.faults, pytest.mark.postgresql, pytest.mark.redis]

BIN = Path(sys.executable).parent


def image(folder: Path) -> Path:
    """The source as `COPY . ./` would bring it in."""
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
    """Those of the example, filled in."""
    lines = (DEPLOY / "env.example").read_text().splitlines()
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    given = {
        "CANDOR_SECRET_KEY": secrets.token_urlsafe(48),
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
        assert process.wait(30) == 0
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


def test_the_units_make_a_site_that_is_ready(tmp_path: Path) -> None:
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
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: ask(f"{url}/readyz")[0] == 200, 90, "readyz")
        assert json.loads(ask(f"{url}/readyz")[1])["worker"] == "ok"
        token = f"Bearer {env['CANDOR_METRICS_TOKEN']}"
        assert "candor_last_tick_seconds" in ask(f"{url}/metrics", Authorization=token)[1]
        proxied = {"Host": env["CANDOR_HOSTS"], "X-Forwarded-Proto": "https"}
        assert ask(f"{url}/s/", **proxied)[0] == 200
        check = [sys.executable, "manage.py", "selftest"]
        done = subprocess.run(
            check, cwd=folder, env=env | {"PORT": str(port)}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
