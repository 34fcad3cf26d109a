"""Real servers for the tests: PostgreSQL, Redis, and a whole running installation of Candor.

Each listens on a free loopback port, keeps its data in a temporary folder, and dies with the
process that started it, even if that one is killed with -9. Nothing here uses or changes a server
that the machine runs anyway.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import pwd
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120  # far more than any server needs, to allow for a busy machine
STOP_SECONDS = 120
PORTS = range(20_000, 32_768)  # below those that Linux gives to outgoing connections
PR_SET_PDEATHSIG = 1
# Tests send many requests from one address; tests of the limits set their own.
UNLIMITED = {f"CANDOR_{what}_PER_MINUTE": "0" for what in ("INGEST", "API", "PUBLIC", "FAILURES")}
# Tests may open anything; tests of the checklist turn it on.
UNLIMITED |= {"CANDOR_MAX_EPSILON": "100", "CANDOR_CHECKLIST": "0"}
_libc = ctypes.CDLL(None, use_errno=True)
_claims: list[socket.socket] = []  # as long as this process lives


def free_port() -> int:
    """Reserve a port, even while its server is down.

    Test processes reserve it with a socket name, which disappears with them.
    """
    for port in PORTS:
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0candor-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        return port
    raise RuntimeError("no port is free")


def die_with_parent(number: signal.Signals) -> Callable[[], None]:
    """For preexec_fn: let the kernel send this signal when the parent ends."""

    def ask_the_kernel() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, number)

    return ask_the_kernel


def reachable_temporary() -> Path:
    """Return the temporary folder; for root, one that PostgreSQL's account can enter."""
    folder = Path(tempfile.gettempdir()).resolve()
    passable = all(path.stat().st_mode & 0o001 for path in (folder, *folder.parents))
    return folder if passable or os.geteuid() != 0 else Path("/tmp")  # noqa: S108


def wait_until(ready: Callable[[], bool], seconds: float, what: str, pause: float = 0.05) -> None:
    """Poll a condition. The limit is for what hangs, not for what is slow."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(pause)


def processes_with(name: str, value: str) -> list[int]:
    """Return the processes that were started with this environment variable."""
    entry = f"{name}={value}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if entry in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def kill_starter(program: str) -> tuple[str, list[int]]:
    """Run a program, kill it with -9 after its first line; return that line and its descendants."""
    starter = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout is not None
    line = starter.stdout.readline()
    started = list(descendants(starter.pid))
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    return line, started


def descendants(pid: int) -> dict[int, str]:
    """Return the living descendants of this process with their command lines."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(stat.parent.name)] = int(parent)
    below: dict[int, str] = {}
    fresh = {pid}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh}
        below.update((child, command_line(child)) for child in fresh)
    return below


def lives(pid: int) -> bool:
    """Return whether a process has anything left: memory, files, locks."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


class Server:
    """A server process with its own folder. Fault tests `kill` it and `start` it again."""

    def __init__(self, name: str, parent: Path | None = None) -> None:
        parent = parent or reachable_temporary()
        self.folder = Path(tempfile.mkdtemp(prefix=f"candor-{name}-", dir=parent))
        self.log = self.folder / "log"
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            self._remove()

    def start(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process, as in a crash."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self.process is None:
            return
        self.process.send_signal(number)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process = None

    def _remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder)

    def _await(self, ready: Callable[[], bool]) -> None:
        process = self.process
        assert process is not None

        def up_or_dead() -> bool:
            if process.poll() is not None:
                raise RuntimeError(f"{process.args!r} ended at once:\n{self.tail()}")
            return ready()

        try:
            wait_until(up_or_dead, START_SECONDS, f"{type(self).__name__} on port {self.port}")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.tail()}") from None

    def tail(self) -> str:
        """Return the end of the server's output, for error messages."""
        return self.log.read_text(errors="replace")[-4000:] if self.log.exists() else ""


