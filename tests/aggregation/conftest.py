"""Databases for tests that commit or look below Django, and a queue that tests work off."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction

from aggregation.jobs import queue, tasks
from aggregation.models import job as jobs
from tests.support.stores import Store


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


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What would be on the queue, in order; `work_off` does it. Its contents are ids."""
    sent: list[tuple[Any, ...]] = []
    app = SimpleNamespace(send_task=lambda name, args: sent.append((tasks.run, *args)))
    monkeypatch.setattr(jobs, "current_app", app)
    at_once = SimpleNamespace(atomic=transaction.atomic, on_commit=lambda call, robust: call())
    monkeypatch.setattr(jobs, "transaction", at_once)
    monkeypatch.setattr(queue, "transaction", at_once)

    class Group:
        def __init__(self, signatures: Any) -> None:
            self.signatures = list(signatures)

        def apply_async(self) -> None:
            sent.extend((tasks.count, *signature.args) for signature in self.signatures)

    monkeypatch.setattr(tasks, "group", Group)
    return sent
