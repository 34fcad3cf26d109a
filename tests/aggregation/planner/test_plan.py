"""The planner: its figures compared with the statistics and by hand, its form and permissions."""

import math
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from aggregation.planner import picture as pictures
from aggregation.planner.blocks import explain, people_if_separate, people_saved_by_planner
from aggregation.planner.forms import DEFAULTS, PlanForm, of_survey
from aggregation.planner.grid import make_grid
from aggregation.planner.notation import read
from aggregation.planner.plan import Plan
from aggregation.planner.planned_design import designed, overruled
from aggregation.planner.solving import solve
from aggregation.planner.terms import PlanError, Terms
from aggregation.releases.publish import make_release
from aggregation.statistics import planning, privacy, sequence
from aggregation.statistics.proportion import Channel
from survey.design import Question
from survey.design.odds import in_words, odds
from tests.support import builders

LN3 = math.log(3)


def choices(*sizes: int) -> tuple[Question, ...]:
    """Return questions of these numbers of options."""
    return read(", ".join(f"choice of {size}" for size in sizes))


def terms(**changes: Any) -> Terms:
    if sizes := changes.pop("sizes", None):
        changes["questions"] = choices(*sizes)
    return replace(Terms(read("yes/no"), 2.0, 1000, 0.03), **changes)


# --- Two are given, the third follows -------------------------------------------------------------

# Section 4 of the statistics: people for a half-width at 95 %, worst case, one yes/no question.
PEOPLE = [
    (0.5, {0.10: 1602, 0.05: 6405, 0.03: 17789, 0.01: 160101}),
    (1.0, {0.10: 450, 0.05: 1799, 0.03: 4997, 0.01: 44971}),
    (2.0, {0.10: 166, 0.05: 663, 0.03: 1840, 0.01: 16558}),
    (4.0, {0.10: 104, 0.05: 414, 0.03: 1149, 0.01: 10334}),
]


@pytest.mark.parametrize(("epsilon", "rows"), PEOPLE)
def test_a_half_width_needs_its_known_number_of_people(
    epsilon: float, rows: dict[float, int]
) -> None:
    for half_width, people in rows.items():
        found = solve("people", terms(epsilon=epsilon, half_width=half_width))
        assert found.people == people
        assert solve("half_width", found).half_width <= half_width
        assert solve("half_width", replace(found, people=people - 1)).half_width > half_width


def test_a_known_share_needs_its_known_number_of_people() -> None:
    for epsilon, people in {0.5: 17107, 1.0: 4314, 2.0: 1157, 4.0: 466}.items():
        given = terms(epsilon=epsilon, half_width=0.03, share=0.1)
        assert solve("people", given).people == people


def test_epsilon_is_the_smallest_hundredth_that_suffices() -> None:
    given = terms(people=1000, half_width=0.05)
    exact = planning.epsilon_for(0.05, 1000)
    found = solve("epsilon", given)
    assert found.epsilon == math.ceil(100 * exact) / 100
    below = replace(given, epsilon=found.epsilon - 0.01)
    assert solve("half_width", found).half_width <= 0.05 < solve("half_width", below).half_width


@pytest.mark.parametrize("sizes", [(2,) * 10, (2, 2, 2, 4, 5), (3,), (2,) * 20])
def test_people_half_width_and_epsilon_can_each_be_recovered(sizes: tuple[int, ...]) -> None:
    first = solve("half_width", terms(sizes=sizes, people=6000))
    assert solve("people", first).people == pytest.approx(6000, abs=len(sizes))
    assert solve("epsilon", first).epsilon == pytest.approx(2.0, abs=0.01)


def test_a_plan_with_blocks_of_two_agrees_with_hand_calculation() -> None:
    """ε = 2 and 10 yes/no questions: blocks of 2, one asked; c = (e²−1)/(e²−1+4)."""
    found = Plan(solve("half_width", terms(sizes=(2,) * 10)))
    keep = math.expm1(2) / (math.expm1(2) + 4)
    assert (found.together, found.design.ask, len(found.design.blocks)) == ([2], 1, 5)
    assert found.reports == 200
    assert found.terms.half_width == pytest.approx(1.959964 * 0.5 / keep / math.sqrt(200), 1e-5)
    times = people_if_separate(found.design)
    assert times == pytest.approx(25.17 / 3.305, rel=1e-3)  # the statistics, section 4
    variance = planning.best_blocks(10, 2.0).variance
    assert found.terms.half_width == pytest.approx(1.959964 * math.sqrt(variance / 1000), 1e-5)


