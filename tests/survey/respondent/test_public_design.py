"""The public page of a design, and the details of who is asking and why."""

import hashlib
import html
import json
import re
from typing import Any

import pytest
from django.test import Client

from survey import files
from survey.access import invitations
from survey.design import Design, DesignError
from survey.models import Survey
from survey.words import CATALOGUES
from tests.support import builders
from tests.support.words import leaves

pytestmark = pytest.mark.django_db


def draft(**changes: Any) -> Survey:
    return builders.draft(**builders.READY | changes)


def opened(**changes: Any) -> Survey:
    return builders.opened(**builders.READY | changes)


class TestDisclosures:
    """Who is asking, why, the contact and the retention period are part of the design."""

    def test_the_details_are_hashed_and_translated(self) -> None:
        survey = opened(translations={"de": {"asked_by": "Olgas Büro", "title": "Klein"}})
        design = survey.frozen_design()
        assert design.disclosures == {
            "asked_by": "Olga’s office", "purpose": "To know which.",
            "contact": "olga@example.org", "retention_days": 90,
        }  # fmt: skip
        assert design.translations == {"de": {"disclosures": {"asked_by": "Olgas Büro"}}}
        assert Design.from_json(survey.design) == design
        other = draft(slug="other", asked_by="Somebody else").draft_design()
        assert other.hash != design.hash

    def test_a_design_without_details_tells_nothing(self) -> None:
        empty: dict[str, Any] = {
            "asked_by": "", "purpose": "", "contact": "", "retention_days": None
        }  # fmt: skip
        assert "disclosures" not in json.loads(draft(**empty).draft_design().canonical)

    def test_a_translation_of_an_empty_detail_is_left_out(self) -> None:
        survey = draft(purpose="", translations={"de": {"purpose": "Darum"}})
        assert survey.draft_design().translations == {}

    def test_details_survive_export_and_import(self) -> None:
        survey = draft(translations={"de": {"contact": "x", "purpose": "y"}})
        data = files.dump(survey)
        again = draft(**data | {"slug": "again"})
        assert files.dump(again) == data | {"slug": "again"}
        assert data["expected"] == 5000 and data["retention_days"] == 90

    @pytest.mark.parametrize(
        "wrong",
        [
            {"asked_by": 7}, {"contact": ["x"]}, {"expected": "many"}, {"expected": 0},
            {"expected": True}, {"retention_days": 0}, {"retention_days": 1.5},
            {"retention_days": 40_000}, {"asked_by": "x" * 201}, {"purpose": "a\u202eb"},
            {"translations": {"de": {"purpose": " "}}}, {"translations": {"de": {"contact": 1}}},
        ],
        ids=str,
    )  # fmt: skip
    def test_bad_details_in_a_file_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(files.FileError):
            draft(**wrong)
        assert not Survey.objects.exists()

    def test_a_survey_with_control_characters_does_not_open(self) -> None:
        survey = draft()
        Survey.objects.update(contact="a\u202eb")
        survey.refresh_from_db()
        with pytest.raises(DesignError, match="contact"):
            survey.open()


HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}", "=1+1",
    "javascript:alert(1)", "</code></p></section>", "' OR 1=1 --", "%s%n", "\u0661\u0662", "𝒳" * 90,
]  # fmt: skip


