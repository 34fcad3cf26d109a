"""Figures to download: they show the published estimates to everyone who may see them."""

import io
import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl
from xml.etree.ElementTree import Element
from zipfile import ZipFile

import pytest
from django.test import Client

from aggregation.dashboard.sections import sections
from aggregation.exports import figures, files
from aggregation.models import Estimate, Release
from aggregation.planner.grid import make_grid
from aggregation.planner.notation import read
from aggregation.planner.solving import solve
from aggregation.planner.terms import Terms
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.forms import IntervalForm
from aggregation.releases.publish import make_release
from aggregation.svg import canvas, whiskers
from aggregation.svg.axis import Axis, Point
from aggregation.templatetags.figures import percent
from survey import simulation
from survey.design import Background, build, options_from_texts
from survey.design.kinds.choice import Choice
from survey.models import Survey
from tests.support import builders
from tests.support.figures import SVG, parsed, place, texts, words


def get(client: Client, name: str, number: int = 2) -> Element:
    """Return a figure, parsed; check that both addresses agree and what every figure must have."""
    found = []
    for root in ("/surveys", "/api/v1/surveys"):
        response = client.get(f"{root}/small/releases/{number}/{name}")
        assert response.status_code == 200, name
        assert response["Content-Type"] == "image/svg+xml"
        assert response["Content-Disposition"] == f'attachment; filename="{name}"'
        found.append(response.getvalue())
    assert found[0] == found[1]
    return parsed(found[0])


@pytest.fixture
def survey(db: None) -> Survey:
    return builders.finished()


@pytest.fixture
def alice(survey: Survey) -> Client:
    return builders.client(builders.alice(survey))


# --- What is drawn --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "by"),
    [("q1", ""), ("q2", ""), ("age", ""), ("q1", "age"), ("q2", "age")],
)
def test_every_estimate_is_drawn_where_it_is_and_written_beside_it(
    alice: Client, question: str, by: str
) -> None:
    root = get(alice, figures.name_of(question, by))
    rows = list(Estimate.objects.filter(release__number=2, question=question, by=by))
    if question == "q1":
        rows = [row for row in rows if row.option == "yes"]
    zero, hundred = place(root, "0\u00a0%"), place(root, "100\u00a0%")
    dots = [float(each.get("cx", "")) for each in root.iter(f"{SVG}circle")]
    lines = [
        (float(each.get("x1", "")), float(each.get("x2", "")))
        for each in root.iter(f"{SVG}line")
        if each.get("stroke-width") == "3"
    ]
    assert len(dots) == len(lines) == len(rows) > 0
    told = root[1].text or ""
    for row, dot, (low, high) in zip(rows, dots, lines, strict=True):
        assert row.bounded is not None
        for found, share in ((dot, row.bounded), (low, row.low), (high, row.high)):
            assert (found - zero) / (hundred - zero) == pytest.approx(share, abs=0.0005)
        said = percent(row.bounded) if row.low > 0 else f"below {percent(row.high)}"
        for text in (said, percent(row.low), percent(row.high)):
            assert text.replace("\u202f", "\u00a0") in told
        assert said.replace("\u202f", "\u00a0") in texts(root)
        assert f"{100 * row.low:.1f} to {100 * row.high:.1f}" in texts(root)


def test_a_caption_names_survey_release_and_design(survey: Survey, alice: Client) -> None:
    release = Release.objects.get(number=2)
    for name in figures.names(survey.frozen_design()):
        said = words(get(alice, name))
        for text in (
            "A small survey", f"Release 2 of {release.made_at:%-d %B %Y}", " responses", "ε = 2",
            "95\u00a0% interval", "one look (", survey.design_hash[:19],
            "Estimated share of people",
        ):  # fmt: skip
            assert text in said, (name, text)
    assert survey.design_hash not in said  # the short one
    assert "307 responses" in words(get(alice, "figure-q1.svg"))
    assert "How old are you?" in texts(get(alice, "figure-q1.by-age.svg"))


@pytest.mark.django_db
def test_a_group_of_too_few_is_drawn_as_the_whole_range_and_says_so() -> None:
    few = [{"key": "age", "text": "Age?", "options": list("abcdefgh")}]
    survey = builders.finished(25, background=few)
    rows = Estimate.objects.filter(question="q1", option="yes", by="age")
    unclear = [row for row in rows if (row.low, row.high) == (0.0, 1.0)]
    unknown = {row.pk for row in rows if row.bounded is None}
    assert unknown and unknown <= {row.pk for row in unclear}
    root = get(builders.client(builders.alice(survey)), "figure-q1.by-age.svg", number=1)
    assert len(list(root.iter(f"{SVG}circle"))) == len(rows) - len(unclear)
    assert (root[1].text or "").count("no estimate, 0.0\u00a0% to 100.0\u00a0%") == len(unclear)
    assert words(root).count("0.0 to 100.0") >= len(unclear)


