"""The whole test run: `python -m tests.run [phase …] [-- pytest arguments]`.

Phases: lint, node, sqlite, postgresql, browser, faults, measured; all unless some are named. Starts
the servers that the chosen phases need, goes on after a failing phase, and checks after each that
no process is left. The fault tests, which mostly wait, are a run of their own beside the others.
The last line counts the tests of pytest and of Node together; what fails besides them (a linter, a
crash, a process left behind) counts as one more failure each.
"""

import contextlib
import ctypes
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Self

from tests import packages
from tests.services import (
    ROOT,
    UNLIMITED,
    PostgreSQL,
    Redis,
    clean_environment,
    descendants,
    die_with_parent,
    reachable_temporary,
    wait_until,
)

PHASE_SECONDS = 1800  # a phase that takes longer hangs
PR_SET_CHILD_SUBREAPER = 36
PYTHON = sys.executable
TWO = ("-n", "2", "--dist=loadgroup")  # processes; tests of one xdist_group share one
THREE = ("-n", "3", "--dist=loadgroup")


@dataclass
class Outcome:
    """What a phase came to."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    problems: list[str] = field(default_factory=list)
    seconds: float = 0

    @property
    def failures(self) -> int:
        return self.failed + len(self.problems)

    def __str__(self) -> str:
        counts = [f"{self.passed} passed"] if self.passed else []
        counts += [f"{self.failed} failed"] if self.failed else []
        counts += [f"{self.skipped} skipped"] if self.skipped else []
        return ", ".join(counts + self.problems) or "passed"


class Run:
    """One test run: its temporary folder, its environment, its servers."""

    def __init__(self, folder: Path, pytest_arguments: list[str]) -> None:
        self.folder = folder
        self.pytest_arguments = pytest_arguments
        self.var = folder / "var"
        self.var.mkdir()
        temporary = folder / "tmp"
        temporary.mkdir()
        temporary.chmod(0o711)
        self.environment = {
            **clean_environment(),
            "CANDOR_TEST_RUN": str(uuid.uuid4()),
            "CANDOR_SECRET_KEY": secrets.token_urlsafe(48),
            "CANDOR_HOSTS": "127.0.0.1,localhost,testserver",
            "CANDOR_DEMO": "1",
            "CANDOR_VAR": str(self.var),
            **UNLIMITED,
            "OPENBLAS_NUM_THREADS": "1",  # there are as many processes as cores already
            # Where browsers, and tests that are killed, leave things lying.
            "TMPDIR": str(temporary),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        # Some hundred processes load the same modules, and pytest rewrites those of the tests.
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.postgresql: PostgreSQL | None = None
        self.redis: Redis | None = None
        self.beside: Beside | None = None

    def start_servers(self, stack: contextlib.ExitStack) -> None:
        if packages.NEEDS["PostgreSQL"].here():
            self.postgresql = stack.enter_context(PostgreSQL())
            self.environment["CANDOR_TEST_POSTGRESQL"] = self.postgresql.url
        if packages.NEEDS["Redis"].here():
            self.redis = stack.enter_context(Redis())
            self.environment["CANDOR_TEST_REDIS"] = self.redis.url

    def spared(self) -> list[int]:
        """What may go on after a phase, with all that is below it."""
        running = [one.process for one in (self.postgresql, self.redis, self.beside) if one]
        return [process.pid for process in running if process]

    def command(self, command: list[str], **environment: str) -> int:
        """Run one program to its end; on Ctrl-C, let it clean up first."""
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            # Its own session, so that Ctrl-C reaches it once, from here, and not twice.
            start_new_session=True,
            preexec_fn=die_with_parent(signal.SIGTERM),
        )
        try:
            return process.wait(PHASE_SECONDS)
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(60)
            raise
        finally:
            process.kill()
            process.wait()

    def pytest(self, phase: str, markers: str, *arguments: str, **environment: str) -> Outcome:
        results = self.folder / f"{phase}.xml"
        code = self.command(
            [PYTHON, "-m", "pytest", "-q", "-m", markers, f"--phase={phase}",
             f"--junitxml={results}", f"--output={self.folder / 'results'}",
             *arguments, *self.pytest_arguments],
            **environment,
        )  # fmt: skip
        return read_junit(results, code, may_be_empty=bool(self.pytest_arguments))


def read_junit(results: Path, code: int, may_be_empty: bool) -> Outcome:
    """What pytest's result file and exit status say together."""
    outcome = Outcome()
    if results.exists():
        for suite in ET.parse(results).getroot().iter("testsuite"):
            count = {
                key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")
            }
            outcome.failed += count["failures"] + count["errors"]
            outcome.skipped += count["skipped"]
            outcome.passed += count["tests"]
        outcome.passed -= outcome.failed + outcome.skipped
    nothing = code == 5
    if nothing and not may_be_empty:
        outcome.problems.append("no tests found")
    elif code != 0 and not nothing and not outcome.failed:
        outcome.problems.append(f"pytest ended with {code}")
    return outcome


