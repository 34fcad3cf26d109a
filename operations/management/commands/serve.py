"""manage.py serve: run the web server, a worker and the beat on this machine."""

from operations.serve import Command

__all__ = ["Command"]
