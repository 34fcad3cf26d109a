"""The database of a new installation."""

import pytest

from tests.support.stores import BOTH, Store


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
