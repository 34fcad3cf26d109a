"""The log as a page and as files: all of it for admins, a survey's part for its owners."""

import json
from collections.abc import Iterator

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render

from survey.models import Survey
from survey.models.log import Entry, head, record
from survey.permissions import private_page
from survey.spreadsheets import Line, csv_parts

ON_A_PAGE = 50


def visible(request: HttpRequest, slug: str) -> tuple[Survey | None, "QuerySet[Entry]"]:
    """Return the survey and the entries to show; PermissionDenied if this person may not."""
    survey = get_object_or_404(Survey, slug=slug) if slug else None
    user = request.user
    if not (survey.may(user, "manage") if survey else getattr(user, "is_superuser", False)):
        raise PermissionDenied
    entries = Entry.objects.all()
    return survey, entries.filter(survey_number=survey.pk) if survey else entries


@private_page
def page(request: HttpRequest, slug: str = "") -> HttpResponse:
    survey, entries = visible(request, slug)
    shown = Paginator(entries, ON_A_PAGE).get_page(request.GET.get("page"))
    return render(
        request, "survey/audit/log.html", {"survey": survey, "shown": shown, "head": head()}
    )


@private_page
def as_csv(request: HttpRequest, slug: str = "") -> HttpResponseBase:
    survey, entries = visible(request, slug)
    return saved(request, survey, "log.csv", "text/csv", csv_parts(lines(entries)))


@private_page
def as_json_lines(request: HttpRequest, slug: str = "") -> HttpResponseBase:
    survey, entries = visible(request, slug)
    found = (json.dumps(entry.as_dict() | {"hash": entry.hash}) + "\n" for entry in each(entries))
    return saved(request, survey, "log.jsonl", "application/jsonl", (one.encode() for one in found))


def each(entries: "QuerySet[Entry]") -> Iterator[Entry]:
    return entries.order_by("number").iterator(chunk_size=1000)


def lines(entries: "QuerySet[Entry]") -> Iterator[Line]:
    names = [field.name for field in Entry._meta.fields]
    yield names
    for entry in each(entries):
        said = entry.as_dict() | {"hash": entry.hash}
        yield [said[name] for name in names]


def saved(
    request: HttpRequest, survey: Survey | None, name: str, form: str, parts: Iterator[bytes]
) -> HttpResponseBase:
    known = f"{survey.slug}-{name}" if survey else name
    headers = {"Content-Type": form, "Content-Disposition": f'attachment; filename="{known}"'}
    if request.method == "HEAD":
        return HttpResponse(headers=headers)
    record(request.user, "log downloaded", survey, file=name)
    return StreamingHttpResponse(parts, headers=headers)
