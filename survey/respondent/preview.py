"""Previews: a draft as its respondents will see it, on the same page, without storing reports.

The address is `/s/test-…/` with a signature instead of a login, so it can be shared with colleagues
for a few days. It shows the current draft and stops working once the survey opens. It is longer
than any slug, so it can never clash with a survey. A report is checked like any other and then
discarded: nothing here writes to the database.
"""

import re
import time

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_POST, require_safe

from survey.api.serializers import DefinitionSerializer
from survey.collect import door, throttle
from survey.collect.protocol import Refused, error_reply, parse_django
from survey.collect.validator import Validator
from survey.design import Design, DesignError
from survey.models import Survey

DAYS = 7
DAY = 24 * 60 * 60
TOKEN = re.compile(r"test-(?P<pk>\d{1,18})-(?P<until>\d{5})-(?P<signature>[0-9a-f]{40})")


class Token:
    """The URL converter for tokens, which does not check the signature."""

    regex = r"test-[0-9]{1,18}-[0-9]{5}-[0-9a-f]{40}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


def token(survey: Survey) -> str:
    """Return the token for the address of a draft's preview, which is valid for DAYS days."""
    until = int(time.time()) // DAY + DAYS
    return f"test-{survey.pk}-{until:05d}-{_signature(survey.pk, until)}"


def address(survey: Survey) -> str:
    return reverse("respond", args=[token(survey)])


def _signature(pk: int, until: int) -> str:
    return salted_hmac(
        "survey.respondent.preview", f"{pk}-{until}", algorithm="sha256"
    ).hexdigest()[:40]


def draft(token: str) -> tuple[Survey, Design]:
    """Return the draft for a token, and its design; 404 if there is none or the token expired."""
    match = TOKEN.fullmatch(token)
    if match is None:
        raise Http404
    pk, until = int(match["pk"]), int(match["until"])
    today = int(time.time()) // DAY
    fresh = today <= until <= today + DAYS
    if not (constant_time_compare(match["signature"], _signature(pk, until)) and fresh):
        raise Http404
    survey = Survey.objects.filter(pk=pk, state=Survey.State.DRAFT).first()
    if survey is None:
        raise Http404
    try:
        return survey, survey.draft_design()
    except DesignError:
        raise Http404 from None


@csrf_exempt
@gzip_page
@require_safe
def definition(request: HttpRequest, token: str) -> HttpResponse:
    """Return what opening would freeze, in the form of a survey's definition."""
    survey, design = draft(token)
    survey.design, survey.design_hash = design.canonical, design.hash
    data = DefinitionSerializer(survey).data
    return JsonResponse({**data, "slug": token, "state": "test"})


@csrf_exempt
@require_POST
def report(request: HttpRequest, token: str) -> HttpResponse:
    """Check a report and reply like the door, but store nothing."""
    try:
        meta = request.META
        throttle.spend(meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""))
        _, design = draft(token)
        target = door.Target(0, Validator(design))
        delivery = door.check_report(target, parse_django(request, door.MAX_BODY))
        return delivery.reply(["stored"]).as_django()
    except Http404:
        refused = Refused(404, {"survey": ["this preview has expired"]})
        return error_reply(refused).as_django()
    except Exception as error:
        return error_reply(error).as_django()
