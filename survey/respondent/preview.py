"""A draft as its respondents will see it: the same page, and reports that are stored nowhere.

The address is `/s/test-…/`, with a signature instead of a login, so that it can be given to
colleagues for some days. It leads to the draft as it is now, and to nothing once it is open. It is
longer than any slug, so no survey can ever be at it. A report is checked like any other and then
forgotten: nothing here writes to the database.
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
from survey.collect.protocol import Refused, failed, parse_django
from survey.collect.validator import Validator
from survey.design import Design, DesignError
from survey.models import Survey

DAYS = 7
DAY = 24 * 60 * 60
TOKEN = re.compile(r"test-(?P<pk>\d{1,18})-(?P<until>\d{5})-(?P<signature>[0-9a-f]{40})")


class Token:
    """For addresses: what `token` makes, right or forged."""

    regex = r"test-[0-9]{1,18}-[0-9]{5}-[0-9a-f]{40}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


def token(survey: Survey) -> str:
    """The last part of the address of a draft's preview, which is good for DAYS days."""
    until = int(time.time()) // DAY + DAYS
    return f"test-{survey.pk}-{until:05d}-{_signature(survey.pk, until)}"


def address(survey: Survey) -> str:
    return reverse("respond", args=[token(survey)])


def _signature(pk: int, until: int) -> str:
    return salted_hmac(
        "survey.respondent.preview", f"{pk}-{until}", algorithm="sha256"
    ).hexdigest()[:40]


def draft(given: str) -> tuple[Survey, Design]:
    """The draft of a token, and its design; 404 if there is none, or not any more."""
    found = TOKEN.fullmatch(given)
    if found is None:
        raise Http404
    pk, until = int(found["pk"]), int(found["until"])
    today = int(time.time()) // DAY
    fresh = today <= until <= today + DAYS
    if not (constant_time_compare(found["signature"], _signature(pk, until)) and fresh):
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
    """What opening would freeze, in the form of a survey's definition."""
    survey, design = draft(token)
    survey.design, survey.design_hash = design.canonical, design.hash
    told = DefinitionSerializer(survey).data
    return JsonResponse({**told, "slug": token, "state": "test"})


@csrf_exempt
@require_POST
def report(request: HttpRequest, token: str) -> HttpResponse:
    """Check it as the door would, answer as it would, and store it nowhere."""
    try:
        meta = request.META
        throttle.spend(meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""))
        _, design = draft(token)
        nowhere = door.Target(0, Validator(design))
        delivery = door.check_report(nowhere, parse_django(request, door.MAX_BODY))
        return delivery.reply(["stored"]).as_django()
    except Http404:
        return failed(Refused(404, {"survey": ["this preview is over"]})).as_django()
    except Exception as error:
        return failed(error).as_django()
