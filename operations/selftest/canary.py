"""Checks that visitors leave no traces.

The canary is a visitor with a unique address and browser, who opens the pages and sends reports
that are refused. Afterwards, neither the address nor the browser may be found anywhere.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from redis import Redis, RedisError

from aggregation.models import Batch
from aggregation.models.heartbeat import Heartbeat
from operations.selftest.served import NOWHERE
from operations.selftest.site import Failed, Site, expect
from survey.models import Report, Survey

PIECE = 1 << 20  # bytes of a file that are searched at once


def leave_no_trace(site: Site, logs: list[Path]) -> None:
    """Visit, send reports that are refused, and search; then check that the search works."""
    refused = {"id": site.word, "canary": site.word}
    for path in ("/s/", f"/s/{NOWHERE}/", f"/s/{NOWHERE}/definition/", "/verify/", "/login/"):
        site.ask(path)
    survey = Survey.objects.filter(state=Survey.State.OPEN).first()
    for slug in (NOWHERE, *([survey.slug] if survey else [])):
        for path in ("reports/", "reports/batch/"):
            status = site.ask(f"/api/v1/surveys/{slug}/{path}", "POST", refused).status
            expect(400 <= status < 500, f"an invalid report got status {status}.")
    places = places_of(site.word, logs)
    expect(not places, f"stored in {', '.join(places)}. Switch this off and delete the data.")
    control = f"selftest {site.word}"
    Heartbeat.objects.create(name=control, at="2000-01-01T00:00:00Z")
    try:
        expect(bool(places_of(site.word, [])), "the search does not work, so this proves nothing.")
    finally:
        Heartbeat.objects.filter(name=control).delete()


def places_of(word: str, logs: list[Path]) -> list[str]:
    """Return where a word is found: in tables, files, the broker or the logs given.

    The address holds the word in another form, because an address drops zeros.
    """
    address = Site("", "", word).address
    needles = [word.encode(), address.encode()]
    found = [*in_tables(word, address)]
    files = [path for path in Path(settings.VAR_DIR).rglob("*") if path.is_file()]
    files = [path for path in files if "static" not in path.relative_to(settings.VAR_DIR).parts]
    found += [str(path) for path in (*files, *logs) if in_file(path, needles)]
    if settings.REDIS_URL:
        found += in_redis(needles)
    return found


def in_tables(*texts: str) -> Iterator[str]:
    """Yield the tables of PostgreSQL that hold one of these texts; SQLite's are a file.

    Reports and batches hold bytes only, see `storage.columns`.
    """
    if connection.vendor != "postgresql":
        return
    tables = set(connection.introspection.table_names())
    for table in sorted(tables - {Report._meta.db_table, Batch._meta.db_table}):
        quoted = connection.ops.quote_name(table)
        with connection.cursor() as cursor:
            for text in texts:
                cursor.execute(
                    f"SELECT 1 FROM {quoted} AS t WHERE t::text LIKE %s LIMIT 1",  # noqa: S608
                    [f"%{text}%"],
                )
                if cursor.fetchone():
                    yield table


def in_file(path: Path, needles: list[bytes]) -> bool:
    try:
        with path.open("rb") as file:
            before = b""
            while piece := file.read(PIECE):
                if any(needle in before + piece for needle in needles):
                    return True
                before = piece[-64:]
    except FileNotFoundError:
        if path.parent != Path(settings.VAR_DIR):  # a log given by name
            raise Failed(f"{path} does not exist.") from None
    return False


def in_redis(needles: list[bytes]) -> list[str]:
    readers: dict[bytes, Callable[[Redis, bytes], Any]] = {
        b"string": lambda redis, key: redis.get(key),
        b"list": lambda redis, key: redis.lrange(key, 0, -1),
        b"hash": lambda redis, key: redis.hgetall(key),
        b"set": lambda redis, key: redis.smembers(key),
        b"zset": lambda redis, key: redis.zrange(key, 0, -1),
    }
    found = []
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=10) as redis:
            for key in redis.scan_iter():
                read = readers.get(redis.type(key))
                text = repr((key, read(redis, key) if read else None)).encode()
                if any(needle in text for needle in needles):
                    found.append(f"Redis {key.decode(errors='replace')}")
    except RedisError as error:
        raise Failed(f"Redis cannot be searched: {type(error).__name__}.") from None
    return found
