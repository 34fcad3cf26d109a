"""Figures of every kind of question: stacked bars, means on their own axis, and follow-ups."""

from xml.etree.ElementTree import Element

import pytest

from aggregation.exports import figures
from aggregation.models import Release
from aggregation.releases import display
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.publish import make_release
from aggregation.svg import canvas, stacked
from tests.support import builders
from tests.support.figures import SVG, parsed, place, texts, words


@pytest.fixture
def release(db: None) -> Release:
    survey = builders.opened(**builders.EVERY_KIND)
    builders.send(survey, 1_500, harassed=[0.4, 0.6], content=[0.2, 0.1, 0.6, 0.1])
    release = make_release(survey)
    assert release
    return release


def figure(release: Release, question: str, by: str = "") -> Element:
    return parsed(figures.draw_one(release, question, by, IntervalChoice.headline(final=False)))


def bars(root: Element) -> list[float]:
    """Return the widths of the parts of all stacked bars."""
    return [
        float(one.get("width", ""))
        for one in root.iter(f"{SVG}rect")
        if one.get("height") == f"{stacked.HEIGHT}"
    ]


def test_every_estimate_of_every_kind_is_drawn_and_told(release: Release) -> None:
    design = release.survey.frozen_design()
    for question, by in figures.names(design).values():
        root = figure(release, question, by)
        asked = next(one for one in design.questions if one.key == question)
        found = release.estimates.filter(question=question, by=by)
        tables = display.tables(asked, found)
        shown = [(measure, row) for measure, rows in tables.items() for row in rows]
        dots = list(root.iter(f"{SVG}circle"))
        assert len(dots) == sum(row.bounded is not None for _, row in shown) > 0
        told = root[1].text or ""
        for measure, row in shown:
            quantity = display.quantity_of(asked, measure)
            interval = quantity.interval(row.low, row.high).replace("\u202f", "\u00a0")
            assert interval in told
            assert f"{quantity.plain(row.low)} to {quantity.plain(row.high)}" in texts(root)


def test_a_mean_is_drawn_on_an_axis_in_its_unit(release: Release) -> None:
    root = figure(release, "ill")
    row = release.estimates.get(question="ill", measure="mean", by="")
    assert row.bounded is not None
    zero, sixty = place(root, "0"), place(root, "60")
    (dot,) = (float(one.get("cx", "")) for one in root.iter(f"{SVG}circle"))
    assert (dot - zero) / (sixty - zero) == pytest.approx(row.bounded / 60, abs=0.0005)
    assert f"{row.bounded:.1f}\u00a0days" in texts(root) and "Mean, in days" in texts(root)
    assert "moved to what is possible" in words(root)


def test_a_scale_has_a_stacked_bar_for_everybody_and_each_group(release: Release) -> None:
    rows = list(release.estimates.filter(question="content", measure="share", by=""))
    whole = sum(row.bounded or 0 for row in rows)
    root = figure(release, "content")
    width = canvas.WIDTH - canvas.MARGIN - stacked.LEFT
    assert bars(root) == pytest.approx(
        [width * (row.bounded or 0) / whole for row in rows], abs=0.06
    )
    for label in ("No", "Partly", "Yes", "Prefer not to say"):
        assert texts(root).count(label) == 2  # in the key, and beside its estimate
    assert "Bars: shares below 0 count as 0" in words(root)
    assert len(bars(figure(release, "content", "job"))) == 3 * 4
    assert not bars(figure(release, "took")) and "Bars:" not in words(figure(release, "took"))


def test_a_follow_up_says_whom_it_is_about(release: Release) -> None:
    said = words(figure(release, "often"))
    for text in (
        "Asked only of people who answered “Yes” to “Were you harassed?”",
        "Among people who answered “Yes” to “Were you harassed?”",
        "Among everybody",
        "Mean score, from 0 (Once) to 4 (Often)",
    ):
        assert text in said


def test_a_key_that_is_too_long_goes_on_below() -> None:
    drawn = canvas.Canvas("Title", "Text")
    parts = [stacked.Part(f"A rather long label {i} " + "and more " * i, 1.0) for i in range(8)]
    stacked.draw(drawn, parts, [stacked.Bar("All", None), stacked.Bar("A", [0.125] * 8)])
    root = parsed(drawn.done())
    assert "too few responses to tell" in texts(root)
    for part in parts:
        assert part.label.split()[-1] in words(root)
    for one in root.iter(f"{SVG}text"):
        end = float(one.get("x", "")) + canvas.breadth(one.text or "", canvas.SIZE) / 1.3
        assert end <= canvas.WIDTH
