"""A code for a pass: POST /api/v1/surveys/{slug}/passes/. docs/protocol.md.

The one request that shows an invitation. It comes apart from the report, is stored in a transaction
of its own, and holds nothing that a report will hold: the blinded message tells nothing of the pass
inside (survey/design/passes.py). Like the door, it reads no cookie and logs nothing of a body.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from survey.collect import throttle
from survey.collect.door import target_of
from survey.collect.protocol import Refused, Reply, failed, keys, parse_django
from survey.design import passes
from survey.models import Invitation, InvitationError

MAX_BODY = 4 * 1024
REFUSED = {
    "unknown": (403, "there is no such invitation; a reminder replaces the code before"),
    "used": (
        409,
        "a pass was fetched for this code already, on another device or in another visit",
    ),
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
            raise Refused(404, {"survey": ["this survey needs no pass"]})
        content = parse_django(request, MAX_BODY)
        signature = exchange(target.survey, target.validator.key, content)
        return Reply.of(200, {"signature": signature}).as_django()
    except Exception as error:
        return failed(error).as_django()


def exchange(survey: int, key: passes.RSAPublicKey, content: Any) -> str:
    """The blind signature for a code and a blinded message; the same again for the same two."""
    if not isinstance(content, dict):
        raise Refused(400, {"body": ["an object with code and blinded"]})
    errors = keys("", content, ("code", "blinded"))
    errors |= {name: ["a text"] for name in content if not isinstance(content[name], str)}
    if errors:
        raise Refused(400, errors)
    code = read_code(content["code"])
    if not code:
        raise Refused(400, {"code": [f"{CODE_LENGTH} letters and digits"]})
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
    # If this fails the code is used, and the same request again gets its signature all the same.
    return passes.to_text(passes.blind_sign(passes.private_key(private), key, blinded))


# --- Codes ----------------------------------------------------------------------------------------

# 80 bits in Crockford's alphabet: no letter that looks like a digit, in groups for the eye.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 16
LOOKALIKES = str.maketrans("OIL", "011", "- ")


def read_code(text: str) -> str:
    """A code as it is stored, however somebody typed it; empty if it is none."""
    code = text.upper().translate(LOOKALIKES)
    return code if len(code) == CODE_LENGTH and set(code) <= set(ALPHABET) else ""
