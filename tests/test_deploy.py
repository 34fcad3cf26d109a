"""The files in deploy/: they name commands, variables, paths and limits that there are.

Containers are not run here: there is no engine for them. What can be checked without one is.
"""

import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from survey import ingest
from tests.services import ROOT, clean_environment
from tests.test_repository import commands, operations, variables

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
BESIDE = {"POSTGRES_PASSWORD", "POSTGRES_USER", "POSTGRES_DB"}  # PostgreSQL's image reads these
PYTHON = Path(sys.executable).parent
DJANGO = {"migrate", "collectstatic"}


def check_command(words: list[str]) -> None:
    """The program is installed, knows its options, and a command of manage.py is one."""
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


def test_the_example_names_variables_that_are_read() -> None:
    lines = (DEPLOY / "env.example").read_text().splitlines()
    names = {line.partition("=")[0] for line in lines if line and not line.startswith("#")}
    assert names <= variables() | BESIDE
    assert {"CANDOR_SECRET_KEY", "CANDOR_HOSTS", "CANDOR_PROXIES", "DATABASE_URL"} <= names


def test_django_has_nothing_to_warn_of_in_production(tmp_path: Path) -> None:
    """As the example sets it, behind nginx."""
    env = clean_environment() | {
        "CANDOR_SECRET_KEY": "k3" * 30 + "a-b_c",
        "CANDOR_HOSTS": "survey.example.org",
        "CANDOR_PROXIES": "1",
        "CANDOR_VAR": str(tmp_path),
    }
    check = ["manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(
        [sys.executable, *check], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    weak = env | {"CANDOR_SECRET_KEY": "a" * 40}  # it does look
    done = subprocess.run([sys.executable, *check], cwd=ROOT, env=weak, capture_output=True)
    assert done.returncode == 1


# --- Containers -----------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines]


def test_the_image_is_made_in_two_stages_and_runs_as_nobody_special() -> None:
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


def test_no_secret_and_no_data_come_into_the_image() -> None:
    kept = [rest for word, rest in instructions() if word in ("ENV", "ARG")]
    assert not any(re.search(r"SECRET|PASSWORD|TOKEN|DATABASE_URL", rest) for rest in kept)
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    assert {"/var", "/deploy", "/.*", "**/*.env"} <= set(ignored)
    for app in {name.partition(".")[0] for name in settings.INSTALLED_APPS}:
        assert f"/{app}" not in ignored


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_the_services_of_compose_run_commands_that_there_are(compose: Any) -> None:
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


def test_only_nginx_is_reached_from_outside(compose: Any) -> None:
    published = {name for name, one in compose["services"].items() if "ports" in one}
    assert published == {"web"}  # whose network nginx shares
    assert compose["services"]["nginx"]["network_mode"] == "service:web"
    command = next(rest for word, rest in instructions() if word == "CMD")
    assert '"--host", "127.0.0.1"' in command


# --- nginx ----------------------------------------------------------------------------------------


def nginx() -> str:
    return (DEPLOY / "nginx.conf").read_text()


def directives(text: str) -> list[tuple[str, str]]:
    """What is said, in order, comments and blocks aside."""
    plain = re.sub(r"#.*", "", text)
    assert plain.count("{") == plain.count("}")
    return [
        (found.split()[0], found.partition(" ")[2])
        for found in (part.strip() for part in re.split(r"[;{}]", plain))
        if found
    ]


def size(text: str) -> int:
    return int(text[:-1]) * {"k": 1 << 10, "m": 1 << 20}[text[-1]]


def test_nginx_writes_nothing_down_about_respondents() -> None:
    said = directives(nginx())
    assert [value for name, value in said if name == "access_log"] == ["off"]  # once, for all
    levels = [value.split()[1] for name, value in said if name == "error_log"]
    assert levels == ["alert"]  # those below quote addresses and requests
    bodies = [size(value) for name, value in said if name == "client_max_body_size"]
    buffers = [size(value) for name, value in said if name == "client_body_buffer_size"]
    assert bodies == buffers  # never in a file
    assert min(bodies) >= ingest.MAX_BODY and max(bodies) >= ingest.MAX_BATCH_BODY
    assert ("proxy_request_buffering", "on") in said
    assert ("proxy_max_temp_file_size", "0") in said


def test_nginx_says_who_asks_as_candor_expects_it() -> None:
    said = directives(nginx())
    sent = dict(value.split(None, 1) for name, value in said if name == "proxy_set_header")
    assert sent["X-Forwarded-For"] == "$remote_addr" and sent["X-Forwarded-Proto"] == "$scheme"
    assert sent["Host"] == "$host" and sent["Forwarded"] == sent["X-Real-IP"] == '""'
    assert "CANDOR_PROXIES=1" in (DEPLOY / "env.example").read_text()
    assert not [name for name, _ in said if name in ("add_header", "more_set_headers")]


def test_the_inside_addresses_stay_inside() -> None:
    locations = re.findall(r"location ~ (\S+) \{\s+return 404;", nginx())
    for path in ("/healthz", "/readyz", "/metrics"):
        assert any(re.search(pattern, path) for pattern in locations)


def test_the_limits_are_on_the_addresses_that_there_are() -> None:
    patterns = re.findall(r"location ~ (\S+) \{(?:(?!return 404)[^}])*limit_req ", nginx())
    assert len(patterns) == 2
    for path in ("/api/v1/surveys/a-b_1/reports/", "/login/"):
        assert any(re.search(pattern, path) for pattern in patterns), path
    assert not any(re.search(one, "/api/v1/surveys/x/reports/batch/") for one in patterns)


@pytest.mark.skipif(not shutil.which("nginx"), reason="nginx is not here")
def test_nginx_reads_it(tmp_path: Path) -> None:
    key, certificate = tmp_path / "privkey.pem", tmp_path / "fullchain.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
         "-keyout", key, "-out", certificate, "-days", "1"], check=True, capture_output=True,
    )  # fmt: skip
    conf = tmp_path / "nginx.conf"
    conf.write_text(
        nginx()
        .replace("/etc/candor/tls", str(tmp_path))
        .replace("/run/nginx.pid", str(tmp_path / "pid"))
    )
    subprocess.run(["nginx", "-t", "-c", conf], check=True, capture_output=True)


# --- systemd --------------------------------------------------------------------------------------


def test_there_is_a_unit_for_each_program() -> None:
    assert [unit.stem for unit in UNITS] == ["candor-beat", "candor-web", "candor-worker"]
    text = operations()
    assert all(f"{unit.stem}" in text for unit in UNITS)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_runs_what_there_is_with_few_rights(unit: Path) -> None:
    said = dict(re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.MULTILINE))
    for name in ("ExecStart", "ExecStartPre"):
        if name in said:
            check_command(said[name].split())
    for name in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "RestrictSUIDSGID"):
        assert said[name] == "yes"
    assert said["ProtectSystem"] == "strict" and said["User"] == "candor"
    assert said["CapabilityBoundingSet"] == "" and said["Restart"] == "always"
    assert said["EnvironmentFile"] in operations()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not here")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    for unit in UNITS:
        there = unit.read_text().replace("/opt/candor/.venv/bin", str(PYTHON))
        (tmp_path / unit.name).write_text(there)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / unit.name) for unit in UNITS)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    about_ours = [line for line in done.stderr.splitlines() if "candor-" in line]
    assert about_ours == []
