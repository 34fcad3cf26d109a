"""What the tests need from the operating system: found, installed by root, or loudly left out."""

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.services import postgresql_folder

POLICY = Path("/usr/sbin/policy-rc.d")


@dataclass(frozen=True)
class Need:
    name: str
    package: str  # Debian's
    left_out: str  # what cannot be tested without it
    here: Callable[[], bool]


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


def compiler() -> str | None:
    """Any C compiler; the smallest will do."""
    return shutil.which("cc") or shutil.which("tcc")


NEEDS = {
    need.name: need
    for need in (
        Need("Chromium", "chromium", "all browser tests", lambda: bool(chromium())),
        Need("Firefox", "firefox-esr", "the browser tests in Firefox", lambda: bool(firefox())),
        Need(
            "PostgreSQL",
            "postgresql",
            "the run of the Python tests on PostgreSQL, and the fault tests that need it",
            lambda: bool(postgresql_folder()),
        ),
        Need(
            "Redis",
            "redis-server",
            "the tests on Redis, faults included",
            lambda: bool(shutil.which("redis-server")),
        ),
        Need(
            "Node.js",
            "nodejs",
            "the Node tests of the randomizer, and its statistical tests",
            lambda: bool(shutil.which("node")),
        ),
        Need("C compiler", "tcc", "the fault tests with wrong clocks", lambda: bool(compiler())),
    )
}


def install(needs: list[Need]) -> None:
    """Install Debian's packages for these; whoever calls looks afterwards what is still missing."""
    packages = [need.package for need in needs]
    print(f"Installing from Debian's packages: {', '.join(packages)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-qq", "--yes", "--no-install-recommends", *packages]
    with no_service_starts():
        for command in (["apt-get", "update", "-qq"], install):
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                print(done.stdout[-2000:])
                print(f"`{' '.join(command)}` failed.", flush=True)


def can_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


@contextlib.contextmanager
def no_service_starts() -> Iterator[None]:
    """Debian's packages ask this file whether they may start what they bring: no."""
    if POLICY.exists():  # the machine has a policy of its own
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
    try:
        yield
    finally:
        POLICY.unlink(missing_ok=True)


def missing() -> list[Need]:
    return [need for need in NEEDS.values() if not need.here()]


def say_what_is_left_out(needs: list[Need]) -> None:
    for need in needs:
        print(f"!!! {need.name} IS MISSING. LEFT OUT: {need.left_out}.", flush=True)
    if needs:
        packages = " ".join(need.package for need in needs)
        print(f"!!! On Debian: apt-get install --no-install-recommends {packages}", flush=True)
