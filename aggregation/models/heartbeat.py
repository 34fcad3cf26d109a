"""When the background work was last seen running: beat, broker, worker and database together.

The time is recorded every 15 seconds, whatever happens on the site, so it depends on no report.
"""

from datetime import timedelta

from django.db import models
from django.db.models.functions import Now

TICK = "tick"
EVERY = timedelta(seconds=15)


class Heartbeat(models.Model):
    name = models.CharField(max_length=50, primary_key=True)  # TICK, or the word of a selftest
    at = models.DateTimeField()  # by the clock of the database

    def __str__(self) -> str:
        return self.name


def note(name: str) -> None:
    """Record that a worker is running, unless that was recorded just now."""
    fresh = Heartbeat.objects.filter(name=name, at__gt=Now() - EVERY, at__lte=Now())
    if not fresh.exists():
        Heartbeat.objects.update_or_create(name=name, defaults={"at": Now()})


def age(name: str = TICK) -> float | None:
    """Return how many seconds ago that was, or None for never."""
    found = Heartbeat.objects.filter(name=name).annotate(now=Now()).values_list("at", "now").first()
    return abs((found[1] - found[0]).total_seconds()) if found else None
