"""Several movers at once, on real connections: every report is moved once, and only in crowds."""

import json
import subprocess
import sys
import threading
from collections import Counter
from uuid import uuid4

import numpy as np
import psycopg
import pytest

from aggregation import batches
from survey.design import Design
from tests.support import builders
from tests.support.services import ROOT, wait_until
from tests.support.stores import BOTH, Store

REPORTS, CROWD = 6000, 20
both = pytest.mark.parametrize("kind", BOTH)

# What one process does: moves in small batches, publishes and merges, until nothing is left to do.
# Others may hold what it does not get: it looks again until less than `least` wait.
WORK = """
from aggregation import models
from aggregation.models import *
models.BATCH_SIZE, models.MANY_SMALL = 150, 5
survey = Survey.objects.get()
least = survey.crowd if survey.state == "open" else 1
moved, some = 0, True
while some or survey.pending().count() >= least:
    some = Batch.objects.collect(survey)
    moved += some
    Release.objects.publish(survey)
    Batch.objects.merge(survey)
print(moved)
"""


def arrive(store: Store, reports: int) -> Counter[bytes]:
    if not store.rows("SELECT 1 FROM survey_survey"):
        store.manage("import_survey", "-", "--open", stdin=json.dumps(builders.FILE))
    rng = np.random.default_rng(reports)
    columns = [rng.integers(0, size, reports) for size in (2, 4, 2)]
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
        found.update(bytes(row) for row in batches.unpack(data, reports, design).T)
    return found


def close(store: Store) -> None:
    store.execute("UPDATE survey_survey SET state = 'closed', closed_on = CURRENT_DATE")


def waiting(store: Store) -> int:
    count = "SELECT count(*) FROM survey_report WHERE content IS NOT NULL"
    return int(store.rows(count)[0][0])


def side_by_side(store: Store, processes: int) -> int:
    """So many processes do their work at the same time; how many reports they have moved."""
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
def test_movers_publishers_and_mergers_at_once_lose_nothing(store: Store) -> None:
    contents = arrive(store, REPORTS)
    assert side_by_side(store, 3) + waiting(store) == REPORTS
    assert waiting(store) < CROWD
    contents += arrive(store, 7)
    close(store)
    side_by_side(store, 3)
    assert waiting(store) == 0
    assert stored(store) == contents
    reports = store.rows("SELECT reports, final FROM aggregation_release ORDER BY number DESC")
    assert reports[0][0] == REPORTS + 7 and reports[0][1]
    assert store.rows("SELECT count(*) FROM survey_report") == [(REPORTS + 7,)]


@pytest.mark.parametrize("kind", BOTH[1:])
@pytest.mark.parametrize("state", ["open", "closed"])
@pytest.mark.parametrize("outcome", ["leaves", "moves"])
def test_a_crowd_split_between_two_movers_is_still_moved(
    store: Store, state: str, outcome: str
) -> None:
    """Another mover holds 15 of 30: we take our 15 neither alone nor in vain."""
    contents = arrive(store, 30)
    if state == "closed":
        close(store)
    done: list[str] = []
    mover = threading.Thread(
        target=lambda: done.append(
            store.python("print(Batch.objects.collect(Survey.objects.get()))")
        )
    )
    hold = "SELECT id FROM survey_report WHERE content IS NOT NULL LIMIT 15 FOR UPDATE"
    with psycopg.connect(store.url) as other:
        held = [pk for (pk,) in other.execute(hold)]
        mover.start()
        wait_for_a_lock(store)
        if outcome == "leaves":
            other.rollback()
        else:  # as if it had found five more
            other.execute("UPDATE survey_report SET content = NULL WHERE id = ANY(%s)", [held])
            other.commit()
    mover.join()
    if outcome == "leaves":
        assert done == ["30\n"] and stored(store) == contents
    elif state == "open":
        assert done == ["0\n"] and waiting(store) == 15
    else:  # all that is left of a closed survey without any batch
        assert done == ["15\n"] and waiting(store) == 0


def wait_for_a_lock(store: Store) -> None:
    blocked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    here = " AND datname = current_database()"
    wait_until(lambda: store.rows(blocked + here) != [(0,)], 60, "a mover that waits")
