"""Builders for the tests: a small survey, its people, and reports.

Olga owns the survey, Alice is a researcher and Victor a viewer of it; Charlie has an account and
must see nothing; Root is an admin.
"""

import json
from random import Random
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User

from aggregation.counting import planes
from aggregation.models import Batch
from aggregation.releases.publish import make_release
from survey import files, simulation
from survey.design import Design
from survey.models import Membership, Role, Survey, Team, TeamMembership
from tests.support.site import Client

FILE: dict[str, Any] = {
    "slug": "small",
    "title": "A small survey",
    "introduction": "Two questions and an age.",
    "epsilon": 2,
    "crowd": 20,
    "questions": [
        {"key": "q1", "text": "Did you?", "kind": "yes_no"},
        {
            "key": "q2",
            "text": "Which?",
            "kind": "choice",
            "options": ["Red", "Green", "Blue"],
            "prefer_not_to_say": True,
        },
    ],
    "background": [
        {"key": "age", "text": "How old are you?", "options": ["Under 30", "30 and over"]}
    ],
    "blocks": [["q1", "q2"]],
}

# A survey with every kind of question and a gate that is in two blocks.
EVERY_KIND: dict[str, Any] = {
    "slug": "every-kind",
    "title": "Every kind of question",
    "epsilon": 2,
    "population": 5_000,
    "questions": [
        {"key": "harassed", "text": "Were you harassed?", "kind": "yes_no"},
        {
            "key": "who",
            "text": "By whom?",
            "kind": "choice",
            "options": ["A superior", "A colleague", "Somebody else"],
            "prefer_not_to_say": True,
            "shuffled": True,
            "only_if": {"question": "harassed", "options": ["yes"]},
        },
        {
            "key": "often",
            "text": "How often?",
            "kind": "scale",
            "options": ["Once", "Sometimes", "Often"],
            "scores": [0, 1, 4],
            "only_if": {"question": "harassed", "options": ["yes"]},
        },
        {
            "key": "ill",
            "text": "How many days were you ill?",
            "kind": "number",
            "least": 0,
            "most": 60,
            "unit": "days",
        },
        {
            "key": "slept",
            "text": "How long did you sleep?",
            "kind": "number",
            "least": 0,
            "most": 24,
            "unit": "hours",
            "prefer_not_to_say": True,
        },
        {
            "key": "content",
            "text": "Are you content?",
            "kind": "scale",
            "options": ["No", "Partly", "Yes"],
            "prefer_not_to_say": True,
        },
        {
            "key": "took",
            "text": "Which of these did you take?",
            "kind": "several",
            "options": ["Alcohol", "Painkillers", "Sleeping pills", "Stimulants"],
            "picks": 3,
            "prefer_not_to_say": True,
        },
        {
            "key": "saw",
            "text": "Which of these did you see?",
            "kind": "several",
            "options": ["Theft", "Fraud", "Bribes"],
            "picks": 2,
        },
    ],
    "background": [{"key": "job", "text": "What is your job?", "options": ["Nurse", "Other"]}],
    "blocks": [
        ["harassed", "who"],
        ["harassed", "often"],
        ["ill"],
        ["slept"],
        ["content"],
        ["took"],
        ["saw"],
    ],  # fmt: skip
    "shuffled": True,
    "fillers": True,
}

