"""After a move nothing in the database joins an id to a content.

Each test has a database of its own and looks below Django. 2,000 reports arrive one by one, each
with a content that no other has, so that every one can be found again in its batch.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from scipy import stats

from aggregation.counting.planes import unpack
from survey.design import Design
from tests.support.stores import BOTH, Store

# Six correlations of orders that nothing seeds: one run in 10^8 finds one by chance.
QUESTIONS, REPORTS, CROWD, ALPHA = 11, 2000, 20, 1e-9
SURVEY = {
    "slug": "links",
    "title": "As many contents as reports",
    "epsilon": 8,
    "crowd": CROWD,
    "questions": [{"key": f"q{i}", "text": "?", "kind": "yes_no"} for i in range(QUESTIONS)],
    "blocks": [[f"q{i}" for i in range(QUESTIONS)]],
}
IDS = "SELECT id FROM survey_report ORDER BY "
PLACE = {"sqlite": "rowid", "postgresql": "ctid"}
COLLECT = "from aggregation.releases import collect; print(collect.collect(Survey.objects.get()))"
# Without shuffling; and on PostgreSQL, which reads in no order, in that of the ids.
IN_ORDER = """
from aggregation.releases import collect
from survey.database import postgresql
read = postgresql.read_waiting
def by_id(survey, most):
    contents, places = read(survey, most)
    places, contents = zip(*sorted(zip(places, contents)))
    return list(contents), list(places)
postgresql.read_waiting, collect.shuffled = by_id, lambda rows: rows
"""


both = pytest.mark.parametrize("kind", BOTH)
postgresql_only = pytest.mark.parametrize("kind", BOTH[1:])


def content(number: int) -> bytes:
    return bytes(number >> digit & 1 for digit in range(QUESTIONS))


def number(content: Iterable[int]) -> int:
    return sum(int(bit) << digit for digit, bit in enumerate(content))


def arrive(store: Store, first: int, last: int) -> list[UUID]:
    """Store reports with the contents first, …, last-1 in this order; the survey is open."""
    if not store.rows("SELECT 1 FROM survey_survey"):
        store.manage("import_survey", "-", "--open", stdin=json.dumps(SURVEY))
    ids = [uuid4() for _ in range(first, last)]
    mark = "%s" if store.url else "?"
    insert = f"INSERT INTO survey_report (id, survey_id, content) VALUES ({mark}, 1, {mark})"
    with store.connect() as connection:
        for i, pk in enumerate(ids, first):
            connection.execute(insert, [pk if store.url else pk.hex, content(i)])
    return ids


def places(store: Store) -> dict[UUID, int]:
    """Return the place of each id in its table."""
    found = store.rows(IDS + PLACE[store.kind])
    return {pk if store.url else UUID(hex=pk): i for i, (pk,) in enumerate(found)}


def stored(store: Store, beside: str = "id") -> Iterator[tuple[Any, list[int]]]:
    """Return the contents of every batch in order, with a value stored next to them."""
    design = Design.from_json(store.rows("SELECT design FROM survey_survey")[0][0])
    for key, reports, data in store.rows(
        f"SELECT {beside}, reports, columns FROM aggregation_batch ORDER BY id"
    ):
        yield key, [number(column) for column in unpack(data, reports, design).T]


def close(store: Store) -> None:
    """Close the survey and move all reports."""
    store.execute("UPDATE survey_survey SET state = 'closed', closed_on = CURRENT_DATE")


def correlated(one: Iterable[int], other: Iterable[int]) -> bool:
    """Spearman's rank correlation."""
    return bool(stats.spearmanr(list(one), list(other)).pvalue < ALPHA)


def orders_alike(store: Store, ids: list[UUID]) -> list[str]:
    """Correlate arrival, the ids' places in their table, and the contents' places in the batch."""
    ((_, order),) = stored(store)
    assert sorted(order) == list(range(REPORTS))
    place = places(store)
    found = {
        "arrival": range(REPORTS),
        "table": [place[pk] for pk in ids],
        "batch": np.argsort(order).tolist(),
    }
    pairs = combinations(found, 2)
    return [f"{one} {other}" for one, other in pairs if correlated(found[one], found[other])]


@both
@pytest.mark.slow
def test_no_order_of_arrival_is_left(store: Store) -> None:
    ids = arrive(store, 0, REPORTS)
    close(store)
    assert store.python(COLLECT).split() == [str(REPORTS)]
    assert orders_alike(store, ids) == []
    place = places(store)
    assert sorted(ids) == sorted(ids, key=lambda pk: place[pk])  # stored in their own order


