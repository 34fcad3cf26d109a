"""Databases for tests that commit or look below Django."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.stores import Store


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Store]:
    """A database without a survey, which tests copy: migrating takes seconds, copying does not."""

    @cache
    def get(kind: str) -> Store:
        result = Store(kind, tmp_path_factory.mktemp(kind))
        result.manage("migrate", "-v0")
        result.manage.end()
        return result

    return get


@pytest.fixture
def store(kind: str, migrated: Callable[[str], Store], tmp_path: Path) -> Store:
    """For tests with @pytest.mark.parametrize("kind", BOTH): a migrated database of their own."""
    return Store(kind, tmp_path, migrated(kind))
