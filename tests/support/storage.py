"""Everything an installation has stored, as bytes and as text."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from tests.support.services import Candor


def everything(candor: Candor, slug: str) -> Iterator[tuple[str, bytes]]:
    """Return everything that the installation stores, by place."""
    for path in Path(candor.var).rglob("*"):
        if path.is_file() and "static" not in path.parts:
            yield path.name, path.read_bytes()
    if url := candor.env.get("DATABASE_URL"):
        import psycopg

        with psycopg.connect(url) as connection:
            for (table,) in connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
            ).fetchall():
                found = connection.execute(f'SELECT t::text FROM "{table}" t').fetchall()
                yield table, "\n".join(row[0] for row in found).encode()
    if url := candor.env.get("REDIS_URL"):
        import redis

        with redis.Redis.from_url(url) as client:
            for key in client.scan_iter():
                yield key.decode(), client.dump(key) or b""


def rows(candor: Candor, table: str) -> str:
    if url := candor.env.get("DATABASE_URL"):
        import psycopg

        with psycopg.connect(url) as connection:
            found = connection.execute(f'SELECT t::text FROM "{table}" t').fetchall()
            return "\n".join(row[0] for row in found)
    with sqlite3.connect(candor.var / "candor.sqlite3") as connection:
        return "\n".join(str(row) for row in connection.execute(f"SELECT * FROM {table}"))
