"""The dashboard's figures, compared with independent computations."""

import csv
import html
import math
import re
import threading
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext
from scipy import integrate, stats

from aggregation.dashboard import differences, findings, readers, sections, survey_page, trend
from aggregation.models import Estimate, Release
from aggregation.releases import display
from aggregation.releases.choice import ALWAYS, FIXED, IntervalChoice
from aggregation.releases.estimate import asked, positions_of_everybody
from aggregation.releases.publish import make_release
from aggregation.statistics.difference import groups
from aggregation.templatetags import figures
from survey.models import Membership, Survey, today
from tests.support import builders

pytestmark = pytest.mark.django_db

ONE_YES_NO = {"questions": builders.FILE["questions"][:1], "blocks": [], "background": []}
MANY = {
    "questions": [{"key": f"q{i}", "text": f"Number {i}?", "kind": "yes_no"} for i in range(1, 7)],
    "blocks": [],
    "epsilon": 4,
}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give pages more time, because the machine may be busy."""
    monkeypatch.setattr(readers, "COMPUTE_SECONDS", 60)


def released(people: int = 300, steps: int = 1, **changes: Any) -> Survey:
    survey = builders.opened(**changes)
    for seed in range(1, steps + 1):
        publish(survey, people, seed)
    return survey


def publish(survey: Survey, people: int, seed: int, **truth: list[float]) -> Release:
    """Publish a release with this many more people; a crowd stays in the inbox."""
    behind = 0 if survey.releases.exists() else survey.crowd
    builders.send(survey, people + behind, seed, **truth)
    release = make_release(survey)
    assert release
    return release


def row_of(survey: Survey, question: str = "q1", option: str = "yes", group: str = "") -> Estimate:
    release = survey.releases.order_by("number").last()
    assert release
    by = "age" if group else ""
    return release.estimates.get(question=question, option=option, by=by, group=group)


def channel_of(survey: Survey, question: str) -> tuple[float, float]:
    channel = asked(survey.frozen_design(), question).channels[0]
    return channel.a, channel.b


def page_of(survey: Survey, query: str = "", where: str = "") -> str:
    response = client_of(survey).get(f"/surveys/{survey.slug}/{where}{query}")
    assert response.status_code == 200
    return str(response.content.decode())


def client_of(survey: Survey) -> Client:
    user = builders.User.objects.filter(username="alice").first()
    return builders.client(user or builders.alice(survey))


def plain(page: str) -> str:
    """Return the text on one line with entities decoded."""
    return re.sub(r"[ \n]+", " ", html.unescape(page))


def shown(survey: Survey, by: str = "", **choice: Any) -> list[sections.Section]:
    release = survey.releases.order_by("number").last()
    assert release
    background = next((one for one in survey.frozen_design().background if one.key == by), None)
    return sections.sections(release, background, IntervalChoice(**choice) if choice else None)


def limits(survey: Survey, **choice: Any) -> tuple[float, float]:
    row = shown(survey, **choice)[0].everybody["share"].rows[0].estimate
    return row.low, row.high


# --- Which interval -------------------------------------------------------------------------------


def blaker(rate: float, count: int, n: int, a: float, b: float) -> float:
    """Return Blaker's p-value of the clamped count by summing every outcome."""
    clamped = np.clip(np.arange(n + 1), math.floor(n * b), math.ceil(n * a))
    values, places_of = np.unique(clamped, return_inverse=True)
    law = np.bincount(places_of, stats.binom.pmf(np.arange(n + 1), n, rate))
    tail = np.minimum(np.cumsum(law), np.cumsum(law[::-1])[::-1])
    seen = tail[values == np.clip(count, values[0], values[-1])][0]
    return float(law[tail <= seen * (1 + 1e-12)].sum())


def mixture(rate: float, count: int, n: int, a: float, b: float, level: float) -> float:
    """Return the likelihood averaged over the truncated beta prior, divided by that of the rate."""
    evidence = -2 * math.log(1 - level)
    k = 300 / (evidence + math.log1p(evidence))
    prior = stats.beta(k * rate, k * (1 - rate))
    at = stats.binom.logpmf(count, n, rate)

    def weighed(x: float) -> float:
        return float(np.exp(stats.binom.logpmf(count, n, x) - at) * prior.pdf(x))

    total = integrate.quad(weighed, b, a, limit=500, points=[min(max(count / n, b), a), rate])[0]
    return float(total / (prior.cdf(a) - prior.cdf(b)))


@pytest.mark.parametrize("level", [80, 90, 95, 99])
def test_every_choice_has_the_limits_of_its_definition(level: int) -> None:
    survey = released()
    row, (a, b) = row_of(survey), channel_of(survey, "q1")
    assert row.count and row.n
    alpha = 1 - level / 100
    for limit, out in zip(limits(survey, level=level, interval=FIXED), (-1, 1), strict=True):
        if 0 < limit < 1:
            rate = b + (a - b) * limit
            assert blaker(rate + out * 1e-5, row.count, row.n, a, b) <= alpha
            assert blaker(rate - out * 1e-9, row.count, row.n, a, b) > alpha
    for limit in limits(survey, level=level, interval=ALWAYS):
        if 0 < limit < 1:
            found = mixture(b + (a - b) * limit, row.count, row.n, a, b, level / 100)
            assert found == pytest.approx(1 / alpha, rel=1e-6)


def test_an_open_survey_has_intervals_for_every_look() -> None:
    survey = released()
    page = page_of(survey)
    assert "The survey is open, so the intervals are valid at every look" in page
    assert "They assume that the share itself does not change over time." in page
    assert limits(survey) == limits(survey, interval=ALWAYS)
    low, high = limits(survey)
    assert f"{figures.percent(low)} to {figures.percent(high)}" in page
    survey.close()
    assert "The last release is still to come, so the intervals are valid" in page_of(survey)
    make_release(survey)
    page = page_of(survey)
    assert "this is its last release, so the intervals are those for one look" in page
    stored = row_of(survey)
    assert limits(survey) == (stored.low, stored.high)


