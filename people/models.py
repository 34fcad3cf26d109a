"""The data about people with an account, in addition to Django's own table of accounts.

Days are stored, but no times; the name of a browser, but no address. Tokens and codes are stored as
digests. The secret of an authenticator app, which must be read again, is encrypted.
"""

import base64
import hashlib
import secrets
import time
from datetime import timedelta
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.base_session import AbstractBaseSession
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.crypto import salted_hmac
from django.utils.module_loading import import_string

from people import totp
from survey.models import Membership, Role, Survey, Team, TeamMembership, digest, today
from survey.models.log import Actor, record

CODES = 10  # recovery codes, created together
MOST_WRONG = 50  # wrong codes of the app per day; a guess is right three times in a million
INVITED_DAYS = 14
MOST_INVITES = 100  # open ones per survey or team
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without letters that look like others


def random_code(groups: int) -> str:
    """Return a code that is easy to read and type, with about 20 bits per group."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(groups))


def normalize(code: str) -> str:
    """Return a typed code without case, hyphens and spaces."""
    return "".join(code.lower().replace("-", "").split())


def fernet() -> Fernet:
    key = salted_hmac("candor.people.factor", "", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))


class Session(AbstractBaseSession):
    """A session with the details that its owner can see. people.sessions writes it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True)
    browser = models.CharField(max_length=40)
    begun_on = models.DateField(null=True)
    used_on = models.DateField(null=True)

    @classmethod
    def get_session_store_class(cls) -> Any:
        store: type[SessionBase] = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
        return store

    @property
    def name(self) -> str:
        """The name of the session on pages, which must not contain its key."""
        return hashlib.sha256(self.session_key.encode()).hexdigest()[:20]


class Factor(models.Model):
    """A person's authenticator app."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="factor"
    )
    secret = models.CharField(max_length=200)  # encrypted
    made_on = models.DateField()
    step = models.BigIntegerField()  # of the last accepted code, so that none is accepted twice
    failed_on = models.DateField(null=True)
    failures = models.PositiveSmallIntegerField(default=0)  # on that day

    def __str__(self) -> str:
        return f"Second factor of {self.user}"

    @classmethod
    def switch_on(cls, user: User, secret: bytes, given: str) -> list[str] | None:
        """Switch on the second factor; return new recovery codes, or None if the code is wrong."""
        step = totp.matching_step(secret, normalize(given), time.time())
        if step is None:
            return None
        with transaction.atomic():
            encrypted = fernet().encrypt(secret).decode()
            cls.objects.update_or_create(
                user=user,
                defaults={"secret": encrypted, "made_on": today(), "step": step, "failures": 0},
            )
            codes = RecoveryCode.fresh(user)
            record(user, "second factor switched on", account=user.get_username())
        return codes

    @classmethod
    def switch_off(cls, user: User, by: Actor = None) -> None:
        with transaction.atomic():
            cls.objects.filter(user=user).delete()
            RecoveryCode.objects.filter(user=user).delete()
            record(by, "second factor switched off", account=user.get_username())

    def accepts(self, given: str) -> bool:
        """Use up a code of the app or a recovery code; return whether it was right and unused."""
        given = normalize(given)
        return self._accepts_code(given) or RecoveryCode.spend(self.user_id, given)

    def _accepts_code(self, given: str) -> bool:
        if self.failed_on == today() and self.failures >= MOST_WRONG:
            return False
        try:
            secret = fernet().decrypt(self.secret.encode())
        except InvalidToken:  # the site has a new key; recovery codes still work
            return False
        step = totp.matching_step(secret, given, time.time())
        mine = Factor.objects.filter(pk=self.pk)
        if step is not None:
            return bool(mine.filter(step__lt=step).update(step=step, failures=0))
        if len(given) == totp.DIGITS:
            same_day = mine.filter(failed_on=today()).update(failures=models.F("failures") + 1)
            if not same_day:
                mine.update(failed_on=today(), failures=1)
        return False


class RecoveryCode(models.Model):
    """A code that works once in place of the app's code."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="recovery_once")]

    def __str__(self) -> str:
        return f"Recovery code of {self.user}"

    @classmethod
    def fresh(cls, user: User) -> list[str]:
        """Replace all recovery codes and return the new ones. Only their digests are stored."""
        codes = [random_code(4) for _ in range(CODES)]
        with transaction.atomic():
            cls.objects.filter(user=user).delete()
            rows = [RecoveryCode(user=user, digest=digest(normalize(code))) for code in codes]
            RecoveryCode.objects.bulk_create(rows)
        return codes

    @classmethod
    def spend(cls, user_id: int, given: str) -> bool:
        return bool(cls.objects.filter(user=user_id, digest=digest(given)).delete()[0])


class Gone(Exception):
    """An invitation that is used, revoked or expired, or a finished set-up."""


