"""What a running installation promises, tried from outside and looked for inside.

Each check is a function that returns what is wrong and what to do, or nothing. The canary is a
visitor with an address and a browser of their own, who opens the pages and sends reports that are
refused; afterwards neither may be found anywhere. No check changes anything that stays.
"""

import hashlib
import http.client
import json
import secrets
import shutil
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.db import connection
from redis import Redis, RedisError

from aggregation.jobs.tasks import ping
from aggregation.models import Batch
from aggregation.models.heartbeat import Heartbeat
from operations import health
from survey.audit.verification import Broken, verified
from survey.database import database, triggers
from survey.management.commands.manifest import collect
from survey.models import Invitation, Report, Survey
from survey.respondent import manifest, shell

ROUND_TRIP = 30  # seconds for a message to go through the broker and a worker
ROOM = 2**30  # bytes that should be free
PIECE = 1 << 20
NOWHERE = "no-such-survey-here"
TIMES = ("time", "inet", "cidr", "interval")  # in the name of a type that may not stand by a report

# PostgreSQL's own notes that would say when somebody answered, and what the setting must be.
POSTGRESQL = {
    "log_statement": ("none", "ddl"),
    "log_min_duration_statement": ("-1",),
    "log_duration": ("off",),
    "track_commit_timestamp": ("off",),
}


class Failed(Exception):
    """What is wrong, and what to do."""


@dataclass
class Reply:
    status: int
    headers: dict[str, str]  # names in lower case
    cookies: list[str]
    body: bytes


@dataclass
class Site:
    """The installation as a visitor reaches it, who is the canary."""

    url: str
    host: str  # what is said in the header Host
    word: str = field(default_factory=lambda: secrets.token_hex(8))

    @classmethod
    def at(cls, url: str, port: int) -> "Site":
        """At this address; or, without one, past the proxy on this machine."""
        if url:
            return cls(url.rstrip("/"), urlsplit(url).netloc)
        named = settings.ALLOWED_HOSTS[0].lstrip(".")
        return cls(f"http://127.0.0.1:{port}", "localhost" if named == "*" else named)

    @property
    def address(self) -> str:
        """One that nobody has, from the range for documents."""
        parts = [self.word[i : i + 4].lstrip("0") or "0" for i in range(0, 16, 4)]
        return str(ip_address(f"2001:db8:0:0:{':'.join(parts)}"))

    @property
    def agent(self) -> str:
        return f"Canary/{self.word}"

    def ask(self, path: str, method: str = "GET", body: Any = None) -> Reply:
        where = urlsplit(self.url)
        port = where.port or (443 if where.scheme == "https" else 80)
        link: http.client.HTTPConnection
        if where.scheme == "https":
            context = ssl.create_default_context()
            link = http.client.HTTPSConnection(
                where.hostname or "", port, timeout=20, context=context
            )
        else:
            link = http.client.HTTPConnection(where.hostname or "", port, timeout=20)
        headers = {
            "Host": self.host,
            "User-Agent": self.agent,
            "Referer": f"https://example.org/{self.word}",
            "X-Forwarded-For": self.address,
            "X-Real-IP": self.address,
            "Forwarded": f'for="[{self.address}]"',
            "Content-Type": "application/json",
        }
        if where.scheme == "http" and settings.TRUSTED_PROXIES:
            headers["X-Forwarded-Proto"] = "https"  # as the proxy would
        try:
            link.request(method, path, json.dumps(body) if body is not None else None, headers)
            reply = link.getresponse()
            found = {name.lower(): value for name, value in reply.getheaders()}
            cookies = reply.headers.get_all("Set-Cookie") or []
            return Reply(reply.status, found, cookies, reply.read())
        except (OSError, http.client.HTTPException) as error:
            raise Failed(f"{self.url} does not answer: {error}") from None
        finally:
            link.close()


Check = Callable[[Site], None]


@dataclass(frozen=True)
class Outcome:
    name: str
    problem: str  # empty: all right


