"""The application with the addresses of bench/urls.py."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings  # noqa: E402

settings.ROOT_URLCONF = "bench.urls"

from config.wsgi import application  # noqa: E402, F401