# Every kind of question, with follow-ups of follow-ups, in one block for each tree.
EVERY_PATH: dict[str, Any] = {
    "slug": "every-path",
    "title": "Every kind of question",
    "epsilon": 4,
    "crowd": 20,
    "shuffled": True,
    "questions": [
        {"key": "harassed", "text": "Harassed?", "kind": "yes_no", "prefer_not_to_say": True},
        {
            "key": "who",
            "text": "By whom?",
            "kind": "choice",
            "options": ["Boss", "Colleague", "Patient"],
            "shuffled": True,
            "only_if": {"question": "harassed", "options": ["yes"]},
        },
        {
            "key": "often",
            "text": "How often?",
            "kind": "number",
            "least": 0,
            "most": 12,
            "unit": "times",
            "only_if": {"question": "who", "options": ["boss"]},
        },
        {
            "key": "would",
            "text": "Would you say?",
            "kind": "yes_no",
            "only_if": {"question": "harassed", "options": ["prefer-not-to-say"]},
        },
        {
            "key": "days",
            "text": "Days ill?",
            "kind": "number",
            "least": 0,
            "most": 60,
            "unit": "days",
            "prefer_not_to_say": True,
        },
        {
            "key": "mood",
            "text": "Mood?",
            "kind": "scale",
            "options": ["Bad", "Fair", "Good"],
            "prefer_not_to_say": True,
        },
        {
            "key": "which",
            "text": "Which?",
            "kind": "several",
            "options": ["A", "B", "C", "D"],
            "picks": 2,
            "prefer_not_to_say": True,
        },
    ],
    "background": [{"key": "job", "text": "Job?", "options": ["Nurse", "Other"]}],
    "blocks": [["harassed", "who", "often", "would"], ["days"], ["mood"], ["which"]],
    "ask": 4,
}

# What FILE lacks to pass the checklist.
READY: dict[str, Any] = {
    "asked_by": "Olga’s office",
    "purpose": "To know which.",
    "contact": "olga@example.org",
    "expected": 5_000,
    "retention_days": 90,
}


def draft(**changes: Any) -> Survey:
    return files.load(json.dumps(FILE | changes))


def opened(**changes: Any) -> Survey:
    survey = draft(**changes)
    survey.open()
    return survey


def report(design: Design, **changes: Any) -> dict[str, Any]:
    """Return a well-formed report: the first blocks, the first options."""
    asked = (*design.sensitive_blocks[: design.ask], *design.background_blocks)
    blocks = {block.key: [0] * len(block.questions) for block in asked}
    return {"id": str(uuid4()), "design": design.hash, "blocks": blocks} | changes


def send(survey: Survey, people: int, seed: int = 1, **truth: list[float]) -> None:
    """Let simulated people answer through the real randomizer and ingest code."""
    design = survey.frozen_design()
    shares = simulation.uniform_shares(design.questions) | truth
    for _ in simulation.send(survey.slug, design, people, lambda _: shares, shares, Random(seed)):
        pass


def finished(people: int = 300, **changes: Any) -> Survey:
    """Return a closed survey with two releases, the second final, or without any."""
    survey = opened(**changes)
    send(survey, people, q1=[0.7, 0.3])
    make_release(survey)
    if people:
        send(survey, 7, seed=2)
    survey.close()
    make_release(survey)
    return survey


def person(name: str, role: Role, *surveys: Survey) -> User:
    user = User.objects.create_user(name)
    for survey in surveys:
        Membership.objects.create(survey=survey, user=user, role=role)
    return user


def olga(*surveys: Survey) -> User:
    return person("olga", Role.OWNER, *surveys)


def alice(*surveys: Survey) -> User:
    return person("alice", Role.RESEARCHER, *surveys)


def victor(*surveys: Survey) -> User:
    return person("victor", Role.VIEWER, *surveys)


def charlie() -> User:
    return User.objects.create_user("charlie")


def root() -> User:
    return User.objects.create_superuser("root")


def team(name: str = "Night shift", **people: User) -> Team:
    """Return a team with people in these roles."""
    made = Team.objects.create(name=name)
    for role, user in people.items():
        TeamMembership.objects.give(made, user, Role(role))
    return made


def rows(batch: Batch) -> planes.Rows:
    """Return the reports of a batch."""
    return planes.unpack(batch.columns, batch.reports, batch.survey.frozen_design()).T


def client(user: User | None = None) -> Client:
    result = Client()
    if user is not None:
        result.force_login(user)
    return result
