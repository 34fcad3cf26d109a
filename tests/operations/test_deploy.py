"""The files in deploy/ name commands, variables, paths and limits that exist.

There is no container engine here, so these tests check what they can without one.
"""

import contextlib
import http.client
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from survey.collect import door
from tests.support import packages
from tests.support.nginx import Nginx, configuration, make_certificate
from tests.support.repository import DEPLOY, UNITS, commands, operations, variables
from tests.support.services import ROOT, clean_environment, descendants, free_port

BESIDE = {"POSTGRES_PASSWORD", "POSTGRES_USER", "POSTGRES_DB"}  # PostgreSQL's image reads these
PYTHON = Path(sys.executable).parent
DJANGO = {"migrate", "collectstatic"}
REPORTS = "/api/v1/surveys/small/reports/"


def check_command(words: list[str]) -> None:
    """Check that the program and its options exist, or that manage.py has the command."""
    program = Path(words[0]).name
    assert (PYTHON / program).exists(), program
    if "manage.py" in words:
        name = words[words.index("manage.py") + 1]
        assert name in DJANGO or name in commands(), name
        return
    told = help_of(program, next((word for word in words if word in ("worker", "beat")), ""))
    for word in words[1:]:
        if word.startswith("--"):
            assert re.search(rf"(?<![\w-]){word}\b", told), f"{program} {word}"


@cache
def help_of(program: str, command: str) -> str:
    shown = [[program, "--help"], *([[program, command, "--help"]] if command else [])]
    return "".join(
        subprocess.run(
            [PYTHON / words[0], *words[1:]], capture_output=True, text=True, check=True, cwd=ROOT,
            env=clean_environment() | {"CANDOR_SECRET_KEY": "x" * 40, "CANDOR_HOSTS": "localhost"},
        ).stdout
        for words in shown
    )  # fmt: skip


# --- Settings -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_example_sets_only_variables_that_are_read() -> None:
    lines = (DEPLOY / "env.example").read_text().splitlines()
    names = {line.partition("=")[0] for line in lines if line and not line.startswith("#")}
    assert names <= variables() | BESIDE
    assert {"CANDOR_SECRET_KEY", "CANDOR_HOSTS", "CANDOR_TRUSTED_PROXIES", "DATABASE_URL"} <= names


