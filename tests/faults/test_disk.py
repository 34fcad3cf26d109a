"""A disk that fills up under load: 503 until there is room, and nothing acknowledged is lost.

The disk is a small tmpfs, which only root can mount.
"""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.harness import WAIT_SECONDS, Console, Senders, Trial
from tests.support.services import Candor, PostgreSQL, Redis, reachable_temporary, wait_until

pytestmark = [pytest.mark.faults, pytest.mark.disk]


class Disk:
    """A small disk that a test can fill."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        self.filler = folder / "filler"
        size = f"size={megabytes}m,mode=755"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)], check=True)

    def fill(self) -> None:
        with self.filler.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 4096)
            except OSError as error:
                assert error.errno == errno.ENOSPC

    def free(self) -> None:
        self.filler.unlink(missing_ok=True)

    def unmount(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)
        self.folder.rmdir()


@pytest.fixture
def disk(request: pytest.FixtureRequest) -> Iterator[Disk]:
    folder = reachable_temporary() / f"candor-disk-{os.getpid()}"
    folder.mkdir()
    disk = Disk(folder, megabytes=request.param)
    yield disk
    disk.unmount()


def fill_and_free(disk: Disk, trial: Trial, servers: list[PostgreSQL]) -> None:
    with Senders(trial, rate=400) as senders:
        for _ in range(2):
            senders.await_more(100)
            refused = senders.statuses[503]

            def refuses() -> bool:
                disk.fill()  # repeatedly, because others free a little space
                return senders.statuses[503] >= refused + 20  # noqa: B023

            wait_until(refuses, WAIT_SECONDS, "refusals", pause=0.2)
            trial.release()
            disk.free()
            for server in servers:  # which ends itself when it cannot write its log
                if server.process and server.process.poll() is not None:
                    server.start()
    assert not senders.doubtful
    trial.settle(senders)


@pytest.mark.parametrize("disk", [60], indirect=True)
def test_an_embedded_installation_survives_a_full_disk(disk: Disk) -> None:
    """Database, broker and files share the disk."""
    with Candor(disk.folder) as candor, Console(candor) as console:
        fill_and_free(disk, Trial(candor, console), [])


@pytest.mark.postgresql
@pytest.mark.redis
@pytest.mark.parametrize("disk", [250], indirect=True)
def test_a_site_survives_a_full_disk_under_postgresql(disk: Disk) -> None:
    with (
        PostgreSQL(durable=True, parent=disk.folder) as postgresql,
        Redis() as redis,
        Candor(DATABASE_URL=postgresql.create_database(), REDIS_URL=redis.url) as candor,
        Console(candor) as console,
    ):
        fill_and_free(disk, Trial(candor, console), [postgresql])