def read_tap(text: str, code: int) -> Outcome:
    """What Node's summary and exit status say together."""
    counts = {name: int(number) for name, number in re.findall(r"^# (\w+) (\d+)$", text, re.M)}
    outcome = Outcome(
        passed=counts.get("pass", 0),
        failed=counts.get("fail", 0) + counts.get("cancelled", 0),
        skipped=counts.get("skipped", 0) + counts.get("todo", 0),
    )
    if not counts.get("tests"):
        outcome.problems.append("no tests found")
    elif code != 0 and not outcome.failed:
        outcome.problems.append(f"node ended with {code}")
    return outcome


class Beside:
    """A phase as a test run of its own, with servers of its own, while others go on."""

    def __init__(self, phase: str, run: Run) -> None:
        self.phase = phase
        self.output = run.folder / f"{phase}.txt"
        self.arguments = run.pytest_arguments

    def __enter__(self) -> Self:
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [PYTHON, "-m", "tests.run", self.phase, "--", *self.arguments],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGTERM),
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(60)

    def join(self) -> Outcome:
        """Wait for it; what it printed, and what it came to."""
        code = self.process.wait(PHASE_SECONDS)
        text = self.output.read_text()
        print(text)
        return read_summary(text, code)


def read_summary(text: str, code: int) -> Outcome:
    """What the last line of a test run and its exit status say together."""
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    for number, name in re.findall(r"(\d+) (passed|failed|skipped)", text.rpartition("\n=== ")[2]):
        counts[name] = int(number)  # the last line is the last to speak
    outcome = Outcome(**counts)
    if code != 0 and not outcome.failed:
        outcome.problems.append(f"the run ended with {code}")
    return outcome


# --- The phases -----------------------------------------------------------------------------------


def lint(run: Run) -> Outcome:
    outcome = Outcome()
    for command in (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]):
        if run.command([PYTHON, "-m", *command]) != 0:
            outcome.problems.append(f"{' '.join(command)} failed")
    return outcome


def node(run: Run) -> Outcome:
    tap = run.folder / "node.tap"
    # By name, because a folder as an argument means something else to every version of Node.
    files = sorted(str(path) for path in (ROOT / "tests/js").rglob("*test.*js"))
    reporters = ["spec", "stdout", "tap", str(tap)]
    flags = [f"--test-reporter{kind}={value}"
             for kind, value in zip(["", "-destination"] * 2, reporters, strict=True)]  # fmt: skip
    code = run.command(["node", "--test", *flags, *files])
    return read_tap(tap.read_text() if tap.exists() else "", code)


def sqlite(run: Run) -> Outcome:
    markers = possible(
        "not browser and not postgresql and not redis and not faults and not measured"
    )
    return run.pytest("sqlite", markers, *TWO)


def postgresql(run: Run) -> Outcome:
    assert run.postgresql is not None
    markers = possible("not browser and not faults and not slow and not measured")
    database = run.postgresql.create_database()
    return run.pytest("postgresql", markers, *TWO, DATABASE_URL=database)


def faults(run: Run) -> Outcome:
    """One at a time: these kill processes and watch the clock."""
    return run.pytest("faults", possible("faults and not browser"))


def browser(run: Run) -> Outcome:
    # Playwright's loop runs in the test's own thread, where Django would refuse its database.
    markers = possible("browser and not measured")
    return run.pytest("browser", markers, *THREE, DJANGO_ALLOW_ASYNC_UNSAFE="true")


def measured(run: Run) -> Outcome:
    """One at a time: these look at the clock of a browser."""
    return run.pytest("measured", possible("measured"), DJANGO_ALLOW_ASYNC_UNSAFE="true")


def possible(markers: str) -> str:
    """The tests so marked, without those that need what is missing."""
    marks = {
        "PostgreSQL": "postgresql", "Redis": "redis", "Node.js": "node", "Firefox": "firefox",
        "C compiler": "compiler",
    }  # fmt: skip
    missing = [marks[need.name] for need in packages.missing() if need.name in marks]
    return " and ".join([markers, *(f"not {mark}" for mark in missing)])


@dataclass(frozen=True)
class Phase:
    run: Callable[[Run], Outcome]
    needs: str = ""  # without it the phase is left out
    also: str = ""  # without it some of its tests are left out
    servers: bool = True  # wants static files, PostgreSQL, Redis


PHASES = {
    "lint": Phase(lint, servers=False),
    "node": Phase(node, "Node.js", servers=False),
    "sqlite": Phase(sqlite),
    "postgresql": Phase(postgresql, "PostgreSQL"),
    "browser": Phase(browser, "Chromium", also="Firefox"),
    "faults": Phase(faults, also="C compiler"),
    "measured": Phase(measured, "Chromium"),
}


