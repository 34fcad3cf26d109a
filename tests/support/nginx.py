"""nginx in front of a running site, as deploy/ configures it."""

import http.client
import re
import signal
import socket
import ssl
import subprocess
from pathlib import Path

from tests.support.packages import nginx
from tests.support.repository import DEPLOY
from tests.support.services import Server, die_with_parent, free_port

TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")  # folders it makes at the start


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a key and a self-signed certificate for this machine."""
    key, certificate = folder / "privkey.pem", folder / "fullchain.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, certificate


def configuration(folder: Path) -> str:
    """The configuration of deploy/ with all its files in this folder."""
    temporary = " ".join(f"{name}_temp_path {folder}/{name};" for name in TEMPORARY)
    text = (DEPLOY / "nginx.conf").read_text().replace("http {", f"http {{ {temporary}", 1)
    return text.replace("/etc/candor/tls", str(folder)).replace("/run/nginx.pid", f"{folder}/pid")


class Nginx(Server):
    """nginx on loopback ports, for a site on another port."""

    def __init__(self, site_port: int) -> None:
        super().__init__("nginx")
        self.plain_port = free_port()
        _, self.certificate = make_certificate(self.folder)
        text = re.sub(r"listen \[::\].*", "", configuration(self.folder))
        for old, port in (
            ("listen 80 ", self.plain_port),
            ("listen 443 ", self.port),
            ("server 127.0.0.1:8000", site_port),
        ):
            assert old in text
            text = text.replace(old, f"{old.split()[0]} 127.0.0.1:{port} ")
        (self.folder / "nginx.conf").write_text(text)

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(nginx()), "-e", "stderr", "-c", self.folder / "nginx.conf",
                 "-g", "daemon off;"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=die_with_parent(signal.SIGTERM),
            )  # fmt: skip
        self._await(self._listens)

    def connect(self) -> http.client.HTTPSConnection:
        trusted = ssl.create_default_context(cafile=str(self.certificate))
        return http.client.HTTPSConnection("localhost", self.port, timeout=20, context=trusted)

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True