OTHER_LEVEL = re.compile(r"\b95\s?%(:| interval| restricted| confidence)")


def test_the_address_chooses_level_and_interval() -> None:
    survey = released()
    page = page_of(survey, "?level=80&interval=fixed&by=age")
    low, high = limits(survey, level=80)
    assert f"{figures.percent(low)} to {figures.percent(high)}" in page
    assert "80\u202f% restricted Blaker interval" in page.replace("&#8239;", "\u202f")
    assert not OTHER_LEVEL.search(html.unescape(page))
    assert 'href="?level=80&amp;interval=fixed">Everybody' in page
    assert 'href="?by=age&amp;level=80&amp;interval=fixed" aria-current="true"' in page
    page = page_of(survey, "?level=99")
    assert "99\u202f% confidence sequence" in page.replace("&#8239;", "\u202f")
    assert "Blaker" not in page and not OTHER_LEVEL.search(html.unescape(page))
    assert OTHER_LEVEL.search(html.unescape(page_of(survey)))
    stored = row_of(survey)
    assert (stored.level, stored.method) == (0.95, "confidence sequence")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("level=96", "Level: 80, 90, 95 or 99. Showing 95 instead."),
        ("level=x&interval=", "Level: 80, 90, 95 or 99."),
        ("interval=often", "Interval: fixed or always. Showing always instead."),
        ("forged=21", "Forged: A number from 0 to 20. Showing 0 instead."),
        ("forged=-1", "Forged: A number from 0 to 20."),
        ("forged=nan", "Forged: A number from 0 to 20."),
        ("forged=1e999", "Forged: A number from 0 to 20."),
    ],
)
def test_a_choice_that_does_not_exist_is_explained(query: str, words: str) -> None:
    survey = released(100)
    page = page_of(survey, f"?{query}")
    assert words in page and 'aria-invalid="true"' in page
    assert limits(survey)[0] == pytest.approx(limits(survey, interval=ALWAYS)[0])


@pytest.mark.parametrize("final", [False, True])
def test_only_the_headline_intervals_are_called_interim_or_final(final: bool) -> None:
    survey = released()
    if final:
        survey.close()
        make_release(survey)
    number = survey.releases.count()
    usual, other = (FIXED, ALWAYS) if final else (ALWAYS, FIXED)
    name, description = ("final", "one look") if final else ("interim", "every look")
    for interval, heading, note in (
        (usual, name, f"<strong>{name.capitalize()}.</strong>"),
        (other, "valid at every look", "<strong>Valid at every look.</strong>")
        if final
        else (other, "for one look", "<strong>For one look.</strong>"),
    ):
        for level in (80, 95):
            page = plain(page_of(survey, f"?interval={interval}&level={level}"))
            choices = page[page.index('id="why"') : page.index('<section class="card question')]
            assert note in choices and description in plain(page_of(survey))
            cards = page[page.index('<section class="card question') :].partition("<footer")[0]
            assert f"% interval, {heading}<" in cards
            figure = f"releases/{number}/figure-q1.svg?interval={interval}"
            drawn = client_of(survey).get(f"/surveys/small/{figure}").getvalue().decode()
            said = re.sub(r"<[^>]+>", " ", drawn)
            for word in ("interim", "final"):
                wrong = interval == other or word != name
                assert (re.search(rf"\b{word}\b", f"{cards} {said}") is None) == wrong, word


def test_the_api_takes_level_and_interval() -> None:
    survey = released()
    alice = builders.client(builders.alice(survey))
    url = "/api/v1/surveys/small/estimates/"

    def interval(query: str = "") -> tuple[Any, ...]:
        rows = alice.get(f"{url}{query}").json()["estimates"]
        row = next(row for row in rows if (row["question"], row["option"]) == ("q1", "yes"))
        return (*row["interval"].values(), row["low"], row["high"])

    stored = row_of(survey)
    plain = 0.95, "interim", "confidence sequence", stored.low_always, stored.high_always
    assert interval() == interval("?level=95") == interval("?interval=always") == plain
    once = 0.95, "final", "restricted Blaker", stored.low_once, stored.high_once
    assert interval("?interval=fixed") == once
    low, high = limits(survey, level=99, interval=ALWAYS)
    *named, lower, upper = interval("?level=99&interval=always")
    assert named == [0.99, "interim", "confidence sequence"]
    assert (lower, upper) == pytest.approx((low, high))
    for query, field in (("level=94", "level"), ("level=x", "level"), ("interval=no", "interval")):
        response = alice.get(f"{url}?{query}")
        assert response.status_code == 400 and list(response.json()) == [field]
    schema = Client().get("/api/schema/?format=json").json()
    parameters = schema["paths"]["/api/v1/surveys/{slug}/estimates/"]["get"]["parameters"]
    enums = {one["name"]: one["schema"].get("enum") for one in parameters}
    assert set(enums["level"]) == {80, 90, 95, 99} and set(enums["interval"]) == {FIXED, ALWAYS}


# --- Forged reports -------------------------------------------------------------------------------


@pytest.mark.parametrize("interval", [FIXED, ALWAYS])
def test_forged_reports_widen_every_interval_as_far_as_they_can(interval: str) -> None:
    """Whatever 5 % of the reports say, the honest rest has one of these counts."""
    survey = released()
    row, one = row_of(survey), asked(survey.frozen_design(), "q1")
    assert row.count is not None and row.n
    bad = math.floor(row.n * 0.05)
    honest = row.n - bad
    from aggregation.statistics import proportion, sequence

    of = proportion.interval if interval == FIXED else sequence.interval
    counts = range(max(0, row.count - bad), min(row.count, honest) + 1)
    every = [of(count, honest, one.channels[1]) for count in counts]
    expected = (min(low for low, _ in every), max(high for _, high in every))
    assert limits(survey, interval=interval, forged=5.0) == pytest.approx(expected, abs=1e-9)
    assert limits(survey, interval=interval, forged=5.0) != limits(survey, interval=interval)
    page = page_of(survey, f"?forged=5&interval={interval}")
    assert "If up to 5\u202f% of the responses are fake" in page.replace("&#8239;", "\u202f")
    assert f"{figures.percent(expected[0])} to {figures.percent(expected[1])}" in page
    assert "responses are fake," not in page_of(survey, f"?forged=0&interval={interval}")


