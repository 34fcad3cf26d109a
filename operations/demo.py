"""The program behind `make run`: a demo on this machine, starting from an empty folder.

It prepares the database and the demo surveys and then serves them. It writes var/demo.env, so that
`manage.py` uses the same data during the demo and afterwards. Ordinary problems are reported in one
sentence, with status 1. It never touches a production environment.
"""

import os
import re
import secrets
import sys
from functools import partial
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from operations.serve import HOST, check_port

BASE_DIR = Path(__file__).resolve().parent.parent
DEMO_ENV = Path(os.environ.get("CANDOR_DEMO_ENV", BASE_DIR / "var" / "demo.env"))
CHOSEN = ("CANDOR_VAR", "DATABASE_URL", "REDIS_URL")  # used by the demo if they are set
OPEN, CLOSED, DRAFT = "wellbeing-at-work", "bribes-for-permits", "bullying-at-school"
LOGINS = {"researcher": "researcher-demo", "viewer": "viewer-demo", "admin": "admin-demo"}
CONNECT_SECONDS = 5  # for a database or Redis to answer

NOTE = """
  Candor is running, with made-up data. Ctrl-C stops it.

    Answer a survey       {site}/s/{open}/
    Read its estimates    {site}/surveys/{open}/
    See public results    {site}/results/{closed}/
    Finish a draft        {site}/studio/{draft}/ (as admin)
    Create a survey       {site}/studio/new/ (as admin)
    Use the API           {site}/api/docs/

    Log in as             {logins}
"""


def check_environment() -> None:
    if "CANDOR_SECRET_KEY" in os.environ:
        raise CommandError(
            "CANDOR_SECRET_KEY is set, so this is a production environment. `make run` is only for "
            "demos. See docs/operations.md."
        )
    database = os.environ.get("DATABASE_URL", "sqlite://")
    if not database.startswith(("postgres://", "postgresql://", "sqlite://")):
        raise CommandError("DATABASE_URL must begin with postgresql:// or sqlite://.")


def port() -> int:
    try:
        return int(os.environ.get("PORT", "8000"))
    except ValueError:
        raise CommandError("PORT must be a number, such as PORT=8001.") from None


def environment() -> dict[str, str]:
    """Return the variables with which this and every later process use the same demo."""
    return {
        "CANDOR_SECRET_KEY": known_secret_key() or secrets.token_urlsafe(48),
        "CANDOR_DEMO": "1",
        "CANDOR_RELEASE_SECONDS": "60",
        "CANDOR_INGEST_PER_MINUTE": "0",
        **{name: os.environ[name] for name in CHOSEN if name in os.environ},
    }


def remember(values: dict[str, str]) -> None:
    """Write var/demo.env. Called only after a successful start, so that working data stays."""
    try:
        DEMO_ENV.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = DEMO_ENV.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with open(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.writelines(f"{name}='{value}'\n" for name, value in values.items())
        fresh.replace(DEMO_ENV)
    except OSError as error:
        raise CommandError(f"Cannot write to {DEMO_ENV.parent}: {error.strerror}.") from None


def known_secret_key() -> str:
    """Return the key of the last run, if any, so that sessions survive a restart."""
    try:
        text = DEMO_ENV.read_text()
    except OSError:
        return ""
    match = re.search(r"^CANDOR_SECRET_KEY='?([\w-]{40,})'?$", text, re.MULTILINE)
    return match[1] if match else ""


def load_settings() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("PGCONNECT_TIMEOUT", str(CONNECT_SECONDS))
    try:
        django.setup()
    except (ImproperlyConfigured, ValueError) as error:
        raise CommandError(f"The settings are not valid: {first_line(error)}") from None


def check_servers() -> None:
    """Refuse to start if the database does not answer, or Redis if it is used."""
    from django.conf import settings
    from django.db import DatabaseError, connection

    try:
        settings.VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection.ensure_connection()
    except OSError as error:
        raise CommandError(f"Cannot write to {settings.VAR_DIR}: {error.strerror}.") from None
    except (DatabaseError, ImproperlyConfigured) as error:
        raise CommandError(f"The database does not answer: {first_line(error)}") from None
    if settings.REDIS_URL:
        check_redis(settings.REDIS_URL)


def check_redis(url: str) -> None:
    from redis import Redis, RedisError

    try:
        limits = {"socket_timeout": CONNECT_SECONDS, "socket_connect_timeout": CONNECT_SECONDS}
        with Redis.from_url(url, **limits) as redis:
            redis.ping()
    except (RedisError, ValueError) as error:
        raise CommandError(f"Redis does not answer: {first_line(error)}") from None


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def prepare() -> None:
    from django.db import connections

    call_command("migrate", interactive=False, verbosity=0)
    call_command("load_demo")
    connections.close_all()
    say("Starting the web server, the worker and the beat …")


def say_where() -> None:
    width = max(map(len, LOGINS)) + 3
    logins = [f"{name:{width}}{password}" for name, password in LOGINS.items()]
    site = f"http://{HOST}:{port()}"
    slugs = {"open": OPEN, "closed": CLOSED, "draft": DRAFT}
    say(NOTE.format(site=site, **slugs, logins=f"\n{'':26}".join(logins)))


say = partial(print, flush=True)


def main() -> None:
    try:
        check_environment()
        check_port(HOST, port())
        values = environment()
        os.environ.update(values)
        say("Preparing the database …")
        load_settings()
        check_servers()
        remember(values)
        prepare()
        call_command("serve", host=HOST, port=port(), ready=say_where)
    except CommandError as error:
        sys.exit(f"Candor cannot start: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