@pytest.mark.django_db
def test_unlikely_reports_are_marked() -> None:
    survey = builders.opened()
    reports = [builders.report(survey.frozen_design()) for _ in range(400)]
    simulation.accept("small", {"reports": reports})
    make_release(survey)
    alice = builders.client(builders.alice(survey))
    assert "randomizer can produce" in words(get(alice, "figure-q1.svg", number=1))


# --- Words of every kind --------------------------------------------------------------------------

ARABIC = "هل تعرّضتم للمضايقة في العمل خلال الأشهر الاثني عشر الماضية؟"
LONG = "Donaudampfschifffahrtsgesellschaftskapitänskajütenschlüssel" * 3
ODD = [
    "<script>alert(1)</script> & ]]> \"quoted\" 'so'",
    LONG,
    "很长的问题" * 30,
    ARABIC,
    "A\tB\nC",
]


def test_lines_fit_and_nothing_is_lost() -> None:
    for text in (*ODD, "one two three " * 20, "a", "e\u0301" * 200):
        for width in (60.0, 212.0, 752.0):
            lines = canvas.wrapped(text, width, 13)
            assert all(canvas.breadth(line.strip(), 13) <= width for line in lines)
            assert "".join("".join(lines).split()) == "".join(text.split())
    assert canvas.wrapped("short words stay whole", 1000, 13) == ["short words stay whole"]
    assert all(not line.startswith("\u0301") for line in canvas.wrapped("e\u0301" * 200, 60, 13))


def test_wide_figures_take_their_room_from_the_track() -> None:
    axis = Axis(-8, 8, [(value, f"{value}") for value in (-8, 0, 8)], zero=0)
    figures = ("> 10,000", "< 0.001 to > 10,000")
    rows = [whiskers.Row("A question"), whiskers.Row("Yes", [Point(7, -8, 99)], figures)]
    drawn = whiskers.picture("Title", ["A note."], axis, rows, ("Odds ratio", "Interval"), "Odds")
    root = parsed(drawn)
    ends = [place(root, text) for text in ("8", *figures)]
    widths = [canvas.breadth(text, 13) for text in figures]
    assert ends[0] < ends[1] - widths[0] < ends[1] < ends[2] - widths[1]
    assert root[1].text == f"A note. Yes: {' '.join(figures)}."


def test_the_direction_of_a_text_is_recognized() -> None:
    assert all(map(canvas.right_to_left, (ARABIC, "עברית", "3 أيام")))
    assert not any(map(canvas.right_to_left, ("Arabic: عربي", "12 %", "")))


@pytest.mark.django_db
def test_odd_texts_are_drawn_as_they_are() -> None:
    question = {"key": "q1", "text": ODD[0], "kind": "choice", "options": ODD[1:4]}
    background = {"key": "age", "text": ARABIC, "options": [ODD[0], ARABIC]}
    survey = builders.finished(
        300, title=ARABIC, language="ar", questions=[question], background=[background], blocks=[]
    )
    alice = builders.client(builders.alice(survey))
    for name in ("figure-q1.svg", "figure-q1.by-age.svg"):
        root = get(alice, name)
        assert root[0].text == ODD[0]
        said = "".join(words(root).split())
        for text in (*ODD[:4], ARABIC):
            assert "".join(text.split()) in said
        arabic = [e for e in root.iter(f"{SVG}text") if canvas.right_to_left(e.text or "")]
        assert arabic and {e.get("direction") for e in arabic} == {"rtl"}
        language = "{http://www.w3.org/XML/1998/namespace}lang"
        assert {e.get(language) for e in arabic} == {"ar"}
        label = [e for e in arabic if e.get("font-size") == "13" and not e.get("font-weight")]
        assert {float(e.get("x", "")) for e in label} == {whiskers.LABELS[1]}


def test_no_two_figures_have_one_name() -> None:
    yes_no = options_from_texts(["No", "Yes"])
    asked = [Choice(key, "?", yes_no) for key in ("a", "a-by-b", "a_by", "by-b", "A")]
    others = [Background(Choice(key, "?", yes_no), 3.0) for key in ("b", "b-by-b")]
    names = figures.names(build(2.0, asked, others))
    # Every question over everybody, and by every other background question.
    assert len(names) == len(asked) * 3 + 2 * 2 and len(set(names.values())) == len(names)


