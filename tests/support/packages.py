"""The system packages that tests need: found, installed by root, or reported as missing.

`python -m tests.support.packages NAME …` provides some of it for `make bench`.
"""

import contextlib
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.services import postgresql_folder

POLICY = Path("/usr/sbin/policy-rc.d")


@dataclass(frozen=True)
class Need:
    name: str
    package: str  # Debian's; empty where no package can help
    left_out: str  # what cannot be tested or measured without it
    here: Callable[[], object]  # truthy if it is installed
    mark: str = ""  # pytest's, on the tests that need it
    phases: str = ""  # in tests/run.py that run without it, but not all of their tests


def program(*names: str) -> Callable[[], str | None]:
    """Return a function that finds the first of these programs."""
    return lambda: next((found for name in names if (found := shutil.which(name))), None)


chromium = program("chromium", "chromium-browser")
compiler = program("cc", "tcc")  # any C compiler; the smallest will do
firefox = program("firefox-esr", "firefox")
nginx = program("nginx", "/usr/sbin/nginx")  # often only in root's PATH
webkit_driver = program("WebKitWebDriver")


def minibrowser() -> Path | None:
    """Return WebKitGTK's own browser, which is in a folder of the architecture and the version."""
    return max(Path("/usr/lib").glob("*/webkit*gtk-*/MiniBrowser"), default=None)


def may_mount() -> bool:
    tried = "unshare --mount mount -t tmpfs tmpfs /mnt"  # visible to nobody else
    done = subprocess.run(tried, shell=True, capture_output=True, check=False)  # noqa: S602
    return os.geteuid() == 0 and done.returncode == 0


NEEDS = {
    need.name: need
    for need in (
        Need("Chromium", "chromium", "all browser tests", chromium),
        Need("Firefox", "firefox-esr", "the browser tests in Firefox", firefox, "firefox",
             "browser"),
        Need("WebKit", "webkit2gtk-driver", "the browser tests in WebKit",
             lambda: webkit_driver() and minibrowser(), "webkit", "browser"),
        Need("Xvfb", "xvfb", "the browser tests in WebKit", program("Xvfb"), "webkit", "browser"),
        Need("PostgreSQL", "postgresql",
             "the tests and benchmarks on PostgreSQL, faults included",
             postgresql_folder, "postgresql", "slow browser faults measured"),
        Need("Redis", "redis-server", "the tests on Redis, faults included",
             program("redis-server"), "redis", "postgresql slow browser faults measured"),
        Need("Node.js", "nodejs", "the statistical tests of the randomizer",
             program("node"), "node", "sqlite slow"),
        Need("npm", "npm", "the tests, the types and the linter of the JavaScript", program("npm"),
             phases="lint"),
        Need("C compiler", "tcc", "the fault tests with wrong clocks", compiler, "compiler",
             "faults"),
        Need("R", "r-base-core", "the exported scripts in R", program("Rscript"), "r",
             "slow"),
        Need("PSPP", "pspp", "the SPSS files in PSPP", program("pspp"), "pspp", "slow"),
        Need("nginx", "nginx-light", "the nginx configuration", nginx, "nginx", "slow faults"),
        Need("OpenSSL", "openssl", "the tests with TLS", program("openssl"), "openssl",
             "slow faults"),
        Need("curl", "curl", "the examples in curl", program("curl"), "curl", "slow"),
        Need("systemd", "systemd", "systemd's check of its units", program("systemd-analyze"),
             "systemd", "slow"),
        Need("Permission to mount", "",
             "the fault tests with a full disk", may_mount, "disk", "faults"),
        Need("wrk", "wrk", "the benchmark of ingest", program("wrk")),
    )
}  # fmt: skip


def install(needs: list[Need]) -> None:
    """Install Debian's packages for these. Callers check afterwards what is still missing."""
    packages = [need.package for need in needs if need.package]
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
    """Keep Debian's packages from starting services."""
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


def provide(names: Collection[str]) -> list[Need]:
    """Install what is missing, if possible; return what still is."""
    absent = [need for need in missing() if need.name in names]
    if any(need.package for need in absent) and can_install():
        install(absent)
        absent = [need for need in absent if not need.here()]
    say_what_is_left_out(absent)
    return absent


def say_what_is_left_out(needs: list[Need]) -> None:
    for need in needs:
        print(f"!!! {need.name} IS MISSING. LEFT OUT: {need.left_out}.", flush=True)
    if packages := " ".join(need.package for need in needs if need.package):
        print(f"!!! On Debian: apt-get install --no-install-recommends {packages}", flush=True)


if __name__ == "__main__":
    provide(sys.argv[1:])
