"""An attacker who knows everything but the answers, against all that a survey ever publishes.

They have every table of every release and every analysis, and know of each report when it came,
what its background answers were and which blocks it was asked: so which reports are in each group
shown. From any two tables about the same question they compute the figure that is about the fewest
reports. It must be about a crowd.

The figure is found by maximum flow, which gate.py does not use.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.db import transaction
from django.test import Client
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from aggregation import gate, overlaps, reports, tasks, work
from aggregation.analyses import AnalysisError
from aggregation.batches import ABSENT, Split
from aggregation.models import Batch, Estimate, Release, group_keys
from aggregation.work import Analysis, Job
from tests.support import builders

pytestmark = pytest.mark.django_db

CROWD = 5
SLOW = pytest.mark.once  # the rules are the same on every database; a few surveys try the rest
SEEDS = [pytest.param(seed, marks=[SLOW] if seed > 7 else []) for seed in range(30)]

Labels = NDArray[np.int64]  # the part of each report in a table
REST, LATER, NOT_ASKED = -1, -2, -3


# --- The attacker ---------------------------------------------------------------------------------


def fewest(one: Labels, two: Labels) -> int:
    """How many reports the smallest figure is about that both divisions together give."""
    _, rows = np.unique(one, return_inverse=True)
    _, columns = np.unique(two, return_inverse=True)
    counts = np.zeros((rows.max() + 1, columns.max() + 1), dtype=np.int32)
    np.add.at(counts, (rows, columns), 1)
    size = sum(counts.shape)
    graph = np.zeros((size, size), dtype=np.int32)
    graph[: len(counts), len(counts) :] = counts
    graph += graph.T
    _, component = connected_components(graph > 0, directed=False)
    flows = csr_array(graph)
    found = [len(one)]
    for part in range(component.max() + 1):
        first, *others = np.flatnonzero(component == part)
        found += [maximum_flow(flows, first, other).flow_value for other in others]
    return int(min(found))


@SLOW
def test_the_attacker_finds_the_smallest_figure() -> None:
    """Against all cuts of small graphs, one by one."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        one, two = rng.integers(0, 3, (2, rng.integers(2, 12)))
        least = len(one)
        for bits in range(1, 2**6):
            up = [bits >> i & 1 for i in range(6)]
            apart = sum(up[i] != up[3 + j] for i, j in zip(one, two, strict=True))
            least = min(least, apart) if apart else least
        assert fewest(one, two) == least


@dataclass(frozen=True)
class Published:
    """A table about a question: of which reports, and in which part each of them is."""

    question: str
    what: str
    release: int
    labels: Labels


