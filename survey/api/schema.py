"""The OpenAPI description of errors, and of the ingest path, which is not a framework view."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from survey.collect import door


class ProblemSerializer(serializers.Serializer[Any]):
    """Why a request was refused."""

    detail = serializers.CharField()


REFUSED = {
    400: "The request is not valid; the body says what is wrong.",
    401: "Not logged in, or the token is not valid.",
    403: "Your role in the survey does not allow this.",
    404: "Not found.",
    409: "Not possible in the current state; the body says why.",
    415: "The body is not JSON.",
    429: "Too many requests; wait for the number of seconds in Retry-After.",
    503: "The database is unavailable or full; retry after the seconds in Retry-After.",
}


def errors(*statuses: int) -> dict[int, OpenApiResponse]:
    """Return the responses for these statuses and for those that any request can get."""
    return {
        status: OpenApiResponse(
            OpenApiTypes.OBJECT if status == 400 else ProblemSerializer, REFUSED[status]
        )
        for status in (*statuses, 429, 503)
    }


REPORT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "design", "blocks"],
    "properties": {
        "id": {
            "type": "string",
            "format": "uuid",
            "pattern": "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-"
            "[0-9a-fA-F]{12}$",
            "description": "A version 4 UUID, chosen by the client.",
        },
        "design": {"type": "string", "description": "The hash of the design."},
        "blocks": {
            "type": "object",
            "description": "Every background block and exactly `ask` of the others. For each "
            "question, the position of an option, the level of a number, or null: not asked or, "
            "in multiple choice, nothing picked.",
            "additionalProperties": {
                "type": "array",
                "items": {"type": "integer", "minimum": 0, "nullable": True},
            },
        },
        "pass": {
            "type": "object",
            "description": "Only for surveys by invitation: RFC 9474, in base64url. The id is "
            "then derived from the message.",
            "additionalProperties": False,
            "required": ["message", "signature"],
            "properties": {"message": {"type": "string"}, "signature": {"type": "string"}},
        },
        "work": {
            "type": "string",
            "pattern": "^[0-9a-f]{8}$",
            "description": "Only if the design requires a proof of work.",
        },
    },
}
BLINDED = {
    "type": "object",
    "additionalProperties": False,
    "required": ["code", "blinded"],
    "properties": {
        "code": {"type": "string", "description": "The code of an invitation."},
        "blinded": {"type": "string", "description": "The blinded message, in base64url."},
    },
}
ERRORS = {
    "type": "object",
    "properties": {
        "errors": {
            "type": "object",
            "description": "The members that are wrong, each with what is wrong.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        }
    },
}
OUTCOMES = {
    200: "A report with this id is already stored. It is not stored twice.",
    201: "Stored durably.",
    400: "Malformed, an unknown or missing key, a value out of range, or another design.",
    403: "The pass or proof of work that this survey requires is missing or not valid.",
    404: "The survey does not exist or is not open yet.",
    408: "The body did not arrive in time.",
    410: "The survey is closed.",
    413: f"The body is over {door.MAX_BODY // 1024} KiB.",
    415: "The body is not JSON.",
    429: "Too many requests from one address.",
    503: "The store is unavailable; send the same report again after Retry-After seconds.",
}
SLUG = {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"}
HEADERS = {
    "202": ("Location", "The address of the job.", {"type": "string", "format": "uri"}),
    "429": ("Retry-After", "Seconds to wait.", {"type": "integer", "minimum": 1}),
    "503": ("Retry-After", "Seconds to wait.", {"type": "integer", "minimum": 1}),
}


def describe_details(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add what the framework does not know: headers of replies, and the pattern of slugs."""
    for operation in (item for path in result["paths"].values() for item in path.values()):
        for parameter in operation.get("parameters", []):
            if parameter["name"] == "slug":
                parameter["schema"] = SLUG
        for status in HEADERS.keys() & operation["responses"].keys():
            name, text, schema = HEADERS[status]
            headers = {name: {"description": text, "required": True, "schema": schema}}
            operation["responses"][status]["headers"] = headers
    return result


def describe_ingest(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the ingest path to the OpenAPI description."""
    stored = {"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}}
    row = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid", "nullable": True},
            "status": {"type": "integer", "enum": [200, 201, 400, 403, 410]},
            "errors": ERRORS["properties"]["errors"],  # type: ignore[index]
        },
    }
    many = {"type": "object", "properties": {"reports": {"type": "array", "items": row}}}
    result["paths"] |= {
        "/api/v1/surveys/{slug}/passes/": _post(
            "pass",
            "Exchange the code of an invitation for a blind-signed pass.",
            BLINDED,
            {200: {"type": "object", "properties": {"signature": {"type": "string"}}}},
            {
                200: "The blind signature. Repeated requests get the same one.",
                403: "The invitation does not exist.",
                404: "The survey does not exist, is not open yet, or does not use passes.",
                409: "The code was already used with another message.",
            }
            | {s: OUTCOMES[s] for s in (400, 408, 410, 413, 415, 429, 503)},
        ),
        "/api/v1/surveys/{slug}/reports/": _post(
            "report", "Send one report.", REPORT, {s: stored for s in (200, 201)}, OUTCOMES
        ),
        "/api/v1/surveys/{slug}/reports/batch/": _post(
            "reports",
            f"Send up to {door.MAX_REPORTS:,} reports; each gets its own status.",
            {
                "type": "object",
                "additionalProperties": False,
                "required": ["reports"],
                "properties": {
                    "reports": {
                        "type": "array",
                        "maxItems": door.MAX_REPORTS,
                        # Any item is accepted, because each gets its own status.
                        "items": {"anyOf": [REPORT, {}]},
                    }
                },
            },
            {200: many},
            {200: "A status for each report, in order."}
            | {s: OUTCOMES[s] for s in (400, 404, 408, 413, 415, 429, 503)},
        ),
    }
    result["paths"] = dict(sorted(result["paths"].items()))
    return result


def _post(
    name: str,
    summary: str,
    body: dict[str, Any],
    bodies: dict[int, Any],
    outcomes: dict[int, str],
) -> dict[str, Any]:
    def content(schema: dict[str, Any]) -> dict[str, Any]:
        return {"application/json": {"schema": schema}}

    return {
        "post": {
            "operationId": name,
            "summary": summary,
            "tags": ["respondents"],
            "security": [{}],
            "parameters": [
                {"in": "path", "name": "slug", "required": True, "schema": {"type": "string"}}
            ],
            "requestBody": {"required": True, "content": content(body)},
            "responses": {
                str(status): {
                    "description": text,
                    "content": content(bodies.get(status, ERRORS)),
                }
                for status, text in sorted(outcomes.items())
            },
        }
    }