# --- Who may have them ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["figure-q1.svg", "figure-q2.by-age.svg"])
def test_a_figure_is_for_those_who_may_have_the_estimates(
    survey: Survey, alice: Client, name: str
) -> None:
    clients = (alice, builders.client(builders.charlie()), Client())

    def statuses(file: str) -> list[list[int]]:
        return [
            [client.get(f"{root}/small/releases/2/{file}").status_code for client in clients]
            for root in ("/surveys", "/api/v1/surveys")
        ]

    assert statuses(name) == statuses("estimates.csv") == [[200, 403, 302], [200, 403, 401]]
    Survey.objects.update(results_public=True)
    assert statuses(name) == statuses("estimates.csv") == [[200, 200, 200], [200, 200, 200]]


@pytest.mark.parametrize(
    "name",
    ["figure-q3.svg", "figure-.svg", "figure-q1", "figure-q1.by-q2.svg", "figure-age.by-age.svg",
     "figure-q1.by-.svg", "figure-q1.png", "figure-q1.svg%00", "figure-" + "q" * 3000 + ".svg"],
)  # fmt: skip
def test_unknown_figure_names_are_refused_in_words(alice: Client, name: str) -> None:
    page = alice.get(f"/surveys/small/releases/2/{name}")
    assert page.status_code == 404 and "figure-….svg of every question" in page.content.decode()
    answer = alice.get(f"/api/v1/surveys/small/releases/2/{name}")
    assert answer.status_code == 404 and "figure-….svg" in answer.json()["detail"]


@pytest.mark.django_db
def test_a_draft_has_no_figures() -> None:
    survey = builders.draft()
    alice = builders.client(builders.alice(survey))
    assert alice.get("/surveys/small/releases/1/figure-q1.svg").status_code == 404
    assert alice.get("/api/v1/surveys/small/releases/1/figure-q1.svg").status_code == 404


def test_the_complete_download_has_every_figure(survey: Survey, alice: Client) -> None:
    response = alice.get("/surveys/small/releases/2/everything.zip")
    with ZipFile(io.BytesIO(response.getvalue())) as bundle:
        drawn = {name for name in bundle.namelist() if name.startswith("figures/")}
        assert drawn == {f"figures/{name}" for name in figures.names(survey.frozen_design())}
        for name in drawn:
            single = alice.get(f"/surveys/small/releases/2/{name.removeprefix('figures/')}")
            assert bundle.read(name) == single.getvalue()
            parsed(bundle.read(name))
        assert "figures" in bundle.read("README.txt").decode()
    assert not set(files.FILES) & set(figures.names(survey.frozen_design()))


def test_the_pages_link_the_figures(alice: Client) -> None:
    link = re.compile(r'<a data-figure href="/surveys/small/releases/2/([^"]+)" download')
    expected: dict[str, set[str]] = {
        "/surveys/small/": {"figure-q1.svg", "figure-q2.svg", "figure-age.svg"},
        "/surveys/small/?by=age": {  # what the page shows
            "figure-age.svg", "figure-q1.by-age.svg", "figure-q2.by-age.svg",
        },
    }  # fmt: skip
    expected["/surveys/small/releases/2/"] = set().union(*expected.values())
    for path, names in expected.items():
        page = alice.get(path).content.decode()
        assert set(link.findall(page)) == names and "figures" in page
        for name in names:
            get(alice, name)
    Survey.objects.update(results_public=True)
    page = Client().get("/surveys/small/releases/2/").content.decode()
    assert set(link.findall(page)) == expected["/surveys/small/releases/2/"]


# --- The curves of a plan -------------------------------------------------------------------------


def curves(client: Client, **query: str) -> Any:
    return client.get("/plan/half-width.svg", query)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query",
    [{}, {"solve": "people"}, {"forged": "2", "looks": "every", "dropout": "20"},
     {"people": "1"}, {"people": "1000000000", "epsilon": "0.01"}, {"share": "0", "groups": "1"}],
)  # fmt: skip
def test_the_picture_of_a_plan_is_a_figure(query: dict[str, str]) -> None:
    charlie = builders.client(builders.charlie())
    response = curves(charlie, questions="yes/no", **query)
    assert response.status_code == 200 and response["Content-Type"] == "image/svg+xml"
    assert "half-width.svg" in response["Content-Disposition"]
    root = parsed(response.content)
    assert "people who answer" in texts(root) and "Planned with Candor." in texts(root)
    link = re.search(
        r'<a data-figure href="(/plan/half-width.svg[^"]+)"',
        charlie.get("/plan/", {"questions": "yes/no", **query}).content.decode(),
    )
    assert link and charlie.get(link[1].replace("&amp;", "&")).content == response.content


