"""A simulated population that answers a survey through the real randomizer and the real checks.

Only for surveys one is willing to fill with invented people: demos, tests, rehearsals.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any
from uuid import uuid4

from survey.collect import door
from survey.collect.validator import works
from survey.design import Design, Question, passes
from survey.models import PassKey, Report

Shares = Mapping[str, Sequence[float]]  # question key → share of each option
# The shares of the sensitive answers of one person, given their background answers.
Population = Callable[[Mapping[str, int]], Shares]


def secure_draw() -> int:
    return secrets.randbits(32)


def uniform_shares(questions: Sequence[Question]) -> dict[str, list[float]]:
    return {question.key: [1 / question.size] * question.size for question in questions}


def report(
    design: Design, population: Population, background: Shares, random: Random
) -> dict[str, Any]:
    """Return what one invented person sends.

    The answers are drawn from `random`, the noise never is.
    """
    given = {one.key: _pick(background[one.key], random) for one in design.background}
    shares = population(given)
    answered = {key: [float(i == value) for i in range(value + 1)] for key, value in given.items()}
    shares = {**shares, **answered}
    blocks = {}
    for block in design.choose(secure_draw):
        answers = [_pick(shares[question.key], random) for question in block.questions]
        blocks[block.key] = list(block.mechanism.randomize(answers, secure_draw))
    return {"id": str(uuid4()), "design": design.hash, "blocks": blocks}


def admitted(report: dict[str, Any], design: Design, key: bytes = b"") -> dict[str, Any]:
    """The report with what lets it in: a pass signed with the survey's key, or a proof of work."""
    if design.passes:
        one = passes.sign(passes.private_key(key), passes.prepare())
        return report | {"id": one.id, "pass": one.as_text()}
    if design.work:
        nonces = (f"{number:08x}" for number in range(1 << 32))
        found = (one for one in nonces if works(design.hash, report["id"], one, design.work))
        return report | {"work": next(found)}
    return report


def send(
    slug: str,
    design: Design,
    people: int,
    population: Population,
    background: Shares,
    random: Random,
) -> Iterator[int]:
    """Send the reports of so many people; yield how many are stored so far."""
    stored = 0
    key = bytes(PassKey.objects.get(survey__slug=slug).private) if design.passes else b""
    while stored < people:
        some = min(500, people - stored)
        reports = [
            admitted(report(design, population, background, random), design, key)
            for _ in range(some)
        ]
        outcome = accept(slug, {"reports": reports})
        refused = [one for one in outcome if one["status"] != 201]
        if refused:
            raise RuntimeError(f"a simulated report was refused: {refused[0]}")
        stored += some
        yield stored


def _pick(shares: Sequence[float], random: Random) -> int:
    return random.choices(range(len(shares)), weights=shares)[0]


def accept(slug: str, content: Any) -> list[dict[str, Any]]:
    """Store a batch of reports through the checks of the door; return a row for each report."""
    delivery = door.check_batch(door.target_of(slug), door.list_reports(content))
    reply = delivery.reply(Report.objects.record(delivery.reports))
    rows: list[dict[str, Any]] = json.loads(reply.body)["reports"]
    return rows