def test_the_stated_half_width_is_that_of_the_least_precise_question() -> None:
    found = Plan(solve("half_width", terms(sizes=(2, 2, 2, 4, 5))))
    assert sum(row.kind.questions for row in found.precision) == 5
    assert found.terms.half_width == max(row.everybody for row in found.precision)
    assert len({row.everybody for row in found.precision}) > 1


@pytest.mark.parametrize(
    ("wanted", "changes", "field"),
    [
        ("half_width", {"sizes": (2,) * 10, "people": 4}, "people"),
        ("people", {"half_width": 1e-6, "epsilon": 0.01}, "half_width"),
        ("people", {"sizes": (2,) * 20, "size": 20, "epsilon": 0.01}, "half_width"),
        ("epsilon", {"people": 100, "half_width": 0.01}, "half_width"),
        ("epsilon", {"people": 383, "half_width": 0.0501}, "half_width"),
        ("half_width", {"epsilon": 9.0}, "epsilon"),
        ("half_width", {"ask": 2}, "ask"),
        ("half_width", {"sizes": (21,) * 6, "size": 6}, "size"),
    ],
)
def test_impossible_wishes_are_refused_at_their_field(
    wanted: str, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(PlanError) as error:
        solve(wanted, terms(**changes))
    assert error.value.field == field and str(error.value).endswith(".")


# --- What follows ---------------------------------------------------------------------------------


def in_group(people: int, groups: int) -> int:
    """Return the equivalent number of reports of a group known exactly, by summing E[w^2].

    The groups have equal sizes and epsilon 3, and there is the option "Prefer not to say".
    """
    keep = (math.exp(3) - 1) / (math.exp(3) + groups)
    b = (1 - keep) / (groups + 1)
    named = keep / groups + b
    square = named * ((1 - b) / keep) ** 2 + (1 - named) * (b / keep) ** 2
    return math.floor(people / groups**2 / square)


def test_the_smallest_difference_is_that_of_the_table() -> None:
    """The table has people per group for .10 against .20 and for .45 against .55."""
    for epsilon, rare, even in ((0.5, 6349, 6542), (1.0, 1645, 1837), (2.0, 484, 676)):
        channel = Plan(terms(epsilon=epsilon)).kinds[0].channel
        found = planning.smallest_difference(rare, channel, 0.1)
        assert found == pytest.approx((0.1, 0.2), abs=2e-4)
        found = planning.smallest_difference(even, channel)
        assert found == pytest.approx((0.45, 0.55), abs=2e-4)


@pytest.mark.parametrize("groups", [2, 5])
def test_noisy_groups_are_compared_as_fewer_people(groups: int) -> None:
    here = Plan(terms(people=5000, groups=groups))
    known = in_group(5000, groups)
    assert 0.6 * 5000 / groups < known < 0.97 * 5000 / groups
    found = here.difference
    assert found
    gaps = [
        second - first
        for first, second in (
            planning.smallest_difference(known + off, here.kinds[0].channel) or (0.0, 0.0)
            for off in (1, -1)
        )
    ]
    assert 0 < gaps[0] <= found.gap <= gaps[1]


def test_groups_that_are_too_small_are_not_compared() -> None:
    assert Plan(terms(groups=1)).difference is None
    assert Plan(terms(people=10, groups=2)).difference is None
    assert Plan(terms(sizes=(2,) * 10, people=20, groups=10)).difference is None


def test_smallest_difference_refuses_a_bad_power() -> None:
    with pytest.raises(ValueError, match="power"):
        planning.smallest_difference(100, Channel(0.75, 0.25), power=0.05)
    assert planning.smallest_difference(2, Channel(0.75, 0.25)) is None
    choice = planning.smallest_difference(10_000, Channel(0.4, 0.2))
    assert choice and 0 <= choice[0] < choice[1] <= 1


def test_the_price_of_privacy_has_its_known_value() -> None:
    here = Plan(solve("half_width", terms(epsilon=LN3)))
    # Two coins: four times the variance of a question asked in clear (1/c² with c = 1/2).
    assert here.cost.clear_people == 250 and here.cost.times == 4
    assert here.cost.clear == pytest.approx(1.959964 * math.sqrt(0.25 / 1000), 1e-5)
    curator = math.sqrt(0.25 / 1000 + 2 / (1000 * LN3) ** 2)
    assert here.cost.curator == pytest.approx(1.959964 * curator, 1e-5)
    certain = Plan(solve("half_width", terms(share=0.0)))
    assert certain.cost.clear == 0 and certain.cost.curator > 0 and certain.cost.clear_people == 1


def test_the_odds_are_those_of_the_respondents_page() -> None:
    for epsilon, count in ((0.5, 62), (1.0, 73), (LN3, 75), (2.0, 88), (3.0, 95)):
        assert odds(epsilon) == count
        channel = Channel(1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon)))
        assert round(100 * privacy.posterior(0.5, channel).positive) == count
    assert in_words(odds(6.0)) == "more than 99"
    two = Plan(terms(sizes=(2,) * 4, size=1, ask=2))
    assert (two.block_odds, two.total_odds) == ("73", "88")
    assert two.total <= 2 and not two.weak
    assert Plan(terms(epsilon=3.0)).weak


