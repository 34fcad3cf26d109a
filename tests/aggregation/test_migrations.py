"""Upgrades of what is stored."""

import json
from pathlib import Path

import numpy as np
import pytest

from aggregation import batches, overlaps
from survey.design import Question, build, options_from_texts
from tests.stores import BOTH, Store

OLD = ("aggregation", "0002")


def question(key: str, *options: str) -> Question:
    return Question(key, "?", options_from_texts(options))


DESIGN = build(
    2.0,
    [question("q1", "No", "Yes"), question("q2", "A", "B", "C")],
    [question("age", "Young", "Old")],
    [["q1"], ["q2"]],
    1,
)


@pytest.mark.parametrize("kind", BOTH)
def test_batches_of_bytes_become_bit_planes(kind: str, tmp_path: Path) -> None:
    store = Store(kind, tmp_path)
    store.manage("migrate", "-v0", *OLD)
    store.manage("migrate", "-v0", "survey", "0009")  # the columns that are filled in below
    rng = np.random.default_rng(6)
    first = rng.integers(0, 2, 300)
    old = np.stack(
        [
            np.where(first == 0, rng.integers(0, 2, 300), batches.ABSENT),
            np.where(first == 1, rng.integers(0, 3, 300), batches.ABSENT),
            rng.choice([0, 1, batches.ABSENT], 300),
        ]
    ).astype(np.uint8)
    parts = [(1, old[:, :100]), (2, old[:, 100:])]
    mark = "%s" if store.url else "?"
    with store.connect() as connection:
        connection.execute(
            "INSERT INTO survey_survey (id, slug, title, introduction, language, translations,"
            " epsilon, crowd, state, design, design_hash, results_public)"
            f" VALUES (7, 'old', 'Old', '', 'en', '{{}}', 2, 20, 'closed', {mark}, 'x', false)",
            [DESIGN.canonical],
        )
        for number, part in parts:
            connection.execute(
                "INSERT INTO aggregation_batch"
                " (id, survey_id, number, reports, columns, tally, made_on)"
                f" VALUES ({mark}, 7, {mark}, {mark}, {mark}, {mark}, '2026-11-01')",
                [number, number, part.shape[1], part.tobytes(), json.dumps({"some": number})],
            )
    store.manage("migrate", "-v0")
    found = store.rows("SELECT id, reports, tally, columns FROM aggregation_batch ORDER BY id")
    for (number, part), (pk, reports, tally, data) in zip(parts, found, strict=True):
        tally = json.loads(tally) if isinstance(tally, str) else tally
        assert (pk, reports, tally) == (number, part.shape[1], {"some": number})
        assert np.array_equal(batches.unpack(data, reports, DESIGN), part)
    assert list_columns(store)[-1] == "columns" and "number" not in list_columns(store)


@pytest.mark.parametrize("kind", BOTH)
def test_a_new_installation_has_the_reports_last_and_apart(store: Store) -> None:
    assert list_columns(store)[-1] == "columns"
    if store.url:
        storage = "SELECT attstorage FROM pg_attribute WHERE attname = 'columns'"
        where = " AND attrelid = 'aggregation_batch'::regclass"
        assert store.rows(storage + where) == [("e",)]  # EXTERNAL


def list_columns(store: Store) -> list[str]:
    if store.url:
        statement = (
            "SELECT attname FROM pg_attribute WHERE attrelid = 'aggregation_batch'::regclass"
            " AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
        )
        return [name for (name,) in store.rows(statement)]
    return [row[1] for row in store.rows("PRAGMA table_info(aggregation_batch)")]


@pytest.mark.parametrize("kind", BOTH)
def test_the_gate_knows_the_last_release_from_before_it_remembered(
    kind: str, tmp_path: Path
) -> None:
    store = Store(kind, tmp_path)
    store.manage("migrate", "-v0", "aggregation", "0005")
    store.manage("migrate", "-v0", "survey", "0009")  # the columns that are filled in below
    mark = "%s" if store.url else "?"
    rows = np.array([[0, batches.ABSENT, 0]] * 30 + [[batches.ABSENT, 2, 1]] * 40, dtype=np.uint8)
    columns = ", ".join(
        f"(7, {number}, 70, false, '2026-11-01', {pk})" for pk, number in ((3, 1), (4, 2))
    )
    with store.connect() as connection:
        connection.execute(
            "INSERT INTO survey_survey (id, slug, title, introduction, language, translations,"
            " epsilon, crowd, state, design, design_hash, results_public)"
            f" VALUES (7, 'old', 'Old', '', 'en', '{{}}', 2, 20, 'open', {mark}, 'x', false)",
            [DESIGN.canonical],
        )
        connection.execute(
            "INSERT INTO aggregation_release (survey_id, number, reports, final, made_at, id)"
            f" VALUES {columns}"
        )
        connection.execute(
            "INSERT INTO aggregation_batch"
            " (survey_id, reports, made_on, release_id, tally, columns)"
            f" VALUES (7, 70, '2026-11-01', 4, '{{}}', {mark})",
            [batches.pack(rows, DESIGN)],
        )
        for position, (group, n) in enumerate([("young", "30"), ("old", "NULL")]):
            connection.execute(
                "INSERT INTO aggregation_estimate (release_id, as_of, position, question, option,"
                ' stratum, "group", n, level, method, size) VALUES'
                f" (4, 2, {position}, 'q1', 'yes', 'age', '{group}', {n}, 0.95, '', 30)"
            )
    store.manage("migrate", "-v0")
    ((release, shown, counts),) = store.rows("SELECT * FROM aggregation_overlap")
    shown = json.loads(shown) if isinstance(shown, str) else shown
    assert (release, shown) == (4, {"b1": {"age": [0]}, "b2": {}})
    assert overlaps.unpacked(bytes(counts), DESIGN)[:, 0].tolist() == [
        [30, 30, 0, 0],
        [40, 0, 40, 0],
    ]
    assert store.rows("SELECT release_id FROM aggregation_batch") == [(3,)]