# --- What privacy cost ----------------------------------------------------------------------------


def test_sampling_and_privacy_add_up_to_the_variance() -> None:
    survey = released(400, **MANY)
    for section in shown(survey)[:6]:
        row, cost = row_of(survey, section.question.key), section.cost
        assert cost and row.n and row.bounded is not None and row.value is not None
        assert 0 < row.value < 1  # unless a part was clipped to 0
        a, b = section.channel.a, section.channel.b
        rate = b + (a - b) * row.value
        noise = (row.value * a * (1 - a) + (1 - row.value) * b * (1 - b)) / row.n / (a - b) ** 2
        whole = rate * (1 - rate) / (row.n - 1) / (a - b) ** 2
        assert cost.error**2 == pytest.approx(whole)
        assert cost.private == pytest.approx(noise / whole)
    words = plain(page_of(survey))
    first = shown(survey)[0].cost
    assert first
    said = f"{figures.whole_percent(first.private)} of the uncertainty comes from privacy"
    assert said in words


def test_the_error_of_a_choice_is_a_root_mean_square() -> None:
    survey = released()
    section = shown(survey)[1]
    rows = survey.releases.get().estimates.filter(question="q2", by="")
    assert section.cost and len(rows) == 4
    mean = sum((row.privacy_error or 0) ** 2 + (row.sampling_error or 0) ** 2 for row in rows) / 4
    assert section.cost.error == pytest.approx(math.sqrt(mean))


@pytest.mark.parametrize(("population", "n"), [(None, 400), (2_000, 400), (450, 400)])
def test_protected_answers_are_worth_as_many_direct_ones_as_have_their_error(
    population: int | None, n: int
) -> None:
    """Found by trying every number of direct answers to one yes/no question."""
    share, (a, b) = 0.3, (0.75, 0.25)
    unasked = 1 / population if population else 0.0
    spread = share * (1 - share)

    def sampling(people: float) -> float:
        return math.sqrt(spread * (1 / people - unasked))

    noise = math.sqrt((share * a * (1 - a) + (1 - share) * b * (1 - b)) / n) / (a - b)
    error = math.hypot(sampling(n), noise)
    found = findings.worth(n, sampling(n), error, population)
    assert found and found.protected == n
    best = min(range(1, n + 1), key=lambda people: abs(sampling(people) - error))
    assert found.direct == pytest.approx(best, abs=1)
    assert 0 < found.share < 1
    assert findings.worth(n, 0.0, noise, n) is None  # everybody was asked


def test_the_words_for_what_answers_are_worth_are_no_more_exact_than_they_can_be() -> None:
    said = "1,279 protected answers tell as much as about 740 direct ones"
    assert findings.Worth(1_279, 738.2).counts == said
    assert findings.Worth(30, 9.6).counts.endswith("about 10 direct ones")
    worth = [findings.Worth(100, direct) for direct in (10, 90, 40)]
    assert findings.typical(worth) == worth[2] and findings.typical([]) is None


# --- What readers can learn -----------------------------------------------------------------------


def exact_delta(epsilon: float, local: float, n: int) -> float:
    """Return the delta of a tally of n yes/no reports for the worst answers of the others."""
    a = 1 / (1 + math.exp(-local))
    worst = 0.0
    for yes in range(n):
        others = np.convolve(
            stats.binom.pmf(np.arange(yes + 1), yes, a),
            stats.binom.pmf(np.arange(n - yes), n - 1 - yes, 1 - a),
        )
        one, none = np.convolve(others, [1 - a, a]), np.convolve(others, [a, 1 - a])
        for x, y in ((one, none), (none, one)):
            worst = max(worst, float(np.maximum(x - math.exp(epsilon) * y, 0).sum()))
    return worst


def test_the_central_epsilon_is_that_of_the_smallest_step() -> None:
    survey = released(90, **ONE_YES_NO)
    release = publish(survey, 40, seed=2)
    found = readers.central(release)
    assert found.delta == 1e-6  # 130 people: 1/1000 of 1/130 is more than that
    assert [reader.among for reader in found.readers] == [130, 40]
    local = survey.frozen_design().blocks[0].mechanism.epsilon
    assert found.local == pytest.approx(local) and local == pytest.approx(2, abs=1e-6)
    everything, stepwise = (reader.epsilon for reader in found.readers)
    assert exact_delta(everything, local, 130) == pytest.approx(found.delta, rel=1e-4)
    assert exact_delta(stepwise, local, 40) == pytest.approx(found.delta, rel=1e-4)
    assert everything < stepwise < local
    page = page_of(survey)
    assert "δ = 10⁻⁶" in page and "Single reports" in page
    assert f"<td>{figures.two_digits(stepwise)}</td>" in page


def test_central_epsilons_of_all_blocks_add_up() -> None:
    survey = released(600, blocks=[["q1"], ["q2"]], ask=2, epsilon=3)
    from aggregation.statistics import privacy

    found = readers.central(survey.releases.get())
    every = [
        privacy.shuffled(block.mechanism.epsilon, 600, found.delta / 3, block.mechanism.cells)
        for block in survey.frozen_design().blocks
    ]
    (everybody,) = found.readers
    assert (everybody.among, everybody.epsilon) == (600, pytest.approx(sum(every)))
    assert len(every) == 3 and everybody.epsilon and everybody.epsilon < found.local
    assert found.local == pytest.approx(survey.frozen_design().report_epsilon, abs=1e-6)
    assert "Results by group, or single reports" in page_of(survey)