class PostgreSQL(Server):
    """A separate PostgreSQL cluster, not durable by default, because most tests need no fsync."""

    def __init__(self, durable: bool = False, parent: Path | None = None) -> None:
        super().__init__("postgresql", parent)
        self.durable = durable
        self.data = self.folder / "data"
        self.password = secrets.token_urlsafe(16)
        # PostgreSQL refuses to run as root.
        self.account = _unprivileged() if os.geteuid() == 0 else None
        if self.account:
            os.chown(self.folder, self.account.pw_uid, self.account.pw_gid)

    @property
    def url(self) -> str:
        return f"postgresql://candor:{self.password}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        if not self.data.exists():
            self._initialise()
        settings = ["max_connections=60", "timezone=UTC", "unix_socket_directories="]
        if not self.durable:
            settings += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
        options = [word for setting in settings for word in ("-c", setting)]
        where = ["-D", str(self.data), "-h", "127.0.0.1", "-p", str(self.port)]
        with self.log.open("ab") as log:
            self.process = self._popen(
                [_postgresql_binary("postgres"), *where, *options], stdout=log, stderr=log
            )
        self._await(self._accepts)

    def stop(self) -> None:
        self._signal(signal.SIGQUIT)  # at once: the data is thrown away, or recovered on a start

    def kill(self) -> None:
        """Kill every process at once and wait, because a start refuses while one is ending."""
        if self.process is None:
            return
        # A stopped postmaster forks nothing, so this is the whole family.
        self.process.send_signal(signal.SIGSTOP)
        family = [self.process.pid, *descendants(self.process.pid)]
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(STOP_SECONDS)
        self.process = None
        wait_until(lambda: not any(map(lives, family)), STOP_SECONDS, "PostgreSQL's last process")

    def create_database(self) -> str:
        """Create an empty database; return its URL."""
        return create_database(self.url)

    def _initialise(self) -> None:
        password_file = self.folder / "password"
        password_file.write_text(self.password)
        password_file.chmod(0o600)
        if self.account:
            os.chown(password_file, self.account.pw_uid, self.account.pw_gid)
        with self.log.open("ab") as log:
            initdb = self._popen(
                [_postgresql_binary("initdb"), "-D", str(self.data), "--no-sync",
                 "--username=candor", "--auth=scram-sha-256", f"--pwfile={password_file}",
                 "--encoding=UTF8", "--locale=C.UTF-8"],
                stdout=log, stderr=log,
            )  # fmt: skip
        if initdb.wait(START_SECONDS) != 0:
            raise RuntimeError(f"initdb failed:\n{self.tail()}")

    def _popen(self, command: list[str], **streams: object) -> "subprocess.Popen[bytes]":
        # SIGQUIT ends the postmaster and all its children at once.
        return subprocess.Popen(
            command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent(signal.SIGQUIT),
            user=self.account.pw_uid if self.account else None,
            group=self.account.pw_gid if self.account else None,
            extra_groups=[] if self.account else None,
            **streams,
        )

    def _accepts(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


def create_database(server_url: str, like: str = "") -> str:
    """Create a database on a temporary PostgreSQL, empty or a copy; return its URL."""
    import psycopg

    name = f"candor_{secrets.token_hex(6)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        template = like.rpartition("/")[2] or "template1"
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return f"{server_url.rpartition('/')[0]}/{name}"


def postgresql_folder() -> Path | None:
    """Return the folder of the server's programs, which Debian keeps out of the PATH."""
    if found := shutil.which("postgres"):
        return Path(found).resolve().parent
    folders = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    return max(folders, key=lambda folder: float(folder.parent.name), default=None)


def _postgresql_binary(name: str) -> str:
    folder = postgresql_folder()
    if folder is None:
        raise FileNotFoundError("PostgreSQL is not installed")
    return str(folder / name)


def _unprivileged() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("PostgreSQL does not run as root, and there is no user postgres or nobody")


class Redis(Server):
    """Redis with an append-only file, so that it keeps its data when killed."""

    def __init__(self) -> None:
        super().__init__("redis")

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1",
                 "--dir", str(self.folder), "--save", "", "--appendonly", "yes"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                start_new_session=True, preexec_fn=die_with_parent(signal.SIGKILL),
            )  # fmt: skip
        self._await(self._answers)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False


