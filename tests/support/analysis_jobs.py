"""Surveys with a release, and the work on their analyses without a queue."""

from typing import Any

from aggregation.releases.collect import collect
from aggregation.releases.publish import publish
from survey.models import Survey
from tests.support import builders


def work_off(messages: list[tuple[Any, ...]], twice: bool = False, backwards: bool = False) -> None:
    while messages:
        task, *arguments = messages.pop(-1 if backwards else 0)
        for _ in range(2 if twice else 1):
            task(*arguments)


def published(people: int = 300, batches: int = 3, **changes: Any) -> Survey:
    survey = builders.opened(**changes)
    for seed in range(batches):
        builders.send(survey, people // batches, seed=seed)
        assert collect(survey)
    publish(survey)
    return survey
