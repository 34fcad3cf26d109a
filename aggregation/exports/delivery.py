"""One file of a release, on its way to a page or to the API: which it is, and who may have it."""

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
from aggregation.releases.forms import IntervalForm
from aggregation.releases.intervals import Choice
from survey.models import Action, Survey
from survey.models.log import Actor, record

THERE = f"{', '.join(FILES)}, and figure-….svg of every question"


class Unmade(Exception):
    """A large file that is not there: what became of it last, if somebody asked for it."""

    def __init__(self, job: Job | None) -> None:
        super().__init__("not there")
        self.job = job


class NotANumber(ValueError):
    """A release is asked for by something else than its number."""


def release_of(survey: Survey, number: str) -> Release | None:
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise NotANumber("A release has a whole number.")
    return survey.releases.select_related("survey").filter(number=int(number)).first()


def export_of(request: HttpRequest | Request, release: Release, choice: Choice | None) -> Export:
    here = reverse("release", args=[release.survey.slug, release.number])
    return Export(release, request.build_absolute_uri(here), choice=choice)


class NoSuchInterval(ValueError):
    """Figures are asked for with intervals that there are not."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


def chosen(request: HttpRequest | Request, release: Release) -> Choice:
    """The intervals that the address names, by the same names as on the page of the survey."""
    given = request.GET.dict()
    form = IntervalForm(given, Choice.default(release))
    choice = form.choice
    for field in form.fields:
        if given.get(field) == "":
            form.add_error(field, "A value.")
    for field, why in form.errors.items():
        raise NoSuchInterval(field, str(why[0]))
    return choice


def respond(
    request: HttpRequest | Request, export: Export, name: str, file: File
) -> HttpResponseBase:
    """Return the file, in pieces as they are made; Unmade where a worker has to make it."""
    made = None
    if large_exports.is_large(export.release, file):
        job = large_exports.last_job(export.release, name)
        made = large_exports.ready(job)
        if made is None:
            raise Unmade(job)
    survey = export.release.survey
    saved = f"{survey.slug}-release-{export.release.number}.zip" if name == EVERYTHING else name
    headers = {
        "Content-Type": file.content_type,
        "Content-Disposition": f'attachment; filename="{saved}"',
        "Cache-Control": "private, no-store",
    }
    if request.method == "HEAD":
        return HttpResponse(headers=headers)
    if survey.may(request.user, "read"):  # strangers may be anybody, and are not written down
        record(request.user, "file downloaded", survey, file=name, release=export.release.number)
    if made:
        try:
            opened = made.open("rb")
        except FileNotFoundError:  # its day has just passed
            raise Unmade(None) from None
        response = FileResponse(opened)
        for header, value in headers.items():
            response[header] = value
        return response
    return StreamingHttpResponse(file.make(export), headers=headers)


def needed(file: File | None) -> Action:
    """What one must be allowed to do with a survey to have this file of a release."""
    return file.action if file else "read"


def change(export: Export, name: str, file: File, by: Actor, cancel: bool = False) -> Job | None:
    """The job that makes a large file, asked for now unless it is there; or its end."""
    if not large_exports.is_large(export.release, file):
        return None
    job = large_exports.last_job(export.release, name)
    if cancel and job:
        job.cancel(by)
        return None
    return (
        None if large_exports.ready(job) else Copy.objects.ask(export.release, name, export.address)
    )
