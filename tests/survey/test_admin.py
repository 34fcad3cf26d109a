"""The administration pages: everything can be found and read, and nothing changed."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client

from aggregation.releases.publish import make_release
from survey.models import ApiToken, Survey
from tests.support import builders

pytestmark = pytest.mark.django_db

OURS = [model for model in admin.site._registry if model not in (User, Group)]


@pytest.fixture
def root() -> Client:
    return builders.client(builders.root())


@pytest.fixture
def survey() -> Survey:
    survey = builders.opened()
    builders.send(survey, 60)
    make_release(survey)
    ApiToken.objects.issue(builders.alice(), "mine")
    return survey


def address(model: type, *rest: object) -> str:
    meta = model._meta  # type: ignore[attr-defined]
    return "/".join(["/admin", meta.app_label, meta.model_name, *map(str, rest), ""])


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_everything_is_listed_searched_and_read(root: Client, survey: Survey, model: type) -> None:
    assert root.get(address(model)).status_code == 200
    if admin.site._registry[model].search_fields:
        assert root.get(address(model), {"q": "small"}).status_code == 200
    for row in model.objects.all()[:3]:  # type: ignore[attr-defined]
        assert root.get(address(model, row.pk, "change")).status_code == 200


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_nothing_is_added_changed_or_deleted(root: Client, survey: Survey, model: type) -> None:
    assert root.get(address(model, "add")).status_code == 403
    row = model.objects.first()  # type: ignore[attr-defined]
    if row is not None:
        assert root.post(address(model, row.pk, "change"), {"title": "x"}).status_code == 403
        deleted = root.post(address(model, row.pk, "delete"), {"post": "yes"}).status_code
        assert deleted == (302 if model is ApiToken else 403)
    survey.refresh_from_db()
    assert survey.title == "A small survey"


def test_a_draft_is_not_changed_either(root: Client) -> None:
    draft = builders.draft()
    page = root.get(address(Survey, draft.pk, "change")).content.decode()
    assert "Did you?" in page or draft.questions.first().text in page  # type: ignore[union-attr]
    assert 'name="title"' not in page and f"/studio/{draft.slug}/" in page
    assert root.post(address(Survey, draft.pk, "change"), {"title": "x"}).status_code == 403


def test_no_secret_and_no_report_is_shown(root: Client, survey: Survey) -> None:
    token = ApiToken.objects.get()
    page = root.get(address(ApiToken, token.pk, "change")).content.decode()
    assert "mine" in page and token.digest not in page
    names = {model.__name__ for model in OURS}
    assert not names & {"Report", "PassKey", "Invitation", "Session", "Factor"}
