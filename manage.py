#!/usr/bin/env python
"""Django's command line. See docs/operations.md for the commands that Candor adds."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Candor cannot start: {error}")
    except OperationalError as error:
        reason = str(error).strip().partition("\n")[0]
        sys.exit(f"The database does not answer, or is not migrated: {reason}")


if __name__ == "__main__":
    main()