def test_an_overruled_planner_says_what_it_would_do() -> None:
    ones, twos = (designed(choices(*(2,) * 10), 2.0, size) for size in (1, 2))
    assert people_saved_by_planner(ones) == pytest.approx(1 - 0.767, abs=1e-3)
    assert people_saved_by_planner(twos) == pytest.approx(0)
    assert explain(ones, chosen=True).endswith("The planner’s need 23% fewer people.")
    assert explain(twos, chosen=True).endswith("The planner’s would be no better.")
    assert "separately would need 7.6 times as many" in explain(twos, chosen=False)


def test_blocks_of_a_given_size_keep_large_questions_apart() -> None:
    design = terms(sizes=(2, 2, 2, 2, 2, 4, 5), size=2, ask=1).design
    shapes = sorted(sorted(q.size for q in block.questions) for block in design.blocks)
    assert shapes == [[2, 2], [2, 2], [2, 4], [5]]


def test_the_grid_has_the_plan_in_it() -> None:
    given = solve("half_width", terms(sizes=(2,) * 5, people=1234))
    grid = make_grid(given)
    assert 1234 in grid.people and grid.people == sorted(grid.people)
    assert [curve.epsilon for curve in grid.curves] == [0.5, 1, 2, 4, None]
    here = grid.curves[2].half_widths[grid.people.index(1234)]
    assert here == given.half_width
    columns = zip(*(curve.half_widths for curve in grid.curves), strict=True)
    assert all(list(row) == sorted(row, reverse=True) for row in columns)
    assert [curve.epsilon for curve in make_grid(terms(epsilon=8.0)).curves] == [2, 4, 8, None]
    few = make_grid(terms(sizes=(2,) * 20, people=20))
    assert few.curves[0].half_widths[0] is None  # too few people for each question


@pytest.mark.parametrize("people", [1, 7, 1000, 999_999, 10**9])
@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": 0.01}, {"epsilon": 1.0}, {"epsilon": 8.0}, {"forged": 0.05}, {"forged": 0.5},
        {"looks": "every"},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("share", [None, 0.0, 1.0])
def test_every_plan_has_a_picture(
    people: int, changes: dict[str, Any], share: float | None
) -> None:
    given = solve("half_width", terms(people=people, share=share, **changes))
    picture = pictures.half_widths(make_grid(given), given, "In <words>")
    assert 'role="img" aria-label="In &lt;words&gt;"' in picture
    assert "style=" not in picture and "nan" not in picture and "inf" not in picture


def test_a_design_that_differs_from_the_plan_is_recognized() -> None:
    sizes = choices(*(2,) * 10)
    assert overruled(designed(sizes, 2.0)) == (None, None)
    assert overruled(designed(sizes, 2.0, 1, 1)) == (1, 1)
    assert of_survey(designed(sizes, 2.0, 5, 2), 0) | {"x": ""} == {
        "epsilon": "2", "people": "1000", "questions": "10 yes/no", "groups": "1",
        "size": "5", "ask": "2", "x": "",
    }  # fmt: skip


# --- Drop-out, forgers, looks ---------------------------------------------------------------------


def test_drop_out_costs_people_and_nothing_else() -> None:
    plain = Plan(solve("half_width", terms(people=1000)))
    some = Plan(solve("half_width", terms(people=1000, dropout=0.2)))
    assert plain.invited == 1000 and some.invited == 1250
    assert some.terms.half_width == plain.terms.half_width
    assert Plan(terms(people=999, dropout=1 / 3)).invited == math.ceil(999 * 1.5)
    wanted = solve("people", terms(half_width=0.05, dropout=0.2))
    channel = Plan(wanted).kinds[0].channel
    # At most one more, because both numbers are rounded up.
    assert 0 <= Plan(wanted).invited - planning.sample_size(0.05, channel, dropout=0.2) <= 1


