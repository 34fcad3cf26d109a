"""Results of every kind of question: pages, overview, trend, and the API with the same limits."""

import html
import math
import re
from dataclasses import replace
from typing import Any

import pytest
from django.template.loader import get_template
from django.test import Client
from scipy import stats

from aggregation.dashboard import findings, readers, sections, tables
from aggregation.dashboard.kinds import RESULTS
from aggregation.exports import figures
from aggregation.models import Estimate, Release
from aggregation.releases import display
from aggregation.releases.choice import ALWAYS, IntervalChoice
from aggregation.releases.estimate import asked
from aggregation.releases.publish import make_release
from aggregation.svg import tracks
from survey.design.kinds import KINDS
from survey.models import Survey
from tests.support import builders

TRUTH = {
    "harassed": [0.5, 0.5],
    "who": [0.7, 0.1, 0.1, 0.1],
    "often": [0.2, 0.2, 0.6],
    "ill": [0.8, 0.2],
    "content": [0.1, 0.1, 0.7, 0.1],
    "took": [0.6, 0.4, 0.1, 0.1, 0.05],
    "saw": [0.6, 0.3, 0.1],
}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give pages more time, because the machine may be busy."""
    monkeypatch.setattr(readers, "COMPUTE_SECONDS", 60)


def released(people: int = 2_500, **changes: Any) -> Release:
    """Return a release of an open survey with every kind of question."""
    survey = builders.opened(**builders.EVERY_KIND | changes)
    builders.send(survey, people, **TRUTH)
    release = make_release(survey)
    assert release
    return release


def closed(**changes: Any) -> Release:
    survey = released(**changes).survey
    survey.close()
    release = make_release(survey)
    assert release and release.final
    return release


@pytest.fixture
def release(db: None) -> Release:
    return released()


def page_of(release: Release, query: str = "") -> str:
    user = builders.User.objects.filter(username="alice").first()
    client = builders.client(user or builders.alice(release.survey))
    response = client.get(f"/surveys/every-kind/{query}")
    assert response.status_code == 200
    return str(response.content.decode())


def card(page: str, key: str) -> str:
    """Return the part of a page that is about one question."""
    start = page.index(f'aria-labelledby="q-{key}"')
    return page[start : page.index("</section>", start)]


def shown(release: Release, by: str = "", **choice: Any) -> dict[str, sections.Section]:
    design = release.survey.frozen_design()
    background = next((one for one in design.background if one.key == by), None)
    found = sections.sections(release, background, IntervalChoice(**choice) if choice else None)
    return {section.question.key: section for section in found}


def rows(release: Release, question: str, measure: str, by: str = "") -> list[Estimate]:
    return list(release.estimates.filter(question=question, measure=measure, by=by))


def words(text: str) -> str:
    """Return what a reader sees, on one line."""
    apart = re.sub(r"</t[dh]>", " ", text)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", apart)))


# --- Kinds ----------------------------------------------------------------------------------------


def test_every_kind_has_its_template() -> None:
    assert list(RESULTS) == list(KINDS)
    for name in RESULTS.values():
        get_template(name)


@pytest.mark.parametrize("query", ["", "?by=job"])
def test_pages_show_every_estimate_with_the_limits_of_the_api(release: Release, query: str) -> None:
    page = page_of(release, query)
    alice = builders.client(builders.User.objects.get(username="alice"))
    answer = alice.get("/api/v1/surveys/every-kind/estimates/").json()
    by = "job" if query else None
    design = {one.key: one for one in release.survey.frozen_design().questions}
    seen = set()
    for row in answer["estimates"]:
        if row["by"] != by or row["option"] == "no" and row["question"] == "harassed":
            continue
        question = design[row["question"]]
        quantity = display.quantity_of(question, row["measure"])
        interval = quantity.interval(row["low"], row["high"])
        limits = f"{quantity.plain(row['low'])} to {quantity.plain(row['high'])}"
        cells = (f">{interval}</td>", f'<span class="interval">{limits}</span></td>')
        assert any(cell in card(page, row["question"]) for cell in cells), row
        assert row["interval"]["kind"] == "interim"
        assert (row["low"], row["high"]) == (row["low_always"], row["high_always"])
        assert (row["option"] is None) == (row["measure"] in ("mean", "picks"))
        seen.add((question.kind, row["measure"]))
    assert {kind for kind, _ in seen} == set(KINDS)
    assert {measure for _, measure in seen} == {"share", "share_of_concerned", "mean", "picks"}


@pytest.mark.django_db
def test_after_closing_pages_and_the_api_have_the_limits_for_one_look() -> None:
    release = closed()
    page = page_of(release)
    alice = builders.client(builders.User.objects.get(username="alice"))
    answer = alice.get("/api/v1/surveys/every-kind/estimates/").json()
    (row,) = (
        one for one in answer["estimates"]
        if (one["question"], one["measure"], one["by"]) == ("ill", "mean", None)
    )  # fmt: skip
    assert row["interval"]["kind"] == "final"
    assert (row["low"], row["high"]) == (row["low_once"], row["high_once"])
    assert row["low_once"] > row["low_always"]
    assert f"{row['low']:.1f} to {row['high']:.1f}" in card(page, "ill")


# --- Numbers --------------------------------------------------------------------------------------


def test_a_number_is_a_mean_in_its_unit(release: Release) -> None:
    (row,) = rows(release, "ill", "mean")
    assert row.bounded is not None
    page = page_of(release)
    line = words(page[page.index('href="#q-ill"') :].partition("</li>")[0])
    assert f"{row.bounded:.1f} days ({row.low:.1f} to {row.high:.1f}) Mean" in line
    text = card(page, "ill")
    assert "Mean, in days, from 0 to 60</caption>" in text
    assert ' data-low="0" data-high="60"' in text
    dot = re.search(r'<circle cx="([\d.]+)%"', text)
    assert dot and float(dot[1]) == pytest.approx(100 * row.bounded / 60, abs=0.01)
    assert "levels (0, 30, 60), right on average" in words(text)


def test_the_total_is_that_of_the_known_population(release: Release) -> None:
    (row,) = rows(release, "ill", "mean")
    total = shown(release)["ill"].total
    assert total and row.bounded is not None
    assert (total.value, total.low, total.high) == (
        5_000 * row.bounded, 5_000 * row.low, 5_000 * row.high,
    )  # fmt: skip
    text = words(card(page_of(release), "ill"))
    assert f"In total {words(total.words)} among all 5,000 people" in text
    assert total.interval in text
    assert "like the others" not in text
    assert "preferred not to say are like the others" in words(card(page_of(release), "slept"))


def test_a_total_is_as_exact_as_its_interval() -> None:
    ends = 0.0, 300_000.0
    total = findings.Total(5_000, 91_234.4, 74_120.2, 108_999.0, ends, "days")
    assert (total.words, total.interval) == ("91,000\u00a0days", "74,000 to 109,000")
    assert findings.Total(30, 12.3, 10.2, 14.9, (0.0, 90.0), "").interval == "10 to 15"


def test_a_total_is_a_bound_where_its_interval_reaches_an_end(release: Release) -> None:
    (row,) = rows(release, "ill", "mean")
    question = asked(release.survey.frozen_design(), "ill").question  # from 0 to 60 days
    for bounded, low, high, said in (
        (0.0, 0.0, 9.0, "below 45,000\u00a0days"),
        (2.0, 0.0, 9.0, "below 45,000\u00a0days"),
        (60.0, 51.0, 60.0, "above 255,000\u00a0days"),
    ):
        row.bounded, row.low_always, row.high_always = bounded, low, high
        total = findings.total(row, 5_000, question)
        assert total and total.words == said
    row.bounded, row.low_always, row.high_always = 30.0, 0.0, 60.0
    assert findings.total(row, 5_000, question) is None


def test_a_mean_whose_interval_is_the_whole_axis_says_nothing(release: Release) -> None:
    (row,) = rows(release, "ill", "mean")
    question = asked(release.survey.frozen_design(), "ill").question
    quantity = display.quantity_of(question, "mean")
    table = shown(release)["ill"].everybody["mean"]
    panel = figures.Panel("", quantity, [("Everybody", "Mean", row)])
    for low, high, nothing in ((0.0, 60.0, True), (0.0, 59.0, False), (1.0, 60.0, False)):
        row.low_always, row.high_always = low, high
        group = tables.Group("", [tables.TableRow("Mean", row, quantity)])
        assert (group.rows[0].value == "–") == group.too_few == nothing
        note = '<td colspan="4" class="quiet">Too few responses to say anything</td>'
        assert (note in replace(table, groups=[group]).body) == nothing
        remark = "An interval over the whole axis: too few responses to say anything."
        assert (remark in figures._remarks([panel])) == nothing


def test_only_the_note_about_a_group_names_a_group(release: Release) -> None:
    section = shown(release, "job")["harassed"]
    everybody, first, *_ = section.tables[0].groups
    for group, note in (
        (everybody, "Too few responses to say anything<"),
        (first, "Too few responses to say anything about this group<"),
    ):
        for row in group.rows:
            row.estimate.low_always, row.estimate.high_always = 0.0, 1.0
        table = replace(section.tables[0], groups=[group])
        assert note in table.body and note in table.numbers


@pytest.mark.django_db
@pytest.mark.parametrize("population", [None, 100])
def test_without_a_known_population_there_is_no_total(population: int | None) -> None:
    release = released(population=population)
    assert shown(release)["ill"].total is None
    assert "In total" not in page_of(release)


def test_a_number_is_compared_with_what_a_trusted_curator_could_publish(
    release: Release,
) -> None:
    (row,) = rows(release, "ill", "mean")
    found = shown(release)["ill"].curator
    assert found and row.sampling_error is not None and row.standard_error is not None
    noise = math.sqrt(2) * 60 / (row.n * 2)
    assert found.curator == pytest.approx(math.hypot(row.sampling_error, noise))
    assert found.people == pytest.approx((row.standard_error / found.curator) ** 2)
    text = words(card(page_of(release), "ill"))
    assert f"The standard error is {words(found.ours_words)}." in text
    assert f"it would be {words(found.curator_words)}." in text and "ε = 2" in text


# --- Scales ---------------------------------------------------------------------------------------


def test_a_scale_is_one_stacked_bar_of_its_shares(release: Release) -> None:
    text = card(page_of(release), "content")
    bar = text[text.index('<svg class="stack"') :].partition("</svg>")[0]
    drawn = [
        (float(x), float(width))
        for x, width in re.findall(r'<rect x="([\d.]+)%" width="([\d.]+)%"', bar)
    ]
    found = rows(release, "content", "share")
    whole = sum(row.bounded or 0 for row in found)
    place = 0.0
    for (x, width), row in zip(drawn, found, strict=True):
        assert x == pytest.approx(place, abs=0.02)
        assert width == pytest.approx(100 * (row.bounded or 0) / whole, abs=0.02)
        place += width
    assert place == pytest.approx(100, abs=0.05)
    said = ", ".join(
        f"{label} below {100 * row.high:.1f}\u202f%"
        if row.low == 0
        else f"{label} {100 * (row.bounded or 0):.1f}\u202f%"
        for label, row in zip(("No", "Partly", "Yes", "Prefer not to say"), found, strict=True)
    )
    assert f'aria-label="{said}"' in bar
    assert bar.count('class="other"') == 1 and text.count('<svg class="swatch"') == 4


def test_the_mean_of_a_scale_names_its_ends(release: Release) -> None:
    text = card(page_of(release), "often")
    (row,) = rows(release, "often", "mean")
    assert "Mean score, from 0 (Once) to 4 (Often), among people who answered “Yes”" in text
    assert f"{row.low:.2f} to {row.high:.2f}</td>" in text


def test_shades_fade_from_the_first_option_to_the_last(release: Release) -> None:
    content = rows(release, "content", "share")
    assert display.shades(content) == [1.0, pytest.approx(0.6), pytest.approx(0.2), None]


def test_a_bar_of_too_few_is_not_drawn() -> None:
    limits = {"low_once": 0, "high_once": 1, "always": False}
    unknown = Estimate(option="a", value=None, **limits)
    wide = Estimate(option="b", value=0.5, bounded=0.5, **limits)
    clear = Estimate(option="c", value=0.5, bounded=0.5, **limits | {"low_once": 0.2})
    assert display.stacked([unknown, clear]) is None and display.stacked([wide]) is None
    assert display.stacked([wide, clear]) == [0.5, 0.5]


# --- Which option leads ---------------------------------------------------------------------------


@pytest.mark.django_db
def test_after_closing_the_leading_option_is_found_by_an_exact_test() -> None:
    release = closed()
    counts = [row.count for row in rows(release, "content", "share")]
    no, partly, yes, _ = counts
    p = sorted(2 * stats.binom.sf(yes - 1, yes + other, 0.5) for other in (no, partly))
    leader = shown(release)["content"].leader
    assert leader and leader.alone and leader.largest == "Yes"
    assert sorted(other.p_value for other in leader.others) == pytest.approx(
        [2 * p[0], max(2 * p[0], p[1])]
    )
    text = words(card(page_of(release), "content"))
    assert "“Yes” leads (p < 0.001)" in text and "exact binomial test" in text
    assert "“Yes” leads (" in words(card(page_of(release, "?interval=always"), "content"))


def test_while_a_survey_is_open_the_test_holds_at_every_look(release: Release) -> None:
    once, often = (shown(release, **c)["content"].leader for c in ({"level": 95}, {}))
    assert once and often
    pairs = zip(once.others, often.others, strict=True)
    assert all(narrow.p_value < wide.p_value for narrow, wide in pairs)
    assert "valid at every look" in words(card(page_of(release), "content"))
    assert "not allow for fake" in words(card(page_of(release, "?forged=2"), "content"))


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([100, 20, 20, 400], "“A superior” leads ("),
        ([100, 95, 20, 0], "“A superior” or “A colleague” leads; there are too few"),
        ([100, 95, 98, 0], "No option clearly leads."),
    ],
)
def test_what_is_said_of_options_that_may_lead(
    release: Release, counts: list[int], said: str
) -> None:
    one = asked(release.survey.frozen_design(), "who", release.tally)
    leader = findings.leading(one, [*counts, 50], IntervalChoice())
    text = get_template("aggregation/dashboard/leader.html").render({"leader": leader})
    assert said in words(text)


def test_options_that_are_not_reported_alike_are_not_compared(release: Release) -> None:
    design = release.survey.frozen_design()
    gate = asked(design, "harassed", release.tally)  # follow-ups depend on “Yes” alone
    assert findings.leading(gate, [100, 400], IntervalChoice()) is None
    assert findings.leading(asked(design, "who"), [0, 0, 0, 0, 0], IntervalChoice()) is None


# --- Multiple choice ------------------------------------------------------------------------------


def test_multiple_choice_has_shares_of_people_and_the_mean_of_picks(release: Release) -> None:
    text = words(card(page_of(release), "took"))
    (row,) = rows(release, "took", "picks")
    assert row.bounded is not None
    assert "up to 3 options, so the shares may add up to more than 100 %" in text
    assert "Options picked per person, on average, from 0 to 3" in text
    assert f"{row.bounded:.2f} {row.low:.2f} to {row.high:.2f}" in text
    assert len(shown(release)["took"].everybody["share"].rows) == 5


# --- Follow-ups -----------------------------------------------------------------------------------


def test_follow_ups_come_after_their_gate_with_two_shares(release: Release) -> None:
    page = page_of(release)
    assert list(shown(release))[:3] == ["harassed", "who", "often"]
    text = words(card(page, "who"))
    assert "Asked only of people who answered “Yes” to “Were you harassed?”." in text
    assert text.index("Among people who answered “Yes”") < text.index("Among everybody")
    line = words(page[page.index('href="#q-who"') :].partition("</li>")[0])
    row = rows(release, "who", "share_of_concerned")[0]
    limits = f"{100 * row.low:.1f} to {100 * row.high:.1f}"
    assert f"{100 * (row.bounded or 0):.1f} % ({limits}) A superior, of those concerned" in line
    assert "blocks b1, b2" in words(card(page, "harassed"))


@pytest.mark.django_db
def test_both_shares_of_a_yes_no_follow_up_say_whom_they_are_of() -> None:
    """On a phone, where tables have no heads, nothing else tells them apart."""
    gate = builders.EVERY_KIND["questions"][0]
    told = {"key": "told", "text": "Did you tell?", "kind": "yes_no",
            "only_if": {"question": "harassed", "options": ["yes"]}}  # fmt: skip
    ill = {"key": "ill", "text": "Days?", "kind": "number", "least": 0, "most": 9,
           "prefer_not_to_say": True}  # fmt: skip
    changes = {"questions": [gate, told, ill], "blocks": [["harassed", "told"], ["ill"]]}
    survey = builders.opened(**builders.EVERY_KIND | changes)
    builders.send(survey, 300)
    release = make_release(survey)
    assert release
    page = page_of(release)
    seen = re.compile(r'<table class="estimates">\s*<caption>(.*?)</caption>')
    assert seen.findall(card(page, "told")) == [
        "Among people who answered “Yes” to “Were you harassed?”", "Among everybody",
    ]  # fmt: skip
    assert seen.findall(card(page, "harassed")) == []
    assert "Prefer not to say" not in seen.findall(card(page, "ill"))  # as the row says


@pytest.mark.django_db
def test_too_few_concerned_are_said_so() -> None:
    survey = builders.opened(**builders.EVERY_KIND)
    builders.send(survey, 300, **TRUTH | {"harassed": [1.0, 0.0]})
    release = make_release(survey)
    assert release
    unclear = rows(release, "who", "share_of_concerned")
    assert {(row.value, row.low, row.high) for row in unclear} == {(None, 0.0, 1.0)}
    page = page_of(release)
    text = words(card(page, "who"))
    assert "– 0.0 % to 100.0 % – –" in text and "Too few people concerned to tell" in text
    line = words(page[page.index('href="#q-who"') :].partition("</li>")[0])
    assert "of those concerned" not in line  # the share among everybody instead
    assert '<svg class="stack"' not in card(page, "often")
    client = builders.client(builders.User.objects.get(username="alice"))
    trend = client.get("/surveys/every-kind/trend/?question=who").content.decode()
    assert "too few responses to tell" in trend and "<td>–</td>" in trend


# --- Groups ---------------------------------------------------------------------------------------


def test_groups_have_the_same_measures(release: Release) -> None:
    for key, section in shown(release, by="job").items():
        if key == "job":
            assert section.groups is None
            continue
        assert section.groups and list(section.groups) == list(section.everybody)
        for table in section.groups.values():
            assert [group.name for group in table.groups] == ["Nurse", "Other", "Prefer not to say"]
    page = page_of(release, "?by=job")
    assert card(page, "content").count('<svg class="stack"') == 4


@pytest.mark.parametrize(
    ("key", "measure", "name"),
    [("ill", "mean", "the mean"), ("slept", "mean", "the mean"),
     ("content", "mean", "the mean score"), ("saw", "picks", "the options picked per person")],
)  # fmt: skip
def test_means_of_groups_are_compared_in_pairs(
    release: Release, key: str, measure: str, name: str
) -> None:
    found = shown(release, by="job")[key].differences
    assert found
    compared, *others = found.comparisons
    assert (compared.measure, compared.name) == (measure, name)
    assert [one.measure for one in others] == ([] if key in ("ill", "slept") else ["share"])
    values = [row.value for row in rows(release, key, measure, "job")]
    assert compared.pairs and all(value is not None for value in values)
    expected = [values[i] - values[j] for i, j in ((0, 1), (0, 2), (1, 2))]  # type: ignore[operator]
    widest = compared.quantity.axis.high - compared.quantity.axis.low
    for pair, gap in zip(compared.pairs, expected, strict=True):
        assert pair.difference == pytest.approx(max(-widest, min(widest, gap)))
        assert -widest <= pair.low < pair.difference < pair.high <= widest
    text = words(card(page_of(release, "?by=job"), key))
    assert f"The clearest difference in {name}: {compared.clearest.groups}" in text  # type: ignore[union-attr]
    assert f"All 3 differences in {name}" in text
    for pair in compared.pairs:
        assert f"{pair.groups} {pair.cell} {pair.interval}" in text


def test_picks_among_people_who_did_not_decline_are_not_compared(release: Release) -> None:
    found = shown(release, by="job")["took"].differences
    assert found and [one.measure for one in found.comparisons] == ["share"]


# --- Headlines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bounded", "low", "high", "said"),
    [
        (0.0, 0.0, 0.057, "below 5.7\u202f%"),
        (0.04, 0.0, 0.14, "below 14.0\u202f%"),
        (0.0004, 0.0001, 0.057, "below 5.7\u202f%"),
        (0.0, 0.0, 0.0004, "below 0.1\u202f%"),
        (0.0006, 0.0001, 0.057, "0.1\u202f%"),
        (1.0, 0.943, 1.0, "above 94.3\u202f%"),
        (0.9996, 0.943, 0.9999, "above 94.3\u202f%"),
        (1.0, 0.9999, 1.0, "above 99.9\u202f%"),
        (0.4, 0.0, 1.0, "–"),
        (None, 0.0, 1.0, "–"),
    ],
)
def test_no_headline_says_that_nobody_did(
    bounded: float | None, low: float, high: float, said: str
) -> None:
    row = Estimate(option="yes", bounded=bounded, low_once=low, high_once=high, always=False)
    assert display.headline_words(display.SHARE, row) == said
    point = display.point(display.SHARE, row)
    assert point.open == (low == 0 or high == 1)
    assert point.value == (None if said == "–" else bounded)


def test_a_mean_at_the_end_of_its_range_is_a_bound_too() -> None:
    question = KINDS["number"]("q", "?", least=0, most=60, unit="days")  # type: ignore[call-arg]
    row = Estimate(bounded=0.4, low_once=0, high_once=2.1, always=False)
    quantity = display.quantity_of(question, "mean")
    assert display.headline_words(quantity, row) == "below 2.1\u00a0days"
    assert display.point(quantity, row).open


def none_did() -> Release:
    """Return the last release of a survey in which nobody answered the first option."""
    truth = {"harassed": [1.0, 0.0], "content": [0.0, 0.0, 1.0, 0.0], "ill": [1.0, 0.0]}
    survey = builders.opened(**builders.EVERY_KIND)
    builders.send(survey, 2_500, **TRUTH | truth)
    release = make_release(survey)
    assert release
    return release


BOLD = re.compile(r'class="(?:strong|share)">([^<]*)<|font-weight="bold"[^>]*>([^<]*)<')


@pytest.mark.django_db
def test_no_page_or_figure_says_in_bold_that_nobody_did() -> None:
    release = none_did()
    Survey.objects.update(results_public=True)
    alice = builders.client(builders.alice(release.survey))
    files = "/surveys/every-kind/releases/1/"
    for address, about in (
        ("/surveys/every-kind/", "harassed"),
        ("/surveys/every-kind/?by=job", "harassed"),
        ("/surveys/", "harassed"),
        ("/results/every-kind/", "harassed"),
        (f"{files}figure-harassed.svg", "harassed"),
        (f"{files}figure-content.by-job.svg", "content"),
    ):
        page = html.unescape(alice.get(address).getvalue().decode()).replace("\u00a0", "\u202f")
        bold = ["".join(one) for one in BOLD.findall(page)]
        assert not {"0.0\u202f%", "100.0\u202f%"} & set(bold)
        found = [row for row in rows(release, about, "share") if row.low == 0 and row.high < 1]
        assert found and any(one.startswith("below ") for one in bold), address
    dots = html.unescape(alice.get("/surveys/every-kind/").content.decode())
    assert '<circle class="open"' in card(dots, "harassed")
    figure = alice.get(f"{files}figure-harassed.svg").getvalue().decode()
    assert figure.count("<circle") == 1 and 'fill="#ffffff" stroke="#0f6b66"' in figure
    assert "Open dots: the interval reaches an end of the axis" in figure


@pytest.mark.django_db
def test_parts_of_an_error_that_do_not_add_up_are_not_shown() -> None:
    release = none_did()
    (row,) = (one for one in rows(release, "harassed", "share") if one.option == "yes")
    wrong = Estimate(standard_error=0.02, sampling_error=0.0, privacy_error=0.03)
    right = Estimate(standard_error=0.05, sampling_error=0.03, privacy_error=0.04)
    assert display.error_parts(wrong) is None and display.error_parts(right) == (0.03, 0.04)
    assert display.error_parts(Estimate(standard_error=0.02)) is None
    for section in shown(release).values():
        parts = [
            display.error_parts(one.estimate)
            for one in section.everybody[section.headline.estimate.measure].rows
        ]
        assert (section.cost is None) == (None in parts)


def test_the_overview_shows_means_with_their_unit(release: Release) -> None:
    alice = builders.client(builders.alice(release.survey))
    page = html.unescape(alice.get("/surveys/").content.decode())
    (row,) = rows(release, "ill", "mean")
    for words_of in ("Were you harassed?", "By whom?", "How often?", "How many days were you ill?"):
        assert words_of in page
    assert f'<strong class="share">{row.bounded:.1f}\u00a0days</strong>' in page
    assert f"{row.low:.1f} to {row.high:.1f}" in page and "and 4 more questions" in page


# --- Units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("least", "most", "value", "said"),
    [
        (0, 60, 18.53, "18.5"), (20_000, 200_000, 47_519.6, "47,520"), (-2, 2, -0.256, "−0.26"),
        (0, 100, 7, "7.0"), (0, 1, 0.5, "0.500"),
    ],
)  # fmt: skip
def test_the_range_decides_the_digits_of_a_mean(
    least: int, most: int, value: float, said: str
) -> None:
    question = KINDS["number"]("q", "?", least=least, most=most)  # type: ignore[call-arg]
    assert display.quantity_of(question, "mean").words(value) == said


def test_the_ends_of_an_axis_have_thousands() -> None:
    question = KINDS["number"]("q", "?", least=20_000, most=200_000)  # type: ignore[call-arg]
    found = display.quantity_of(question, "mean")
    assert found.ends == ("20,000", "110,000", "200,000")
    assert [text for _, text in found.axis.ticks][:2] == ["50,000", "100,000"]


@pytest.mark.parametrize(
    ("low", "high", "least", "expected"),
    [
        (0.21, 0.33, 0.01, (0.2, 0.35, 0.05)), (0, 1, 0.01, (0, 1, 0.2)),
        (18.5, 27.1, 0.1, (18, 28, 2)), (1_200, 45_000, 1, (0, 50_000, 10_000)),
        (3, 3, 0.1, (3, 3.1, 0.1)),
    ],
)  # fmt: skip
def test_the_axis_of_a_trend_fits_any_unit(
    low: float, high: float, least: float, expected: tuple[float, ...]
) -> None:
    assert tracks._range(low, high, least) == pytest.approx(expected)


def test_the_trend_of_a_mean_is_in_its_unit(release: Release) -> None:
    alice = builders.client(builders.alice(release.survey))
    page = alice.get("/surveys/every-kind/trend/?question=ill").content.decode()
    (row,) = rows(release, "ill", "mean")
    assert f"{row.bounded:.1f}\u00a0days, interval {row.low:.1f} to {row.high:.1f}" in page
    assert "Mean, in days: estimates of 1 releases" in page
    assert ALWAYS and not re.search(r'class="end"[^>]*>\d+\u202f%', page)


# --- Public results and the API -------------------------------------------------------------------


def test_public_results_show_every_kind(release: Release) -> None:
    Survey.objects.update(results_public=True)
    for query in ("", "?by=job"):
        public = Client().get(f"/results/every-kind/{query}").content.decode()
        inside = page_of(release, query)
        for key in builders.EVERY_KIND["questions"]:
            ours, theirs = (card(page, key["key"]) for page in (public, inside))
            tables = re.compile(r'<table class="estimates.*?</table>', re.DOTALL)
            assert tables.findall(ours) == tables.findall(theirs) != []


def test_the_description_of_the_api_names_every_member(release: Release) -> None:
    schema = Client().get("/api/schema/?format=json").json()["components"]["schemas"]
    alice = builders.client(builders.alice(release.survey))
    answer = alice.get("/api/v1/surveys/every-kind/estimates/").json()
    for row in answer["estimates"]:
        assert row.keys() == schema["Estimate"]["properties"].keys()
        assert row["interval"].keys() == schema["Interval"]["properties"].keys()
    assert schema["Estimate"]["properties"]["option"]["nullable"]
    design = Client().get("/api/v1/surveys/every-kind/").json()["design"]
    described = schema["Question"]["properties"].keys()
    for block in design["blocks"]:
        for question in block["questions"]:
            assert question.keys() <= described
            for option in question["options"]:
                assert option.keys() <= schema["Option"]["properties"].keys()
    assert design.keys() <= schema["Design"]["properties"].keys()
    assert schema["Question"]["properties"]["kind"]["enum"] == list(KINDS)
