"""Several movers at the same time: every report is moved once, and only in crowds."""

import json
import subprocess
import sys
from collections import Counter
from uuid import uuid4

import numpy as np
import pytest

from aggregation.counting.planes import unpack
from survey.design import Design
from tests.support import builders
from tests.support.services import ROOT
from tests.support.stores import BOTH, Store

REPORTS, CROWD = 6000, 20
both = pytest.mark.parametrize("kind", BOTH)

# What one process does: moves in small batches and publishes, until nothing is left to do. Another
# may hold what it does not get: it looks again until no more may be moved.
WORK = """
from aggregation.releases import collect
from aggregation.releases.publish import publish
collect.BATCH_SIZE = 150
survey = Survey.objects.get()
moved = 0
while collect.movable(survey, survey.pending().count()):
    moved += collect.collect(survey)
    publish(survey)
print(moved)
"""


def arrive(store: Store, reports: int) -> Counter[bytes]:
    if not store.rows("SELECT 1 FROM survey_survey"):
        store.manage("import_survey", "-", "--open", stdin=json.dumps(builders.FILE))
    rng = np.random.default_rng(reports)
    columns = [rng.integers(0, size, reports) for size in (2, 4, 3)]
    contents = [bytes(map(int, row)) for row in zip(*columns, strict=True)]
    mark = "%s" if store.url else "?"
    insert = f"INSERT INTO survey_report (id, survey_id, content) VALUES ({mark}, 1, {mark})"
    with store.connect() as connection:
        connection.execute("BEGIN")
        for content in contents:
            pk = uuid4()
            connection.execute(insert, [pk if store.url else pk.hex, content])
        connection.execute("COMMIT")
    return Counter(contents)


def stored(store: Store) -> Counter[bytes]:
    design = Design.from_json(store.rows("SELECT design FROM survey_survey")[0][0])
    found: Counter[bytes] = Counter()
    for reports, data in store.rows("SELECT reports, columns FROM aggregation_batch"):
        assert reports >= CROWD
        found.update(bytes(row) for row in unpack(data, reports, design).T)
    return found


def close(store: Store) -> None:
    store.execute("UPDATE survey_survey SET state = 'closed', closed_on = CURRENT_DATE")


def waiting(store: Store) -> int:
    count = "SELECT count(*) FROM survey_report WHERE content IS NOT NULL"
    return int(store.rows(count)[0][0])


def side_by_side(store: Store, processes: int) -> int:
    """Run processes at the same time; return how many reports they moved."""
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", WORK]
    running = [
        subprocess.Popen(command, cwd=ROOT, env=store.env, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    moved = [int(process.communicate(timeout=240)[0]) for process in running]
    assert all(process.returncode == 0 for process in running)
    return sum(moved)


@both
@pytest.mark.slow
def test_movers_and_publishers_at_once_lose_nothing_and_leave_a_crowd_behind(store: Store) -> None:
    contents = arrive(store, REPORTS)
    assert side_by_side(store, 3) + waiting(store) == REPORTS
    assert CROWD <= waiting(store) < 2 * CROWD
    contents += arrive(store, 7)
    close(store)
    side_by_side(store, 3)
    assert waiting(store) == 0
    assert stored(store) == contents
    rows = store.rows("SELECT reports, final FROM aggregation_release ORDER BY number")
    sizes = [reports for reports, _ in rows]
    assert all(after - before >= CROWD for before, after in zip([0, *sizes], sizes, strict=False))
    assert sizes[-1] == REPORTS + 7 and rows[-1][1]
    assert store.rows("SELECT count(*) FROM survey_report") == [(REPORTS + 7,)]
