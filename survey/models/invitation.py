"""Invitations and the keys that sign passes. Nothing here knows about reports."""

import hashlib
from collections.abc import Sequence
from typing import Literal

from django.db import models, transaction

from survey.database import database
from survey.design import passes
from survey.models.token import digest


class PassKeyManager(models.Manager["PassKey"]):
    def make(self, survey: int) -> dict[str, str]:
        """Create a key for a survey that is about to open; return its public half."""
        key = passes.new_key()
        self.create(survey_id=survey, private=passes.private_bytes(key))
        return passes.public_text(key.public_key())

    def hold(self, survey: int) -> "PassKey | None":
        """Lock the key until the transaction ends and return it, or None if the survey is closed.

        To prevent deadlocks, code that writes invitations must lock the key first, before any row
        of the invitations or of the survey.
        """
        return self.select_for_update().filter(survey=survey).first()


class PassKey(models.Model):
    """The private key that signs the passes of a survey while it is open.

    The public half is part of the design. The database refuses to change a key or to give an opened
    survey another one (survey/triggers/). Using or rewriting invitations locks this row.
    """

    survey = models.OneToOneField(
        "survey.Survey", models.CASCADE, primary_key=True, related_name="pass_key"
    )
    private = models.BinaryField()  # PKCS 8

    objects = PassKeyManager()

    def __str__(self) -> str:
        return f"Key of {self.survey}"


class InvitationError(Exception):
    """A code was refused a pass, for this reason."""

    def __init__(self, reason: Literal["unknown", "used", "closed"]) -> None:
        super().__init__(reason)
        self.reason = reason


class InvitationManager(models.Manager["Invitation"]):
    def make(self, survey: int, codes: Sequence[str]) -> None:
        """Create invitations with these codes in one transaction.

        They are stored in the order of their digests, which hides the order of creation.
        """
        digests = sorted(digest(code) for code in codes)
        rows = [Invitation(digest=one, survey_id=survey) for one in digests]
        with transaction.atomic():
            if PassKey.objects.hold(survey) is None:
                raise InvitationError("closed")
            self.bulk_create(rows, batch_size=1000)

    def use(self, survey: int, code: str, blinded: bytes) -> bytes:
        """Record that this code is used for this blinded message; return the key to sign it.

        The same request may be repeated, in case its reply was lost. The address, if there is one,
        is deleted, because nobody is reminded after this.
        """
        with transaction.atomic():
            key = PassKey.objects.hold(survey)
            if key is None:
                raise InvitationError("closed")
            invitation = self.filter(digest=digest(code), survey=survey).first()
            if invitation is None:
                raise InvitationError("unknown")
            message = hashlib.sha256(blinded).hexdigest()
            if invitation.used_with not in ("", message):
                raise InvitationError("used")
            if not invitation.used_with:
                self.filter(pk=invitation.pk).update(used_with=message, email="", mailed_on=None)
            return bytes(key.private)

    def rewrite(self, survey: int) -> None:
        """Rewrite the used invitations of a survey together, in the order of their digests.

        The position of a row, and the transaction that PostgreSQL stores with it, reveal the order
        in which passes were fetched. Compared with the order of reports, this could link the two.
        """
        with transaction.atomic():
            if PassKey.objects.hold(survey) is not None:
                database().rewrite_invitations(survey)

    def forget(self, survey: int) -> tuple[int, int]:
        """Delete a survey's invitations; return how many there were, and how many were used."""
        invitations = self.filter(survey=survey)
        counts = invitations.count(), invitations.exclude(used_with="").count()
        invitations.delete()
        return counts


class Invitation(models.Model):
    """The right to fetch one pass, deleted when the survey closes.

    It holds the digest of its code, but no time and nothing about a report.
    """

    digest = models.CharField(max_length=64, primary_key=True, editable=False)  # SHA-256 of a code
    survey = models.ForeignKey("survey.Survey", models.CASCADE, related_name="invitations")
    # SHA-256 of the blinded message that it was used with; empty until then.
    used_with = models.CharField(max_length=64, blank=True, editable=False)
    # Kept until it is used: the address, and the day of the last e-mail.
    email = models.EmailField(blank=True)
    mailed_on = models.DateField(null=True)
    # Keyed hash of the address, so that nobody is invited twice: survey/access/invitations.py.
    person = models.CharField(max_length=64, blank=True, editable=False)

    objects = InvitationManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["survey", "person"],
                condition=~models.Q(person=""),
                name="invitation_once_a_person",
            )
        ]

    def __str__(self) -> str:
        return self.digest