class World:
    """A survey with the reports that came to it, in their order, and what it published."""

    def __init__(self, seed: int, kinds: list[str] | None = None) -> None:
        self.random = Random(seed)
        some = ["free", "near", "nested", "wave"]
        self.kinds = kinds or ["free", *self.random.choices(some, k=2)]
        self.unusual = 0.01 if kinds else 0.08
        self.silent = self.random.choice([0, 0.03]) if not kinds else 0  # gave no stratum
        self.survey = builders.opened(slug=f"s{seed}", crowd=CROWD, **self.design())
        self.frozen = self.survey.frozen_design()
        width = len(self.frozen.questions) + len(self.frozen.strata)
        self.rows = np.zeros((0, width), dtype=np.uint8)
        self.held: dict[int, int] = {}  # release → how many reports it counted
        self.refused = 0

    def design(self) -> dict[str, Any]:
        self.options = [2 if "sum" in self.kinds else self.random.randint(2, 4) for _ in self.kinds]
        blocks = self.random.choice([[["q1", "q2"]], [["q1"], ["q2"]], [["q1"], ["q2"], ["q3"]]])
        ask = self.random.randint(1, len(blocks))
        keys = [key for block in blocks for key in block]
        return {
            "questions": [{"key": key, "text": "?", "kind": "yes_no"} for key in keys],
            "strata": [
                {"key": f"s{i}", "text": "?", "options": [f"Group {j}" for j in range(options)]}
                for i, options in enumerate(self.options)
            ],
            "blocks": blocks,
            "ask": ask,
        }

    # What happens

    def arrive(self, number: int) -> None:
        """So many people, of whom few are unusual, and more of one group at a time."""
        design, random = self.frozen, self.random
        late = random.randint(0, 3)
        new = []
        for _ in range(number):
            blocks = random.sample(design.blocks, design.ask)
            report = [
                random.randint(0, 1) if block in blocks else ABSENT
                for block in design.blocks
                for _ in block.questions
            ]
            strata: list[int] = []
            for kind, options in zip(self.kinds, self.options, strict=True):
                unusual = random.random() < self.unusual
                if kind == "near" and not unusual:
                    group = strata[0] % options
                elif kind == "nested" and not unusual:
                    group = min(strata[0], 1)
                elif kind == "wave" and not unusual:
                    group = late % options
                elif kind == "sum":
                    group = (sum(strata) + unusual) % options
                else:
                    group = random.randrange(options)
                strata.append(group)
            given = [ABSENT if random.random() < self.silent else group for group in strata]
            new.append(report + given)
        rows = np.array(new, dtype=np.uint8)
        self.rows = np.concatenate([self.rows, rows])
        Batch.objects._store(self.survey, rows)

    def publish(self) -> None:
        release = Release.objects.publish(self.survey)
        if release:
            self.held[release.number] = len(self.rows)

    def wonder(self) -> None:
        """Ask something of the last release."""
        keys = [question.key for question in self.frozen.questions]
        strata = [stratum.key for stratum in self.frozen.strata]
        some = self.random.sample(strata, self.random.randint(1, len(strata)))
        asked = self.random.choice(
            [
                {"kind": "crosstab", "questions": keys[:2]},
                {"kind": "crosstab", "questions": keys[-2:], "strata": some[:1]},
                {"kind": "regression", "outcome": keys[0], "strata": some},
                self.weights(keys[0], some),
            ]
        )
        self.analyse(asked)

    def weights(self, question: str, some: list[str]) -> dict[str, Any]:
        """Which have a figure for every combination of groups."""
        margins = {
            stratum.key: {option.key: 1 for option in stratum.options}
            for stratum in self.frozen.strata
            if stratum.key in some
        }
        return {"kind": "weights", "question": question, "margins": margins}

    def analyse(self, asked: dict[str, Any]) -> None:
        """Ask, and count; the figures themselves may wait."""
        try:
            job = Analysis.objects.ask(self.survey, asked)
        except AnalysisError:
            return
        if job.state == Job.State.DONE:
            return
        assert job.analysis is not None
        try:
            for part in job.analysis.parts.all():
                part.keep(part.count())
            job.analysis.admit(job.analysis.table())
        except AnalysisError:
            self.refused += 1
            job.finish(state=Job.State.FAILED)
        else:
            job.finish(state=Job.State.DONE)

    def live(self) -> None:
        """Some releases with analyses between them, and for some surveys the end."""
        for _ in range(self.random.randint(2, 6)):
            self.arrive(self.random.choice([CROWD, CROWD + 2, 15, 40, 120]))
            self.publish()
            for _ in range(self.random.randint(0, 2)):
                if self.held:
                    self.wonder()
            if self.random.random() < 0.2:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr("aggregation.models.MANY_SMALL", 0)
                    Batch.objects.merge(self.survey)
        if self.random.random() < 0.4:
            self.survey.close()
            self.arrive(2)
            self.publish()
            for _ in range(3):
                if self.held:
                    self.wonder()

    # What was published

    def labels(
        self, questions: list[str], release: int, strata: list[str], groups: set[tuple[int, ...]]
    ) -> Labels:
        """In which part of a table each report is, if it shows these groups."""
        keys = [question.key for question in self.frozen.questions]
        first = len(keys)
        places = [first + [s.key for s in self.frozen.strata].index(key) for key in strata]
        sizes = [self.frozen.strata[place - first].size for place in places]
        result = np.full(len(self.rows), REST, dtype=np.int64)
        names = {group: number for number, group in enumerate(sorted(groups))}
        for i, report in enumerate(self.rows):
            given = tuple(
                size if report[place] == ABSENT else int(report[place])
                for place, size in zip(places, sizes, strict=True)
            )
            result[i] = names.get(given, REST)
        for question in questions:
            result[self.rows[:, keys.index(question)] == ABSENT] = NOT_ASKED
        result[self.held[release] :] = LATER
        return result

    def tables(self, rows: list[dict[str, Any]]) -> Iterator[Published]:
        """From estimates: question, stratum, group, as_of, n, of whatever source."""
        found: dict[tuple[str, str, int], dict[str, int]] = {}
        for row in rows:
            table = found.setdefault((row["question"], row["stratum"], row["as_of"]), {})
            if row["n"] is not None:
                table[row["group"]] = row["n"]
        for (question, stratum, as_of), shown in found.items():
            keys = group_keys(self.frozen, stratum)
            groups = {tuple([keys.index(group)] if stratum else []) for group in shown}
            labels = self.labels([question], as_of, [stratum] if stratum else [], groups)
            sizes = [np.count_nonzero(labels == i) for i in range(len(groups))]
            assert sorted(sizes) == sorted(shown.values()), "not these reports"
            if shown:
                yield Published(question, stratum or "everybody", as_of, labels)

    def estimates(self) -> list[dict[str, Any]]:
        names = ("question", "stratum", "group", "as_of", "n")
        return [
            {name: getattr(row, name) for name in names}
            for release in self.survey.releases.all()
            for row in release.estimates.all()
        ]

    def copied(self) -> Iterator[Published]:
        """The reports that can be taken home when the survey is finished, by what stands there."""
        first = len(self.frozen.questions)
        for release in self.survey.releases.filter(final=True):
            known = reports.backgrounds(release)
            values = self.rows[:, reports.columns(self.frozen, [one.stratum for one in known])]
            values = values[:, first:].copy()
            for column, one in zip(values.T, known, strict=True):
                column[:] = one.codes()[column]
            _, labels = np.unique(values, axis=0, return_inverse=True)
            for question in self.frozen.questions if known else []:
                yield Published(question.key, "copy", release.number, labels.ravel())

    def analysed(self) -> Iterator[Published]:
        for one in Analysis.objects.filter(release__survey=self.survey, shown__isnull=False):
            question = one.question()
            asked = [axis for axis in question.axes(self.frozen) if axis[0] == "question"]
            for strata, shown in zip(question.divisions(), one.shown, strict=True):
                axes = asked + [("stratum", key) for key in strata]
                shape = [self.options[int(key[1:])] + 1 for key in strata]
                groups = {
                    tuple(map(int, np.unravel_index(i, shape))) if shape else () for i in shown
                }
                yield from self.analysis(axes, one.release.number, groups)

    def analysis(
        self, axes: list[tuple[str, str]], release: int, groups: set[tuple[int, ...]]
    ) -> Iterator[Published]:
        questions = [key for kind, key in axes if kind == "question"]
        strata = [key for kind, key in axes if kind == "stratum"]
        labels = self.labels(questions, release, strata, groups)
        for question in questions if groups else []:
            yield Published(question, f"{questions} by {strata}", release, labels)


