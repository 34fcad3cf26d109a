"""Rate limits: requests and failed attempts in this minute, counted in the cache.

All processes that share a cache count together. Accounts and addresses are stored as keyed hashes;
the key changes every minute and is not in the cache, so no address can be read from it. Reports
have their own limit: survey/collect/throttle.py.
"""

import logging
import sys
import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from survey.collect import throttle

logger = logging.getLogger(__name__)

MINUTE = 60


def wait(kind: str, who: str, most: int, spend: bool = True) -> int:
    """Count one attempt; return the seconds to wait if there are more than `most`, else 0."""
    if not most:
        return 0
    now = time.time()
    salt = f"candor.throttle.{kind}.{now // MINUTE:.0f}"
    name = f"{kind}:{salted_hmac(salt, who, algorithm='sha256').hexdigest()}"
    try:
        if spend:
            cache.add(name, 0, 2 * MINUTE)
        count = cache.incr(name) if spend else cache.get(name, 0) + 1
    except _cache_errors() as error:  # also raised for an evicted counter; nobody is locked out
        logger.warning("requests are not counted: %s", type(error).__name__)
        return 0
    return MINUTE - int(now % MINUTE) if count > most else 0


def _cache_errors() -> tuple[type[Exception], ...]:
    """Return the errors of an unavailable cache, including those of Redis if it is in use."""
    redis = sys.modules.get("redis")
    return (ValueError, redis.RedisError) if redis else (ValueError,)


def address(request: HttpRequest | Request) -> str:
    """Return the address that a request comes from."""
    meta = request.META
    return throttle.address(meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""))


def stranger(request: HttpRequest | Request) -> int:
    """Count a request without an account; return the seconds to wait."""
    return wait("public", address(request), settings.PUBLIC_PER_MINUTE)


def anyone(request: HttpRequest | Request) -> int:
    if request.user.is_authenticated:
        return wait("api", f"account {request.user.pk}", settings.API_PER_MINUTE)
    return stranger(request)


class PerMinute(BaseThrottle):
    """`anyone` as a throttle class for the API framework."""

    seconds = 0

    def allow_request(self, request: Request, view: Any) -> bool:
        self.seconds = anyone(request)
        return not self.seconds

    def wait(self) -> float | None:
        return self.seconds
