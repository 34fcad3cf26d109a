"""Run management commands inside the test process."""

from io import StringIO
from typing import Any

from django.core.management import call_command


def run(*arguments: Any) -> list[str]:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().splitlines()