def run(site: Site, logs: list[Path]) -> Iterator[Outcome]:
    """Every check, one after the other; a check that cannot be made has failed."""
    for name, check in listed(logs).items():
        try:
            check(site)
            problem = ""
        except Failed as error:
            problem = str(error)
        except Exception as error:  # the next one is still worth a try
            problem = f"could not be checked ({type(error).__name__})"
        yield Outcome(name, problem)


def listed(logs: list[Path]) -> dict[str, Check]:
    return {
        "the database answers": lambda _: said(health.database()),
        "migrations are applied": lambda _: said(health.migrations()),
        "the broker answers": lambda _: said(health.broker()),
        "the beat ticks and a worker hears it": lambda _: said(health.worker()),
        "a message goes through broker and worker": round_trip,
        "the web server answers": answers,
        "the settings are those of production": deployment,
        "the secret key is long": secret_key,
        "there is room on the disk": room,
        "the audit log is whole": log,
        "the database keeps what is frozen": triggers_there,
        "respondents' pages: headers, no cookie": respondents,
        "researchers' pages: headers, safe cookies": researchers,
        "the API: headers, no cookie": api,
        "strangers get no page of researchers": strangers,
        "the pages are those of this source": bytes_served,
        "no time and no address beside a report": columns,
        "the database notes no times of its own": notes,
        "address and browser of a visitor are kept nowhere": lambda site: canary(site, logs),
    }


def said(part: str) -> None:
    if part != health.OK:
        raise Failed(part)


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Failed(otherwise)


# --- What runs ------------------------------------------------------------------------------------


def round_trip(site: Site) -> None:
    word = f"selftest {secrets.token_hex(8)}"  # not the canary's: it lies about for a while
    try:
        ping.delay(word)
        deadline = time.monotonic() + ROUND_TRIP
        while not Heartbeat.objects.filter(name=word).exists():
            expect(
                time.monotonic() < deadline,
                f"nothing came through in {ROUND_TRIP} s: is a worker running, on this broker?",
            )
            time.sleep(0.2)
    finally:
        Heartbeat.objects.filter(name=word).delete()


def answers(site: Site) -> None:
    status = site.ask("/s/").status
    if status in (301, 302):
        raise Failed("it redirects to TLS: name the https address, or set CANDOR_TRUSTED_PROXIES.")
    expect(status != 400, f"it does not know the host {site.host}: CANDOR_HOSTS.")
    expect(status == 200, f"/s/ is answered with {status}: look at the log of the web server.")


def deployment(site: Site) -> None:
    expect(not settings.DEMO, "CANDOR_DEMO is on: demo logins, and no TLS.")
    found = checks.run_checks(include_deployment_checks=True)
    # Whoever switched these off means it: CANDOR_HSTS_SECONDS, CANDOR_SSL_REDIRECT.
    chosen = {"security.W004", "security.W008"}
    names = [str(one.id) for one in found if one.level >= checks.WARNING and one.id not in chosen]
    expect(not names, f"manage.py check --deploy warns: {', '.join(names)}.")


def secret_key(site: Site) -> None:
    key = settings.SECRET_KEY
    expect(len(key) >= 32 and len(set(key)) >= 10, "CANDOR_SECRET_KEY: 32 random characters.")


def room(site: Site) -> None:
    free = shutil.disk_usage(settings.VAR_DIR).free
    expect(free >= ROOM, f"{settings.VAR_DIR} has {free / 2**20:.0f} MB left.")


def triggers_there(site: Site) -> None:
    missing = sorted(triggers.expected() - database().trigger_names())
    expect(not missing, f"triggers are missing or switched off: {', '.join(missing)}.")


def log(site: Site) -> None:
    try:
        for _ in verified():
            pass
    except Broken as error:
        raise Failed(f"{error} See manage.py verify_log.") from None


# --- What is served -------------------------------------------------------------------------------


def compare(reply: Reply, wanted: dict[str, str], path: str) -> None:
    for name, value in wanted.items():
        found = reply.headers.get(name.lower())
        if found != value:
            raise Failed(f"{path}: {name} is {found!r}, not as we send it. Does a proxy change it?")
    if settings.SECURE_HSTS_SECONDS and not settings.DEMO:
        expect(
            f"max-age={settings.SECURE_HSTS_SECONDS}"
            in reply.headers.get("strict-transport-security", ""),
            f"{path}: no Strict-Transport-Security.",
        )