def attack(world: World, published: list[Published], crowd: int = CROWD) -> list[str]:
    """The pairs of tables that tell fewer than a crowd apart.

    What appeared when the survey had closed is compared with nothing before it.
    """
    final = {release.number for release in world.survey.releases.filter(final=True)}
    keys = [question.key for question in world.frozen.questions]
    found = []
    for place, one in enumerate(published):
        for two in published[:place]:
            if one.question != two.question or (one.release in final) != (two.release in final):
                continue
            asked = world.rows[:, keys.index(one.question)] != ABSENT
            there = asked & ((one.labels != LATER) | (two.labels != LATER))
            least = fewest(one.labels[there], two.labels[there])
            if least < crowd:
                found.append(
                    f"{least} of {one.question}: {one.what} of {one.release},"
                    f" {two.what} of {two.release}"
                )
    return found


def distinct(published: Iterator[Published]) -> list[Published]:
    return list(
        {(p.question, p.what, p.release, p.labels.tobytes()): p for p in published}.values()
    )


@pytest.fixture(autouse=True)
def no_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.run, "delay", lambda _: None)


def lived(seed: int) -> World:
    """Every other survey soon forgets which reports an earlier release had."""
    world = World(seed)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("models", "overlaps"):
            patch.setattr(f"aggregation.{module}.KEPT", 100 if seed % 2 else 2)
        world.live()
    return world