def test_the_last_reports_come_in_a_crowd_too() -> None:
    survey = released(90, **ONE_YES_NO)
    builders.send(survey, 1, seed=7)
    survey.close()
    release = make_release(survey)
    assert release and release.final
    assert [reader.among for reader in readers.central(release).readers] == [111, 21]


def test_steps_are_followed_over_so_many_releases_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    survey = released(30, steps=3, **ONE_YES_NO)
    release = survey.releases.order_by("number").last()
    assert release
    sizes = readers.sizes_of_blocks(release, 1)
    assert sizes == [{"b1": 30}, {"b1": 60}, {"b1": 90}]
    assert readers.smallest_steps(sizes) == {"b1": 30}
    assert len(readers.central(release).readers) == 2
    monkeypatch.setattr(readers, "MOST_RELEASES", 2)
    assert len(readers.central(release).readers) == 1


def test_fewer_people_never_hide_better_and_rounding_is_on_the_safe_side() -> None:
    block = builders.opened().frozen_design().blocks[0]
    sizes = (20, 99, 100, 101, 1234, 12_345)
    found = [readers.hidden(block, n, 1e-7).result() for n in sizes]
    assert found == sorted(found, reverse=True)
    assert readers.hidden(block, 1299, 1e-7) is readers.hidden(block, 1200, 1e-7)
    assert readers.delta_for(1000) == 1e-6 and readers.delta_for(1001) == 1e-7


def test_no_page_waits_long_for_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = released(150, epsilon=1.7)
    monkeypatch.setattr(readers, "COMPUTE_SECONDS", 0)
    readers.shuffled.cache_clear()
    free = threading.Event()
    readers.worker.submit(free.wait)  # it is busy
    assert "being computed" in page_of(survey)
    free.set()
    readers.worker.submit(int).result()
    assert "being computed" not in page_of(survey)


# --- Groups ---------------------------------------------------------------------------------------


AGES = {"key": "age", "text": "How old are you?", "options": ["Young", "Middle", "Old"]}


@pytest.mark.parametrize("level", [90, 95])
def test_groups_are_compared_all_at_once_and_two_by_two(level: int) -> None:
    survey = released(900, background=[AGES])
    keys = ["young", "middle", "old", "prefer-not-to-say"]
    tables = {
        question: np.array([
            [row_of(survey, question, option, key).count for option in options] for key in keys
        ])
        for question, options in (
            ("q1", ["no", "yes"]), ("q2", ["red", "green", "blue", "prefer-not-to-say"])
        )
    }  # fmt: skip
    raw = {q: stats.chi2_contingency(table, correction=False).pvalue for q, table in tables.items()}
    smaller, larger = sorted(raw, key=lambda q: raw[q])
    adjusted = {smaller: min(1, 2 * raw[smaller])}
    adjusted[larger] = max(adjusted[smaller], raw[larger])
    keep = survey.frozen_design().background_blocks[0].keep / 2**32
    noise = keep * np.eye(4) + (1 - keep) / 4  # group held to group reported
    for section in shown(survey, "age", level=level)[:2]:
        found, table = section.differences, tables[section.question.key]
        assert found
        (shares_compared,) = found.comparisons
        pairs = shares_compared.pairs
        assert pairs is not None
        assert found.p_value == pytest.approx(adjusted[section.question.key])
        assert (found.questions, found.groups, found.rough) == (2, 4, False)
        options = [1] if section.question.key == "q1" else [0, 1, 2, 3]
        held = np.linalg.solve(noise, table[:, options])
        rates = held / np.linalg.solve(noise, table.sum(axis=1))[:, None]
        shares = (rates - section.channel.b) / (section.channel.a - section.channel.b)
        couples = [(o, i, j) for o in range(len(options)) for i, j in combinations(range(4), 2)]
        assert len(pairs) == len(couples)
        for pair, (o, i, j) in zip(pairs, couples, strict=True):
            assert pair.difference == pytest.approx(shares[i, o] - shares[j, o])
            assert pair.low < pair.difference < pair.high
            named = [*AGES["options"], "Prefer not to say"]
            assert (pair.first, pair.second) == (named[i], named[j])


def test_a_difference_is_first_stated_in_words() -> None:
    survey = builders.opened(epsilon=6, crowd=5)
    design = survey.frozen_design()
    from random import Random

    from survey import simulation

    def answers(given: Any) -> dict[str, list[float]]:
        yes = 0.9 if given["age"] == 0 else 0.1
        return simulation.uniform_shares(design.questions) | {"q1": [1 - yes, yes]}

    shares = simulation.uniform_shares(design.questions)
    for _ in simulation.send("small", design, 400, answers, shares, Random(4)):
        pass
    make_release(survey)
    words = plain(page_of(survey, "?by=age"))
    assert "The groups differ</strong> (p < 0.001" in words
    assert "after adjusting for 2 questions" in words
    assert "The clearest difference: Under 30 minus " in words
    (compared,) = shown(survey, "age")[0].differences.comparisons  # type: ignore[union-attr]
    assert compared.pairs and compared.clearest
    assert compared.clearest.alone == min(pair.alone for pair in compared.pairs)
    wider = replace(compared.clearest, difference=-1.0, low=-1.0, high=0.5, alone=0.4)
    assert replace(compared, pairs=[wider, *compared.pairs]).clearest == compared.clearest
    other = shown(survey, "age", interval=ALWAYS)[1].differences
    assert other
    verdict = "The groups differ</strong>" if other.differ else "No clear difference</strong>"
    assert verdict in words.partition("Which?</h2>")[2]
    assert "For one look at this release" in words
    assert words.index("The groups differ") < words.index('<details id="pairs-')
    assert "not allowing for fake responses" in page_of(survey, "?by=age&forged=5")


