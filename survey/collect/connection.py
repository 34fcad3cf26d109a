"""A database connection of a thread that Django does not look after."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection

Result = TypeVar("Result")


def retry_if_ended(call: Callable[..., Result], *arguments: Any) -> Result:
    """Call it; once more, on a fresh connection, if the database had ended the one of this thread.

    So a database that was restarted costs nothing but the time. After any other error of the
    database its connection is given up all the same: the next call begins with a new one.
    """
    try:
        return call(*arguments)
    except (OperationalError, InterfaceError):
        ended = connection.connection is not None and not connection.is_usable()
        connection.close()
        if not ended:
            raise
    return call(*arguments)