def respondents(site: Site) -> None:
    for path in ("/s/", f"/s/{NOWHERE}/", "/verify/", "/.well-known/candor-manifest.json"):
        reply = site.ask(path)
        expect(reply.status == 200, f"{path} is answered with {reply.status}.")
        compare(reply, shell.HEADERS, path)
        expect(not reply.cookies, f"{path} sets a cookie.")


def researchers(site: Site) -> None:
    path = "/login/"
    reply = site.ask(path)
    if reply.headers.get("location", "").endswith("/setup/"):  # nobody has an account yet
        path = "/setup/"
        reply = site.ask(path)
    expect(reply.status == 200, f"{path} is answered with {reply.status}.")
    wanted = {
        "X-Frame-Options": settings.X_FRAME_OPTIONS,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": settings.SECURE_REFERRER_POLICY,
        "Cross-Origin-Opener-Policy": settings.SECURE_CROSS_ORIGIN_OPENER_POLICY,
    }
    compare(reply, wanted, path)
    policy = reply.headers.get("content-security-policy", "")
    expect("default-src 'none'" in policy, f"{path}: no Content-Security-Policy.")
    expect("unsafe" not in policy, f"{path}: the Content-Security-Policy allows unsafe things.")
    for text in reply.cookies:
        for name, cookie in SimpleCookie(text).items():
            expect(bool(cookie["samesite"]), f"the cookie {name} goes to other sites (SameSite).")
            expect(bool(cookie["secure"]) or settings.DEMO, f"the cookie {name} goes without TLS.")


def api(site: Site) -> None:
    path = "/api/v1/surveys/"
    reply = site.ask(path)
    expect(reply.status == 401, f"{path} is answered with {reply.status} to strangers.")
    compare(reply, {"X-Content-Type-Options": "nosniff"}, path)
    expect(not reply.cookies, f"{path} sets a cookie.")


def strangers(site: Site) -> None:
    """No page of researchers without a login, of any survey that there is."""
    paths = ["/surveys/", "/plan/", "/log/", "/log/log.csv", "/account/tokens/", "/admin/"]
    survey = Survey.objects.filter(results_public=False).first()
    if survey:
        here = f"/surveys/{survey.slug}"
        paths += [f"{here}/", f"{here}/people/", f"{here}/log/", f"{here}/analyses/"]
        paths += [f"{here}/releases/1/{name}" for name in ("reports.csv", "everything.zip")]
        paths += [f"/api/v1{here}/estimates/", f"/api/v1{here}/releases/"]
    for path in paths:
        reply = site.ask(path)
        closed = reply.status in (401, 403) or (
            reply.status == 302 and "/login/" in reply.headers.get("location", "")
        )
        expect(closed, f"{path} is answered with {reply.status} to strangers.")
    expect(site.ask("/metrics").status in (401, 404), "/metrics is open to strangers.")


def bytes_served(site: Site) -> None:
    with TemporaryDirectory(prefix="candor-selftest-") as folder:
        ours = manifest.files(collect(folder))
    published = site.ask("/.well-known/candor-manifest.json").body
    expect(
        published == manifest.manifest(ours),
        "the manifest is not that of this source: restart the web server after an upgrade, and "
        "run this from the source that it runs.",
    )
    for path, content in ours.items():
        served = hashlib.sha256(site.ask(path).body).digest()
        expect(served == hashlib.sha256(content).digest(), f"{path}: other bytes than ours.")


# --- What is kept ---------------------------------------------------------------------------------


def columns(site: Site) -> None:
    """The tables about respondents have our columns only, and none of them holds a time."""
    for model in (Report, Batch, Invitation):
        table = model._meta.db_table
        ours = {str(one.column) for one in model._meta.local_fields}
        found = database().columns_of(table)
        expect(set(found) == ours, f"{table} has other columns than ours: somebody changed it.")
        timed = [name for name, kind in found.items() if any(word in kind for word in TIMES)]
        expect(not timed, f"{table} holds times: {', '.join(timed)}.")


