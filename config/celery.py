"""The Celery application. It uses Redis if REDIS_URL is set, otherwise the embedded broker."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
TRANSPORT_ALIASES["candor-sqlite"] = "operations.broker:Transport"

app = Celery("candor")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["aggregation.jobs"])