def everything(world: World) -> list[Published]:
    published = [world.tables(world.estimates()), world.analysed(), world.copied()]
    return [one for some in published for one in distinct(some)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.slow
def test_no_two_things_ever_published_tell_fewer_than_a_crowd_apart(seed: int) -> None:
    world = lived(seed)
    assert attack(world, everything(world)) == []


@SLOW
def test_the_simulated_surveys_publish_enough_to_attack() -> None:
    """Or it would say little: groups are shown, tables change, analyses are made and refused."""
    worlds = [lived(seed) for seed in range(12)]
    published = [everything(world) for world in worlds]
    groups = [one for some in published for one in some if one.what != "everybody"]
    renewed = [one for one in groups if one.release > 1]
    analysed = [one for one in groups if "by" in one.what]
    figures = (
        len(groups),
        len(renewed),
        len(analysed),
        sum(world.refused for world in worlds),
        sum(world.survey.releases.filter(final=True).count() for world in worlds),
    )
    assert all(a > b for a, b in zip(figures, (60, 30, 15, 2, 1), strict=True)), figures


# --- Through the page, the export and the API -----------------------------------------------------


def estimates_in(thing: Any, depth: int = 0) -> Iterator[Estimate]:
    """Whatever a page was given to show."""
    if isinstance(thing, Estimate):
        yield thing
    elif depth < 8 and isinstance(thing, Mapping):
        for one in thing.values():
            yield from estimates_in(one, depth + 1)
    elif depth < 8 and isinstance(thing, list | tuple | set):
        for one in thing:
            yield from estimates_in(one, depth + 1)
    elif depth < 8 and is_dataclass(thing) and not isinstance(thing, type):
        yield from estimates_in([getattr(thing, one.name) for one in fields(thing)], depth + 1)


def from_the_page(client: Client, world: World) -> list[dict[str, Any]]:
    response = client.get(f"/surveys/{world.survey.slug}/")
    assert response.status_code == 200
    contexts: Any = response.context
    seen = [row for context in contexts for row in estimates_in(context.flatten())]
    names = ("question", "stratum", "group", "as_of", "n")
    return [{name: getattr(row, name) for name in names} for row in seen]


def from_the_export(client: Client, world: World, release: int) -> list[dict[str, Any]]:
    address = f"/surveys/{world.survey.slug}/releases/{release}/estimates.csv"
    lines = csv.DictReader(io.StringIO(client.get(address).getvalue().decode()))
    return [
        line | {"as_of": int(line["as_of"]), "n": int(line["n"]) if line["n"] else None}
        for line in lines
    ]


def from_the_api(client: Client, world: World, release: int) -> list[dict[str, Any]]:
    address = f"/api/v1/surveys/{world.survey.slug}/estimates/?release={release}"
    rows = client.get(address).json()["estimates"]
    return [row | {"stratum": row["stratum"] or "", "group": row["group"] or ""} for row in rows]


def analysed_by_the_api(client: Client, world: World, messages: list[Any]) -> None:
    address = f"/api/v1/surveys/{world.survey.slug}/analyses/"
    keys = [question.key for question in world.frozen.questions][:2]
    for stratum in world.frozen.strata:
        asked = {"kind": "crosstab", "questions": keys, "strata": [stratum.key]}
        client.post(address, asked, content_type="application/json")
        while messages:
            task, *arguments = messages.pop(0)
            task(*arguments)


def analyses_from_the_api(client: Client, world: World) -> Iterator[Published]:
    for found in client.get(f"/api/v1/surveys/{world.survey.slug}/analyses/").json():
        if found["job"]["state"] != "done":
            assert "fewer than" in found["job"]["error"]
            continue
        (stratum,) = found["asked"]["strata"]
        names = [option.key for option in world.frozen.strata[int(stratum[1:])].options]
        tables = [table["group"][stratum] for table in found["job"]["result"]["tables"]]
        groups = {tuple([names.index(name) if name else len(names)]) for name in tables}
        axes = [("question", key) for key in found["asked"]["questions"]] + [("stratum", stratum)]
        yield from world.analysis(axes, found["release"], groups)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=SLOW) for seed in (2, 3))])