def test_differences_are_adjusted_for_the_whole_page() -> None:
    """Like all differences of a question (Holm) times the questions, and at least its test."""
    survey = released(900, background=[AGES])
    compared = [section.differences for section in shown(survey, "age")[:2]]
    keep = survey.frozen_design().background_blocks[0].keep / 2**32
    release = survey.releases.get()
    for section, found in zip(shown(survey, "age")[:2], compared, strict=True):
        assert found and found.pairs and found.questions == 2
        table = np.array(release.tally[section.question.key]["age"])
        options = [1] if section.yes_no else [0, 1, 2, 3]
        channels = [section.asked.channels[i] for i in options]
        page = groups(table[:, options], table.sum(axis=1), keep, channels, 0.975)
        raw = groups(table[:, options], table.sum(axis=1), keep, channels, 0.95).p_value.T.ravel()
        order = np.argsort(raw)
        holm = np.empty(len(raw))
        steps = raw[order] * np.arange(len(raw), 0, -1)
        holm[order] = np.minimum(1, np.maximum.accumulate(steps))
        limits = zip(page.low.T.ravel(), page.high.T.ravel(), strict=True)
        for pair, alone, (low, high) in zip(found.pairs, holm, limits, strict=True):
            assert pair.alone == pytest.approx(alone)
            assert pair.p_value == pytest.approx(max(found.p_value, min(1, 2 * alone)))
            assert (pair.low, pair.high) == pytest.approx((low, high))


def test_no_table_contradicts_the_verdict_above_it() -> None:
    """For every difference between two groups, from none to a large one."""
    survey = released(300, **MANY)
    release = survey.releases.get()
    design = survey.frozen_design()
    questions = {key: asked(design, key, release.tally) for key in design.places}
    by = design.background[0]
    seen = set()
    for moved in range(0, 45):
        release.tally["q1"]["age"] = [[55 + moved, 45 - moved], [55, 45], [55, 45]]
        found = differences.compare_groups(release, questions, by, IntervalChoice())["q1"]
        words = plain(
            render_to_string(
                "aggregation/dashboard/differences.html",
                {"found": found, "question": design.questions[0], "choice": IntervalChoice()},
            )
        )
        assert found.pairs and found.questions == 6
        least = min(pair.p_value for pair in found.pairs)
        assert least >= found.p_value
        if found.differ:
            assert "No clear difference" not in words and "on their own (" not in words
            assert ("No single pair of groups differs clearly." in words) == (least > 0.05)
        else:
            assert "No clear difference" in words and least > 0.05
            alone = min(pair.alone for pair in found.pairs)
            hidden = alone <= 0.05 < 6 * alone
            assert (f"differ on their own (p = {alone:.3f}), but not after" in words) == hidden
            assert ("adjusting for the 6 comparisons on this page." in words) == hidden
            assert ("does not confirm" in words) == (6 * alone <= 0.05)
        seen.add((found.differ, found.hidden is not None, found.unclear))
    assert seen >= {(False, False, False), (False, True, False), (True, False, False)}


@pytest.mark.parametrize(
    ("alone", "family", "said"),
    [
        (0.06, 1, ""),
        (0.03, 1, "does not confirm the difference between Young and Old."),
        (0.03, 2, "Young and Old differ in “Red” on their own (p = 0.030), but not after adjusting "
         "for the 2 comparisons on this page."),
        (0.02, 2, "The test of all groups together does not confirm the difference between Young "
         "and Old."),
    ],
)  # fmt: skip
def test_it_is_said_what_makes_a_clear_pair_unclear(alone: float, family: int, said: str) -> None:
    pair = differences.GroupDifference(
        display.SHARE, "Red", "Young", "Old", 0.2, 0.0, 0.4, alone, max(0.2, family * alone)
    )
    other = replace(pair, first="Middle", alone=0.9)
    compared = differences.Comparison("share", "shares", display.SHARE, [other, pair])
    question = builders.opened().frozen_design().questions[0]
    for p_value in (0.2, 0.01):
        found = differences.Differences(3, p_value, 1, family, False, [compared], 0.05)
        context = {"found": found, "question": question, "choice": IntervalChoice()}
        words = plain(render_to_string("aggregation/dashboard/differences.html", context))
        reasons = ("on their own (", "does not confirm")
        assert sum(reason in words for reason in reasons) == bool(said and not found.differ)
        assert found.differ or said in words


def test_groups_of_too_few_are_shown_and_not_compared() -> None:
    many = {"key": "age", "text": "Age?", "options": list("abcd")}
    survey = released(6, background=[many], crowd=2)
    for section in shown(survey, "age")[:2]:
        assert section.differences
        assert [one.pairs for one in section.differences.comparisons] == [[]]
    page = page_of(survey, "?by=age")
    assert "There are too few responses to compare groups by shares." in page
    assert "Too few responses to say anything about this group<" in page


def test_too_many_pairs_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = released(300, crowd=5)
    monkeypatch.setattr(differences, "MOST_PAIRS", 3)
    first, second, _ = shown(survey, "age", interval=ALWAYS)
    assert first.differences and first.differences.comparisons[0].pairs
    assert second.differences and second.differences.comparisons[0].pairs is None
    assert "too many differences in shares between 3 groups to list" in page_of(survey, "?by=age")


def test_small_expected_counts_are_called_rough() -> None:
    assert differences._rough(np.array([[2, 30], [3, 25]]))
    assert not differences._rough(np.array([[20, 30], [20, 25]]))
    # The test leaves out what nobody reported.
    assert not differences._rough(np.array([[20, 30, 0], [20, 25, 0]]))


# --- Trend ----------------------------------------------------------------------------------------