class TestPublicDesign:
    def test_anyone_can_read_it_and_check_the_hash(self) -> None:
        survey = opened(translations={"de": {"questions": {"q1": {"text": "Ja?"}}}})
        response = Client().get("/designs/small/")
        page = response.content.decode()
        assert response.status_code == 200 and not response.cookies
        for text in ("Olga’s office", "To know which.", "olga@example.org", "Did you?", "Blue",
                     "90 days after it closes", survey.design_hash, "How old are you?", "Ja?",
                     "Prefer not to say", "<script"):  # fmt: skip
            assert (text in page) is (text != "<script"), text
        file = Client().get("/designs/small/design.json")
        assert f"sha256:{hashlib.sha256(file.content).hexdigest()}" == survey.design_hash
        assert file["Content-Disposition"] == 'attachment; filename="small.design.json"'

    def test_it_says_how_every_kind_is_answered_and_randomized(self) -> None:
        opened(**builders.EVERY_PATH)
        page = Client().get("/designs/every-path/").content.decode()
        text = " ".join(re.sub("<[^>]*>|[\u2066-\u2069]", "", page).replace("\xa0", " ").split())
        for words in (
            "Only asked after “Yes” to “Harassed?”.",
            "Only asked after “Prefer not to say” to “Harassed?”.",
            "A whole number from 0 to 60 days, which the device rounds at random to one of 3 ",
            "Up to 2 may be picked, and a report says one of them or none.",
            "can be at most about 98 in 100 sure after seeing your report",
            "But they can be nearly sure: this protection is weak.",
        ):
            assert words in text, words
        design = Survey.objects.get().frozen_design()
        shares = [100 * design.blocks[0].mechanism.channel(0, value)[0] for value in range(3)]
        assert f"about {min(shares):.1f} to {max(shares):.1f} of their reports say it" in text
        a, b = (100 * share for share in design.blocks[3].mechanism.channel(0))
        assert f"about {a:.1f} of their reports say it. If they do not, about {b:.1f} do." in text

    @pytest.mark.parametrize(
        ("given", "words"),
        [({}, "not safe from manipulation"), ({"work": 12}, "A proof of work makes"),
         ({"access": "invited"}, "Only invited people can answer")],
    )  # fmt: skip
    def test_it_says_who_may_answer(self, given: dict[str, Any], words: str) -> None:
        survey = opened(**given)
        page = Client().get("/designs/small/").content.decode()
        assert words in page
        assert (invitations.fingerprint(survey) in page) is ("access" in given)

    def test_a_draft_has_no_public_design(self) -> None:
        draft()
        admin = builders.client(builders.root())
        for address in ("/designs/small/", "/designs/small/design.json"):
            assert admin.get(address).status_code == 404

    def test_a_closed_survey_says_when_everything_is_deleted(self) -> None:
        survey = opened()
        survey.close()
        assert survey.delete_on
        page = Client().get("/designs/small/").content.decode()
        assert f"{survey.delete_on:%-d %B %Y}" in page

    @pytest.mark.parametrize("tag", CATALOGUES)
    def test_it_is_in_the_readers_language(self, tag: str) -> None:
        translations = {one: {"title": f"Title {one}"} for one in CATALOGUES if one != "en"}
        opened(**builders.EVERY_PATH | {"access": "invited", "translations": translations})
        response = Client().get("/designs/every-path/", headers={"accept-language": tag})
        page = html.unescape(response.content.decode())
        words = CATALOGUES[tag]
        assert f'<html lang="{tag}" dir="{words.direction}">' in page
        assert response["Vary"] == "Accept-Language"
        assert response["Cache-Control"] == "public, max-age=60"
        assert page == html.unescape(
            Client().get(f"/designs/every-path/?lang={tag}").content.decode()
        )
        names = ("kind", "who", "check", "not_included")
        fixed = [words["protection"]["nobody"], words["access"]["invited"], words["page"]["skip"]]
        for text in [*fixed, *(words["design"][name] for name in names)]:
            assert text in page, text
        if tag == "de":
            assert "In einer anderen Sprache: Arabisch" in page
        if tag != "en":
            assert f"Title {tag}" in page
            english = [one for _, one in leaves(CATALOGUES["en"].texts) if isinstance(one, str)]
            shown = [one for one in english if len(one) > 20 and "{" not in one and one in page]
            assert shown == []
        assert [link in page for link in (f"?lang={one}" for one in CATALOGUES)] == [True] * 5

    def test_a_survey_in_one_language_has_a_page_in_it_alone(self) -> None:
        opened(language="de")
        response = Client().get("/designs/small/", headers={"accept-language": "fr"})
        page = response.content.decode()
        assert '<html lang="de"' in page and "?lang=" not in page

    def test_it_is_linked_from_the_results(self) -> None:
        opened()
        Survey.objects.update(results_public=True)
        page = Client().get("/results/small/").content.decode()
        assert 'href="/designs/small/?lang=en"' in page

    def test_hostile_texts_stay_texts(self) -> None:
        admin = builders.client(builders.root())
        for number, text in enumerate(HOSTILE):
            slug = f"s{number}"
            survey = draft(
                slug=slug, title=text, introduction=text, asked_by=text, purpose=text, contact=text,
                translations={"de": {"asked_by": text, "purpose": text, "contact": text}},
                questions=[{"key": "q1", "text": text, "kind": "yes_no"}], blocks=[],
            )  # fmt: skip
            pages = [admin.get(f"/studio/{slug}/open/").content.decode()]
            survey.open()
            pages.append(Client().get(f"/designs/{slug}/").content.decode())
            pages.append(admin.get(f"/studio/{slug}/open/").content.decode())
            for page in pages:
                assert "<script>alert" not in page and "<img src=x" not in page
            found = Client().get(f"/s/{slug}/definition/").json()["design"]["disclosures"]
            assert {found[name] for name in ("asked_by", "purpose", "contact")} == {text}