# --- The run --------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    names, pytest_arguments = split_arguments(arguments)
    if unknown := set(names) - set(PHASES):
        print(f"No such phase: {', '.join(sorted(unknown))}. There are: {', '.join(PHASES)}.")
        return 2
    adopt_orphans()
    signal.signal(signal.SIGTERM, interrupt)
    absent = look_for_packages(names)
    outcomes: dict[str, Outcome] = {}
    try:
        with temporary_folder() as folder, contextlib.ExitStack() as stack:
            run = Run(folder, pytest_arguments)
            chosen = [name for name in PHASES if name in names]
            if "faults" in chosen and len(chosen) > 1:
                run.beside = stack.enter_context(Beside("faults", run))
            run_phases(run, chosen, stack, outcomes)
    except KeyboardInterrupt:
        outcomes["the run"] = Outcome(problems=["interrupted"])
    if left := end_what_is_left([]):
        outcomes["the end"] = Outcome(problems=left)
    return summarise(outcomes, absent)


def split_arguments(arguments: list[str]) -> tuple[list[str], list[str]]:
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:cut] or list(PHASES), arguments[cut + 1 :]


def adopt_orphans() -> None:
    """Whatever our children leave behind becomes our child, so that it can be found."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Open to pass through, for the account that PostgreSQL runs as."""
    folder = Path(tempfile.mkdtemp(prefix="candor-test-", dir=reachable_temporary()))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def look_for_packages(names: list[str]) -> list[packages.Need]:
    """Installs what the chosen phases miss, when that is possible; what is missing still."""
    wanted = {need for name in names for need in (PHASES[name].needs, PHASES[name].also)}
    if any(PHASES[name].servers for name in names):
        wanted |= {"PostgreSQL", "Redis"}
    absent = [need for need in packages.missing() if need.name in wanted]
    if absent and packages.can_install():
        packages.install(absent)
        absent = [need for need in absent if not need.here()]
    packages.say_what_is_left_out(absent)
    return absent


def run_phases(
    run: Run, names: list[str], stack: contextlib.ExitStack, outcomes: dict[str, Outcome]
) -> None:
    ready = False
    for name in names:
        phase = PHASES[name]
        if phase.needs and not packages.NEEDS[phase.needs].here():
            continue
        if phase.servers and not ready:
            prepare(run, stack, outcomes)
            ready = True
        heading(name)
        started = time.monotonic()
        try:
            outcome = run.beside.join() if run.beside and name == "faults" else phase.run(run)
        except subprocess.TimeoutExpired:
            outcome = Outcome(problems=[f"took more than {PHASE_SECONDS} s"])
        outcome.problems += end_what_is_left(run.spared())
        outcome.seconds = time.monotonic() - started
        outcomes[name] = outcome
        print(f"{name}: {outcome} in {outcome.seconds:.0f} s", flush=True)


def prepare(run: Run, stack: contextlib.ExitStack, outcomes: dict[str, Outcome]) -> None:
    """The servers, and the static files under their content-hashed names."""
    heading("preparation")
    started = time.monotonic()
    run.start_servers(stack)
    program = "import django; django.setup(); from config import static; static.collect()"
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings"}
    if run.command([PYTHON, "-c", program], **settings) != 0:
        outcomes["preparation"] = Outcome(problems=["collectstatic failed"])
    print(f"preparation: {time.monotonic() - started:.0f} s", flush=True)


def end_what_is_left(spared: list[int]) -> list[str]:
    """What runs below us besides what is spared, after a moment's grace; it is killed."""

    def strays() -> dict[int, str]:
        alive = {pid for one in spared for pid in (one, *descendants(one))}
        below = descendants(os.getpid())
        return {pid: command for pid, command in below.items() if pid not in alive}

    with contextlib.suppress(TimeoutError):
        wait_until(lambda: not strays(), 5, "")
    left = strays()
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return [f"LEFT BEHIND and killed: process {pid} `{command}`" for pid, command in left.items()]


def heading(text: str) -> None:
    print(f"\n=== {text} {'=' * (94 - len(text))}", flush=True)


def summarise(outcomes: dict[str, Outcome], absent: list[packages.Need]) -> int:
    heading("summary")
    for name, outcome in outcomes.items():
        print(f"{name:12} {outcome.seconds:5.0f} s  {outcome}")
    packages.say_what_is_left_out(absent)
    passed = sum(outcome.passed for outcome in outcomes.values())
    failed = sum(outcome.failures for outcome in outcomes.values())
    skipped = sum(outcome.skipped for outcome in outcomes.values())
    tail = f", {skipped} skipped" if skipped else ""
    print(f"{passed} passed, {failed} failed{tail}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
