"""`manage.py serve` and the demo as a user meets them: real processes, real signals.

The tests of an installation and of a demo share one each; the last of them stops it.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.harness import WAIT_SECONDS, parent
from tests.support.services import (
    ROOT,
    Candor,
    clean_environment,
    command_line,
    descendants,
    die_with_parent,
    free_port,
    processes_with,
    wait_until,
)

pytestmark = pytest.mark.faults

NAMES = {"web server": "operations.serve", "worker": " worker ", "beat": " beat "}


@pytest.fixture(scope="module")
def candor() -> Iterator[Candor]:
    with Candor() as candor:
        yield candor


def answers(url: str, at: str = "/healthz") -> bool:
    """Return whether the address answers with any HTTP status."""
    try:
        with urllib.request.urlopen(url + at, timeout=5):
            return True
    except urllib.error.HTTPError as error:
        error.close()
        return True
    except OSError:
        return False


def supervisor(candor: Candor) -> int:
    assert candor.process is not None
    return candor.process.pid


def child(candor: Candor, name: str) -> int | None:
    """Return the main process of one of the three programs."""
    for pid in descendants(supervisor(candor)):
        if parent(pid) == supervisor(candor) and NAMES[name] in command_line(pid):
            return pid
    return None


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# --- Running --------------------------------------------------------------------------------------


def test_each_program_runs_in_its_own_session(candor: Candor) -> None:
    wait_until(
        lambda: all(child(candor, name) for name in NAMES), WAIT_SECONDS, "all three programs"
    )
    sessions = {os.getsid(child(candor, name) or 0) for name in NAMES}
    assert len(sessions) == 3
    assert os.getsid(supervisor(candor)) not in sessions
    assert "Candor is ready" in candor.tail()


@pytest.mark.parametrize("name", NAMES)
def test_a_killed_program_comes_back(candor: Candor, name: str) -> None:
    wait_until(lambda: child(candor, name) is not None, WAIT_SECONDS, name)
    victim = child(candor, name)
    assert victim
    family = [victim, *descendants(victim)]
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: child(candor, name) not in (None, victim), WAIT_SECONDS, f"another {name}")
    wait_until(lambda: not any(map(alive, family)), WAIT_SECONDS, "the end of its processes")
    wait_until(lambda: answers(candor.url), WAIT_SECONDS, "the web server")
    assert f"The {name} ended (signal 9) and starts again in" in candor.log.read_text()


# --- Stopping -------------------------------------------------------------------------------------


def test_ctrl_c_ends_every_process_and_exits_with_success(candor: Candor) -> None:
    """SIGTERM does the same, which every test that stops an installation asserts."""
    process = candor.process
    assert process is not None
    before = candor.log.stat().st_size  # the tests before this one killed programs, which shows
    os.killpg(process.pid, signal.SIGINT)  # like a terminal, to the whole foreground group
    assert process.wait(WAIT_SECONDS) == 0
    candor.process = None
    assert not candor.processes()
    assert not answers(candor.url)
    assert b"Traceback" not in candor.log.read_bytes()[before:]


# --- Refusing -------------------------------------------------------------------------------------


def run(*command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**clean_environment(), **environment},
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


def sentence(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the one line of a refusal."""
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.strip().splitlines()
    return line


@pytest.fixture
def taken_port() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


