"""A simulated population that answers a survey through the real randomizer and the real checks.

Only for surveys that may be filled with invented people: demos, tests and rehearsals.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any
from uuid import uuid4

from survey.collect import door
from survey.collect.validator import is_proof_of_work
from survey.design import Design, Question, passes
from survey.design.mechanism import Answer
from survey.design.questions import pick
from survey.models import PassKey, Report

Shares = Mapping[str, Sequence[float]]  # question key → shares, see Question.simulate
# The shares of the sensitive answers of one person, given their background answers.
Population = Callable[[Mapping[str, int]], Shares]


def secure_draw() -> int:
    return secrets.randbits(32)


def uniform_shares(questions: Sequence[Question]) -> dict[str, list[float]]:
    """Return shares with which all answers of each question are equally likely."""
    return {question.key: question.uniform() for question in questions}


def report(
    design: Design, population: Population, background: Shares, random: Random
) -> dict[str, Any]:
    """Return the report of one invented person.

    The answers come from `random`, the noise never does.
    """
    groups = {one.key: pick(background[one.key], random) for one in design.background}
    answers = {**groups, **sensitive_answers(design, population(groups), random)}
    blocks = {}
    for block in design.choose(secure_draw):
        given = [answers[question.key] for question in block.questions]
        blocks[block.key] = list(block.mechanism.randomize(given, secure_draw))
    return {"id": str(uuid4()), "design": design.hash, "blocks": blocks}


def sensitive_answers(design: Design, shares: Shares, random: Random) -> dict[str, Answer]:
    """Return the answers of one invented person, None to follow-ups that are not asked."""
    options = {question.key: [one.key for one in question.options] for question in design.questions}
    answers: dict[str, Answer] = {}
    for block in design.sensitive_blocks:
        for question in block.questions:
            if question.key in answers:
                continue
            key, wanted = question.only_if or ("", ())
            gate = answers.get(key)
            asked = not key or (isinstance(gate, int) and options[key][gate] in wanted)
            answers[question.key] = (
                question.simulate(shares[question.key], random) if asked else None
            )
    return answers


def admitted(report: dict[str, Any], design: Design, key: bytes = b"") -> dict[str, Any]:
    """Return the report with the pass (signed with `key`) or proof of work that it needs."""
    if design.passes:
        signed = passes.sign(passes.private_key(key), passes.prepare())
        return report | {"id": signed.id, "pass": signed.as_text()}
    if design.work:
        prove = partial(is_proof_of_work, design.hash, report["id"], bits=design.work)
        return report | {"work": next(filter(prove, (f"{n:08x}" for n in range(1 << 32))))}
    return report


def send(
    slug: str,
    design: Design,
    people: int,
    population: Population,
    background: Shares,
    random: Random,
) -> Iterator[int]:
    """Send the reports of this many people; yield how many are stored so far."""
    stored = 0
    key = bytes(PassKey.objects.get(survey__slug=slug).private) if design.passes else b""
    while stored < people:
        size = min(500, people - stored)
        reports = [
            admitted(report(design, population, background, random), design, key)
            for _ in range(size)
        ]
        rows = accept(slug, {"reports": reports})
        refused = [row for row in rows if row["status"] != 201]
        if refused:
            raise RuntimeError(f"a simulated report was refused: {refused[0]}")
        stored += size
        yield stored


def accept(slug: str, content: Any) -> list[dict[str, Any]]:
    """Check and store a batch of reports; return a row for each report."""
    delivery = door.check_batch(door.target_of(slug), door.list_reports(content))
    reply = delivery.reply(Report.objects.record(delivery.reports))
    rows: list[dict[str, Any]] = json.loads(reply.body)["reports"]
    return rows
