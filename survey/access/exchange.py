"""Exchanges a code for a pass: POST /api/v1/surveys/{slug}/passes/. See docs/protocol.md.

This is the only request that reveals an invitation. It is separate from the report, is stored in
its own transaction, and shares nothing with a report: the blinded message reveals nothing about the
pass inside (survey/design/passes.py). Like the door, it reads no cookies and logs nothing from a
body.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from survey.access.codes import CODE_LENGTH, read_code
from survey.collect import throttle
from survey.collect.door import target_of
from survey.collect.protocol import Refused, Reply, check_keys, error_reply, parse_django
from survey.design import passes
from survey.models import Invitation, InvitationError

MAX_BODY = 4 * 1024
REFUSED = {
    "unknown": (403, "this invitation does not exist; a reminder replaces the earlier code"),
    "used": (409, "this code was already used, on another device or in another visit"),
    "closed": (410, "this survey is closed"),
}


@csrf_exempt
@require_POST
def view(request: HttpRequest, slug: str) -> HttpResponse:
    meta = request.META
    try:
        throttle.spend(meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""))
        target = target_of(slug)
        if target.validator.key is None:
            raise Refused(404, {"survey": ["this survey does not use passes"]})
        content = parse_django(request, MAX_BODY)
        signature = exchange(target.survey, target.validator.key, content)
        return Reply.of(200, {"signature": signature}).as_django()
    except Exception as error:
        return error_reply(error).as_django()


def exchange(survey: int, key: passes.RSAPublicKey, content: Any) -> str:
    """Return the blind signature for a code and a message; repeated requests get the same one."""
    if not isinstance(content, dict):
        raise Refused(400, {"body": ["must be an object with code and blinded"]})
    errors = check_keys("", content, ("code", "blinded"))
    errors |= {name: ["must be a text"] for name in content if not isinstance(content[name], str)}
    if errors:
        raise Refused(400, errors)
    code = read_code(content["code"])
    if not code:
        why = f"must be {CODE_LENGTH} letters and digits, the last of which checks the others"
        raise Refused(400, {"code": [why]})
    try:
        blinded = passes.from_text(content["blinded"], passes.size(key))
        passes.number(key, blinded)
    except passes.PassError as error:
        raise Refused(400, {"blinded": [str(error)]}) from None
    try:
        private = Invitation.objects.use(survey, code, blinded)
    except InvitationError as error:
        status, why = REFUSED[error.reason]
        raise Refused(status, {"survey" if status == 410 else "code": [why]}) from None
    # If this fails, the code is used, but repeating the same request still gets the signature.
    return passes.to_text(passes.blind_sign(passes.private_key(private), key, blinded))