@both
@pytest.mark.slow
def test_the_same_test_finds_a_move_that_keeps_order(store: Store) -> None:
    """Once without shuffling the batch, once with the rows emptied in place."""
    ids = arrive(store, 0, REPORTS)
    close(store)
    before = places(store)
    assert store.python(IN_ORDER, COLLECT).split() == [str(REPORTS)]
    # SQLite reads them in the order of arrival.
    assert orders_alike(store, ids) == [{"sqlite": "arrival batch"}.get(store.kind, "table batch")]
    assert correlated(range(REPORTS), [before[pk] for pk in ids])
    ids = arrive(store, 0, REPORTS)
    store.execute("UPDATE survey_report SET content = NULL WHERE content IS NOT NULL")
    place = places(store)
    assert correlated(range(REPORTS), [place[pk] for pk in ids])


# --- Joins in PostgreSQL --------------------------------------------------------------------------

# All that two tables can share: what PostgreSQL notes beside each row, and the columns.
SHARED = ["xmin", "xmax", "cmin", "cmax", "ctid", "survey_id"]


def candidates(
    ids: Iterable[tuple[Any, Any]], contents: Iterable[tuple[Any, Any]]
) -> list[tuple[int, int]]:
    """For each value on both sides, count the ids and the contents that have it."""
    left, right = Counter(key for key, _ in ids), Counter(key for key, _ in contents)
    return [(left[key], right[key]) for key in left.keys() & right.keys()]


def joins(store: Store) -> dict[str, list[tuple[int, int]]]:
    found = {}
    for column in SHARED:
        ids = store.rows(f"SELECT {column}::text, id FROM survey_report")
        contents = [(key, one) for key, some in stored(store, f"{column}::text") for one in some]
        found[column] = candidates(ids, contents)
    return found


def linked(pairs: list[tuple[int, int]]) -> int:
    """Count the ids that share a value with exactly one content."""
    return sum(pair == (1, 1) for pair in pairs)


@postgresql_only
def test_no_join_maps_an_id_to_a_content(store: Store) -> None:
    """After three moves and a closing with one more report, a join finds a crowd."""
    for first, last in ((0, 500), (500, 520), (520, 1000)):
        arrive(store, first, last)
        store.python(COLLECT)
    arrive(store, 1000, 1001)
    close(store)
    assert store.python(COLLECT).split() == ["21"]
    assert sorted(one for _, some in stored(store) for one in some) == list(range(1001))
    found = joins(store)
    assert found["xmin"]  # a batch and the ids of its reports do share their transaction
    for column, pairs in found.items():
        assert all(contents >= CROWD for _, contents in pairs), column
    assert sorted(found["xmin"]) == [(20, 20), (21, 21), (480, 480), (480, 480)]


@postgresql_only
def test_the_same_join_finds_rows_that_were_written_together(store: Store) -> None:
    """If each report's transaction also marks another row, the join finds 200 of 200."""
    arrive(store, 0, 0)
    with store.connect() as connection:
        connection.execute("CREATE TABLE marks (content int)")
        for i, pk in enumerate(uuid4() for _ in range(200)):
            with connection.transaction():
                connection.execute("INSERT INTO survey_report (id, survey_id) VALUES (%s, 1)", [pk])
                connection.execute("INSERT INTO marks VALUES (%s)", [i])
    ids = store.rows("SELECT xmin::text, id FROM survey_report")
    marks = store.rows("SELECT xmin::text, content FROM marks")
    assert linked(candidates(ids, marks)) == 200


@postgresql_only
def test_emptied_contents_leave_the_table_after_a_vacuum(store: Store) -> None:
    """No statement can read them; their bytes stay in free space until that is used again.

    docs/operations.md says so, and that VACUUM FULL removes them, which this test shows as well.
    """
    ids = arrive(store, 0, REPORTS)
    telling = range(5, REPORTS, 8)  # contents that begin with yes, no, yes cannot be padding

    def found() -> int:
        """Count the contents next to their id in the table's file."""
        store.execute("CHECKPOINT")
        folder, name = store.rows(
            "SELECT current_setting('data_directory'), pg_relation_filepath('survey_report')"
        )[0]
        data = Path(folder, name).read_bytes()
        beside = [re.escape(ids[i].bytes) + rb".{1,16}?" + re.escape(content(i)) for i in telling]
        return sum(re.search(pattern, data, re.DOTALL) is not None for pattern in beside)

    def dead() -> int:
        """Return PostgreSQL's count of row versions that statements could still find."""
        with store.connect() as connection:
            notices: list[str] = []
            connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
            connection.execute("VACUUM (VERBOSE) survey_report")
        return sum(map(int, re.findall(r"tuples: (\d+) removed", "\n".join(notices))))

    assert found() == len(telling)
    close(store)
    store.python(
        "survey = Survey.objects.get()", "tasks.release(Job.objects.create(survey=survey))"
    )
    assert dead() == 0  # the release job has vacuumed
    size = "SELECT pg_relation_size('survey_report')"
    before = store.rows(size)
    arrive(store, 0, 100)
    assert store.rows(size) == before  # freed space is used again
    store.execute("VACUUM FULL survey_report")
    assert found() == 0
