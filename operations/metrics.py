"""Metrics in the text format of Prometheus.

They come from the database, so that all web processes report the same. No metric counts reports or
changes when one arrives, because frequent readings must not show when somebody answered. For the
same reason, the size of the database is given in large steps, and no metric is about one survey.
"""

from collections.abc import Iterator

from django.db import connection
from django.db.models import Count, Min
from django.utils import timezone

from aggregation.models import Batch, Job, Release, heartbeat
from config import __version__
from survey.database import database
from survey.models import Survey
from survey.models.log import head

STEP = 16 * 2**20  # bytes: more than a hundred thousand reports
Sample = tuple[dict[str, str], float]


def exposition() -> str:
    return "".join(text(*metric) for metric in metrics())


def metrics() -> Iterator[tuple[str, str, list[Sample]]]:
    """Yield the name, explanation and values of every metric. All are gauges."""
    info = {"version": __version__, "database": connection.vendor}
    yield "candor_info", "Version and database.", [(info, 1)]
    for name, model in (("survey", Survey), ("job", Job)):
        states = dict(model.objects.order_by().values_list("state").annotate(Count("pk")))
        counts: list[Sample] = [({"state": s}, states.get(s, 0)) for s in model.State.values]
        yield f"candor_{name}s", f"{name.title()}s by state.", counts
    oldest = Job.objects.filter(active=True).aggregate(made=Min("made_at"))["made"]
    waited = (timezone.now() - oldest).total_seconds() if oldest else 0
    yield "candor_oldest_job_seconds", "Age of the oldest unfinished job.", [({}, max(0, waited))]
    yield "candor_releases", "Releases made.", [({}, Release.objects.count())]
    yield "candor_batches", "Batches of counted reports.", [({}, Batch.objects.count())]
    last = head()
    yield "candor_log_entries", "Entries of the audit log.", [({}, last.number if last else 0)]
    since = heartbeat.age()
    if since is not None:
        yield "candor_last_tick_seconds", "Seconds since the last tick.", [({}, since)]
    size = database().size_in_bytes() // STEP * STEP
    yield "candor_database_bytes", "Size of the database, in steps of 16 MiB.", [({}, size)]


def text(name: str, explanation: str, samples: list[Sample]) -> str:
    lines = [f"# HELP {name} {explanation}", f"# TYPE {name} gauge"]
    for labels, value in samples:
        inside = ",".join(f'{label}="{text}"' for label, text in labels.items())
        lines.append(f"{name}{{{inside}}} {value:.0f}" if inside else f"{name} {value:.0f}")
    return "\n".join(lines) + "\n"
