"""How much one address may send in a minute, counted in the memory of this process.

Counted by a keyed hash of the address; key and counts are thrown away every minute. A batch counts
as the reports that it lists, right or wrong, because each of them is work.
"""

import hashlib
import secrets
import threading
import time
from collections import Counter
from ipaddress import IPv6Address, ip_network

from django.conf import settings

from survey.collect.protocol import Refused

_lock = threading.Lock()  # the event loop counts here, and so do the threads beside it
_minute = 0
_key = secrets.token_bytes(32)
_counts: Counter[bytes] = Counter()


def spend(remote: str, forwarded: str) -> bytes:
    """Count one request, and return who sent it, for `charge`; Refused after too many.

    `forwarded` is its X-Forwarded-For.
    """
    global _minute, _key
    if not settings.INGEST_PER_MINUTE:
        return b""
    found = address(remote, forwarded).encode(errors="surrogateescape")
    with _lock:
        minute = int(time.monotonic() // 60)
        if minute != _minute:
            _counts.clear()
            _minute, _key = minute, secrets.token_bytes(32)
        sender = hashlib.blake2b(found, key=_key, digest_size=16).digest()
        _counts[sender] += 1
        _check(sender)
    return sender


def charge(sender: bytes, reports: int) -> None:
    """Count a request as the reports that it lists, before they are looked at.

    Refused if other requests have spent what was left since this one came in.
    """
    with _lock:
        if sender in _counts:  # else a new minute has begun
            _check(sender)
            _counts[sender] += max(0, reports - 1)


def _check(sender: bytes) -> None:
    if _counts[sender] > settings.INGEST_PER_MINUTE:
        raise Refused(429, {"rate": ["too many requests; wait a minute and send the same again"]})


def address(remote: str, forwarded: str) -> str:
    """Return where a request comes from, past the proxies of our own.

    Of IPv6 the network, since one house has all of that.
    """
    named = forwarded.split(",")
    hops = settings.TRUSTED_PROXIES
    found = named[-hops].strip() if hops and len(named) >= hops else remote
    if ":" not in found:
        return found
    try:
        parsed = IPv6Address(found)
    except ValueError:
        return found
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
