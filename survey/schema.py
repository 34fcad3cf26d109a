"""The ingest path in the OpenAPI description: it is no framework view, so it is written here."""

from typing import Any

from survey import ingest

REPORT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "design", "blocks", "strata"],
    "properties": {
        "id": {"type": "string", "format": "uuid", "description": "Version 4, by the client."},
        "design": {"type": "string", "description": "The hash of the design."},
        "blocks": {
            "type": "object",
            "description": "Exactly `ask` blocks; option positions, one a question.",
            "additionalProperties": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        },
        "strata": {
            "type": "object",
            "description": "Every stratum: an option position, or null for “not given”.",
            "additionalProperties": {"type": "integer", "minimum": 0, "nullable": True},
        },
    },
}
ERRORS = {
    "type": "object",
    "properties": {
        "errors": {
            "type": "object",
            "description": "Where it is wrong, and what is wrong there.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        }
    },
}
OUTCOMES = {
    200: "The same report was stored before; nothing is stored twice.",
    201: "Stored, and durable.",
    400: "Malformed, an unknown or missing key, a value out of range, or another design.",
    404: "No such survey, or not open yet.",
    408: "The body did not arrive whole in time.",
    409: "The id was used before with another content.",
    410: "The survey is closed.",
    413: f"The body is over {ingest.MAX_BODY // 1024} KiB.",
    415: "The body is not JSON.",
    429: "Too many requests from one address.",
    503: "The store is unavailable; Retry-After says when to send the same report again.",
}


def describe_ingest(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the ingest path, which is no framework view, to the OpenAPI description."""
    stored = {"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}}
    row = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid", "nullable": True},
            "status": {"type": "integer", "enum": [200, 201, 400, 409, 410]},
            "errors": ERRORS["properties"]["errors"],  # type: ignore[index]
        },
    }
    many = {"type": "object", "properties": {"reports": {"type": "array", "items": row}}}
    result["paths"] |= {
        "/api/v1/surveys/{slug}/reports/": _post(
            "report", "Send one report.", REPORT, {s: stored for s in (200, 201)}, OUTCOMES
        ),
        "/api/v1/surveys/{slug}/reports/batch/": _post(
            "reports",
            f"Send up to {ingest.MAX_REPORTS:,} reports; each gets its own status.",
            {
                "type": "object",
                "required": ["reports"],
                "properties": {
                    "reports": {
                        "type": "array",
                        "maxItems": ingest.MAX_REPORTS,
                        "items": REPORT,
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
