"""The whole database in one file, and back from it.

A zip with a manifest and the database: SQLite's own copy of it, or what pg_dump writes. Made while
the site runs; put back while it does not. It holds what the database holds and no more: reports
that wait, background answers, password hashes and keys. So only its owner may read it.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from config import __version__
from config.processes import RUNNING, lock_file
from survey.models import Removed, Survey
from survey.models.log import head, record

FORM = 1  # of the file; another one has another number
MANIFEST, DATABASE = "manifest.json", "database"
PIECE = 1 << 20
BEFORE = "candor_before_restore"  # the schema that steps aside in PostgreSQL


class BackupError(Exception):
    """Why a backup cannot be made or put back; nothing was changed."""


# --- There ----------------------------------------------------------------------------------------


def write(path: Path) -> dict[str, Any]:
    """Make a backup at `path`, whole or not at all, never over another file; its manifest."""
    if os.path.lexists(path):
        raise BackupError(f"{path} is there already; choose another name.")
    record(None, "backup made")
    last = head()
    with TemporaryDirectory(prefix=".candor-", dir=path.parent) as folder:
        data, whole = Path(folder) / DATABASE, Path(folder) / "whole"
        data.touch(0o600)
        dump(data)
        manifest = {
            "candor_backup": FORM,
            "version": __version__,
            "database": connection.vendor,
            "made": datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
            "bytes": data.stat().st_size,
            "sha256": sha256(data),
            "log_head": last.hash if last else "",
        }
        with os.fdopen(os.open(whole, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out:
            packed = connection.vendor == "postgresql"  # by pg_dump
            form = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
            with zipfile.ZipFile(out, "w", form) as file:
                file.writestr(MANIFEST, json.dumps(manifest, indent=1) + "\n")
                file.write(data, DATABASE)
            out.flush()
            os.fsync(out.fileno())
        if os.path.lexists(path):  # since we looked
            raise BackupError(f"{path} is there already; choose another name.")
        os.rename(whole, path)
    return manifest


def dump(data: Path) -> None:
    if connection.vendor == "postgresql":
        options = ["--format=custom", "--no-owner", "--no-privileges", "--schema=public"]
        program("pg_dump", *options, f"--file={data}")
        return
    connection.ensure_connection()
    with contextlib.closing(sqlite3.connect(data)) as copy:
        connection.connection.backup(copy)  # of one moment, and nobody waits for it
        copy.execute("PRAGMA journal_mode = DELETE")  # one file
        look_at(copy)


def look_at(copy: sqlite3.Connection) -> None:
    try:
        (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        found = str(error)
    if found != "ok":
        raise BackupError(f"The database is damaged: {found}")


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- And back -------------------------------------------------------------------------------------


def restore(path: Path, replace: bool = False) -> dict[str, Any]:
    """Put a backup in the place of the database, all of it or nothing; its manifest."""
    with opened(path) as file:
        manifest = read_manifest(file)
        check(manifest)
        if not replace and not is_empty():
            raise BackupError("There are surveys or accounts here. --replace puts them away.")
        with TemporaryDirectory(prefix=".candor-", dir=path.parent) as folder:
            data = Path(folder) / DATABASE
            with os.fdopen(os.open(data, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out:
                shutil.copyfileobj(file.open(DATABASE), out, PIECE)
            if sha256(data) != manifest["sha256"]:
                raise BackupError("The file is damaged: its SHA-256 is not the one noted in it.")
            if connection.vendor == "postgresql":
                load_postgresql(data)
            else:
                load_sqlite(data)
    if "survey_entry" in connection.introspection.table_names():
        record(None, "backup put back", made=manifest["made"], sha256=manifest["sha256"])
    return manifest


@contextlib.contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as file:
            yield file
    except (zipfile.BadZipFile, KeyError, EOFError):
        raise BackupError(f"{path} is no backup, or a damaged one.") from None


def read_manifest(file: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(file.read(MANIFEST))
        known = {"candor_backup", "version", "database", "made", "bytes", "sha256", "log_head"}
        if not known <= manifest.keys():
            raise ValueError
    except (ValueError, AttributeError):
        raise BackupError("The file has no manifest of a backup.") from None
    return manifest


def check(manifest: dict[str, Any]) -> None:
    """Whether this installation can take it."""
    if manifest["candor_backup"] != FORM or newer(str(manifest["version"]), __version__):
        raise BackupError(
            f"The backup is of Candor {manifest['version']}, newer than this one, {__version__}."
        )
    if manifest["database"] != connection.vendor:
        raise BackupError(
            f"The backup is of {manifest['database']}, and the database here is "
            f"{connection.vendor}: DATABASE_URL."
        )


def newer(one: str, other: str) -> bool:
    first, second = ([int(n) for n in re.findall(r"\d+", text)] for text in (one, other))
    return first > second


def is_empty() -> bool:
    """Whether nobody has begun to use this installation."""
    if Survey._meta.db_table not in connection.introspection.table_names():
        return True
    return not any(model._default_manager.exists() for model in (Survey, Removed, User))


def load_sqlite(data: Path) -> None:
    """Not under a site that runs: it remembers the designs that it has seen."""
    try:
        lock = lock_file(settings.VAR_DIR / RUNNING, fcntl.LOCK_EX)
    except BlockingIOError:
        raise BackupError("Stop the site first: manage.py serve is running.") from None
    connection.ensure_connection()
    with lock, contextlib.closing(sqlite3.connect(data)) as copy:
        look_at(copy)
        try:
            copy.backup(connection.connection)
        except sqlite3.OperationalError as error:
            raise BackupError(f"Stop the site first: {error}.") from None
    connection.close()


def load_postgresql(data: Path) -> None:
    """Into a new schema; the old one steps aside, and comes back if anything goes wrong."""
    listed = program("pg_restore", "--list", str(data), database=False)
    wanted = [line for line in listed.splitlines() if " SCHEMA " not in line]  # ours is there
    (data.parent / "list").write_text("\n".join(wanted) + "\n")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        (others,) = cursor.fetchone()
        if others:
            raise BackupError(f"Stop the site first: the database has {others} other connections.")
        cursor.execute(f"ALTER SCHEMA public RENAME TO {BEFORE}")
        cursor.execute("CREATE SCHEMA public")
        try:
            options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
            name = f"--dbname={connection.settings_dict['NAME']}"
            program("pg_restore", *options, name, f"--use-list={data.parent / 'list'}", str(data))
        except BaseException:
            cursor.execute("DROP SCHEMA public CASCADE")
            cursor.execute(f"ALTER SCHEMA {BEFORE} RENAME TO public")
            raise
        cursor.execute(f"DROP SCHEMA {BEFORE} CASCADE")


def program(name: str, *arguments: str, database: bool = True) -> str:
    """Run one of PostgreSQL's, on the database of the settings; what it wrote."""
    there = connection.settings_dict
    _, settings = DatabaseClient.settings_to_cmd_args_env(there, [])
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGDATABASE": "NAME"}
    settings = (settings or {}) | {key: str(there[of]) for key, of in names.items() if there[of]}
    try:
        done = subprocess.run(
            [name, *arguments],
            env={**os.environ, **(settings if database else {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise BackupError(f"{name} is not installed; it comes with PostgreSQL.") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it did not say why"]
        raise BackupError(f"{name} failed: {said[0]}")
    return done.stdout
