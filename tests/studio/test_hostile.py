"""Hostile texts in every field are refused with the place, or shown as texts."""

import json
from typing import Any

import pytest
from django.utils.html import escape

from aggregation.releases.publish import make_release
from survey.design import NO_TEXT
from survey.models import Survey
from tests.support import builders

pytestmark = pytest.mark.django_db

HOSTILE = {
    "script": "<script>window.hacked = 1</script>",
    "end of script": "</script><script>window.hacked = 1</script>",
    "image": '"><img src=x onerror="window.hacked = 1">',
    "quotes": "\"'`´‘’“”«»",
    "entities": "&lt;b&gt; &amp;amp; &#x27;",
    "template": "{{ settings.SECRET_KEY }} {% debug %} ${7*7} #{7*7}",
    "formula": '=HYPERLINK("http://example.org","x")',
    "formula at": "@SUM(1+1)*cmd|' /C calc'!A0",
    "json": '{"epsilon": 99, "__proto__": {"x": 1}}',
    "percent": "%s %(x)s {0} {x}",
    "sql": "'; DROP TABLE survey_survey; --",
    "path": "../../etc/passwd",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪",
    "arabic": "هل سبق لك أن غششت في امتحان؟",
    "combining": "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢",
    "line breaks": "one\ntwo\n\nthree",
    "proto": "__proto__",
    "spaces": "  in  the  middle ",
    "long": "long " * 10_000,
    "null": "a\0b",
    "escape": "a\x1b[31mb",
    "override": "a\u202eb\u202c",
    "isolate": "a\u2066b",
    "zero width": "a\u200bb",
    "mark": "\ufeffa",
    "tag": "a\U000e0041b",
    "half": "a\ud800b",
}
# Only texts that databases may handle differently run on both.
DATABASE = ("quotes", "percent", "sql", "emoji", "combining", "long", "null", "tag", "half")
NAMES = [pytest.param(name, marks=() if name in DATABASE else pytest.mark.once) for name in HOSTILE]


def everywhere(text: str) -> dict[str, Any]:
    question = {"key": "q1", "text": text, "kind": "choice", "options": [text, f"{text}2"]}
    return {
        "title": text[:200],
        "introduction": text,
        "language": "en",
        "epsilon": 2,
        "crowd": 20,
        "questions": [question | {"prefer_not_to_say": True}],
        "background": [{"key": "b1", "text": text, "options": [text, f"{text}2"]}],
        "translations": {
            "de": {
                "title": text[:200],
                "introduction": text,
                "questions": {
                    key: {"text": text, "options": [text, f"{text}2"]} for key in ("q1", "b1")
                },
            }
        },
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_hostile_texts_stay_texts(name: str) -> None:
    text = HOSTILE[name]
    survey = builders.draft()
    client = builders.client(builders.olga(survey))
    number = client.get("/studio/small/draft/").json()["number"]

    def post(document: dict[str, Any]) -> Any:
        body = json.dumps({"number": number, "document": document})
        return client.post("/studio/small/draft/", body, content_type="application/json")

    response = post(everywhere(text))
    if NO_TEXT.search(text):
        assert response.status_code == 400
        refused = response.json()["refused"]
        assert refused["where"] == "title" and "not allowed" in refused["what"]
        assert Survey.objects.get().title == "A small survey"
        return
    assert response.status_code == 200 and response.json()["wrong"] == {}, response.content
    assert client.get("/studio/small/draft/").json()["document"] == everywhere(text)
    assert client.get("/studio/small/survey.json").json() == everywhere(text) | {"slug": "small"}
    shown = [client.get("/studio/small/"), client.get("/surveys/")]
    survey = Survey.objects.get()
    survey.open()
    Survey.objects.update(results_public=True)
    builders.send(survey, 60)
    make_release(survey)
    definition = client.get("/api/v1/surveys/small/").json()
    assert definition["title"] == text[:200]
    assert definition["design"]["blocks"][0]["questions"][0]["text"] == text
    for address in ("/studio/small/", "/surveys/", "/surveys/small/", "/results/small/"):
        shown.append(client.get(address))
    for page in shown:
        html = page.content.decode()
        assert page.status_code == 200 and "<script>window" not in html and "<img src=x" not in html
        assert escape(text[:200].strip()) in html
