"""A separate database on either kind of server, without other processes.

For tests that commit or look below Django. The database is reached by `manage.py` in processes of
its own and by a plain connection.
"""

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.services import UNLIMITED, Manager, clean_environment, create_database

#   @pytest.mark.parametrize("kind", BOTH)
BOTH = [
    pytest.param("sqlite", marks=pytest.mark.once),
    pytest.param("postgresql", marks=pytest.mark.postgresql),
]


class Store:
    def __init__(self, kind: str, folder: Path, like: "Store | None" = None) -> None:
        """Create it empty or as a copy of another, which must be unused meanwhile."""
        self.kind = kind
        self.file = folder / "candor.sqlite3"
        self.url = ""
        if kind == "postgresql":
            server = os.environ["CANDOR_TEST_POSTGRESQL"]
            self.url = create_database(server, like.url if like else "")
        elif like:
            with like.connect() as connection:
                copy = sqlite3.connect(self.file)
                with contextlib.closing(copy):
                    connection.backup(copy)  # page by page: rows keep their places
        self.env = clean_environment() | {
            "CANDOR_SECRET_KEY": like.env["CANDOR_SECRET_KEY"] if like else secrets.token_hex(32),
            "CANDOR_HOSTS": "localhost",
            "CANDOR_VAR": str(folder),
            **UNLIMITED,
            **({"DATABASE_URL": self.url} if self.url else {}),
        }
        self.manage = Manager(self.env)

    def python(self, *lines: str) -> str:
        """Run these lines in a separate process with the models loaded."""
        first = "from aggregation.models import *; from aggregation.jobs import tasks"
        return self.manage("shell", "-v0", "-c", "\n".join([first, *lines]))

    @contextlib.contextmanager
    def connect(self) -> Iterator[Any]:
        """Open a driver connection in autocommit mode."""
        if self.url:
            with psycopg.connect(self.url, autocommit=True) as connection:
                yield connection
        else:
            connection = sqlite3.connect(self.file, isolation_level=None)
            with contextlib.closing(connection):
                yield connection

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.connect() as connection:
            return list(connection.execute(statement).fetchall())

    def execute(self, statement: str) -> None:
        with self.connect() as connection:
            connection.execute(statement)
