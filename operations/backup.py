"""Backups: the whole database in one file.

The file is a zip with a manifest and the database, which is SQLite's own copy or the output of
pg_dump. A backup is made while the site runs and restored while it is stopped. It contains waiting
reports, background answers, password hashes and keys, so only its owner may read it.
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

FORMAT = 1  # of the file
MANIFEST, DATABASE = "manifest.json", "database"
PIECE = 1 << 20
BEFORE = "candor_before_restore"  # the name of PostgreSQL's old schema during a restore


class BackupError(Exception):
    """The reason why a backup cannot be made or restored. Nothing was changed."""


# --- Backup ---------------------------------------------------------------------------------------


def write(path: Path) -> dict[str, Any]:
    """Write a complete backup to a new file and return its manifest."""
    if os.path.lexists(path):
        raise BackupError(f"{path} already exists. Choose another name.")
    record(None, "backup made")
    last = head()
    with TemporaryDirectory(prefix=".candor-", dir=path.parent) as folder:
        data, archive = Path(folder) / DATABASE, Path(folder) / "archive"
        data.touch(0o600)
        dump(data)
        manifest = {
            "candor_backup": FORMAT,
            "version": __version__,
            "database": connection.vendor,
            "made": datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
            "bytes": data.stat().st_size,
            "sha256": sha256(data),
            "log_head": last.hash if last else "",
        }
        with os.fdopen(os.open(archive, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out:
            compressed = connection.vendor == "postgresql"  # by pg_dump
            method = zipfile.ZIP_STORED if compressed else zipfile.ZIP_DEFLATED
            with zipfile.ZipFile(out, "w", method) as file:
                file.writestr(MANIFEST, json.dumps(manifest, indent=1) + "\n")
                file.write(data, DATABASE)
            out.flush()
            os.fsync(out.fileno())
        if os.path.lexists(path):  # created in the meantime
            raise BackupError(f"{path} already exists. Choose another name.")
        os.rename(archive, path)
    return manifest


def dump(data: Path) -> None:
    if connection.vendor == "postgresql":
        options = ["--format=custom", "--no-owner", "--no-privileges", "--schema=public"]
        run_program("pg_dump", *options, f"--file={data}")
        return
    connection.ensure_connection()
    with contextlib.closing(sqlite3.connect(data)) as copy:
        connection.connection.backup(copy)  # a consistent snapshot that blocks nobody
        copy.execute("PRAGMA journal_mode = DELETE")  # a single file without a WAL
        check_integrity(copy)


def check_integrity(copy: sqlite3.Connection) -> None:
    try:
        (result,) = copy.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        result = str(error)
    if result != "ok":
        raise BackupError(f"The database is damaged: {result}")


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- Restore --------------------------------------------------------------------------------------


def restore(path: Path, replace: bool = False) -> dict[str, Any]:
    """Replace the database with a backup, completely or not at all; return the manifest."""
    with opened(path) as file:
        manifest = read_manifest(file)
        if not replace and not is_empty():
            raise BackupError("There are surveys or accounts here. Use --replace to delete them.")
        with TemporaryDirectory(prefix=".candor-", dir=path.parent) as folder:
            data = Path(folder) / DATABASE
            with os.fdopen(os.open(data, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out:
                shutil.copyfileobj(file.open(DATABASE), out, PIECE)
            if sha256(data) != manifest["sha256"]:
                raise BackupError("The file is damaged: its SHA-256 does not match its manifest.")
            if connection.vendor == "postgresql":
                load_postgresql(data)
            else:
                load_sqlite(data)
    if "survey_entry" in connection.introspection.table_names():
        record(None, "backup restored", made=manifest["made"], sha256=manifest["sha256"])
    return manifest


@contextlib.contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as file:
            yield file
    except (zipfile.BadZipFile, KeyError, EOFError):
        raise BackupError(f"{path} is not a backup, or it is damaged.") from None


def read_manifest(file: zipfile.ZipFile) -> dict[str, Any]:
    """Return the manifest; BackupError if this installation cannot restore the backup."""
    try:
        manifest: dict[str, Any] = json.loads(file.read(MANIFEST))
        known = {"candor_backup", "version", "database", "made", "bytes", "sha256", "log_head"}
        if not known <= manifest.keys():
            raise ValueError
    except (ValueError, AttributeError):
        raise BackupError("The file is not a backup: it has no valid manifest.") from None
    if manifest["candor_backup"] != FORMAT or newer(str(manifest["version"]), __version__):
        raise BackupError(
            f"The backup is from Candor {manifest['version']}, newer than this one, {__version__}."
        )
    if manifest["database"] != connection.vendor:
        raise BackupError(
            f"The backup is from {manifest['database']}, but the database here is "
            f"{connection.vendor}. Check DATABASE_URL."
        )
    return manifest


def newer(version: str, other: str) -> bool:
    first, second = ([int(n) for n in re.findall(r"\d+", text)] for text in (version, other))
    return first > second


def is_empty() -> bool:
    """Return whether this installation is still unused."""
    if Survey._meta.db_table not in connection.introspection.table_names():
        return True
    return not any(model._default_manager.exists() for model in (Survey, Removed, User))


def load_sqlite(data: Path) -> None:
    """Load SQLite's copy. The site must be stopped, because it caches the designs of surveys."""
    try:
        lock = lock_file(settings.VAR_DIR / RUNNING, fcntl.LOCK_EX)
    except BlockingIOError:
        raise BackupError("Stop the site first: manage.py serve is running.") from None
    connection.ensure_connection()
    with lock, contextlib.closing(sqlite3.connect(data)) as copy:
        check_integrity(copy)
        try:
            copy.backup(connection.connection)
        except sqlite3.OperationalError as error:
            raise BackupError(f"Stop the site first: {error}.") from None
    connection.close()


def load_postgresql(data: Path) -> None:
    """Load a dump into a new schema. If anything fails, the old schema is put back."""
    contents = run_program("pg_restore", "--list", str(data), database=False)
    wanted = [line for line in contents.splitlines() if " SCHEMA " not in line]  # we create it
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
            options += [f"--dbname={connection.settings_dict['NAME']}"]
            run_program("pg_restore", *options, f"--use-list={data.parent / 'list'}", str(data))
        except BaseException:
            cursor.execute("DROP SCHEMA public CASCADE")
            cursor.execute(f"ALTER SCHEMA {BEFORE} RENAME TO public")
            raise
        cursor.execute(f"DROP SCHEMA {BEFORE} CASCADE")


def run_program(name: str, *arguments: str, database: bool = True) -> str:
    """Run one of PostgreSQL's programs on the configured database; return its output."""
    config = connection.settings_dict
    _, variables = DatabaseClient.settings_to_cmd_args_env(config, [])
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGDATABASE": "NAME"}
    variables = (variables or {}) | {k: str(config[of]) for k, of in names.items() if config[of]}
    try:
        done = subprocess.run(
            [name, *arguments],
            env={**os.environ, **(variables if database else {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise BackupError(f"{name} is not installed. It is part of PostgreSQL.") from None
    if done.returncode:
        errors = done.stderr.strip().splitlines() or ["no error message"]
        raise BackupError(f"{name} failed: {errors[0]}")
    return done.stdout
