"""The topics for new surveys follow the site's own rules."""

import json
from typing import Any

import pytest

from studio import checklist
from studio.topics import topics
from survey import files

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def as_in_production(settings: Any) -> None:
    settings.CHECKLIST, settings.MAX_EPSILON, settings.MIN_CROWD = True, 4.0, 10


@pytest.mark.parametrize("key", sorted(topics()))
def test_a_topic_needs_only_its_owners_details_to_open(key: str) -> None:
    said = {"asked_by": "Olga", "contact": "olga@example.org", "expected": 5000}
    document = topics()[key]["survey"] | said | {"retention_days": 90}
    survey = files.load(json.dumps(document))
    assert [one for one in checklist.of(survey) if one.level != "fine"] == []
    assert survey.translations.keys() == {"de"}  # and complete, as the checklist says
    for text in (survey.introduction, survey.translations["de"]["introduction"]):
        assert "Nobody" not in text and "Niemand kann" not in text  # which the page itself provides
