"""Limits how much one address may send in a minute, counted in the memory of this process.

Counts are stored under a keyed hash of the address; the key and the counts are discarded every
minute. A batch counts as many requests as it has reports, valid or not, because each is work.
"""

import hashlib
import secrets
import threading
import time
from collections import Counter
from ipaddress import IPv6Address, ip_network

from django.conf import settings

from survey.collect.protocol import Refused

_lock = threading.Lock()  # shared by the event loop and other threads
_minute = 0
_key = secrets.token_bytes(32)
_counts: Counter[bytes] = Counter()


def spend(remote: str, forwarded: str) -> bytes:
    """Count one request and return its sender for `charge`; Refused after too many.

    `forwarded` is the X-Forwarded-For header.
    """
    global _minute, _key
    if not settings.INGEST_PER_MINUTE:
        return b""
    origin = address(remote, forwarded).encode(errors="surrogateescape")
    with _lock:
        minute = int(time.monotonic() // 60)
        if minute != _minute:
            _counts.clear()
            _minute, _key = minute, secrets.token_bytes(32)
        sender = hashlib.blake2b(origin, key=_key, digest_size=16).digest()
        _counts[sender] += 1
        _check(sender)
    return sender


def charge(sender: bytes, reports: int) -> None:
    """Count a batch as the number of its reports, before they are checked.

    Refused if other requests have used up the limit since this one arrived.
    """
    with _lock:
        if sender in _counts:  # otherwise a new minute has begun
            _check(sender)
            _counts[sender] += max(0, reports - 1)


def _check(sender: bytes) -> None:
    if _counts[sender] > settings.INGEST_PER_MINUTE:
        raise Refused(429, {"rate": ["too many requests; wait a minute, then send this again"]})


def address(remote: str, forwarded: str) -> str:
    """Return the address that a request comes from, skipping our own proxies.

    For IPv6, return the /64 network, because one household has a whole network.
    """
    addresses = forwarded.split(",")
    hops = settings.TRUSTED_PROXIES
    origin = addresses[-hops].strip() if hops and len(addresses) >= hops else remote
    if ":" not in origin:
        return origin
    try:
        parsed = IPv6Address(origin)
    except ValueError:
        return origin
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