class Manager:
    """Runs commands of manage.py in one environment, each in its own process.

    They are forks of one that has loaded everything and done nothing yet: a fresh start of Python
    and Django takes a second. The noise of simulated people is the same in each of them.
    """

    PROGRAM = """
import json, os, sys, traceback
from functools import partial
from random import Random
import django, manage
django.setup()
import config.urls
from survey import simulation
simulation.secure_draw = partial(Random(1).getrandbits, 32)
for line in sys.stdin:
    folder, *arguments = json.loads(line)
    if not (child := os.fork()):
        status = 1
        try:
            for number, name in enumerate(("stdin", "stdout", "stderr")):
                os.dup2(os.open(f"{folder}/{name}", os.O_RDWR | os.O_CREAT, 0o600), number)
            sys.stdin = open(0, closefd=False)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
            sys.argv = ["manage.py", *arguments]
            manage.main()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(bool(end.code))
            print(end, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.process: subprocess.Popen[str] | None = None

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        """Run a command; return its standard output."""
        with tempfile.TemporaryDirectory(prefix="candor-manage-") as name:
            folder = Path(name)
            (folder / "stdin").write_text(stdin or "")
            status = self._run(json.dumps([name, *arguments]))
            out, errors = ((folder / stream).read_text() for stream in ("stdout", "stderr"))
        shown = f"manage.py {' '.join(arguments)} ended with {status}:\n"
        assert status == 0, shown + out + errors
        return out

    def _run(self, line: str) -> int:
        if self.process is None or self.process.poll() is not None:
            self.end()
            self.process = subprocess.Popen(
                [sys.executable, "-c", self.PROGRAM],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
                env={**self.environment, "DJANGO_SETTINGS_MODULE": "config.settings"},
                start_new_session=True, preexec_fn=die_with_parent(signal.SIGKILL),
            )  # fmt: skip
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], 300)[0]:
            self.end()
            raise TimeoutError(f"{line}: not within 300 s")
        return int(self.process.stdout.readline())

    def end(self) -> None:
        if self.process is None:
            return
        assert self.process.stdin and self.process.stdout
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # with a command that hangs
        self.process.wait()
        self.process.stdout.close()
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process = None

    def __del__(self) -> None:
        self.end()


class Candor(Server):
    """A real installation: a migrated var folder and `manage.py serve` on a free port.

    On SQLite and the embedded broker, or on the servers whose URLs `environment` brings. Its folder
    is made in `parent`, where somebody else will remove it if it is not used as a context manager.
    """

    def __init__(self, parent: Path | None = None, **environment: str) -> None:
        super().__init__("installation", parent)
        self.url = f"http://127.0.0.1:{self.port}"
        self.var = self.folder / "var"
        self.env = {
            **clean_environment(),
            "CANDOR_SECRET_KEY": secrets.token_urlsafe(48),
            "CANDOR_DEMO": "1",
            "CANDOR_HOSTS": "127.0.0.1,localhost",
            "CANDOR_VAR": str(self.var),
            **UNLIMITED,
            **environment,
        }
        self.manage = Manager(self.env)
        self.has_demo = False

    def start(self) -> None:
        if not self.var.exists():
            self.var.mkdir()
            self.migrate()
            self.collect()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--port", str(self.port)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=ROOT, env=self.env,
                start_new_session=True, preexec_fn=die_with_parent(signal.SIGTERM),
            )  # fmt: skip
        self._await(self._healthy)

    def stop(self) -> None:
        """Stop cleanly: the status is 0 and no process is left."""
        process = self.process
        if process is None:
            return
        super().stop()
        assert process.returncode == 0, f"serve ended with {process.returncode}:\n{self.tail()}"
        assert not (left := self._end_what_is_left()), f"serve left processes behind: {left}"

    def kill(self) -> None:
        super().kill()
        wait_until(lambda: not self.processes(), STOP_SECONDS, "the children of a killed serve")

    def migrate(self) -> None:
        """Migrate; on SQLite, copy a database that is migrated once per test run."""
        run = os.environ.get("CANDOR_TEST_RUN")
        if not run or "DATABASE_URL" in self.env:
            self.manage("migrate", "--verbosity=0")
            return
        made = Path(tempfile.gettempdir()) / f"candor-migrated-{run}"
        with made.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists():
                self.manage("migrate", "--verbosity=0")
                part = shutil.copytree(self.var, made.with_suffix(".part"), dirs_exist_ok=True)
                part.rename(made)
                return
        shutil.copytree(made, self.var, dirs_exist_ok=True)

    def collect(self) -> None:
        """Copy the static files that the test run collected at the beginning."""
        if not os.environ.get("CANDOR_TEST_RUN"):
            self.manage("collectstatic", "--no-input", "--verbosity=0")
            return
        made = Path(os.environ["CANDOR_VAR"])
        shutil.copytree(made / "static", self.var / "static")
        shutil.copy(made / "static.collected", self.var)

    def open_survey(self, survey: dict[str, Any]) -> str:
        """Import and open a survey; return the address where people answer."""
        self.manage("import_survey", "-", "--open", stdin=json.dumps(survey))
        return f"{self.url}/s/{survey['slug']}/"

    def load_demo(self) -> None:
        """Load the demo once."""
        if not self.has_demo:
            self.manage("load_demo")
        self.has_demo = True

    def processes(self) -> list[int]:
        """Return all processes of this installation: web, worker, beat and their children."""
        manager = self.manage.process
        found = processes_with("CANDOR_VAR", str(self.var))
        return [pid for pid in found if not manager or pid != manager.pid]

    def _remove(self) -> None:
        self.manage.end()
        super()._remove()

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def _end_what_is_left(self) -> list[str]:
        with contextlib.suppress(TimeoutError):
            wait_until(lambda: not self.processes(), STOP_SECONDS, "")
        left = self.processes()
        shown = [command_line(pid) for pid in left]
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return shown


def clean_environment(base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment without settings of Candor or databases."""
    foreign = ("CANDOR_", "DJANGO_", "PG", "POSTGRES", "REDIS_", "DATABASE_URL")
    kept = {name: value for name, value in base.items() if not name.startswith(foreign)}
    if run := base.get("CANDOR_TEST_RUN"):
        kept["CANDOR_TEST_RUN"] = run
    return kept


@contextlib.contextmanager
def production() -> Iterator[dict[str, str]]:
    """Return the environment of an installation on temporary PostgreSQL and Redis servers.

    A new database on the runner's PostgreSQL, and a Redis that nobody else uses.
    """
    with Redis() as redis:
        database = create_database(os.environ["CANDOR_TEST_POSTGRESQL"])
        yield {"DATABASE_URL": database, "REDIS_URL": redis.url}
