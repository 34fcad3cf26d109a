"""The page of a release and its files.

Programs download the same files below /api/v1/, with the same permissions.
"""

from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods

from aggregation.exports import citation, delivery, large_exports
from aggregation.exports.files import EVERYTHING, FILES, find
from aggregation.models import Release
from survey import rate_limits
from survey.models import Survey
from survey.permissions import private_page, survey_or_403
from survey.words.errors import too_often

EARLIER = 20  # releases listed


def download_section(request: HttpRequest, release: Release) -> dict[str, Any]:
    """Return the context of the section “Download”."""
    export = delivery.export_of(request, release, choice=None)
    actions = release.survey.actions(request.user)
    return {
        "release": release,
        "survey": release.survey,
        "large": large_exports.is_large(release, FILES[EVERYTHING]),
        "sentence": export.sentence,
        "bibtex": citation.bibtex(release, export.address),
        "reads": "read" in actions,
        "all_files": "download" in actions,
    }


@private_page
def latest(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the files of the latest release."""
    survey = survey_or_403(request, slug)
    release = survey.releases.order_by("number").last()
    if release is None:
        return render(request, "aggregation/dashboard/release.html", {"survey": survey})
    return _files(request, release)


def _files(request: HttpRequest, release: Release) -> HttpResponse:
    design = release.survey.frozen_design()
    context = {
        "survey": release.survey,
        "home": download_section(request, release),
        "questions": design.questions,
        "background": design.background,
        "report_epsilon": design.report_epsilon,
        "earlier": release.survey.releases.filter(number__lt=release.number).order_by("-number")[
            :EARLIER
        ],
    }
    return render(request, "aggregation/dashboard/release.html", context)


@cache_control(private=True, no_store=True)
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, slug: str, release: str, name: str = "") -> HttpResponseBase:
    """Show a release, or return one of its files. POST requests or cancels a large file."""
    survey = get_object_or_404(Survey, slug=slug)
    known = find(survey, name)
    if not survey.may(request.user, delivery.required_action(known) if name else "see"):
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        raise PermissionDenied
    if seconds := rate_limits.anyone(request):
        return too_often(request, seconds)
    if request.method == "POST" and not (known and known.may_be_large):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    try:
        found = delivery.release_of(survey, release)
    except delivery.NotANumber as error:
        return _words(request, 400, "This is not a release", str(error))
    if found is None:
        return _words(request, 404, "Release not found", "The survey has no such release.")
    if not name:
        return _files(request, found)
    if known is None:
        text = f"A release has these files: {delivery.NAMES}."
        return _words(request, 404, "File not found", text)
    try:
        choice = delivery.chosen_intervals(request, found)
    except delivery.NoSuchInterval as error:
        return _words(request, 400, "These intervals do not exist", str(error))
    export = delivery.export_of(request, found, choice)
    if request.method == "POST":
        if "cancel" in request.POST:
            delivery.cancel_file(export, name, request.user)
        else:
            delivery.request_file(export, name, known)
        return redirect(f"{request.path}?wait")  # a page, even if the file is ready
    try:
        if "wait" in request.GET and large_exports.is_large(found, known):
            raise delivery.NotMade(large_exports.last_job(found, name))
        return delivery.respond(request, export, name, known)
    except delivery.NotMade as missing:
        job = missing.job
        context = {"survey": survey, "release": found, "name": name, "job": job}
        return render(
            request,
            "aggregation/exports/large_export.html",
            context | {"ready": large_exports.ready(job)},
        )


def _words(request: HttpRequest, status: int, heading: str, text: str) -> HttpResponse:
    return render(request, "message.html", {"heading": heading, "text": text}, status=status)
