"""Today, as the models and everything above them see it."""

from datetime import UTC, date, datetime


def today() -> date:
    return datetime.now(UTC).date()
