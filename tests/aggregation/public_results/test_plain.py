"""Results in plain words: rounding, the edges, and every kind of question in every language."""

import math
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from aggregation.models import Estimate
from aggregation.public_results.plain import Teller
from aggregation.releases import display
from aggregation.releases.publish import make_release
from aggregation.svg import tracks
from aggregation.svg.axis import SHARES, Point
from survey.design import Design
from survey.design.kinds.number import Number
from survey.models import Survey
from survey.words import CATALOGUES, ENGLISH, Catalogue
from survey.words.reader import Content
from tests.support import builders
from tests.support.words import leaves


def teller(words: Catalogue = ENGLISH, survey: Any = None, design: Any = None) -> Teller:
    return Teller(Content(survey or Survey(language=words.tag), design, words.tag), words)


def estimate(low: float, value: float | None, high: float, **more: Any) -> Estimate:
    return Estimate(
        bounded=value, value=value, low_once=low, high_once=high, low_always=low, high_always=high,
        **more,
    )  # fmt: skip


SHARES_IN_WORDS = [
    (0.05, 0.11, 0.17, "About 11 in 100 (probably 5 to 17)"),
    (0.0512, 0.114, 0.1688, "About 11 in 100 (probably 5 to 17)"),  # rounded outwards
    (0.07, 0.29, 0.57, "About 29 in 100 (probably 7 to 57)"),  # exact hundredths stay
    (0.0, 0.06, 0.1312, "Probably fewer than 14 in 100"),
    (0.004, 0.06, 0.1312, "Probably fewer than 14 in 100"),
    (0.0, 0.0, 0.002, "Probably fewer than 1 in 100"),
    (0.0, 0.0, 0.0, "Probably fewer than 1 in 100"),
    (1.0, 1.0, 1.0, "Probably more than 99 in 100"),
    (0.8612, 0.95, 1.0, "Probably more than 86 in 100"),
    (0.86, 1.0, 0.9951, "Probably more than 86 in 100"),
    (0.0, 0.5, 1.0, "Too few answers to say anything"),
    (0.001, 0.5, 0.9999, "Too few answers to say anything"),
    (0.2, None, 0.8, "Too few answers to say anything"),
    (0.0101, 0.0149, 0.03, "About 1 in 100 (probably 1 to 3)"),
]


@pytest.mark.parametrize(("low", "value", "high", "words"), SHARES_IN_WORDS)
def test_a_share_is_a_count_out_of_100(
    low: float, value: float | None, high: float, words: str
) -> None:
    assert teller().share(estimate(low, value, high)) == words


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.sampled_from([*CATALOGUES.values()]))
def test_no_share_is_said_to_be_none_or_all_and_no_interval_is_narrowed(
    one: float, two: float, three: float, words: Catalogue
) -> None:
    low, value, high = sorted((one, two, three))
    said = teller(words).share(estimate(low, value, high))
    counts = [int(count) for count in re.findall(r"\d+", said)]
    if said == words["results"]["too_few"]:
        assert low < 0.01 + 1e-6 and high > 0.99 - 1e-6
        return
    counts.remove(100)
    assert counts and 0 not in counts and 100 not in counts
    if len(counts) == 3:
        assert counts[1] / 100 <= low + 1e-9 and high - 1e-9 <= counts[2] / 100
        assert counts[1] <= counts[0] <= counts[2] and abs(counts[0] - 100 * value) <= 1


DAYS = Number("q", "How many?", least=0, most=60, levels=2, unit="days")


@pytest.mark.parametrize(
    ("low", "value", "high", "words"),
    [
        (10.84, 12.34, 13.81, "About 12.3\xa0days (probably 10.8 to 13.9)"),
        (0.0, 1.2, 3.41, "Probably less than 3.5\xa0days"),
        (55.55, 59.0, 60.0, "Probably more than 55.5\xa0days"),
        (0.0, 30.0, 60.0, "Too few answers to say anything"),
        (20.0, None, 30.0, "Too few answers to say anything"),
    ],
)
def test_a_mean_is_in_its_unit(low: float, value: Any, high: float, words: str) -> None:
    quantity = display.quantity_of(DAYS, "mean")
    assert isinstance(quantity, display.Mean)
    design = Design(1.0, 1, ())
    said = teller(design=design).mean(DAYS, estimate(low, value, high), quantity)
    assert re.sub("[\u2068\u2069]", "", said) == words


