"""Invitations and the keys that sign passes. Nothing here knows of reports."""

import hashlib
from collections.abc import Sequence
from typing import Literal

from django.db import models, transaction

from survey.database import database
from survey.design import passes
from survey.models.token import digest


class PassKeyManager(models.Manager["PassKey"]):
    def make(self, survey: int) -> dict[str, str]:
        """A new key for a survey that is about to open; its public half, for the design."""
        key = passes.new_key()
        self.create(survey_id=survey, private=passes.private_bytes(key))
        return passes.public_text(key.public_key())

    def hold(self, survey: int) -> "PassKey | None":
        """The key, held until the end of the transaction; None once the survey is closed.

        Whoever writes invitations holds it first, before any row of theirs or of the survey, so
        that nobody waits for somebody who waits for them.
        """
        return self.select_for_update().filter(survey=survey).first()


class PassKey(models.Model):
    """The private key that signs the passes of a survey, while it is open.

    The public half is part of the design. The database lets no key be changed, nor a second one
    come to an opened survey (survey/triggers/). Whoever uses or rewrites invitations holds this
    row.
    """

    survey = models.OneToOneField(
        "survey.Survey", models.CASCADE, primary_key=True, related_name="pass_key"
    )
    private = models.BinaryField()  # PKCS 8

    objects = PassKeyManager()

    def __str__(self) -> str:
        return f"Key of {self.survey}"


class InvitationError(Exception):
    """Why there is no pass for a code."""

    def __init__(self, reason: Literal["unknown", "used", "closed"]) -> None:
        super().__init__(reason)
        self.reason = reason


class InvitationManager(models.Manager["Invitation"]):
    def make(self, survey: int, codes: Sequence[str]) -> None:
        """Invitations with these codes, all in one transaction and in the order of their digests,
        so that nothing tells in which order they were made."""
        rows = sorted(
            (Invitation(digest=digest(code), survey_id=survey) for code in codes), key=_pk
        )
        with transaction.atomic():
            if PassKey.objects.hold(survey) is None:
                raise InvitationError("closed")
            self.bulk_create(rows, batch_size=1000)

    def use(self, survey: int, code: str, blinded: bytes) -> bytes:
        """Note that a pass is fetched for this code with this blinded message; the key to sign it.

        The same once more is as if it were the first time: an answer that was lost on its way can
        be asked for again. The address, if any, goes: nobody is reminded after this.
        """
        with transaction.atomic():
            key = PassKey.objects.hold(survey)
            if key is None:
                raise InvitationError("closed")
            invitation = self.filter(digest=digest(code), survey=survey).first()
            if invitation is None:
                raise InvitationError("unknown")
            with_this = hashlib.sha256(blinded).hexdigest()
            if invitation.used_with not in ("", with_this):
                raise InvitationError("used")
            if not invitation.used_with:
                self.filter(pk=invitation.pk).update(used_with=with_this, email="", mailed_on=None)
            return bytes(key.private)

    def rewrite(self, survey: int) -> None:
        """Write the used ones of a survey again, together and in the order of their digests.

        Where a row lies, and the transaction that PostgreSQL notes beside it, tell in which order
        passes were fetched, and beside the order of reports that would tell who sent which.
        """
        with transaction.atomic():
            if PassKey.objects.hold(survey) is not None:
                database().rewrite_invitations(survey)

    def forget(self, survey: int) -> tuple[int, int]:
        """Delete all of a survey; how many there were, and how many of them were used."""
        every = self.filter(survey=survey)
        counts = every.count(), every.exclude(used_with="").count()
        every.delete()
        return counts


def _pk(invitation: "Invitation") -> str:
    return invitation.digest


class Invitation(models.Model):
    """The right to fetch one pass. Nothing of a report, no time, and the code only as its digest.

    It goes when the survey closes.
    """

    digest = models.CharField(max_length=64, primary_key=True, editable=False)  # SHA-256 of a code
    survey = models.ForeignKey("survey.Survey", models.CASCADE, related_name="invitations")
    # Of the blinded message that it was used with, its SHA-256; empty until then.
    used_with = models.CharField(max_length=64, blank=True, editable=False)
    # Until it is used: where to send it, and the day of its last letter.
    email = models.EmailField(blank=True)
    mailed_on = models.DateField(null=True)
    # A keyed hash of the address, so that nobody is invited twice; survey/access/invitations.py.
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
