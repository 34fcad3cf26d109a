"""A queue that tests process."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction

from aggregation.jobs import requests, tasks
from aggregation.models import job as jobs


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Collect the messages that would be queued, in order; `work_off` processes them."""
    sent: list[tuple[Any, ...]] = []
    app = SimpleNamespace(send_task=lambda name, args: sent.append((tasks.run, *args)))
    monkeypatch.setattr(jobs, "current_app", app)
    at_once = SimpleNamespace(atomic=transaction.atomic, on_commit=lambda call, robust: call())
    monkeypatch.setattr(jobs, "transaction", at_once)
    monkeypatch.setattr(requests, "transaction", at_once)

    class Group:
        def __init__(self, signatures: Any) -> None:
            self.signatures = list(signatures)

        def apply_async(self) -> None:
            sent.extend((tasks.count, *signature.args) for signature in self.signatures)

    monkeypatch.setattr(tasks, "group", Group)
    return sent
