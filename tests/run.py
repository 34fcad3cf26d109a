"""The test run: `python -m tests.run [--coverage] [phase or group …] [-- pytest arguments]`.

The group `basic` is `make test`; with `rest` it is `make test-all`; no test is in both. Starts the
servers that the chosen phases need, goes on after a failing phase, and checks after each that no
process is left. Phases that mostly wait, or keep one core busy, are a run of their own beside the
others. The last line counts the tests of pytest and of Node together; anything else that fails (a
linter, a crash, a process left behind) counts as one more failure. With --coverage, tables
before it say how much of every file ran.
"""

import contextlib
import ctypes
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Self

from tests.support import coverage_tables, packages
from tests.support.outcomes import Outcome, read_junit, read_summary, read_tap
from tests.support.services import (
    ROOT,
    STOP_SECONDS,
    UNLIMITED,
    PostgreSQL,
    Redis,
    clean_environment,
    descendants,
    die_with_parent,
    reachable_temporary,
    wait_until,
)

COVERAGE, ONE_BY_ONE = "--coverage", "--one-by-one"  # options; the latter runs nothing beside
PHASE_SECONDS = 3600  # longer means that a phase hangs
PR_SET_CHILD_SUBREAPER = 36
PYTHON = sys.executable
TWO = ("-n", "2", "--dist=loadgroup")  # processes; tests of one xdist_group share one
THREE = ("-n", "3", "--dist=loadgroup")


class Run:
    """One test run: its temporary folder, its environment, its servers."""

    def __init__(self, folder: Path, pytest_arguments: list[str], coverage: bool = False) -> None:
        self.folder = folder
        self.coverage = folder / "coverage" if coverage else None
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
            # Browsers and killed tests leave files here.
            "TMPDIR": str(temporary),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        # Some hundred processes load the same modules, and pytest rewrites those of the tests.
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if self.coverage:
            self.coverage.mkdir()
            self.environment["CANDOR_TEST_COVERAGE"] = str(self.coverage)
            self.environment["COVERAGE_FILE"] = str(self.coverage / "python")
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
        """Return the processes that may continue after a phase, with their children."""
        running = [one.process for one in (self.postgresql, self.redis, self.beside) if one]
        return [process.pid for process in running if process]

    def command(self, command: list[str], **environment: str) -> int:
        """Run a program; on Ctrl-C, let it clean up first."""
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
        measured = ["coverage", "run", "-m"] if self.coverage else []
        code = self.command(
            [PYTHON, "-m", *measured, "pytest", "-q", "-m", possible(markers), f"--phase={phase}",
             f"--junitxml={results}", f"--output={self.folder / 'results'}",
             *arguments, *self.pytest_arguments],
            **environment,
        )  # fmt: skip
        return read_junit(results, code, may_be_empty=bool(self.pytest_arguments))


class Beside:
    """Phases that run in parallel as a separate test run with its own servers."""

    def __init__(self, names: list[str], run: Run) -> None:
        self.names = names
        self.output = run.folder / "beside.txt"
        self.arguments = run.pytest_arguments
        self.began = time.monotonic()

    def __enter__(self) -> Self:
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [PYTHON, "-m", "tests.run", ONE_BY_ONE, *self.names, "--", *self.arguments],
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
        """Wait until it ends, print its output and return its outcome."""
        code = self.process.wait(PHASE_SECONDS)
        text = self.output.read_text()
        print(text)
        return read_summary(text, code)


# --- The phases -----------------------------------------------------------------------------------


def lint(run: Run) -> Outcome:
    outcome = Outcome()
    commands = [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]]
    commands = [[PYTHON, "-m", *command] for command in commands]
    commands.append([str(Path(PYTHON).with_name("lint-imports")), "--no-cache"])
    if packages.NEEDS["npm"].here():
        outcome.problems += install_npm_packages(run)
        tsc, biome = "node_modules/.bin/tsc", "node_modules/.bin/biome"
        commands += [[tsc], [tsc, "-p", "tests"], [biome, "lint", "--error-on-warnings"]]
    for command in commands if not outcome.problems else commands[:4]:
        if run.command(command) != 0:
            name = " ".join(command).removeprefix(f"{PYTHON} -m ")
            outcome.problems.append(f"{name} failed")
    return outcome