def test_forgers_move_the_estimate_as_far_as_privacy_says() -> None:
    given = terms(epsilon=LN3, forged=0.02, share=0.1)
    here = Plan(solve("half_width", given))
    channel = here.kinds[0].channel  # two coins: a = 3/4, b = 1/4
    down, up = privacy.forgery(0.1, channel, 0.02)
    assert here.moved == pytest.approx((-down, up))
    assert here.moved == pytest.approx((0.02 * 0.3 / 0.5, 0.02 * 0.7 / 0.5), rel=1e-6)
    worst = Plan(solve("half_width", replace(given, share=None))).moved
    assert worst == pytest.approx((0.02 * 0.75 / 0.5,) * 2, rel=1e-6)
    # The half-width of the share among honest people, whatever the forgers send.
    plain = solve("half_width", replace(given, forged=0.0)).half_width
    by_hand = 0.02 / 0.98 / (2 * 0.5) + plain / math.sqrt(0.98)
    assert here.terms.half_width == pytest.approx(by_hand, rel=1e-6)
    assert Plan(terms(forged=0.0)).moved == (0, 0)


def test_no_number_of_people_makes_up_for_forgers() -> None:
    with pytest.raises(PlanError, match="forged reports alone") as error:
        solve("people", terms(half_width=0.03, forged=0.05))
    assert error.value.field == "half_width"
    found = solve("people", terms(half_width=0.03, forged=0.01))
    assert found.people > solve("people", terms(half_width=0.03)).people
    assert solve("half_width", found).half_width <= 0.03
    larger = solve("epsilon", terms(people=5000, half_width=0.03, forged=0.01)).epsilon
    assert larger > solve("epsilon", terms(people=5000, half_width=0.03)).epsilon
    clear = Plan(solve("half_width", terms(forged=0.01))).cost
    assert clear.clear == pytest.approx(
        0.01 / 0.99 / 2 + 1.959964 * math.sqrt(0.25 / 990), rel=1e-5
    )


def test_intervals_for_every_look_are_wider_and_need_more_people() -> None:
    once, always = (
        solve("half_width", terms(sizes=(2,) * 5, people=2000, looks=looks))
        for looks in ("one", "every")
    )
    channel = Plan(always).least.kind.channel
    n = Plan(always).reports
    low, high = sequence.interval(round(n * 0.5), n, channel)
    assert always.half_width == pytest.approx((high - low) / 2, rel=1e-3)
    assert 1.3 < always.half_width / once.half_width < 2
    back = solve("people", replace(always, people=1))
    assert back.people == pytest.approx(2000, abs=10)
    assert solve("epsilon", always).epsilon == pytest.approx(2.0, abs=0.01)
    grid = make_grid(always)
    here = grid.curves[2].half_widths[grid.people.index(2000)]
    assert here == always.half_width and Plan(always).cost.times > 1


@pytest.mark.parametrize("looks", ["one", "every"])
@pytest.mark.parametrize("share", [None, 0.1, 0.9])
def test_the_hardest_question_is_the_hardest_at_every_look(looks: str, share: float | None) -> None:
    given = terms(sizes=(2, 2, 2, 4, 5, 7), people=20_000, looks=looks, share=share, forged=0.01)
    here = Plan(solve("half_width", given))
    hardest = max(row.everybody for row in here.precision)
    assert here.terms.half_width == pytest.approx(hardest, rel=1e-12)  # summed in another order
    assert here.least.kind in here.terms.hardest


def test_curves_are_one_line_where_they_are_straight() -> None:
    def lines(**changes: Any) -> int:
        given = solve("half_width", terms(people=10_000, **changes))
        return pictures.half_widths(make_grid(given), given, "x").count('class="curve here"')

    assert lines() == 1 and lines(forged=0.02) > 3
    given = solve("half_width", terms(people=10_000, forged=0.02))
    plot = pictures.Plot(make_grid(given), given)
    assert plot.curves
    for curve in plot.curves:
        assert all(plot.holds(width) for _, width in curve.points)
        assert [n for n, _ in curve.points] == sorted(n for n, _ in curve.points)


# --- The form -------------------------------------------------------------------------------------