def serve(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    demo = {"CANDOR_SECRET_KEY": "x" * 50, "CANDOR_DEMO": "1", "CANDOR_VAR": str(folder)}
    return run("manage.py", "serve", *arguments, **demo)


def test_serve_refuses_a_taken_port(taken_port: str, tmp_path: Path) -> None:
    said = sentence(serve(tmp_path / "var", "--port", taken_port))
    assert f"Port {taken_port} is taken; choose another with PORT=…" in said
    assert not list(tmp_path.glob("var/*"))  # nothing was started


def test_serve_refuses_two_web_processes_on_sqlite(tmp_path: Path) -> None:
    said = sentence(serve(tmp_path, "--port", str(free_port()), "--workers", "2"))
    assert "SQLite allows only one web process" in said


# --- The demo -------------------------------------------------------------------------------------


class Demo:
    """`python -m operations.demo` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.var = folder
        self.log = folder / "log"
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self.env_file = {**clean_environment(), "CANDOR_DEMO_ENV": str(folder / "demo.env")}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "operations.demo"],
                cwd=ROOT,
                env={**self.env_file, "CANDOR_VAR": str(folder), "PORT": str(port)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGTERM),
            )

    def await_note(self) -> str:
        wait_until(
            lambda: "Log in as" in self.log.read_text(), WAIT_SECONDS, "the note of addresses"
        )
        return self.log.read_text()


@pytest.fixture(scope="module")
def running_demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    demo = Demo(tmp_path_factory.mktemp("demo"))
    yield demo
    demo.process.kill()
    demo.process.wait()


def test_the_demo_says_where_it_answers(running_demo: Demo) -> None:
    note = running_demo.await_note()
    addresses = re.findall(r"http://\S+", note)
    assert [address.removeprefix(running_demo.url) for address in addresses] == [
        "/s/wellbeing-at-work/",
        "/surveys/wellbeing-at-work/",
        "/results/bribes-for-permits/",
        "/studio/bullying-at-school/",
        "/studio/new/",
        "/api/docs/",
    ]
    assert all(answers(address, at="") for address in addresses)
    for login in ("researcher", "viewer", "admin"):
        assert re.search(rf" {login} +{login}-demo\n", note)


def test_other_commands_find_the_data_of_the_demo(running_demo: Demo) -> None:
    running_demo.await_note()
    listed = "from survey.models import Survey; print(*Survey.objects.values_list('slug'))"
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--verbosity=0", "--command", listed],
        cwd=ROOT,
        env=running_demo.env_file,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == (
        "('bribes-for-permits',) ('bullying-at-school',) ('wellbeing-at-work',)"
    )


def test_killing_the_supervisor_ends_every_process(running_demo: Demo) -> None:
    running_demo.await_note()
    count = lambda: len(processes_with("CANDOR_VAR", str(running_demo.var)))  # noqa: E731
    wait_until(
        lambda: count() >= 7, WAIT_SECONDS, "supervisor, web server and process, worker and 2, beat"
    )
    running_demo.process.kill()
    running_demo.process.wait()
    wait_until(lambda: count() == 0, WAIT_SECONDS, "the end of every process")


def demo(env_file: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a demo that must be refused before it serves."""
    environment.setdefault("PORT", str(free_port()))
    environment.setdefault("CANDOR_VAR", str(env_file.parent))
    return run("-m", "operations.demo", CANDOR_DEMO_ENV=str(env_file), **environment)


def test_the_demo_refuses_a_production_environment(tmp_path: Path) -> None:
    said = sentence(demo(tmp_path / "demo.env", CANDOR_SECRET_KEY="x" * 50))
    assert "this is a production environment. `make run` is only for demos" in said
    assert not list(tmp_path.iterdir())


def test_the_demo_refuses_a_taken_port_before_anything_else(
    taken_port: str, tmp_path: Path
) -> None:
    said = sentence(demo(tmp_path / "demo.env", PORT=taken_port))
    assert f"Port {taken_port} is taken; choose another with PORT=…" in said
    assert not list(tmp_path.iterdir())


def test_the_demo_refuses_a_folder_that_it_cannot_write_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "Cannot write to" in sentence(demo(tmp_path / "file" / "demo.env"))


def test_the_demo_refuses_a_redis_that_does_not_answer(tmp_path: Path) -> None:
    said = sentence(demo(tmp_path / "demo.env", REDIS_URL=f"redis://127.0.0.1:{free_port()}/0"))
    assert "Redis does not answer" in said


def test_the_demo_refuses_a_silent_database_and_keeps_the_old_one(
    tmp_path: Path,
) -> None:
    env_file = tmp_path / "demo.env"
    key = "k" * 50
    before = f"CANDOR_SECRET_KEY={key}\nDATABASE_URL=sqlite:////somewhere/else\n"
    env_file.write_text(before)
    url = f"postgresql://candor:pass'word#1@127.0.0.1:{free_port()}/candor"
    said = sentence(demo(env_file, DATABASE_URL=url))
    assert "The database does not answer" in said
    assert "pass" not in said
    assert env_file.read_text() == before