class TooManyInvites(Exception):
    """There are already MOST_INVITES open invitations."""


class InviteQuerySet(models.QuerySet["Invite"]):
    def waiting(self) -> "InviteQuerySet":
        return self.filter(until__gte=today())

    def find(self, token: str) -> "Invite":
        matching = self.waiting().filter(digest=digest(token))
        invite = matching.select_related("survey", "team", "made_by").first()
        if invite is None or not invite.is_valid():
            raise Gone
        return invite

    def make(self, target: Survey | Team, role: Role, made_by: User, email: str = "") -> str:
        """Create an invitation and return its token. Only the digest is stored."""
        token = secrets.token_urlsafe(32)
        key: dict[str, Any] = {"survey" if isinstance(target, Survey) else "team": target}
        with transaction.atomic():
            type(target).objects.select_for_update().get(pk=target.pk)  # keeps the count exact
            self.filter(**key, until__lt=today()).delete()
            if self.filter(**key).count() >= MOST_INVITES:
                raise TooManyInvites
            self.create(
                **key,
                role=role,
                made_by=made_by,
                email=email,
                digest=digest(token),
                until=today() + timedelta(days=INVITED_DAYS),
            )
        return token


class Invite(models.Model):
    """A role in a survey or a team, for the first person who has the token."""

    survey = models.ForeignKey(Survey, models.CASCADE, null=True, related_name="invites")
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="invites")
    role = models.CharField(max_length=10, choices=Role)
    email = models.EmailField(blank=True)  # where it was sent
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    until = models.DateField()  # the last day
    digest = models.CharField(max_length=64, unique=True)

    objects = InviteQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(survey__isnull=True) ^ models.Q(team__isnull=True),
                name="invite_to_one",
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=["viewer", "researcher", "owner"]),
                name="invite_role",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} of {self.target}"

    @property
    def target(self) -> Survey | Team:
        target = self.survey or self.team
        if target is None:
            raise ValueError("an invitation needs a survey or a team")
        return target

    def is_valid(self) -> bool:
        """Return whether its creator is still an owner, so that a removed one cannot get back."""
        return self.made_by.is_active and self.target.may(self.made_by, "manage")

    def accept(self, user: User) -> None:
        """Use up the invitation and give the role. If two people race, the second gets Gone."""
        with transaction.atomic():
            deleted, _ = Invite.objects.waiting().filter(pk=self.pk).delete()
            if not deleted or not self.is_valid():
                raise Gone
            memberships = Membership.objects if self.survey else TeamMembership.objects
            memberships.raise_to(self.target, user, Role(self.role))


class SetUp(models.Model):
    """The single row for the first run: the digest of its code, and the day it was finished."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    digest = models.CharField(max_length=64, blank=True)
    over_on = models.DateField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="set_up_once")]

    def __str__(self) -> str:
        return "Set-up"

    @classmethod
    def due(cls) -> bool:
        """Return whether this site has never had an account."""
        if settings.DEMO or User.objects.exists():
            return False
        return not cls.objects.filter(over_on__isnull=False).exists()

    @classmethod
    def code(cls) -> str:
        """Replace the code and return the new one; Gone if the site is set up."""
        if not cls.due():
            raise Gone
        code = random_code(4)
        cls.objects.update_or_create(pk=1, defaults={"digest": digest(normalize(code))})
        return code

    @classmethod
    def knows(cls, given: str) -> bool:
        return cls.objects.filter(over_on=None, digest=digest(normalize(given))).exists()

    @classmethod
    def finish(cls, given: str, user: User) -> None:
        """Create the first account. If two people race, the second gets Gone."""
        with transaction.atomic():
            row = cls.objects.select_for_update().filter(pk=1, over_on=None).first()
            if row is None or row.digest != digest(normalize(given)) or User.objects.exists():
                raise Gone
            user.is_staff = user.is_superuser = True
            user.save()
            row.over_on, row.digest = today(), ""
            row.save()


def check_alone(user: User) -> list[str]:
    """Return the surveys and teams that would have no owner if this account were deleted."""
    with transaction.atomic():  # joins the transaction that deletes the account, if there is one
        return [
            *Membership.objects.names_owned_alone(user),
            *(f"the team {name}" for name in TeamMembership.objects.names_owned_alone(user)),
        ]


def delete_account(user: User) -> None:
    """Delete an account with its roles, tokens and sessions, unless it is a last owner or admin."""
    with transaction.atomic():
        admins = models.Q(is_superuser=True, is_active=True)
        locked = User.objects.select_for_update().filter(admins | models.Q(pk=user.pk))
        if user.is_superuser and [each.pk for each in locked.order_by("pk")] == [user.pk]:
            raise ValidationError("You are the only admin of this site. Add another one first.")
        if alone := check_alone(user):
            raise ValidationError("You are the last owner of: " + "; ".join(alone) + ".")
        user.delete()
