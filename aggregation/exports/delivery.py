"""The delivery of a file of a release, for pages and for the API."""

from django.http import (
    FileResponse,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.urls import reverse
from rest_framework.request import Request

from aggregation.exports import large_exports
from aggregation.exports.files import EVERYTHING, FILES, Export, File
from aggregation.models import Copy, Job, Release
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.forms import IntervalForm
from survey.models import Action, Survey
from survey.models.log import Actor, record

NAMES = f"{', '.join(FILES)}, and figure-….svg of every question"


class NotMade(Exception):
    """A large file that a worker has to make first, with its last job if there was one."""

    def __init__(self, job: Job | None) -> None:
        super().__init__("not made")
        self.job = job


class NotANumber(ValueError):
    """The number of a release that is not a whole number."""


def release_of(survey: Survey, number: str) -> Release | None:
    """Return the release with this number, or None."""
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise NotANumber("The number of a release is a whole number.")
    return survey.releases.select_related("survey").filter(number=int(number)).first()


def export_of(
    request: HttpRequest | Request, release: Release, choice: IntervalChoice | None
) -> Export:
    here = reverse("release", args=[release.survey.slug, release.number])
    return Export(release, request.build_absolute_uri(here), choice=choice)


class NoSuchInterval(ValueError):
    """A choice of intervals that is not possible."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


def chosen_intervals(request: HttpRequest | Request, release: Release) -> IntervalChoice:
    """Return the intervals that the address names, like the address of the survey's page."""
    given = request.GET.dict()
    form = IntervalForm(given, IntervalChoice.headline(release.final))
    choice = form.choice
    for field in form.fields:
        if given.get(field) == "":
            form.add_error(field, "Give a value.")
    for field, why in form.errors.items():
        raise NoSuchInterval(field, str(why[0]))
    return choice


def respond(
    request: HttpRequest | Request, export: Export, name: str, file: File
) -> HttpResponseBase:
    """Return the file, streamed while it is made; NotMade if a worker has to make it first."""
    made = None
    if large_exports.is_large(export.release, file):
        job = large_exports.last_job(export.release, name)
        made = large_exports.ready(job)
        if made is None:
            raise NotMade(job)
    survey = export.release.survey
    saved = f"{survey.slug}-release-{export.release.number}.zip" if name == EVERYTHING else name
    headers = {
        "Content-Type": file.content_type,
        "Content-Disposition": f'attachment; filename="{saved}"',
        "Cache-Control": "private, no-store",
    }
    if request.method == "HEAD":
        return HttpResponse(headers=headers)
    if survey.may(request.user, "read"):  # otherwise it is a stranger, who is not logged
        record(request.user, "file downloaded", survey, file=name, release=export.release.number)
    if made:
        try:
            opened = made.open("rb")
        except FileNotFoundError:  # just deleted, because it was a day old
            raise NotMade(None) from None
        response = FileResponse(opened)
        for header, value in headers.items():
            response[header] = value
        return response
    return StreamingHttpResponse(file.make(export), headers=headers)


def required_action(file: File | None) -> Action:
    """Return the action that people must be allowed to download this file."""
    return file.action if file else "read"


def request_file(export: Export, name: str, file: File) -> Job | None:
    """Return the job that makes a large file, or None if the file can be downloaded already."""
    release = export.release
    if not large_exports.is_large(release, file):
        return None
    if large_exports.ready(large_exports.last_job(release, name)):
        return None
    return Copy.objects.ask(release, name, export.address)


def cancel_file(export: Export, name: str, by: Actor) -> None:
    if job := large_exports.last_job(export.release, name):
        job.cancel(by)
