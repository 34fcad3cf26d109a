"""The current date (UTC) for the models and everything above them."""

from datetime import UTC, date, datetime


def today() -> date:
    return datetime.now(UTC).date()
