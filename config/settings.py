"""All settings, read from the environment. docs/operations.md lists the variables.

If CANDOR_SECRET_KEY or CANDOR_HOSTS is set, only the environment counts. Otherwise var/demo.env is
read, which `make run` writes for a demo on this machine. Without either, Candor refuses to start,
because the default is production.
"""

import contextlib
import os
from pathlib import Path

import environ
from celery.schedules import schedule
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config.processes import steady
from config.static import add_headers

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

DEMO_ENV = Path(os.environ.get("CANDOR_DEMO_ENV", BASE_DIR / "var" / "demo.env"))
PRODUCTION = not {"CANDOR_SECRET_KEY", "CANDOR_HOSTS"}.isdisjoint(os.environ)
if not PRODUCTION and env.bool("CANDOR_DEMO", True) and DEMO_ENV.exists():
    env.read_env(DEMO_ENV)

DEMO: bool = env.bool("CANDOR_DEMO", False)  # only then are there demo data and demo logins
VAR_DIR = Path(env.str("CANDOR_VAR", str(BASE_DIR / "var"))).resolve()

SECRET_KEY = os.environ.get("CANDOR_SECRET_KEY", "")
if not SECRET_KEY or (len(SECRET_KEY) < 32 and not DEMO):
    raise ImproperlyConfigured(
        "CANDOR_SECRET_KEY is not set or is shorter than 32 characters. Set it to a long random "
        "text, or run `make run` for a demo."
    )
ALLOWED_HOSTS: list[str] = env.list("CANDOR_HOSTS", default=["*"] if DEMO else [])
if not ALLOWED_HOSTS:
    raise ImproperlyConfigured("CANDOR_HOSTS is not set. Set it to the host names of this site.")
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CANDOR_ORIGINS", default=[])
DEBUG = False  # a traceback never reaches a browser, not even in the demo

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "survey",
    "aggregation",
    "people",
    "studio",
    "operations",
]

MIDDLEWARE = [
    "operations.health.health_checks",
    "survey.respondent.shell.respondent_protection",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "people.sessions.session_rules",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- Data -----------------------------------------------------------------------------------------

DATABASE_URL: str = env.str("DATABASE_URL", f"sqlite:///{VAR_DIR / 'candor.sqlite3'}")
if not DATABASE_URL.startswith(("sqlite://", "postgresql://", "postgres://")):
    raise ImproperlyConfigured("DATABASE_URL must begin with postgresql:// or sqlite://.")
DATABASES = {"default": env.db_url_config(DATABASE_URL)}
DATABASES["default"]["CONN_MAX_AGE"] = None  # opening a connection per request costs 100 times more
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    with contextlib.suppress(OSError):  # SQLite reports this itself
        VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",  # writers wait instead of failing halfway
        "timeout": 20,
        # WAL lets readers work while a report is stored, FULL makes a commit survive a power cut,
        # and secure_delete overwrites deleted data.
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
            "PRAGMA recursive_triggers=ON;"  # REPLACE INTO must not bypass the triggers
            "PRAGMA cache_size=-65536;"  # 64 MiB, because random ids are spread over all pages
        ),
    }
