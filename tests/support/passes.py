"""Fetch passes and post reports as a browser does."""

import json
from typing import Any

from survey.design import passes
from survey.models import Survey
from tests.support.site import Client


def post(body: Any, path: str = "reports/", slug: str = "small", **options: Any) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body)
    options = {"content_type": "application/json"} | options
    return Client().post(f"/api/v1/surveys/{slug}/{path}", data, **options)


def key_of(survey: Survey) -> passes.RSAPublicKey:
    return passes.public_key(survey.frozen_design().passes)


def blinded(survey: Survey) -> tuple[bytes, dict[str, str], int]:
    prepared = passes.prepare()
    message, inverse = passes.blind(key_of(survey), prepared)
    return prepared, {"blinded": passes.to_text(message)}, inverse


def fetched(survey: Survey, code: str) -> passes.Pass:
    """Fetch a pass for a code as a browser does."""
    prepared, asked, inverse = blinded(survey)
    response = post(asked | {"code": code}, "passes/", survey.slug)
    assert response.status_code == 200, response.content
    signed = passes.from_text(response.json()["signature"], 256)
    return passes.Pass(prepared, passes.finalize(key_of(survey), prepared, signed, inverse))


def errors(response: Any) -> tuple[int, set[str]]:
    return response.status_code, set(response.json()["errors"])