def install_npm_packages(run: Run) -> list[str]:
    """Install what package.json pins, unless it is there; return what went wrong."""
    failed = run.command(["make", "--silent", "MAKEFLAGS=", "node_modules/.installed"])
    return ["the packages of npm could not be installed"] if failed else []


def node(run: Run) -> Outcome:
    if problems := install_npm_packages(run):
        return Outcome(problems=problems)
    tap = run.folder / "node.tap"
    # By name, because a folder as an argument means something else to every version of Node.
    files = sorted(str(path) for path in (ROOT / "tests/js").rglob("*test.*js"))
    reporters = ["spec", "stdout", "tap", str(tap)]
    flags = [f"--test-reporter{kind}={value}"
             for kind, value in zip(["", "-destination"] * 2, reporters, strict=True)]  # fmt: skip
    measured = {"NODE_V8_COVERAGE": str(run.coverage)} if run.coverage else {}
    code = run.command(["node", "--test", *flags, *files], **measured)
    return read_tap(tap.read_text() if tap.exists() else "", code)


# Marks that decide where a test runs; pyproject.toml says what each means.
APART = "browser or faults or measured"
ONLY_POSTGRESQL = "postgresql or redis or on_postgresql"
NOT_TWICE = "slow or once or sqlite"


def sqlite(run: Run) -> Outcome:
    return run.pytest("sqlite", f"not ({APART} or slow or postgresql or redis)", *TWO)


def slow(run: Run) -> Outcome:
    return run.pytest("slow", f"slow and not ({APART})", *TWO)


def postgresql(run: Run) -> Outcome:
    return on_postgresql(run, "postgresql", ONLY_POSTGRESQL)


def postgresql_rest(run: Run) -> Outcome:
    return on_postgresql(
        run, "postgresql-rest", f"not ({ONLY_POSTGRESQL} or {APART} or {NOT_TWICE})"
    )


def on_postgresql(run: Run, phase: str, markers: str) -> Outcome:
    assert run.postgresql is not None
    markers = f"({markers}) and not ({APART} or {NOT_TWICE})"
    return run.pytest(phase, markers, *TWO, DATABASE_URL=run.postgresql.create_database())


def smoke(run: Run) -> Outcome:
    """Run one path through a browser and one kill, one after the other."""
    return run.pytest("smoke", "smoke", **IN_BROWSER)


def faults(run: Run) -> Outcome:
    """Run one at a time, because these kill processes."""
    return run.pytest("faults", "faults and not (browser or measured or smoke)")


def browser(run: Run) -> Outcome:
    return run.pytest("browser", "browser and not measured and not smoke", *THREE, **IN_BROWSER)


def measured(run: Run) -> Outcome:
    """Run one at a time, because these measure time."""
    return run.pytest("measured", "measured", **IN_BROWSER)


# Playwright's loop runs in the test's own thread, where Django would refuse its database.
IN_BROWSER = {"DJANGO_ALLOW_ASYNC_UNSAFE": "true"}


def possible(markers: str) -> str:
    """Return these marks without those of tests that need what is missing."""
    missing = [need.mark for need in packages.missing() if need.mark]
    return " and ".join([f"({markers})", *(f"not {mark}" for mark in missing)])


@dataclass(frozen=True)
class Phase:
    run: Callable[[Run], Outcome]
    needs: str = ""  # without it the phase is left out
    servers: bool = True  # wants static files, PostgreSQL, Redis
    beside: bool = False  # in parallel with others


GROUPS = {
    "basic": {
        "sqlite": Phase(sqlite),
        "postgresql": Phase(postgresql, "PostgreSQL"),
        "lint": Phase(lint, servers=False, beside=True),
        "node": Phase(node, "npm", servers=False, beside=True),
        "smoke": Phase(smoke, "Chromium", beside=True),
    },
    "rest": {
        "slow": Phase(slow),
        "postgresql-rest": Phase(postgresql_rest, "PostgreSQL"),
        "browser": Phase(browser, "Chromium"),
        "faults": Phase(faults, beside=True),
        "measured": Phase(measured, "Chromium"),  # last, when nothing else runs
    },
}
PHASES = {name: phase for group in GROUPS.values() for name, phase in group.items()}


