"""Checks that everything runs, with safe settings."""

import secrets
import shutil
import time

from django.conf import settings
from django.core import checks

from aggregation.jobs.tasks import ping
from aggregation.models.heartbeat import Heartbeat
from operations import health
from operations.selftest.site import Failed, Site, expect
from survey.audit.verification import BrokenChain, verified_entries
from survey.database import database, triggers

ROUND_TRIP = 30  # seconds for a message to go through the broker and a worker
ROOM = 2**30  # bytes that should be free


def expect_healthy(part: str) -> None:
    """Fail unless this part of the health report is OK."""
    expect(part == health.OK, part)


def round_trip(site: Site) -> None:
    word = f"selftest {secrets.token_hex(8)}"  # not the canary's, as it is stored
    try:
        ping.delay(word)
        deadline = time.monotonic() + ROUND_TRIP
        while not Heartbeat.objects.filter(name=word).exists():
            expect(
                time.monotonic() < deadline,
                f"no message arrived within {ROUND_TRIP} s. Is a worker running on this broker?",
            )
            time.sleep(0.2)
    finally:
        Heartbeat.objects.filter(name=word).delete()


def answers(site: Site) -> None:
    status = site.ask("/s/").status
    if status in (301, 302):
        raise Failed("redirects to TLS. Give the https address, or set CANDOR_TRUSTED_PROXIES.")
    expect(status != 400, f"the host {site.host} is unknown. Add it to CANDOR_HOSTS.")
    expect(status == 200, f"/s/ returned status {status}. See the web server's log.")


def deployment(site: Site) -> None:
    expect(not settings.DEMO, "CANDOR_DEMO is set, so there are demo logins and no TLS.")
    messages = checks.run_checks(include_deployment_checks=True)
    # Switching off CANDOR_HSTS_SECONDS or CANDOR_SSL_REDIRECT is a deliberate choice.
    chosen = {"security.W004", "security.W008"}
    names = [str(m.id) for m in messages if m.level >= checks.WARNING and m.id not in chosen]
    expect(not names, f"manage.py check --deploy warns: {', '.join(names)}.")


def secret_key(site: Site) -> None:
    key = settings.SECRET_KEY
    expect(len(key) >= 32 and len(set(key)) >= 10, "CANDOR_SECRET_KEY needs 32 random characters.")


def room(site: Site) -> None:
    free = shutil.disk_usage(settings.VAR_DIR).free
    expect(free >= ROOM, f"{settings.VAR_DIR} has only {free / 2**20:.0f} MB left.")


def triggers_there(site: Site) -> None:
    missing = sorted(triggers.expected() - database().trigger_names())
    expect(not missing, f"triggers are missing or switched off: {', '.join(missing)}.")


def log(site: Site) -> None:
    try:
        for _ in verified_entries():
            pass
    except BrokenChain as error:
        raise Failed(f"{error} See manage.py verify_log.") from None