def test_positions_of_estimates_follow_from_the_design() -> None:
    survey = released(100, steps=2, **MANY)
    for release in survey.releases.all():
        for question, positions in positions_of_everybody(survey.frozen_design()).items():
            rows = release.estimates.filter(question=question, by="").order_by("position")
            assert [row.position for row in rows] == list(positions)


def test_the_trend_shows_every_release_with_limits_for_all_looks() -> None:
    survey = released(60, steps=3)
    page = page_of(survey, "?question=q1", where="trend/").replace("&#8239;", "\u202f")
    from aggregation.statistics import sequence

    channel = asked(survey.frozen_design(), "q1").channels[0]
    rows = Estimate.objects.filter(question="q1", option="yes", by="")
    assert [row.n for row in rows.order_by("release__number")] == [60, 120, 180]
    for row in rows.select_related("release"):
        assert row.count is not None and row.n and row.bounded is not None
        low, high = sequence.interval(row.count, row.n, channel)
        words = f"{figures.percent(low)} to {figures.percent(high)}"
        assert f'<td class="plain">{words}</td>' in page
        made = f"Release {row.release.number}, {row.release.made_at:%-d %b %Y}, {row.n} responses"
        assert page.count(made) == 2  # read aloud and next to the point
        assert page.count(words) >= 3  # and in the table
    assert page.count('class="mark"') == 3 and "Shown are" not in page


def test_the_trend_follows_the_chosen_question_and_level() -> None:
    survey = released(60, steps=2)
    page = page_of(survey, "?question=q2&level=80", "trend/").replace("&#8239;", "\u202f")
    assert "Which?</h2>" in page and page.count('<svg class="plot trend"') == 4
    assert "80\u202f% interval" in page and not OTHER_LEVEL.search(page)
    assert "Level: 80, 90, 95 or 99." in page_of(survey, "?level=3", "trend/")
    every = page_of(survey, "?question=nothing", "trend/")  # all questions, one estimate each
    assert every.count('<svg class="plot trend"') == 3 and 'class="mark"' not in every
    for question in ("q1", "q2", "age"):
        assert f'href="?question={question}"' in every


def test_a_trend_of_thousands_of_releases_is_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    assert trend.chosen(7) == [1, 2, 3, 4, 5, 6, 7]
    many = trend.chosen(5000)
    assert len(set(many)) == trend.MOST and (many[0], many[-1]) == (1, 5000)
    assert max(np.diff(many)) - min(np.diff(many)) <= 1
    survey = released(30, steps=5)
    monkeypatch.setattr(trend, "MOST", 3)
    page = page_of(survey, "?question=q1", where="trend/")
    assert "Showing 3 of 5 releases" in page and page.count('class="mark"') == 3


@pytest.mark.parametrize("level", [95, 80])
def test_a_trend_reads_each_release_once(level: int) -> None:
    survey = released(60, steps=2)
    client = client_of(survey)
    paths = [f"/surveys/small/trend/?level={level}{more}" for more in ("", "&question=q2")]
    few = [queries(client, path) for path in paths]
    publish(survey, 60, 3)
    assert [queries(client, path) for path in paths] == few
    q2 = survey.frozen_design().questions[1]
    found = trend.trends(survey, q2, 3, level)
    read = {id(row.estimate.release) for one in found for row in one.rows}
    assert len(found) == 4 and len(read) == 3


def test_the_file_of_all_releases_reads_no_tally() -> None:
    survey = released(60, steps=2)
    with CaptureQueriesContext(connection) as captured:
        assert len(list(trend.lines(survey))) == 1 + 2 * 9
    asked = [one["sql"] for one in captured.captured_queries]
    assert any("made_at" in sql for sql in asked) and not any("tally" in sql for sql in asked)


def test_the_trend_says_which_intervals_are_final() -> None:
    survey = released(60)
    page = plain(page_of(survey, where="trend/"))
    assert "final: for one look" not in page and "as CSV, with intervals at 95\u202f%<" in page
    survey.close()
    make_release(survey)
    said = "Those of release 2, the last one, are final: for one look, and narrower."
    assert said in plain(page_of(survey, where="trend/"))


def test_before_the_first_release_there_is_no_trend() -> None:
    assert "Nothing has been released yet" in page_of(builders.draft(), where="trend/")


# --- Overview and live parts ----------------------------------------------------------------------


def queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def test_the_overview_shows_results_in_a_few_queries() -> None:
    survey = released(150)
    builders.send(survey, 3, seed=5)
    builders.draft(slug="draft", title="Not open")
    alice = builders.alice(survey)
    client = builders.client(alice)
    few = queries(client, "/surveys/")
    for name in ("second", "third", "fourth"):
        other = released(60, slug=name)
        Membership.objects.create(survey=other, user=alice)
    assert queries(client, "/surveys/") == few
    page = client.get("/surveys/").content.decode()
    yes = row_of(survey)
    assert yes.bounded is not None and yes.low is not None and yes.high is not None
    assert f"({figures.hundred(yes.low)} to {figures.hundred(yes.high)})" in page
    colours = Estimate.objects.filter(release__survey=survey, question="q2", by="")
    most = max(colours, key=lambda row: row.bounded or 0)
    assert f'<strong class="share">{figures.percent(most.bounded or 0)}</strong>' in page
    assert page.count('<ul class="glance"') == 4 and "<dd>20 or more</dd>" in page
    assert page.count('<svg aria-hidden="true">') == 2 + 3 * 2


def test_the_overview_shows_the_first_questions_and_counts_the_rest() -> None:
    survey = released(200, **MANY)
    page = page_of(survey).replace("\n", "")
    page = builders.client(builders.User.objects.get()).get("/surveys/").content.decode()
    assert "Number 4?" in page and "Number 5?" not in page and "and 2 more questions" in page