def test_the_default_form_gives_a_plan() -> None:
    form = PlanForm({})
    assert form.is_valid() and form.plan
    assert form.shown() == DEFAULTS | {"half_width": f"{100 * form.plan.terms.half_width:.3g}"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((name, value) for name in ("people", "epsilon", "groups")
          for value in ("", "x", "-1", "1e400", "nan", "9" * 30, "\0")),
        ("people", "0"), ("people", "1.5"), ("epsilon", "0"), ("epsilon", "inf"),
        ("epsilon", "1000"), ("questions", "101 yes/no"), ("groups", "0"), ("groups", "101"),
        *(("questions", value) for value in (
            "", ",", "x", "1", "choice of 1", "choice of 22", "4;5", "choice of ٤", "0 yes/no",
            "yes/no " * 300, "9" * 50, "-4 yes/no", "99 yes/no, 2 yes/no", "\0", "number 5 to 5",
            "number 9 to 1", "number 0 to 9999999999", "of 4 pick 5", "of 4 pick 0", "yes/no [",
            "yes/no ]", "yes/no []", "yes/no [x]", "number [yes/no]", "yes/no [of 4 pick 2]",
            "of 4 pick 2 [yes/no]", "yes/no [scale of 5] yes/no", "[yes/no]",
            "yes/no [" * 9 + "yes/no" + "]" * 9,
        )),
        ("share", "-1"), ("share", "101"), ("share", "x"), ("level", "94"), ("level", ""),
        ("size", "0"), ("size", "21"), ("size", "1.5"), ("ask", "0"), ("ask", "6"),
        ("ask", "101"), ("solve", "everything"), ("solve", ""), ("dropout", "-1"),
        ("dropout", "91"), ("dropout", "x"), ("forged", "51"), ("forged", "nan"), ("forged", "-1"),
        ("looks", "two"), ("looks", "one"),
    ],
)  # fmt: skip
def test_every_bad_value_is_explained_at_its_field(field: str, value: str) -> None:
    form = PlanForm({field: value})
    assert not form.is_valid() and list(form.errors) == [field] and form.plan is None
    assert form.shown()[field] == value


@pytest.mark.parametrize("value", ["", "0", "51", "x", "nan"])
def test_a_bad_half_width_matters_only_where_it_is_given(value: str) -> None:
    assert PlanForm({"half_width": value}).is_valid()
    form = PlanForm({"half_width": value, "solve": "people"})
    assert not form.is_valid() and list(form.errors) == ["half_width"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"questions": "1 yes/no", "epsilon": "9"}, "epsilon"),
        ({"people": "1", "questions": "10 yes/no"}, "people"),
        ({"solve": "epsilon", "people": "10", "half_width": "1"}, "half_width"),
        ({"solve": "people", "half_width": "0.01", "epsilon": "0.01"}, "half_width"),
        ({"questions": "5 choice of 21", "size": "5"}, "size"),
        ({"questions": f"yes/no [{', '.join(['3 choice of 21'] * 2)}]", "size": "9"}, "size"),
    ],
)
def test_values_that_contradict_each_other_are_refused(given: dict[str, str], field: str) -> None:
    form = PlanForm(given)
    assert not form.is_valid() and list(form.errors) == [field]


# --- The page -------------------------------------------------------------------------------------


def page(client: Client, **query: str) -> str:
    response = client.get("/plan/", query)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.django_db
def test_the_page_is_for_those_who_are_logged_in() -> None:
    response = Client().get("/plan/?people=5")
    assert (
        response.status_code == 302 and response["Location"] == "/login/?next=/plan/%3Fpeople%3D5"
    )
    text = page(builders.client(builders.charlie()))
    assert 'href="/plan/"' in text and "style=" not in text and "<script>" not in text
    assert "Open a new survey" not in text


@pytest.mark.django_db
def test_the_page_shows_the_plan_of_its_address() -> None:
    client = builders.client(builders.charlie())
    text = page(client, solve="people", half_width="5", epsilon="1", questions="yes/no", groups="1")
    assert "<strong>1,799 people</strong> at ε = 1" in text and "±\u202f5.0 points" in text
    assert 'name="people" value="1799"' in text and text.count(" data-found") == 1
    assert "73 <span" in text and "385 people" in text and "4.7 times" in text
    assert "Between two groups" not in text
    text = page(client, people="10000", epsilon="1", questions="yes/no, number 0 to 60")
    assert "points</strong>, and every average within <strong>±" in text
    assert "1 number 0 to 60, in % of its range" in text
    text = page(client, people="10000", questions="number 0 to 60")
    assert "give every average within <strong>±" in text and "every share" not in text
    text = page(client, people="10000", questions="yes/no [choice of 4]")
    assert "of those concerned, if they are 20" in text
    text = page(client, solve="epsilon", people="1000", half_width="5", questions="yes/no")
    assert "need <strong>ε = 1.45</strong>" in text


