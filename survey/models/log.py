"""The audit log: who did what to which survey. Each entry contains the hash of the one before.

Changing, removing or inserting an entry breaks the chain, and `manage.py verify_log` reports where;
the database refuses such writes in the first place (survey/triggers/). The log is about the people
who run surveys, never about respondents: it contains no report, answer, code or address.
"""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models, transaction

from survey.database import database

FIRST = "0" * 64  # the first entry's previous hash
LOCK = 5_307_132_201  # a PostgreSQL advisory lock that nothing else uses

Actor = AbstractBaseUser | AnonymousUser | None


class Entry(models.Model):
    """One action. It has no foreign keys, so it outlives the person and the survey."""

    number = models.PositiveBigIntegerField(primary_key=True)
    time = models.DateTimeField()  # to the second
    actor = models.CharField(max_length=150, blank=True)  # an account; empty for the system
    actor_number = models.BigIntegerField(null=True)
    what = models.CharField(max_length=50)
    survey = models.CharField(max_length=50, blank=True)  # a slug
    survey_number = models.BigIntegerField(null=True, db_index=True)
    detail = models.TextField(default="{}")  # JSON, kept as the text that was hashed
    previous = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)

    class Meta:
        ordering = ["-number"]
        verbose_name_plural = "entries"

    def __str__(self) -> str:
        return f"{self.number} {self.what}"

    def as_dict(self) -> dict[str, Any]:
        """Return everything except the entry's own hash, as it is hashed and exported."""
        return {
            "number": self.number,
            "time": self.time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "actor": self.actor,
            "actor_number": self.actor_number,
            "what": self.what,
            "survey": self.survey,
            "survey_number": self.survey_number,
            "detail": self.detail,
            "previous": self.previous,
        }

    def own_hash(self) -> str:
        return hashlib.sha256(canonical(self.as_dict()).encode()).hexdigest()

    def details(self) -> dict[str, Any]:
        details: dict[str, Any] = json.loads(self.detail)
        return details


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def record(actor: Actor, what: str, survey: Any = None, **detail: Any) -> Entry:
    """Write an entry in the caller's transaction, so that a rollback removes it too.

    Other writers of the log wait until that transaction ends, so call this last, after all locks.
    """
    account = actor if actor is not None and actor.pk is not None else None
    with transaction.atomic(savepoint=False):
        database().lock_for_transaction(LOCK)
        last = head()
        entry = Entry(
            number=last.number + 1 if last else 1,
            time=datetime.now(UTC).replace(microsecond=0),
            actor=account.get_username() if account else "",
            actor_number=account.pk if account else None,
            what=what,
            survey=survey.slug if survey else "",
            survey_number=survey.pk if survey else None,
            detail=canonical(detail),
            previous=last.hash if last else FIRST,
        )
        entry.hash = entry.own_hash()
        entry.save(force_insert=True)
    return entry


def head() -> Entry | None:
    return Entry.objects.order_by("number").last()