def test_the_overview_leads_from_a_draft_to_the_editor() -> None:
    builders.draft(slug="a-draft", title="Not open")
    survey = builders.opened(title="Running")
    builders.finished(0, slug="a-closed", title="Over")
    client = builders.client(builders.olga(*Survey.objects.all()))
    client.get("/studio/a-draft/draft/")  # the editor adds it to its history
    page = client.get("/surveys/").content.decode()
    assert page.index("Running") < page.index("Not open") < page.index("Over")
    assert 'href="/studio/a-draft/">Not open' in page and 'href="/surveys/small/">Running' in page
    card = page[page.index("Not open") : page.index("Over")]
    assert "<dt>Questions</dt><dd>2</dd>" in card and f"{today():%-d %b %Y}" in card
    assert "Waiting" not in card
    few = queries(client, "/surveys/")
    another, olga = builders.draft(slug="another"), builders.User.objects.get()
    Membership.objects.create(survey=another, user=olga, role="owner")
    assert queries(client, "/surveys/") == few
    page = builders.client(builders.victor(survey, Survey.objects.get(slug="a-draft")))
    assert 'href="/surveys/a-draft/">' in page.get("/surveys/").content.decode()


def test_the_overview_invites_you_to_make_the_first_survey() -> None:
    page = builders.client(builders.charlie()).get("/surveys/").content.decode()
    assert "can add you" in page and "/studio/new/" not in page
    page = builders.client(builders.root()).get("/surveys/").content.decode()
    assert "Create your first survey" in page and page.count('href="/studio/new/"') == 1


def test_a_dashboard_says_first_what_was_found() -> None:
    """Each question has a line with the chosen interval; for yes/no questions, of yes."""
    declined = {**builders.FILE["questions"][0], "prefer_not_to_say": True}
    truth = {"q1": [0.8, 0.1, 0.1], "q2": [0.1, 0.2, 0.7]}
    survey = builders.opened(questions=[declined, builders.FILE["questions"][1]])
    publish(survey, 600, 1, **truth)
    page = html.unescape(page_of(survey, "?level=80"))
    start, first = page.index('<ul class="glance">'), page.index('id="q-q1"')
    assert start < first
    lines = page[start : page.index("</ul>", start)].split("<li>")[1:]
    found = shown(survey, level=80, interval=ALWAYS)
    for line, section, option in zip(lines, found, ("yes", "blue", ""), strict=True):
        rows = [row.estimate for row in section.everybody["share"].rows]
        most = max(rows, key=lambda row: row.bounded or 0)
        row = next((row for row in rows if row.option == option), most)
        assert f'href="#q-{section.question.key}">{section.question.text}</a>' in line
        assert f'class="share">{figures.percent(row.bounded or 0)}<' in line
        assert f"({figures.hundred(row.low or 0)} to {figures.hundred(row.high or 0)})" in line


def test_the_first_sentence_says_how_many_people_saw_how_much() -> None:
    survey = released(120)
    page = plain(page_of(survey))
    said = "120</span> people answered</strong>; each saw all questions. "
    assert f"{said}<strong>Interim.</strong>" in page
    survey.close()
    make_release(survey)
    assert "<strong>Final.</strong>" in page_of(survey)
    for i, (changes, words) in enumerate(
        (
            ({"blocks": [["q1"], ["q2"]], "ask": 1}, "each saw 1 of 2 questions"),
            ({"blocks": [["q1"], ["q2"]], "ask": 2}, "each saw all 2 questions"),
            (ONE_YES_NO, "each saw the question"),
        )
    ):
        other = builders.opened(slug=f"ask{i}", **changes)
        assert survey_page.asked_words(other.frozen_design()) == words


@pytest.mark.parametrize("order", ["largest", "certain"])
def test_findings_can_be_sorted(order: str) -> None:
    survey = released(400, **MANY)
    page = page_of(survey, f"?order={order}&level=80")
    listed = page[page.index('<ul class="glance">') :].partition("</ul>")[0]
    keys = re.findall(r'href="#q-(\w+)"', listed)
    rows = {one.question.key: one.headline.estimate for one in shown(survey, level=80)}
    value = {
        "largest": lambda row: -row.bounded,
        "certain": lambda row: row.high_always - row.low_always,
    }[order]
    assert keys == sorted(keys, key=lambda key: value(rows[key])) and len(keys) == 7
    assert 'href="?level=80">As asked</a>' in page
    assert f'<input type="hidden" name="order" value="{order}">' in page
    cards = re.findall(r'<section class="card question" aria-labelledby="q-(\w+)"', page)
    assert cards == list(rows)  # they stay in the order of the survey


def test_what_says_nothing_is_not_among_the_largest() -> None:
    survey = released(400, **MANY)
    found = shown(survey)
    unknown = found[2].headline.estimate
    unknown.bounded, unknown.low_always, unknown.high_always = 0.99, 0.0, 1.0
    keys = [one.question.key for one in survey_page.in_order(found, survey_page.LARGEST)]
    assert keys[-1] == "q3" and len(keys) == 7


def test_only_surveys_that_collect_mention_waiting_reports() -> None:
    survey = released(120)
    page = page_of(survey)
    assert "Waiting:" in page
    assert "The last 20 or more responses always wait until the survey closes." in page
    survey.close()
    assert "Waiting:" not in page_of(survey) and 'id="waiting"' not in page_of(survey)
    make_release(survey)
    assert "Waiting:" not in page_of(survey)


def test_a_table_explains_the_parts_of_the_error() -> None:
    survey = released(400)
    said = "from sampling, from privacy)</span></th>"
    assert f"({said}" in plain(page_of(survey, "?view=table"))
    page = plain(page_of(survey, "?by=age&view=table"))
    assert f"(everybody: {said}" in page