@pytest.mark.django_db
def test_the_picture_of_a_plan_has_its_numbers() -> None:
    root = parsed(curves(builders.client(builders.charlie()), questions="yes/no").content)
    terms = solve("half_width", Terms(read("yes/no"), 2.0, 1000, 0.03, groups=2))
    told = root[1].text or ""
    for curve in make_grid(terms).curves:
        for value in curve.half_widths:
            assert value is not None
            shown = f"{100 * value:.1f}" if value >= 0.01 else f"{100 * value:.2g}"
            assert f"±\u00a0{'>' if value > 0.5 else shown}" in told or value > 0.5
    lines = {e.get("stroke-dasharray") for e in root.iter(f"{SVG}polyline")}
    assert len(lines) >= 4  # curves can be told apart without colour
    assert "±\u00a05.0" in told or "± 4.1" in told or "±\u00a04.1" in words(root)


@pytest.mark.django_db
def test_without_a_plan_there_is_no_picture() -> None:
    charlie = builders.client(builders.charlie())
    response = curves(charlie, people="x")
    assert response.status_code == 400 and "no plan for these numbers" in response.content.decode()
    stranger = curves(Client(), people="5")
    assert stranger.status_code == 302 and "next=/plan/half-width.svg" in stranger["Location"]
    survey = builders.opened()
    assert curves(charlie, survey="small").status_code == 403
    assert curves(builders.client(builders.alice(survey)), survey="small").status_code == 200


# --- The intervals that the reader chose ----------------------------------------------------------

QUERIES = [
    "", "level=80", "level=99&interval=fixed", "interval=always&forged=5",
    "level=90&interval=fixed&forged=2.5",
]  # fmt: skip


@pytest.mark.once  # the figures are the same on every database, as other tests check
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.slow
def test_a_figure_has_the_intervals_of_the_page(db: None, query: str, final: bool) -> None:
    survey = builders.finished() if final else builders.opened()
    if not final:
        builders.send(survey, 340)
        make_release(survey)
    release = survey.releases.order_by("number").last()
    assert release and release.final == final
    alice = builders.client(builders.alice(survey))
    pages = [alice.get(f"/surveys/small/?{by}{query}").content.decode() for by in ("", "by=age&")]
    found_links = re.findall(r'data-figure href="([^"]+)"', "".join(pages))
    links = {unescape(link) for link in found_links}
    assert len(links) == 5
    design = survey.frozen_design()
    form = IntervalForm(dict(parse_qsl(query)), IntervalChoice.headline(release.final))
    found = {one.question.key: one for one in sections(release, design.background[0], form.choice)}
    for link in links:
        name = link.partition("?")[0].rpartition("/")[2]
        question, by = figures.names(design)[name]
        tables = found[question].groups if by else found[question].everybody
        assert tables
        (table,) = tables.values()
        root = parsed(alice.get(link).getvalue())
        assert alice.get("/api/v1" + link).getvalue() == alice.get(link).getvalue()
        told = root[1].text or ""
        assert f"{form.choice.level}\u00a0% intervals" in told
        for _, rows in table.groups:
            for row in rows:
                low, high = (percent(end).replace("\u202f", "\u00a0")
                             for end in (row.estimate.low, row.estimate.high))  # fmt: skip
                assert f", {low} to {high}." in told
        looks = "valid at every look" if form.choice.always else "for one look"
        assert looks in words(root)
        fake = f"up to {form.choice.forged:g} % fake responses"
        assert (fake in words(root)) == (form.choice.forged > 0 and not by)


@pytest.mark.once  # refused by a form
@pytest.mark.parametrize(
    "query", ["level=50", "level=", "interval=never", "forged=90", "forged=x", "level=80&forged=-1"]
)
def test_unknown_intervals_are_refused_in_words(alice: Client, query: str) -> None:
    field = query.rpartition("&")[2].partition("=")[0]
    for name in ("figure-q1.svg", "estimates.csv"):
        page = alice.get(f"/surveys/small/releases/2/{name}?{query}")
        assert page.status_code == 400 and field in page.content.decode()
        response = alice.get(f"/api/v1/surveys/small/releases/2/{name}?{query}")
        assert response.status_code == 400 and list(response.json()) == [field]


def test_the_figures_of_the_zip_are_those_of_their_addresses(alice: Client) -> None:
    for number in (1, 2):  # before the last release, intervals are valid at every look
        data = alice.get(f"/surveys/small/releases/{number}/everything.zip").getvalue()
        with ZipFile(io.BytesIO(data)) as bundle:
            for name in ("figure-q1.svg", "figure-q2.by-age.svg"):
                single = alice.get(f"/surveys/small/releases/{number}/{name}").getvalue()
                assert bundle.read(f"figures/{name}") == single