@pytest.mark.slow
def test_django_has_no_deployment_warnings_in_production(tmp_path: Path) -> None:
    """The settings are those of the example, behind nginx."""
    env = clean_environment() | {
        "CANDOR_SECRET_KEY": "k3" * 30 + "a-b_c",
        "CANDOR_HOSTS": "survey.example.org",
        "CANDOR_TRUSTED_PROXIES": "1",
        "CANDOR_VAR": str(tmp_path),
    }
    check = ["manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(
        [sys.executable, *check], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    weak = env | {"CANDOR_SECRET_KEY": "a" * 40}  # the check works
    done = subprocess.run([sys.executable, *check], cwd=ROOT, env=weak, capture_output=True)
    assert done.returncode == 1


# --- Containers -----------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines]


def test_the_image_has_two_stages_and_runs_without_privileges() -> None:
    found = instructions()
    words = [word for word, _ in found]
    assert words.count("FROM") == 2
    assert ("USER", "candor") in found and words.index("USER") < words.index("CMD")
    assert "HEALTHCHECK" in words
    for word, rest in found:
        assert word in "FROM WORKDIR COPY RUN ENV USER EXPOSE HEALTHCHECK CMD".split()
        if word == "COPY" and "--from" not in rest:
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
        if word in ("CMD", "HEALTHCHECK"):
            check_command(yaml.safe_load(rest[rest.index("[") :]))
        if word == "RUN" and "manage.py" in rest:
            check_command(shlex.split(rest[rest.index("/venv/bin/python manage.py") :]))


def test_the_image_holds_no_secret_and_no_data() -> None:
    kept = [rest for word, rest in instructions() if word in ("ENV", "ARG")]
    assert not any(re.search(r"SECRET|PASSWORD|TOKEN|DATABASE_URL", rest) for rest in kept)
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    assert {"/var", "/deploy", "/.*", "**/*.env"} <= set(ignored)
    for app in {name.partition(".")[0] for name in settings.INSTALLED_APPS}:
        assert f"/{app}" not in ignored


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


@pytest.mark.slow
def test_compose_services_run_existing_commands(compose: Any) -> None:
    services = compose["services"]
    assert set(services) == {"postgres", "redis", "migrate", "web", "worker", "beat", "nginx"}
    for name, service in services.items():
        if service["image"] == "candor":
            assert set(service["environment"]) <= variables()
            assert service["read_only"] and service["cap_drop"] == ["ALL"]
            check_command(service.get("command", ["granian"]))
        else:
            assert set(service.get("environment", {})) <= BESIDE
            assert re.search(r":\d+(\.\d+)?-", service["image"]), name  # a version
        assert service["restart"] == ("no" if name == "migrate" else "unless-stopped")
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            there = source in compose["volumes"] or (DEPLOY / source).exists() or source == "./tls"
            assert there, volume
    text = (DEPLOY / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+)", text)) == {"POSTGRES_PASSWORD"}
    assert {"/deploy/.env", "/deploy/tls/"} <= set((ROOT / ".gitignore").read_text().split())


def test_only_nginx_is_reachable_from_outside(compose: Any) -> None:
    published = {name for name, one in compose["services"].items() if "ports" in one}
    assert published == {"web"}  # whose network nginx shares
    assert compose["services"]["nginx"]["network_mode"] == "service:web"
    command = next(rest for word, rest in instructions() if word == "CMD")
    assert '"--host", "127.0.0.1"' in command


# --- nginx ----------------------------------------------------------------------------------------


def nginx() -> str:
    return (DEPLOY / "nginx.conf").read_text()


def directives(text: str) -> list[tuple[str, str]]:
    """Return the directives in order, ignoring comments and blocks."""
    plain = re.sub(r"#.*", "", text)
    assert plain.count("{") == plain.count("}")
    return [
        (found.split()[0], found.partition(" ")[2])
        for found in (part.strip() for part in re.split(r"[;{}]", plain))
        if found
    ]


def size(text: str) -> int:
    return int(text[:-1]) * {"k": 1 << 10, "m": 1 << 20}[text[-1]]


def test_nginx_logs_nothing_about_respondents() -> None:
    said = directives(nginx())
    assert [value for name, value in said if name == "access_log"] == ["off"]  # once, for all
    levels = [value.split()[1] for name, value in said if name == "error_log"]
    assert levels == ["alert"]  # those below quote addresses and requests
    bodies = [size(value) for name, value in said if name == "client_max_body_size"]
    buffers = [size(value) for name, value in said if name == "client_body_buffer_size"]
    assert bodies == buffers  # never in a file
    assert min(bodies) >= door.MAX_BODY and max(bodies) >= door.MAX_BATCH_BODY
    assert ("proxy_request_buffering", "on") in said
    assert ("proxy_max_temp_file_size", "0") in said


def test_nginx_forwards_the_address_as_candor_expects() -> None:
    said = directives(nginx())
    sent = dict(value.split(None, 1) for name, value in said if name == "proxy_set_header")
    assert sent["X-Forwarded-For"] == "$remote_addr" and sent["X-Forwarded-Proto"] == "$scheme"
    assert sent["Host"] == "$host" and sent["Forwarded"] == sent["X-Real-IP"] == '""'
    assert "CANDOR_TRUSTED_PROXIES=1" in (DEPLOY / "env.example").read_text()
    assert not [name for name, _ in said if name in ("add_header", "more_set_headers")]


def test_internal_addresses_are_not_reachable_from_outside() -> None:
    locations = re.findall(r"location ~ (\S+) \{\s+return 404;", nginx())
    for path in ("/healthz", "/readyz", "/metrics"):
        assert any(re.search(pattern, path) for pattern in locations)


def test_rate_limits_apply_to_existing_addresses() -> None:
    patterns = re.findall(r"location ~ (\S+) \{(?:(?!return 404)[^}])*limit_req ", nginx())
    assert len(patterns) == 2
    for path in ("/api/v1/surveys/a-b_1/reports/", "/login/"):
        assert any(re.search(pattern, path) for pattern in patterns), path
    assert not any(re.search(one, "/api/v1/surveys/x/reports/batch/") for one in patterns)


@pytest.mark.slow
@pytest.mark.nginx
@pytest.mark.openssl
def test_nginx_accepts_the_configuration(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    conf = tmp_path / "nginx.conf"
    conf.write_text(configuration(tmp_path))
    done = subprocess.run(
        [str(packages.nginx()), "-t", "-e", "stderr", "-c", conf],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "[warn]" not in done.stderr, done.stderr


@pytest.fixture(scope="module")
def proxy() -> Iterator[Nginx]:
    """Yield nginx without a site behind it: what it passes on gets 502."""
    with Nginx(free_port()) as proxy:
        yield proxy


@pytest.mark.slow
@pytest.mark.nginx
@pytest.mark.openssl
class TestNginxItself:
    def exchange(self, nginx: Nginx, path: str, length: int = 0) -> tuple[int, str]:
        """Get a page, or announce a body of this many bytes."""
        headers = {"Content-Length": str(length)} if length else {}
        with contextlib.closing(nginx.connect()) as connection:
            connection.request("POST" if length else "GET", path, None, headers)
            response = connection.getresponse()
            return response.status, response.read().decode()

    def test_plain_http_leads_to_https(self, proxy: Nginx) -> None:
        plain = http.client.HTTPConnection("127.0.0.1", proxy.plain_port, timeout=20)
        with contextlib.closing(plain):
            plain.request("GET", "/s/x/?a", headers={"Host": "localhost"})
            response = plain.getresponse()
        assert (response.status, response.headers["Location"]) == (301, "https://localhost/s/x/?a")

    def test_inside_addresses_and_long_bodies_are_refused(self, proxy: Nginx) -> None:
        for path in ("/healthz", "/readyz", "/metrics"):
            assert self.exchange(proxy, path)[0] == 404
        for path, most in ((REPORTS, 64 << 10), (f"{REPORTS}batch/", 4 << 20), ("/", 4 << 20)):
            status, text = self.exchange(proxy, path, most + 1)
            assert status == 413 and "413 Request Entity Too Large" in text

    @pytest.mark.parametrize(("path", "burst"), [(REPORTS, 400), ("/login/", 20)])
    def test_nginx_limits_requests_that_come_at_once(
        self, proxy: Nginx, path: str, burst: int
    ) -> None:
        """Send them in one piece, faster than the rate limit refills."""
        request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
        with contextlib.closing(proxy.connect()) as connection:
            connection.connect()
            many = f"{request}\r\n" * 899 + f"{request}Connection: close\r\n\r\n"
            connection.sock.sendall(many.encode())
            replies = b"".join(iter(lambda: connection.sock.recv(1 << 16), b""))
        counts = Counter(re.findall(r"HTTP/1.1 (\d+)", replies.decode()))
        assert set(counts) == {"502", "429"} and counts.total() == 900
        assert burst < counts["502"] < 900

    def test_nginx_logs_no_request(self, proxy: Nginx) -> None:
        """Its only open file is the error log, where a dead site leaves no line."""
        for path in ("/s/small/", REPORTS, "/login/"):
            self.exchange(proxy, path)
        assert proxy.process
        family = [proxy.process.pid, *descendants(proxy.process.pid)]
        links = [os.readlink(link) for pid in family for link in Path(f"/proc/{pid}/fd").iterdir()]
        files = {link for link in links if link.startswith("/") and link != "/dev/null"}
        assert files == {str(proxy.log)} and proxy.tail() == ""


# --- systemd --------------------------------------------------------------------------------------


def test_there_is_a_unit_for_each_program() -> None:
    assert [unit.stem for unit in UNITS] == ["candor-beat", "candor-web", "candor-worker"]
    text = operations()
    assert all(f"{unit.stem}" in text for unit in UNITS)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
@pytest.mark.slow
def test_a_unit_runs_an_existing_command_with_few_rights(unit: Path) -> None:
    said = dict(re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.MULTILINE))
    for name in ("ExecStart", "ExecStartPre"):
        if name in said:
            check_command(said[name].split())
    for name in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "RestrictSUIDSGID"):
        assert said[name] == "yes"
    assert said["ProtectSystem"] == "strict" and said["User"] == "candor"
    assert said["CapabilityBoundingSet"] == "" and said["Restart"] == "always"
    assert said["EnvironmentFile"] in operations()


@pytest.mark.slow
@pytest.mark.systemd
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for unit in UNITS:
        there = unit.read_text().replace("/opt/candor/.venv/bin", str(PYTHON))
        (tmp_path / unit.name).write_text(there)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / unit.name) for unit in UNITS)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    about_ours = [line for line in done.stderr.splitlines() if "candor-" in line]
    assert about_ours == []