def test_a_table_has_all_numbers_and_no_pictures() -> None:
    survey = released(400)
    page = page_of(survey, "?by=age&view=table")
    assert "<svg" not in page[page.index('id="estimates"') :]
    for row in survey.releases.get().estimates.filter(by__in=["", "age"], measure="share"):
        if row.question != "q1" or row.option == "yes":
            for text in (figures.percent(row.value), figures.hundred(row.standard_error)):
                assert f'<td class="plain">{text}' in page
            assert f'<td class="plain">{row.count} of {row.n}</td>' in page


def test_all_releases_can_be_downloaded() -> None:
    survey = released(60, steps=2)
    survey.close()
    make_release(survey)
    client = builders.client(builders.alice(survey))
    response = client.get("/surveys/small/trend/over-time.csv")
    assert response["Content-Disposition"] == 'attachment; filename="small-over-time.csv"'
    found = list(csv.DictReader(response.getvalue().decode().splitlines()))
    rows = Estimate.objects.filter(by="").order_by("release__number", "position")
    assert len(found) == len(rows) == 3 * 9
    for line, row in zip(found, rows.select_related("release"), strict=True):
        assert (int(line["release"]), line["date"]) == (row.release.number, f"{today()}")
        assert (float(line["low"]), float(line["high"])) == (row.low, row.high)
        assert line["interval"] == ("final" if row.release.final else "interim")
    empty = builders.opened(slug="empty")
    Membership.objects.create(survey=empty, user=builders.User.objects.get(username="alice"))
    assert client.get("/surveys/empty/trend/over-time.csv").status_code == 404


def test_settings_link_to_what_somebody_may_do() -> None:
    survey = builders.opened(access="invited")
    alice, olga = builders.client(builders.alice(survey)), builders.client(builders.olga(survey))
    theirs = alice.get("/surveys/small/settings/").content.decode()
    assert "Public design" in theirs and "People and publication" not in theirs
    ours = olga.get("/surveys/small/settings/").content.decode()
    for text in ("Share or close", "Invitations", "People and publication", "Log"):
        assert f"<strong>{text}</strong>" in ours
    for address in re.findall(r'<a href="(/[^"]+)"><strong>', ours):
        assert olga.get(html.unescape(address)).status_code == 200, address


def test_all_pages_of_a_survey_have_the_same_tabs() -> None:
    survey = released(120, access="invited")
    olga = builders.client(builders.olga(survey))
    expected = ["Results", "Over time", "Explore", "Files", "Settings"]
    places = {"": 0, "trend/": 1, "analyses/": 2, "files/": 3, "releases/1/": 3, "settings/": 4,
              "people/": 4, "invitations/": 4, "log/": 4}  # fmt: skip
    for path in [
        *(f"/surveys/small/{one}" for one in places),
        "/studio/small/",
        "/studio/small/open/",
    ]:
        page = olga.get(path).content.decode()
        tabs = page[page.index('<nav class="tabs"') :].partition("</nav>")[0]
        found = re.findall(r'<a href="([^"]+)"( aria-current="page")?>([^<]+)</a>', tabs)
        assert [text for *_, text in found] == expected
        current = places.get(path.removeprefix("/surveys/small/"), 4)
        assert [bool(one) for _, one, _ in found] == [i == current for i in range(5)], path
        for address, *_ in found:
            assert olga.get(address).status_code == 200
    draft = builders.draft(slug="draft")
    Membership.objects.create(survey=draft, user=builders.User.objects.get(), role="owner")
    page = olga.get("/surveys/draft/").content.decode()
    assert re.findall(r'class="tabs".*?</nav>', page)[0].count("<a ") == 2


def test_a_dashboard_takes_the_same_queries_for_many_questions() -> None:
    few, many = released(200), released(200, slug="many", **MANY)
    client = builders.client(builders.alice(few, many))
    for query in ("", "?by=age", "?by=age&level=90&interval=fixed&forged=5"):
        assert queries(client, f"/surveys/many/{query}") == queries(
            client, f"/surveys/small/{query}"
        )


@pytest.mark.parametrize(("sent", "told"), [(1, "fewer than 20"), (25, "20 or more")])
def test_nobody_sees_when_a_single_report_comes(sent: int, told: str) -> None:
    survey = builders.opened()
    alice = builders.client(builders.alice(survey))
    before = alice.get("/surveys/small/now/").json()["waiting"]
    builders.send(survey, sent)
    now = alice.get("/surveys/small/now/").json()["waiting"]
    assert (before, now) == ("fewer than 20", told)
    assert f'<span id="waiting">{told}</span>' in alice.get("/surveys/small/").content.decode()
    assert f">{told}</dd>" in alice.get("/surveys/").content.decode()


def test_the_status_for_scripts_is_short_and_correct() -> None:
    survey = released(100)
    builders.send(survey, 4, seed=3)
    alice = builders.client(builders.alice(survey))
    quiet = {"state": "open", "release": 1, "waiting": "20 or more", "job": None}
    assert alice.get("/surveys/small/now/").json() == quiet
    assert alice.get("/surveys/small/now/?job=nonsense").json() == quiet
    alice.post("/surveys/small/")
    job = survey.jobs.get()
    now = alice.get("/surveys/small/now/").json()
    assert (now["job"]["id"], now["job"]["state"]) == (str(job.pk), "queued")
    survey.jobs.update(active=False, state="done", result={"release": 1, "new": 0})
    assert alice.get("/surveys/small/now/").json() == quiet
    assert alice.get(f"/surveys/small/now/?job={job.pk}").json()["job"]["state"] == "done"
    draft = builders.draft(slug="draft")
    Membership.objects.create(survey=draft, user=builders.User.objects.get(username="alice"))
    assert alice.get("/surveys/draft/now/").json()["release"] == 0


def test_the_dashboard_looks_up_permissions_once() -> None:
    survey = released()
    client = builders.client(builders.olga(survey))
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/surveys/small/").status_code == 200
    asked = [one["sql"] for one in queries.captured_queries if "survey_membership" in one["sql"]]
    assert len(asked) == 1