# --- The run --------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    arguments, pytest_arguments = split_arguments(arguments)
    options = {word for word in arguments if word.startswith("--")}
    names, unknown = chosen_phases([word for word in arguments if word not in options])
    if unknown := [*unknown, *sorted(options - {COVERAGE, ONE_BY_ONE})]:
        known = ", ".join([*GROUPS, *PHASES])
        print(f"No such phase: {', '.join(unknown)}. There are: {known}.")
        return 2
    adopt_orphans()
    signal.signal(signal.SIGTERM, interrupt)
    absent = look_for_packages(names)
    outcomes: dict[str, Outcome] = {}
    try:
        with temporary_folder() as folder, contextlib.ExitStack() as stack:
            run = Run(folder, pytest_arguments, COVERAGE in options)
            beside = [name for name in names if PHASES[name].beside]
            if beside and beside != names and not options:
                run.beside = stack.enter_context(Beside(beside, run))
            run_phases(run, names, stack, outcomes)
            if run.coverage:
                heading("coverage")
                coverage_tables.print_tables(run.coverage, run.var / "static")
    except KeyboardInterrupt:
        outcomes["the run"] = Outcome(problems=["interrupted"])
    if left := end_what_is_left([]):
        outcomes["the end"] = Outcome(problems=left)
    return summarise(outcomes, absent)


def split_arguments(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return what comes before two hyphens, and what comes after them, which is for pytest."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:cut], arguments[cut + 1 :]


def chosen_phases(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the phases that are named, alone or as a group, in order; and words that name none."""
    wanted = {name for word in words or GROUPS for name in GROUPS.get(word, [word])}
    return [name for name in PHASES if name in wanted], sorted(wanted - set(PHASES))


def adopt_orphans() -> None:
    """Adopt processes that children leave behind, so that they can be found."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a temporary folder that PostgreSQL's account can enter."""
    folder = Path(tempfile.mkdtemp(prefix="candor-test-", dir=reachable_temporary()))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def look_for_packages(names: list[str]) -> list[packages.Need]:
    """Install what the chosen phases need, if possible; return what is still missing."""
    wanted = {PHASES[name].needs for name in names}
    wanted |= {one.name for one in packages.NEEDS.values() if set(one.phases.split()) & set(names)}
    return packages.provide(wanted)


def run_phases(
    run: Run, names: list[str], stack: contextlib.ExitStack, outcomes: dict[str, Outcome]
) -> None:
    ready = False
    for name in names:
        phase = PHASES[name]
        if run.beside and phase.beside:
            continue
        if phase.needs and not packages.NEEDS[phase.needs].here():
            continue
        if name == "measured":
            join_beside(run, outcomes)
        if phase.servers and not ready:
            prepare(run, stack, outcomes)
            ready = True
        heading(name)
        carry_out(name, lambda: phase.run(run), run, outcomes)  # noqa: B023
    join_beside(run, outcomes)


def join_beside(run: Run, outcomes: dict[str, Outcome]) -> None:
    if run.beside:
        beside, run.beside = run.beside, None
        carry_out(", ".join(beside.names), beside.join, run, outcomes, beside.began)


def carry_out(
    name: str,
    step: Callable[[], Outcome],
    run: Run,
    outcomes: dict[str, Outcome],
    began: float | None = None,
) -> None:
    began = began or time.monotonic()
    try:
        outcome = step()
    except subprocess.TimeoutExpired:
        outcome = Outcome(problems=[f"took more than {PHASE_SECONDS} s"])
    outcome.problems += end_what_is_left(run.spared())
    outcome.seconds = time.monotonic() - began
    outcomes[name] = outcome
    print(f"{name}: {outcome} in {outcome.seconds:.0f} s", flush=True)


def prepare(run: Run, stack: contextlib.ExitStack, outcomes: dict[str, Outcome]) -> None:
    """Start the servers and collect the static files."""
    heading("preparation")
    started = time.monotonic()
    run.start_servers(stack)
    program = "import django; django.setup(); from config import static; static.collect()"
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings"}
    if run.command([PYTHON, "-c", program], **settings) != 0:
        outcomes["preparation"] = Outcome(problems=["collectstatic failed"])
    print(f"preparation: {time.monotonic() - started:.0f} s", flush=True)


def end_what_is_left(spared: list[int]) -> list[str]:
    """Kill and return the processes that are still running, except those in `spared`."""

    def strays() -> dict[int, str]:
        alive = {pid for one in spared for pid in (one, *descendants(one))}
        below = descendants(os.getpid())
        return {pid: command for pid, command in below.items() if pid not in alive}

    with contextlib.suppress(TimeoutError):
        wait_until(lambda: not strays(), STOP_SECONDS, "")
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