@pytest.mark.slow
def test_page_export_and_api_publish_the_same_figures(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[Any] = []
    monkeypatch.setattr(tasks.run, "delay", lambda pk: messages.append((tasks.run, pk)))
    at_once = SimpleNamespace(atomic=transaction.atomic, on_commit=lambda call, robust: call())
    monkeypatch.setattr(work, "transaction", at_once)
    counts = SimpleNamespace(apply_async=lambda: None)

    def group(signatures: Any) -> Any:
        messages.extend((tasks.count, *signature.args) for signature in list(signatures))
        return counts

    monkeypatch.setattr(tasks, "group", group)
    world = World(seed)
    client = builders.client(builders.alice(world.survey))
    seen: list[dict[str, Any]] = []
    for arriving in (60, 7, 90, 200, 3):
        if arriving < CROWD:
            world.survey.close()
        world.arrive(arriving)
        world.publish()
        number = max(world.held)
        page = from_the_page(client, world)
        export, api = (read(client, world, number) for read in (from_the_export, from_the_api))
        assert page and {row["n"] for row in page} <= {row["n"] for row in api}
        assert [row["n"] for row in export] == [row["n"] for row in api]
        seen += page + export + api
        analysed_by_the_api(client, world, messages)
    found = distinct(analyses_from_the_api(client, world))
    assert found or world.frozen.ask < 2 <= len(world.frozen.blocks)  # or nobody is asked both
    assert attack(world, distinct(world.tables(seen)) + found) == []


# --- Each rule is needed --------------------------------------------------------------------------


def no_small_groups(sizes: Any, crowd: int) -> set[int]:
    return {i for i, size in enumerate(sizes) if size}


def each_on_its_own(before: Any, now: Any, crowd: int, final: bool) -> set[str]:
    return {
        key
        for key, sizes in now.items()
        if final or key not in before or gate.may_replace(before[key], sizes, crowd)
    }


def only_large(release: Any, one: overlaps.Analysed, others: Any) -> Any:
    return set(one.shown), {}


def all_grown(now: Any, growth: Any, visible: set[int], crowd: int) -> set[int]:
    return visible


OFF: dict[str, list[tuple[str, Any]]] = {
    "rule 1": [("aggregation.gate.shown", no_small_groups)],
    "rule 2": [("aggregation.gate.may_replace", lambda before, sizes, crowd: True)],
    # Rule 4 has rule 3 in it, which is only quicker.
    "rules 3 and 4": [
        ("aggregation.gate.fresh", each_on_its_own),
        ("aggregation.gate.cut", lambda counts, crowd: None),
    ],
    "rule 4": [("aggregation.gate.cut", lambda counts, crowd: None)],
    "rule 4 between releases": [("aggregation.overlaps._earlier", lambda *_: iter(()))],
    "rule 4 for analyses": [("aggregation.work.compare", only_large)],
    "rule 4 for analyses before": [
        ("aggregation.overlaps.forgotten", lambda release: release.number - 1),
        ("aggregation.overlaps._grown", all_grown),
    ],
    "growth, where it is not known who was there": [("aggregation.overlaps._grown", all_grown)],
    "analyses, for tables after them": [
        ("aggregation.overlaps.Past.analyses", property(lambda _: {}, lambda *_: None))
    ],
}


@SLOW
@pytest.mark.parametrize("rule", OFF)
@pytest.mark.slow
def test_the_attacker_wins_where_a_rule_is_switched_off(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, other in OFF[rule]:
        monkeypatch.setattr(name, other, raising=False)
    for seed in (0, 101, 199, *range(100, 300)):  # the first three are enough
        world = lived(seed)
        if attack(world, everything(world)):
            return
    pytest.fail("nobody needs this rule")


COPY = {
    "with all rules": None,
    "without rule 4 for the copy": ("aggregation.reports._apart", lambda *_: True),
    "without the copy for analyses": (
        "aggregation.overlaps._copy",
        lambda _: Split((), np.zeros(1, dtype=np.intp), 1),
    ),
}


@SLOW
@pytest.mark.parametrize("rule", COPY)
def test_the_attacker_also_uses_the_export_of_the_reports(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last of four strata is the sum of the others but for a few; any three are well mixed."""
    off = COPY[rule]
    if off:
        monkeypatch.setattr(*off)
    world = World(3, ["free", "free", "free", "sum"])
    world.arrive(600)
    world.publish()
    world.survey.close()
    world.arrive(2)
    world.publish()
    world.analyse(world.weights("q1", ["s2", "s3"]))
    published = everything(world)
    assert "copy" in {one.what for one in published}
    assert bool(attack(world, published)) == bool(off)