@pytest.mark.django_db
def test_the_page_says_what_drop_out_forgers_and_looks_do() -> None:
    client = builders.client(builders.charlie())
    plain = page(client, questions="yes/no", epsilon="2")
    assert "Invite" not in plain and "forged, they" not in plain and "valid however" not in plain
    text = page(client, questions="yes/no", epsilon="2", dropout="20", forged="1.5", looks="every")
    assert "Invite <strong>1,250</strong>: 20 % of them do not respond." in text
    # 0.015 a/c down, the same up: a = 0.881, c = 0.762
    assert "<strong>1.7 points</strong> down and <strong>1.7</strong> up" in text
    assert "valid however often you look" in text and "by one look at the end" in text
    assert '<option value="every" selected>' in text


@pytest.mark.django_db
def test_wrong_numbers_are_explained_and_give_no_plan() -> None:
    text = page(builders.client(builders.charlie()), people="<b>", groups="0", survey="\0")
    assert "There is no plan for these numbers yet" in text
    assert 'value="&lt;b&gt;"' in text and text.count('aria-invalid="true"') == 2
    assert "A whole number from 1 to 1,000,000,000." in text
    assert "A whole number from 1 to 100." in text and "<svg" not in text


@pytest.mark.django_db
def test_a_survey_fills_the_form_for_its_researchers_alone() -> None:
    survey = builders.opened()
    builders.send(survey, 140)
    make_release(survey)
    alice = builders.client(builders.alice(survey))
    assert 'href="/plan/?survey=small"' in alice.get("/surveys/small/settings/").content.decode()
    text = page(alice, survey="small")
    assert ">1 yes/no, 1 choice of 4</textarea>" in text
    for name, value in {"people": "120", "epsilon": "2",
                        "groups": "2", "size": "2", "ask": "1"}.items():  # fmt: skip
        assert f'name="{name}" value="{value}"' in text
    assert "A small survey" in text
    assert 'name="people" value="5000"' in page(alice, survey="small", people="5000")
    assert builders.client(builders.charlie()).get("/plan/?survey=small").status_code == 403
    assert alice.get("/plan/?survey=nowhere").status_code == 404


@pytest.mark.django_db
def test_a_draft_fills_the_form_as_far_as_it_goes() -> None:
    ready = builders.draft(slug="ready", blocks=[], epsilon=1.5)
    empty = builders.draft(slug="empty", questions=[{"key": "q", "text": "?", "kind": "yes_no"}],
                           blocks=[], epsilon=0.7)  # fmt: skip
    empty.questions.all().delete()
    alice = builders.client(builders.alice(ready, empty))
    assert ">1 yes/no, 1 choice of 4</textarea>" in page(alice, survey="ready")
    text = page(alice, survey="empty")
    assert 'name="epsilon" value="0.7"' in text and ">5 yes/no</textarea>" in text
    assert 'href="/plan/?survey=ready"' in alice.get("/surveys/ready/settings/").content.decode()


@pytest.mark.django_db
def test_people_who_may_add_surveys_get_a_link_to_do_so() -> None:
    charlie = builders.charlie()
    query = {"epsilon": "1.25", "questions": "10 yes/no", "people": "800"}
    assert "Make a survey" not in page(builders.client(charlie), **query)
    charlie.user_permissions.add(Permission.objects.get(codename="add_survey"))
    client = builders.client(charlie)
    text = unescape(page(client, **query))
    link = text.split('<a class="button" href="')[1].split('"')[0]
    assert urlsplit(link).path == "/studio/new/"
    assert parse_qs(urlsplit(link).query) == {"epsilon": ["1.25"], "people": ["800"]}
    added = client.get(link).content.decode()
    for name, value in (("epsilon", "1.25"), ("people", "800")):
        field = added.split(f'name="{name}"')[1].split(">")[0]
        assert f'value="{value}"' in field


@pytest.mark.django_db
@pytest.mark.slow
def test_odd_addresses_do_not_break_the_page() -> None:
    client = builders.client(builders.charlie())
    for name in (*DEFAULTS, "survey"):
        for odd in ("", "\0", "x" * 3000, "-1", "1e308", "٣", "[]", "<script>"):
            response = client.get(f"/plan/?{urlencode({name: odd})}")
            assert response.status_code in (200, 404), (name, odd)
