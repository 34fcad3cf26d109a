"""HTTP requests to the installation, and the error for failed checks."""

import http.client
import json
import secrets
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings


class Failed(Exception):
    """A failed check: what is wrong, and how to fix it."""


@dataclass
class SiteReply:
    status: int
    headers: dict[str, str]  # names in lower case
    cookies: list[str]
    body: bytes


@dataclass
class Site:
    """The installation as reached by the canary, a visitor with a unique word."""

    url: str
    host: str  # for the header Host
    word: str = field(default_factory=lambda: secrets.token_hex(8))

    @classmethod
    def at(cls, url: str, port: int) -> "Site":
        """Return the site at this URL, or if it is empty, on this machine without the proxy."""
        if url:
            return cls(url.rstrip("/"), urlsplit(url).netloc)
        named = settings.ALLOWED_HOSTS[0].lstrip(".")
        return cls(f"http://127.0.0.1:{port}", "localhost" if named == "*" else named)

    @property
    def address(self) -> str:
        """An address from the range for documentation, which nobody has."""
        parts = [self.word[i : i + 4].lstrip("0") or "0" for i in range(0, 16, 4)]
        return str(ip_address(f"2001:db8:0:0:{':'.join(parts)}"))

    def ask(self, path: str, method: str = "GET", body: Any = None) -> SiteReply:
        where = urlsplit(self.url)
        secure = where.scheme == "https"
        client = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        link = client(where.netloc, timeout=20)
        headers = {
            "Host": self.host,
            "User-Agent": f"Canary/{self.word}",
            "Referer": f"https://example.org/{self.word}",
            "X-Forwarded-For": self.address,
            "X-Real-IP": self.address,
            "Forwarded": f'for="[{self.address}]"',
            "Content-Type": "application/json",
        }
        if not secure and settings.TRUSTED_PROXIES:
            headers["X-Forwarded-Proto"] = "https"  # as the proxy would
        try:
            link.request(method, path, json.dumps(body) if body is not None else None, headers)
            reply = link.getresponse()
            found = {name.lower(): value for name, value in reply.getheaders()}
            cookies = reply.headers.get_all("Set-Cookie") or []
            return SiteReply(reply.status, found, cookies, reply.read())
        except (OSError, http.client.HTTPException) as error:
            raise Failed(f"{self.url} does not answer: {error}") from None
        finally:
            link.close()


def expect(holds: bool, otherwise: str) -> None:
    """Fail with this message unless the condition holds."""
    if not holds:
        raise Failed(otherwise)