else:
    # Values are sent separately from the statement, so that neither the server's log nor
    # pg_stat_activity shows the content of a report.
    DATABASES["default"].setdefault("OPTIONS", {})["server_side_binding"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Background jobs ------------------------------------------------------------------------------

REDIS_URL: str = env.str("REDIS_URL", "")
CELERY_BROKER_URL = REDIS_URL or f"candor-sqlite:///{VAR_DIR / 'broker.sqlite3'}"
# A message of a killed worker is delivered again after visibility_timeout seconds. It can be short
# for the embedded broker, which renews the messages of living workers.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 60 if REDIS_URL else 10,
    "unacked_restore_throttle": 1,
    # An unresponsive Redis must not block requests for a release.
    **({"socket_timeout": 5, "socket_connect_timeout": 5} if REDIS_URL else {}),
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True  # the outcome of a job is in the database
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = (
    "celery.beat:Scheduler"  # it needs no state, because there are only intervals
)
CELERY_BEAT_SCHEDULE = {
    # Uses a monotonic clock: if the system clock is set back by an hour, a beat that follows it
    # stops for an hour. For the same reason, ticks do not expire.
    "tick": {"task": "aggregation.jobs.tasks.tick", "schedule": schedule(5.0, nowfun=steady)}
}

# Request counters. With Redis all web processes share them, otherwise each process has its own.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "candor",
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

# The limits for opening a survey. The second one is for each background answer.
MAX_EPSILON: float = env.float("CANDOR_MAX_EPSILON", 4.0)
MAX_BACKGROUND_EPSILON: float = env.float("CANDOR_MAX_BACKGROUND_EPSILON", 5.0)
MIN_CROWD: int = env.int("CANDOR_MIN_CROWD", 10)
if MIN_CROWD < 2:
    raise ImproperlyConfigured("CANDOR_MIN_CROWD must be 2 or more.")
RELEASE_SECONDS: int = env.int("CANDOR_RELEASE_SECONDS", 600)  # between automatic releases
ANALYSIS_SECONDS: int = env.int("CANDOR_ANALYSIS_SECONDS", 300)  # of computation per analysis
ANALYSIS_MEGABYTES: int = env.int("CANDOR_ANALYSIS_MEGABYTES", 1000)  # of memory per analysis
# If a release has more reports than this, a worker writes the file for the download.
STREAMED_REPORTS: int = env.int("CANDOR_STREAMED_REPORTS", 1_000_000)
KEEP_IDS_DAYS: int = env.int("CANDOR_KEEP_IDS_DAYS", 30)  # after the survey closes
CHECKLIST: bool = env.bool("CANDOR_CHECKLIST", True)  # if False, it never blocks an opening
INBOX_REPORTS: int = env.int("CANDOR_INBOX_REPORTS", 10_000_000)  # that may wait to be moved
# Limits per minute; 0 means no limit.
INGEST_PER_MINUTE: int = env.int("CANDOR_INGEST_PER_MINUTE", 1200)  # reports from one address
API_PER_MINUTE: int = env.int("CANDOR_API_PER_MINUTE", 600)  # requests of one account
PUBLIC_PER_MINUTE: int = env.int("CANDOR_PUBLIC_PER_MINUTE", 120)  # requests without an account
FAILURES_PER_MINUTE: int = env.int("CANDOR_FAILURES_PER_MINUTE", 10)  # failed logins and tokens
METRICS_TOKEN: str = env.str("CANDOR_METRICS_TOKEN", "")  # for /metrics; if empty, there is none
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:
    raise ImproperlyConfigured("CANDOR_METRICS_TOKEN must have 16 or more characters.")
TRUSTED_PROXIES: int = env.int("CANDOR_TRUSTED_PROXIES", 0)  # proxies of our own before this server

# --- People ---------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = ["people.authentication.Passwords"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",  # old hashes, replaced at the next login
]
SESSION_ENGINE = "people.sessions"
# Who must have a second factor: "owners" (of a survey or team, and staff), "all" or "none".
SECOND_FACTOR: str = env.str("CANDOR_SECOND_FACTOR", "none" if DEMO else "owners")
if SECOND_FACTOR not in ("none", "owners", "all"):
    raise ImproperlyConfigured("CANDOR_SECOND_FACTOR must be none, owners or all.")
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "surveys"
LOGOUT_REDIRECT_URL = "login"

# Outgoing e-mail. Without a mail server, the pages say that e-mail is not set up.
EMAIL_URL: str = env.str("CANDOR_EMAIL_URL", "")
if EMAIL_URL:
    vars().update(env.email_url_config(EMAIL_URL))
else:
    EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
EMAIL_TIMEOUT = 10  # seconds; short, because a person is waiting
DEFAULT_FROM_EMAIL: str = env.str("CANDOR_EMAIL_FROM", f"candor@{ALLOWED_HOSTS[0].lstrip('.*')}")

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

# --- API ------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "people.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["survey.rate_limits.PerMinute"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Candor",
    "DESCRIPTION": "Surveys that people can answer truthfully. Reports are randomized before they "
    "are sent; estimates are debiased and have intervals.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": [
        "survey.api.schema.describe_ingest",
        "survey.api.schema.describe_details",
    ],
}

# --- Static files ---------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.static.HashedStaticFiles"},
}
WHITENOISE_ADD_HEADERS_FUNCTION = add_headers
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = [*"jpg jpeg png gif webp woff woff2 map".split()]

# --- Security headers and cookies -----------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "worker-src": [NONE],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "operations.error_pages.csrf_failure"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"  # respondents' pages use no-referrer
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 60 * 60 * 12
if not DEMO:  # the demo uses plain HTTP on this machine
    SECURE_SSL_REDIRECT = env.bool("CANDOR_SSL_REDIRECT", True)
    SECURE_HSTS_SECONDS = env.int("CANDOR_HSTS_SECONDS", 60 * 60 * 24 * 365)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    if TRUSTED_PROXIES:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# --- Logging --------------------------------------------------------------------------------------

# Only to standard error, without request bodies, addresses or user agents, and without e-mails that
# contain local variables. The web server's access log is off.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        "django.request": {"level": "ERROR"},
        "celery": {"level": "WARNING"},
        "aggregation": {"level": "INFO"},
    },
}
