"""`manage.py serve`: runs the web server, a Celery worker and the beat on this machine.

It supervises three child processes. Each has its own session, so Ctrl-C only reaches the
supervisor, which then asks each child's main process to stop. A child that dies is restarted. If
the supervisor is killed, the kernel ends all children. With several machines, run the same three
programs under the init system instead: docs/operations.md.
"""

import contextlib
import errno
import fcntl
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import IO, Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.db import DatabaseError, connection
from django.utils.module_loading import import_string

from config import static
from config.processes import RUNNING, die_with, lock_file

HOST = "127.0.0.1"
CONNECTIONS = 1024  # per web process; more connections wait in the kernel
WEB_GRACE = 4  # seconds to finish current requests
GRACE = 8  # seconds for a child to stop before it is killed
LONGEST_PAUSE = 30  # seconds before restarting a child that keeps dying
SETTLED = 60  # seconds after which a child no longer counts as one that keeps dying
STARTS = 3  # attempts before giving up on the web server
TICK = 0.1


def check_port(host: str, port: int) -> None:
    if not 0 < port < 65536:
        raise CommandError(f"{port} is not a valid port; choose another with PORT=…")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CommandError(f"Port {port} is taken; choose another with PORT=…") from None
            raise CommandError(f"Cannot listen on {host}, port {port}: {error.strerror}.") from None


def answers(host: str, port: int) -> bool:
    """Return whether the web server sends an HTTP response, with any status."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
    web = http.client.HTTPConnection(everywhere.get(host, host), port, timeout=1)
    try:
        web.request("GET", "/healthz")
        return bool(web.getresponse().status)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        web.close()


class Child:
    """A program that should always be running."""

    def __init__(self, name: str, *command: str, quiet: bool = False) -> None:
        self.name = name
        self.command = [sys.executable, *command]
        self.quiet = quiet  # its standard output has only banners
        self.process: subprocess.Popen[bytes] | None = None
        self.failures = 0
        self.due = time.monotonic()

    def start(self) -> None:
        supervisor = os.getpid()
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            self.command,
            cwd=settings.BASE_DIR,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if self.quiet else None,
            start_new_session=True,
            preexec_fn=lambda: die_with(supervisor),
        )

    def watch(self) -> str:
        """Start the program if it is due; return a message if it has just died, otherwise ""."""
        if self.process is None:
            if time.monotonic() >= self.due:
                self.start()
            return ""
        status = self.process.poll()
        if status is None:
            return ""
        self.kill()
        settled = time.monotonic() - self.started > SETTLED
        self.failures = 1 if settled else self.failures + 1
        pause = min(2 ** (self.failures - 1), LONGEST_PAUSE)
        self.due = time.monotonic() + pause
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"The {self.name} ended ({how}) and starts again in {pause} s."

    def wait(self, deadline: float) -> None:
        if self.process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(max(0, deadline - time.monotonic()))
            self.kill()

    def kill(self) -> None:
        """Kill the program and its own children."""
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


class Command(BaseCommand):
    help = "Run the web server, a Celery worker and the beat until Ctrl-C."
    stealth_options = ("ready",)  # a function to call instead of say_ready

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=HOST, help="address to listen on (%(default)s)")
        parser.add_argument(
            "--port",
            type=int,
            default=os.environ.get("PORT", "8000"),
            help="port to listen on (the variable PORT, else 8000)",
        )
        parser.add_argument(
            "--workers", type=int, help="web processes (default 2; always 1 with SQLite)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        processes = self.web_processes(options["workers"])
        check_port(host, port)
        self.stopping = False
        stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, self.stop) for number in stops}
        children = self.children(host, port, processes)
        try:
            self.collect_static_files()
            self.running = self.lock_installation()
            ready = options.get("ready") or partial(self.say_ready, host, port)
            self.supervise(children, host, port, ready)
        finally:
            self.end(children)
            for number, handler in before.items():
                signal.signal(number, handler)

    def web_processes(self, asked: int | None) -> int:
        if connection.vendor == "sqlite" and asked not in (None, 1):
            raise CommandError("SQLite allows only one web process. Leave out --workers.")
        if asked is not None and asked < 1:
            raise CommandError("--workers must be at least 1.")
        return asked or (1 if connection.vendor == "sqlite" else 2)

    def children(self, host: str, port: int, processes: int) -> list[Child]:
        # In the demo, do not warn about running as root, which is usual in a container.
        quiet = ["-W", "ignore::UserWarning:celery.platforms"] if settings.DEMO else []
        celery = [*quiet, "-m", "celery", "--quiet", "--app", "config"]
        return [
            Child("web server", "-m", __name__, host, str(port), str(processes)),
            Child(
                "worker",
                *(*celery, "worker", "--concurrency", "2", "--loglevel", "WARNING"),
                *("--without-gossip", "--without-mingle", "--without-heartbeat"),
                quiet=True,
            ),
            # Not `worker --beat`, whose beat is orphaned when the worker is killed.
            Child("beat", *celery, "beat", "--loglevel", "WARNING", quiet=True),
        ]

    def stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def collect_static_files(self) -> None:
        try:
            settings.VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
            static.collect()
        except OSError as error:
            raise CommandError(f"Cannot write to {settings.VAR_DIR}: {error.strerror}.") from None

    def lock_installation(self) -> IO[bytes]:
        """Lock the installation against `manage.py restore` while the returned file is open."""
        try:
            return lock_file(settings.VAR_DIR / RUNNING, fcntl.LOCK_SH)
        except BlockingIOError:
            raise CommandError("A backup is being restored. Start again when it is done.") from None

    def supervise(
        self, children: list[Child], host: str, port: int, ready: Callable[[], None]
    ) -> None:
        web, answered = children[0], False
        while not self.stopping:
            # Start the others only once the web server answers, because people wait for that.
            for child in children if answered else [web]:
                if message := child.watch():
                    self.stderr.write(message)
            if not answered and answers(host, port):
                answered = True
                ready()
            if not answered and web.failures == STARTS:
                raise CommandError("The web server does not start. See its output above.")
            time.sleep(TICK)

    def say_ready(self, host: str, port: int) -> None:
        self.stdout.write(f"Candor is ready: {host}, port {port}. Ctrl-C stops it.")
        try:  # print the set-up code if there is no account yet
            call_command("setup_code", stdout=self.stdout)
        except (CommandError, DatabaseError):
            pass
        finally:
            connection.close()
        self.stdout.flush()

    def end(self, children: list[Child]) -> None:
        deadline = time.monotonic() + GRACE
        for child in children:
            if child.process:  # not its group, because it stops its own children
                child.process.terminate()
        for child in children:
            child.wait(deadline)


def web(host: str, port: int, processes: int) -> None:
    """Run the web server. It has no access log, so that nobody can see who answered and when."""
    from granian import Granian
    from granian.constants import Interfaces
    from granian.log import LogLevels

    main = os.getpid()

    def load(target: str) -> Any:
        """Load the application in each web process."""
        die_with(main)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # it can stop at once until it serves
        return import_string(target)

    Granian(
        "config.asgi.application",
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        workers=processes,
        backpressure=CONNECTIONS,
        websockets=False,
        log_access=False,
        log_level=LogLevels.error,
        respawn_failed_workers=True,
        workers_kill_timeout=WEB_GRACE,
    ).serve(target_loader=load)


if __name__ == "__main__":
    web(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
