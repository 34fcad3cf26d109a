"""Checks that pages, headers and files are served correctly."""

import hashlib
from http.cookies import SimpleCookie
from tempfile import TemporaryDirectory

from django.conf import settings

from operations.selftest.site import Failed, Site, SiteReply, expect
from survey.management.commands.manifest import collect
from survey.models import Survey
from survey.respondent import manifest, shell

NOWHERE = "no-such-survey-here"


def compare_headers(reply: SiteReply, wanted: dict[str, str], path: str) -> None:
    for name, value in wanted.items():
        found = reply.headers.get(name.lower())
        if found != value:
            raise Failed(f"{path}: {name} is {found!r}, not {value!r}. Does a proxy change it?")
    if settings.SECURE_HSTS_SECONDS and not settings.DEMO:
        expect(
            f"max-age={settings.SECURE_HSTS_SECONDS}"
            in reply.headers.get("strict-transport-security", ""),
            f"{path}: no Strict-Transport-Security.",
        )


def respondents(site: Site) -> None:
    for path in ("/s/", f"/s/{NOWHERE}/", "/verify/", "/.well-known/candor-manifest.json"):
        reply = site.ask(path)
        expect(reply.status == 200, f"{path} returned status {reply.status}.")
        compare_headers(reply, shell.HEADERS, path)
        expect(not reply.cookies, f"{path} sets a cookie.")


def researchers(site: Site) -> None:
    path = "/login/"
    reply = site.ask(path)
    if reply.headers.get("location", "").endswith("/setup/"):  # nobody has an account yet
        path = "/setup/"
        reply = site.ask(path)
    expect(reply.status == 200, f"{path} returned status {reply.status}.")
    wanted = {
        "X-Frame-Options": settings.X_FRAME_OPTIONS,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": settings.SECURE_REFERRER_POLICY,
        "Cross-Origin-Opener-Policy": settings.SECURE_CROSS_ORIGIN_OPENER_POLICY,
    }
    compare_headers(reply, wanted, path)
    policy = reply.headers.get("content-security-policy", "")
    expect("default-src 'none'" in policy, f"{path}: no Content-Security-Policy.")
    expect("unsafe" not in policy, f"{path}: the Content-Security-Policy allows unsafe things.")
    for text in reply.cookies:
        for name, cookie in SimpleCookie(text).items():
            expect(bool(cookie["samesite"]), f"the cookie {name} goes to other sites (SameSite).")
            expect(bool(cookie["secure"]) or settings.DEMO, f"the cookie {name} goes without TLS.")


def api(site: Site) -> None:
    path = "/api/v1/surveys/"
    reply = site.ask(path)
    expect(reply.status == 401, f"{path} returned status {reply.status} without a login.")
    compare_headers(reply, {"X-Content-Type-Options": "nosniff"}, path)
    expect(not reply.cookies, f"{path} sets a cookie.")


def strangers(site: Site) -> None:
    """Check that researchers' pages need a login, including those of a survey on this site."""
    paths = ["/surveys/", "/plan/", "/log/", "/log/log.csv", "/account/tokens/", "/admin/"]
    survey = Survey.objects.filter(results_public=False).first()
    if survey:
        here = f"/surveys/{survey.slug}"
        paths += [f"{here}/", f"{here}/people/", f"{here}/log/", f"{here}/analyses/"]
        paths += [f"{here}/releases/1/{name}" for name in ("reports.csv", "everything.zip")]
        paths += [f"/api/v1{here}/estimates/", f"/api/v1{here}/releases/"]
    for path in paths:
        reply = site.ask(path)
        closed = reply.status in (401, 403) or (
            reply.status == 302 and "/login/" in reply.headers.get("location", "")
        )
        expect(closed, f"{path} returned status {reply.status} without a login.")
    expect(site.ask("/metrics").status in (401, 404), "/metrics can be read without a token.")


def bytes_served(site: Site) -> None:
    with TemporaryDirectory(prefix="candor-selftest-") as folder:
        ours = manifest.files(collect(folder))
    published = site.ask("/.well-known/candor-manifest.json").body
    expect(
        published == manifest.manifest(ours),
        "the manifest does not match this source. Restart the web server after an upgrade, and "
        "run this from the same source as the server.",
    )
    for path, content in ours.items():
        served = hashlib.sha256(site.ask(path).body).digest()
        expect(served == hashlib.sha256(content).digest(), f"{path} does not match this source.")