def notes(site: Site) -> None:
    if connection.vendor != "postgresql":
        return
    for name, good in POSTGRESQL.items():
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting(%s)", [name])
            (found,) = cursor.fetchone()
        expect(found in good, f"PostgreSQL has {name} = {found}: set it to {good[0]}.")


def canary(site: Site, logs: list[Path]) -> None:
    """Visit, send what is refused, and search; then see that the search would have found it."""
    refused = {"id": site.word, "canary": site.word}
    for path in ("/s/", f"/s/{NOWHERE}/", f"/s/{NOWHERE}/definition/", "/verify/", "/login/"):
        site.ask(path)
    survey = Survey.objects.filter(state=Survey.State.OPEN).first()
    for slug in (NOWHERE, *([survey.slug] if survey else [])):
        for path in ("reports/", "reports/batch/"):
            status = site.ask(f"/api/v1/surveys/{slug}/{path}", "POST", refused).status
            expect(400 <= status < 500, f"a wrong report is answered with {status}.")
    places = kept(site.word, logs)
    expect(not places, f"they are found in {', '.join(places)}: switch that off, and delete it.")
    control = f"selftest {site.word}"
    Heartbeat.objects.create(name=control, at="2000-01-01T00:00:00Z")
    try:
        expect(bool(kept(site.word, [])), "the search does not work: nothing is proven.")
    finally:
        Heartbeat.objects.filter(name=control).delete()


def kept(word: str, logs: list[Path]) -> list[str]:
    """Where a word is found: tables, files of this installation, broker, the logs named.

    The address holds the word in another form (an address drops zeros), the user agent as it is.
    """
    address = Site("", "", word).address
    needles = [word.encode(), address.encode()]
    found = [*in_tables(word, address)]
    files = [path for path in Path(settings.VAR_DIR).rglob("*") if path.is_file()]
    files = [path for path in files if "static" not in path.relative_to(settings.VAR_DIR).parts]
    found += [str(path) for path in (*files, *logs) if in_file(path, needles)]
    if settings.REDIS_URL:
        found += in_redis(needles)
    return found


def in_tables(*texts: str) -> Iterator[str]:
    """Of PostgreSQL; SQLite's are a file. Reports and batches hold bytes only: see `columns`."""
    if connection.vendor != "postgresql":
        return
    tables = set(connection.introspection.table_names())
    for table in sorted(tables - {Report._meta.db_table, Batch._meta.db_table}):
        quoted = connection.ops.quote_name(table)
        with connection.cursor() as cursor:
            for text in texts:
                cursor.execute(
                    f"SELECT 1 FROM {quoted} AS t WHERE t::text LIKE %s LIMIT 1",  # noqa: S608
                    [f"%{text}%"],
                )
                if cursor.fetchone():
                    yield table


def in_file(path: Path, needles: list[bytes]) -> bool:
    try:
        with path.open("rb") as file:
            before = b""
            while piece := file.read(PIECE):
                if any(needle in before + piece for needle in needles):
                    return True
                before = piece[-64:]
    except FileNotFoundError:
        if path.parent != Path(settings.VAR_DIR):  # a log that somebody named
            raise Failed(f"{path} is not there.") from None
    return False


def in_redis(needles: list[bytes]) -> list[str]:
    readers: dict[bytes, Callable[[Redis, bytes], Any]] = {
        b"string": lambda redis, key: redis.get(key),
        b"list": lambda redis, key: redis.lrange(key, 0, -1),
        b"hash": lambda redis, key: redis.hgetall(key),
        b"set": lambda redis, key: redis.smembers(key),
        b"zset": lambda redis, key: redis.zrange(key, 0, -1),
    }
    found = []
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=10) as redis:
            for key in redis.scan_iter():
                read = readers.get(redis.type(key))
                text = repr((key, read(redis, key) if read else None)).encode()
                if any(needle in text for needle in needles):
                    found.append(f"Redis {key.decode(errors='replace')}")
    except RedisError as error:
        raise Failed(f"Redis cannot be searched: {type(error).__name__}.") from None
    return found
