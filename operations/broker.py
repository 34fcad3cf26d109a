"""The embedded broker: a kombu transport that keeps its messages in one SQLite file.

It is for a single machine without Redis. Its URL is `candor-sqlite://` with the absolute path of
the file. A message stays in the table until it is acknowledged. Taking it hides it for
`visibility_timeout` seconds, which a living consumer keeps renewing. So the message of a killed
consumer reappears, but a long task is not delivered twice. Any number of processes may use it.

The broker holds no results and nothing that must not be lost, because all state is in the database.
"""

# mypy: allow-untyped-calls
# (kombu has hardly any types)

import fcntl
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from queue import Empty
from typing import Any

from kombu.transport import base, virtual

SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;  -- a power cut may lose the last messages but never the file
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused, so a late acknowledgement is harmless
    queue TEXT NOT NULL,
    visible REAL NOT NULL,  -- consumers may take it from this time on
    content TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS message_next ON message (queue, visible);
"""


class Files(threading.local):
    """The SQLite connections of one thread. A fork does not touch those that it inherits."""

    def __init__(self) -> None:
        self.opened: dict[tuple[int, str], sqlite3.Connection] = {}

    def open(self, path: str) -> sqlite3.Connection:
        key = (os.getpid(), path)
        if key not in self.opened:
            connection = sqlite3.connect(path, timeout=20, isolation_level=None)
            folder = os.open(os.path.dirname(path), os.O_RDONLY)
            try:  # SQLite fails if two processes switch on the WAL at the same time
                fcntl.flock(folder, fcntl.LOCK_EX)
                connection.executescript(SCHEMA)
            finally:
                os.close(folder)
            self.opened[key] = connection
        return self.opened[key]


FILES = Files()


class QoS(virtual.QoS):
    """The messages that a channel has taken and not yet acknowledged."""

    def ack(self, delivery_tag: int) -> None:
        self.channel.run("DELETE FROM message WHERE id = ?", delivery_tag)
        super().ack(delivery_tag)

    def reject(self, delivery_tag: int, requeue: bool = False) -> None:
        if not requeue:
            self.channel.run("DELETE FROM message WHERE id = ?", delivery_tag)
        super().reject(delivery_tag, requeue=requeue)


class Channel(virtual.Channel):
    """The queue operations that kombu needs, as statements that each commit on their own."""

    QoS = QoS

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self.path = "/" + connection.client.hostname.partition("://")[2].lstrip("/")
        self.hide: float = connection.client.transport_options.get("visibility_timeout", 60)
        self.renewed = time.monotonic()
        self.owner = os.getpid()

    def run(self, statement: str, *values: object) -> sqlite3.Cursor:
        return FILES.open(self.path).execute(statement, values)

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        insert = "INSERT INTO message (queue, visible, content) VALUES (?, ?, ?)"
        self.run(insert, queue, time.time(), json.dumps(message))

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        first = "SELECT id, content FROM message WHERE queue = ? AND visible <= ? ORDER BY visible"
        claim = "UPDATE message SET visible = ? WHERE id = ? AND visible <= ?"
        now = time.time()
        while row := self.run(f"{first} LIMIT 1", queue, now).fetchone():
            if self.run(claim, now + self.hide, row[0], now).rowcount:  # else it is taken
                message: dict[str, Any] = json.loads(row[1])
                message["properties"]["delivery_tag"] = row[0]
                return message
        raise Empty

    def _restore(self, message: virtual.Message) -> None:
        if os.getpid() == self.owner:  # a fork inherits the channel, not the messages it holds
            self.run("UPDATE message SET visible = 0 WHERE id = ?", message.delivery_tag)

    def renew(self) -> None:
        """Keep the messages hidden that this channel is still working on."""
        if time.monotonic() - self.renewed > self.hide / 4:
            self.renewed = time.monotonic()
            until = time.time() + self.hide
            for tag in set(self.qos._delivered) - self.qos._dirty:
                self.run("UPDATE message SET visible = ? WHERE id = ?", until, tag)

    def drain_events(self, timeout: float | None = None, callback: Any = None) -> Any:
        self.renew()
        return super().drain_events(timeout=timeout, callback=callback)

    def _size(self, queue: str) -> int:
        ready = "SELECT count(*) FROM message WHERE queue = ? AND visible <= ?"
        return int(self.run(ready, queue, time.time()).fetchone()[0])

    def _purge(self, queue: str) -> int:
        ready = "DELETE FROM message WHERE queue = ? AND visible <= ?"
        return self.run(ready, queue, time.time()).rowcount

    def _delete(self, queue: str, *args: Any, **kwargs: Any) -> None:
        self.run("DELETE FROM message WHERE queue = ?", queue)

    def basic_get(self, queue: str, no_ack: bool = False, **kwargs: Any) -> Any:
        message = super().basic_get(queue, **kwargs)
        if message and no_ack:
            message.ack()
        return message

    def basic_consume(
        self, queue: str, no_ack: bool, callback: Callable[[Any], Any], *args: Any, **kwargs: Any
    ) -> None:
        def forget_first(message: Any) -> Any:
            message.ack()
            return callback(message)

        super().basic_consume(queue, False, forget_first if no_ack else callback, *args, **kwargs)


class Transport(virtual.Transport):
    """Polls from the event loop in a Celery worker, and in `drain_events` elsewhere."""

    Channel = Channel
    can_parse_url = True  # so that kombu passes the path unchanged
    driver_type = driver_name = "sqlite"
    polling_interval = 0.05
    cycle: Any
    implements = virtual.Transport.implements.extend(asynchronous=True)
    connection_errors: Any = (*base.Transport.connection_errors, sqlite3.OperationalError)

    def driver_version(self) -> str:
        return sqlite3.sqlite_version

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        loop.call_repeatedly(self.polling_interval, self.take)
        loop.on_tick.add(self.take)  # after an acknowledgement, without waiting

    def take(self) -> None:
        """Deliver all messages that can be taken now."""
        try:
            while True:
                self.cycle.get(self._deliver)
        except Empty:
            pass
