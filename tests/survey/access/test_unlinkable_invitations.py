"""Nothing in the database leads from an invitation to a report.

Each test has a database of its own and looks below Django. 200 invited people fetch a pass and
spend it at once, one after the other: the worst order there is, and before a move PostgreSQL does
tell it. After the move it must be gone.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tests.support import builders
from tests.support.stores import BOTH, Store

# Codes and passes are secrets, so these draws have no seed. Four correlations are looked at, and
# six joins: in a random order the number of people found in their own place is about Poisson with
# mean 1, and above 13 with a probability of 5e-12. Both together fail once in 10^8 runs.
PEOPLE, ALPHA, BY_CHANCE = 200, 1e-9, 13
SURVEY = builders.FILE | {"slug": "links", "access": "invited"}

# Everybody fetches a pass and spends it; prints (code, digest, id, message, signature) of each.
VISITS = """
import json
from survey.access import exchange, invitations
from survey.design import passes
from survey import simulation
from survey.collect import door
from survey.models import Survey, digest
survey = Survey.objects.get()
design = survey.frozen_design()
here = door.target_of(survey.slug)
for code in invitations.make(survey, {people}):
    prepared = passes.prepare()
    blinded, inverse = passes.blind(here.validator.key, prepared)
    asked = {{"code": code, "blinded": passes.to_text(blinded)}}
    signed = passes.from_text(exchange.exchange(here.survey, here.validator.key, asked), 256)
    one = passes.Pass(prepared, passes.finalize(here.validator.key, prepared, signed, inverse))
    report = {{"id": one.id, "design": design.hash, "blocks": {{"b1": [0, 1], "g1": [2]}},
              "pass": one.as_text()}}
    (row,) = simulation.accept(survey.slug, {{"reports": [report]}})
    assert row["status"] == 201, row
    print(json.dumps([code, digest(code), one.id, *one.as_text().values()]))
"""
RELEASE = "tasks.release(Job.objects.create(survey=Survey.objects.get()))"
TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
}

pytestmark = pytest.mark.xdist_group("unlinkable")  # the visits of each kind are made once

both = pytest.mark.parametrize("kind", BOTH)
postgresql_only = pytest.mark.parametrize("kind", BOTH[1:])


@pytest.fixture(scope="module")
def visits(
    migrated: Callable[[str], Store], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[Store, list[list[str]]]]:
    """Return a database after the visits, for tests to copy, and what each person had."""

    @cache
    def get(kind: str) -> tuple[Store, list[list[str]]]:
        store = Store(kind, tmp_path_factory.mktemp(kind), migrated(kind))
        store.manage("import_survey", "-", "--open", stdin=json.dumps(SURVEY))
        printed = store.python(VISITS.format(people=PEOPLE))
        store.manage.end()
        found = [json.loads(line) for line in printed.splitlines()]
        assert len(found) == PEOPLE
        return store, found

    return get


@pytest.fixture
def store(kind: str, visits: Callable[[str], tuple[Store, Any]], tmp_path: Path) -> Store:
    return Store(kind, tmp_path, visits(kind)[0])


@pytest.fixture
def people(kind: str, visits: Callable[[str], tuple[Any, list[list[str]]]]) -> list[list[str]]:
    return visits(kind)[1]


def values(store: Store, column: str, table: str, key: str) -> dict[str, str]:
    """Return a column, hidden or not, by the key of each row."""
    return {
        str(pk).replace("-", ""): str(value)
        for pk, value in store.rows(f"SELECT {key}, {column} FROM {table}")
    }


def correlation(store: Store, people: list[list[str]], place: str) -> Any:
    """Return Spearman's correlation of the places of invitations and reports."""
    orders = []
    for table, key, of in (("survey_invitation", "digest", 1), ("survey_report", "id", 2)):
        rows = store.rows(f"SELECT {key} FROM {table} ORDER BY {place}")
        order = {str(pk).replace("-", ""): i for i, (pk,) in enumerate(rows)}
        orders.append([order[one[of].replace("-", "")] for one in people])
    return stats.spearmanr(*orders)


def pairs(store: Store, people: list[list[str]], column: str) -> int:
    """Count the people whose value in a column is unique on both sides."""
    left = values(store, f"{column}::text", "survey_invitation", "digest")
    right = values(store, f"{column}::text", "survey_report", "id")
    alone = Counter(left.values()), Counter(right.values())
    return sum(
        left[one[1]] == right[one[2].replace("-", "")]
        and all(count[left[one[1]]] == 1 for count in alone)
        for one in people
    )


def dead(store: Store) -> int:
    """Return PostgreSQL's count of invitation versions that statements could still find."""
    with store.connect() as connection:
        notices: list[str] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        connection.execute("VACUUM (VERBOSE) survey_invitation")
    found = re.findall(r"tuples: (\d+) removed", "\n".join(notices))
    assert found
    return sum(map(int, found))


@postgresql_only
def test_no_join_and_no_order_leads_from_an_invitation_to_a_report(
    store: Store, people: list[list[str]]
) -> None:
    before = correlation(store, people, "xmin::text::bigint")
    assert before.statistic > 0.99  # what a thief would find now
    store.python(RELEASE)
    for place in ("xmin::text::bigint, ctid", "ctid"):
        assert correlation(store, people, place).pvalue > ALPHA, place
    for column in ("xmin", "xmax", "cmin", "cmax", "ctid", "survey_id"):
        assert pairs(store, people, column) <= BY_CHANCE, column  # because there are few places
    assert pairs(store, people, "xmin") == 0
    transactions = store.rows("SELECT DISTINCT xmin::text FROM survey_invitation")
    assert len(transactions) == 1
    assert dead(store) == 0  # the job has vacuumed
    store.python("Survey.objects.get().close()")
    assert store.rows("SELECT count(*) FROM survey_invitation") == [(0,)]
    assert store.rows("SELECT invited, fetched FROM survey_survey") == [(PEOPLE, PEOPLE)]


@both
@pytest.mark.slow
def test_no_code_and_no_pass_is_in_any_table(store: Store, people: list[list[str]]) -> None:
    for moved in (False, True):
        if moved:
            store.python(RELEASE)
        tables = [name for (name,) in store.rows(TABLES[store.kind])]
        assert {"survey_invitation", "survey_report", "aggregation_batch"} <= set(tables)
        everything = {name: str(store.rows(f'SELECT * FROM "{name}"')) for name in tables}
        for code, digest, pk, message, signature in people:
            for secret in (code, message, signature):
                assert not [name for name in tables if secret in everything[name]]
            here = [name for name in tables if digest in everything[name]]
            assert here == ["survey_invitation"]
            bare = pk.replace("-", "")
            there = [name for name in tables if pk in everything[name] or bare in everything[name]]
            assert there == ["survey_report"]


@pytest.mark.parametrize("kind", BOTH[:1])
@pytest.mark.slow
def test_sqlite_keeps_the_order_of_the_digests(store: Store, people: list[list[str]]) -> None:
    assert correlation(store, people, "rowid").pvalue > ALPHA
    store.python(RELEASE)
    assert correlation(store, people, "rowid").pvalue > ALPHA