def test_the_bar_shows_the_estimate_and_its_interval() -> None:
    drawn = tracks.estimate(Point(0.11, 0.05, 0.17), SHARES)
    found = re.findall(r'class="(\w+)"(?: x="([\d.]+)%")? width="([\d.]+)%"', drawn)
    assert found == [("estimate", "", "100"), ("whole", "", "100"), ("part", "", "11.00"),
                     ("probable", "5.00", "12.00")]  # fmt: skip
    assert 'aria-hidden="true"' in drawn and "style" not in drawn
    assert 'class="part" width="0.00%"' in tracks.estimate(Point(None, 0, 1), SHARES)


# --- On the page ----------------------------------------------------------------------------------


@pytest.fixture
def every_kind(db: None) -> Survey:
    # In none of our languages, so that the page is offered in all of them.
    survey = builders.opened(**builders.EVERY_KIND | {"language": "it"})
    builders.send(survey, 400)
    make_release(survey)
    Survey.objects.update(results_public=True)
    return survey


def plain(page: str) -> str:
    """Return the text before the part for researchers."""
    text = re.sub("<[^>]*>|[\u2066-\u2069]", " ", page.partition('<details class="research')[0])
    return " ".join(unescape(text).split())


@pytest.mark.parametrize("tag", CATALOGUES)
def test_every_kind_is_told_in_every_language(every_kind: Survey, tag: str) -> None:
    for query in ("", "by="):
        page = Client().get(f"/results/every-kind/?lang={tag}&{query}").content.decode()
        assert f'<html lang="{tag}" dir="{CATALOGUES[tag].direction}">' in page
        if tag != "en":
            texts = [text for _, text in leaves(ENGLISH.texts) if isinstance(text, str)]
            shown = plain(page)
            assert [one for one in texts if len(one) > 20 and one in shown] == []
    design = every_kind.frozen_design()
    assert page.count('<article class="card plain"') == len(design.questions)
    average = CATALOGUES[tag]["results"]["average"]
    assert average in plain(page) and CATALOGUES[tag]["results"]["several"] in plain(page)


def test_everybodys_estimates_are_those_of_the_release(every_kind: Survey) -> None:
    page = Client().get("/results/every-kind/").content.decode()
    release = every_kind.releases.get()
    for question in every_kind.frozen_design().questions:
        section = page.partition(f'aria-labelledby="plain-{question.key}"')[2]
        section = section.partition("</article>")[0]
        rows = display.shown_options(
            question, release.estimates.filter(question=question.key, by="")
        )
        wanted = [row for row in rows if not (question.only_if and row.measure == "share")]
        assert section.count("<dt") == len(wanted), question.key
        for row in wanted:
            if row.option and row.bounded is not None:
                low, high = math.floor(100 * row.low + 1e-9), math.ceil(100 * row.high - 1e-9)
                if low > 0 and high < 100:
                    assert f"(probably {low} to {high})" in section
        concerned = "Among the people who were asked this" in section
        assert concerned is (question.only_if is not None)


def test_results_by_group_are_told_for_each_group(db: None) -> None:
    builders.finished()
    Survey.objects.update(results_public=True)
    page = Client().get("/results/small/?by=age&lang=en").content.decode()
    shown = plain(page)
    assert "Under 30 Yes " in shown and "30 and over Yes " in shown
    assert '<a href="?by=age" lang="en" aria-current="true">' in page.replace("lang=en&amp;", "")
    assert "Everybody" in shown


def test_who_asked_and_how_many_took_part_come_first(db: None) -> None:
    survey = builders.opened(**builders.READY)
    builders.send(survey, 60)
    make_release(survey)
    Survey.objects.update(results_public=True)
    shown = plain(Client().get("/results/small/").content.decode())
    first = shown.index("Did you?")
    assert shown.index("Who asked: Olga’s office") < first
    assert shown.index("Responses counted: 40") < first
    assert first < shown.index(ENGLISH["protection"]["nobody"])
    assert "The survey is still open" in shown
