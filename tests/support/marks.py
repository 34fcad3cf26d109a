"""Parameters that run one test on several kinds of installation."""

from typing import Any

import pytest

SERVERS = [pytest.mark.postgresql, pytest.mark.redis]

# For candor_server: the same tests on both kinds of installation.
#   @pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
BOTH_INSTALLATIONS = ["embedded", pytest.param("production", marks=SERVERS)]


def on_both(*embedded: pytest.MarkDecorator) -> Any:
    """Run a trial embedded, with these marks, and on separate machines."""
    first = pytest.param("embedded", marks=embedded)
    machines = pytest.param("machines", marks=SERVERS)
    return pytest.mark.parametrize("trial", [first, machines], indirect=True)


ON_BOTH = on_both()
