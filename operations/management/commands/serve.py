"""manage.py serve: the web server, a worker and beat on this machine, kept running."""

from operations.serve import Command

__all__ = ["Command"]
