"""Database connections of threads that Django does not manage."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection

Result = TypeVar("Result")


def retry_if_ended(call: Callable[..., Result], *arguments: Any) -> Result:
    """Make a database call, and retry it once if the database had closed this thread's connection.

    So a restart of the database only costs time. Any other connection error also closes the
    connection, so that the next call opens a new one.
    """
    try:
        return call(*arguments)
    except (OperationalError, InterfaceError):
        ended = connection.connection is not None and not connection.is_usable()
        connection.close()
        if not ended:
            raise
    return call(*arguments)
