"""What is kept about people who have an account, besides Django's own table of accounts.

Days and no times; a browser's name and no address. Whatever opens something is kept as its digest;
the secret of an authenticator app, which has to be read again, is encrypted under the site's key.
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

CODES = 10  # for recovery, made together
MOST_WRONG = 50  # codes of the app a day: three in a million are right
INVITED_DAYS = 14
MOST_INVITES = 100  # that wait, to one survey or team
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that looks like another


def letters(groups: int) -> str:
    """A code to be read and typed: about 20 bits a group."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(groups))


def plain(given: str) -> str:
    """As it was made, however it was typed."""
    return "".join(given.lower().replace("-", "").split())


def fernet() -> Fernet:
    key = salted_hmac("candor.people.factor", "", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))


class Session(AbstractBaseSession):
    """A session, with what its owner is shown of it. people.sessions writes it."""

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
        """What stands for it on a page: the key itself would open it."""
        return hashlib.sha256(self.session_key.encode()).hexdigest()[:20]


class Factor(models.Model):
    """Somebody's authenticator app."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="factor"
    )
    secret = models.CharField(max_length=200)  # encrypted
    made_on = models.DateField()
    step = models.BigIntegerField()  # of the last code that was taken, so that none is twice
    failed_on = models.DateField(null=True)
    failures = models.PositiveSmallIntegerField(default=0)  # on that day

    def __str__(self) -> str:
        return f"Second factor of {self.user}"

    @classmethod
    def switch_on(cls, user: User, secret: bytes, given: str) -> list[str] | None:
        """Fresh recovery codes; None if the code is not that of the secret."""
        step = totp.matching_step(secret, plain(given), time.time())
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

    def takes(self, given: str) -> bool:
        """Whether this code is right, and not used before: of the app, or for recovery."""
        given = plain(given)
        return self._takes_code(given) or RecoveryCode.spend(self.user_id, given)

    def _takes_code(self, given: str) -> bool:
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
    """Opens once, in place of a code of the app."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="recovery_once")]

    def __str__(self) -> str:
        return f"Recovery code of {self.user}"

    @classmethod
    def fresh(cls, user: User) -> list[str]:
        """New codes in place of all old ones: shown once, stored as digests."""
        codes = [letters(4) for _ in range(CODES)]
        with transaction.atomic():
            cls.objects.filter(user=user).delete()
            rows = [RecoveryCode(user=user, digest=digest(plain(code))) for code in codes]
            RecoveryCode.objects.bulk_create(rows)
        return codes

    @classmethod
    def spend(cls, user_id: int, given: str) -> bool:
        return bool(cls.objects.filter(user=user_id, digest=digest(given)).delete()[0])


class Gone(Exception):
    """An invitation that was used, taken back or waited too long; or a set-up that is over."""


class TooManyInvites(Exception):
    """MOST_INVITES wait already."""


class InviteQuerySet(models.QuerySet["Invite"]):
    def waiting(self) -> "InviteQuerySet":
        return self.filter(until__gte=today())

    def find(self, token: str) -> "Invite":
        found = self.waiting().filter(digest=digest(token))
        invite = found.select_related("survey", "team", "made_by").first()
        if invite is None or not invite.holds():
            raise Gone
        return invite

    def make(self, target: Survey | Team, role: Role, made_by: User, email: str = "") -> str:
        """The token of a new one: handed over once, stored as its digest."""
        token = secrets.token_urlsafe(32)
        where: dict[str, Any] = {"survey" if isinstance(target, Survey) else "team": target}
        with transaction.atomic():
            type(target).objects.select_for_update().get(pk=target.pk)  # one at a time, to count
            self.filter(**where, until__lt=today()).delete()
            if self.filter(**where).count() >= MOST_INVITES:
                raise TooManyInvites
            self.create(
                **where,
                role=role,
                made_by=made_by,
                email=email,
                digest=digest(token),
                until=today() + timedelta(days=INVITED_DAYS),
            )
        return token


class Invite(models.Model):
    """A role in a survey or in a team, for whoever brings the token first."""

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
            raise ValueError("the database refuses an invitation to nothing")
        return target

    def holds(self) -> bool:
        """It ends with the part of whoever made it: an owner who was removed leaves no door."""
        return self.made_by.is_active and self.target.may(self.made_by, "manage")

    def accept(self, user: User) -> None:
        """Once: of two who come at the same time, the second finds it gone."""
        with transaction.atomic():
            taken, _ = Invite.objects.waiting().filter(pk=self.pk).delete()
            if not taken or not self.holds():
                raise Gone
            parts = Membership if self.survey else TeamMembership
            parts.objects.raise_to(self.target, user, Role(self.role))


class SetUp(models.Model):
    """The one row of the first run: the digest of its code, and the day when it was over."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    digest = models.CharField(max_length=64, blank=True)
    over_on = models.DateField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="set_up_once")]

    def __str__(self) -> str:
        return "Set-up"

    @classmethod
    def due(cls) -> bool:
        """Whether this site never had an account."""
        if settings.DEMO or User.objects.exists():
            return False
        return not cls.objects.filter(over_on__isnull=False).exists()

    @classmethod
    def code(cls) -> str:
        """A new code, in place of any other; Gone if there is nothing to set up."""
        if not cls.due():
            raise Gone
        fresh = letters(4)
        cls.objects.update_or_create(pk=1, defaults={"digest": digest(plain(fresh))})
        return fresh

    @classmethod
    def knows(cls, given: str) -> bool:
        return cls.objects.filter(over_on=None, digest=digest(plain(given))).exists()

    @classmethod
    def finish(cls, given: str, user: User) -> None:
        """Make the first account. Of two at once, the second finds it Gone."""
        with transaction.atomic():
            row = cls.objects.select_for_update().filter(pk=1, over_on=None).first()
            if row is None or row.digest != digest(plain(given)) or User.objects.exists():
                raise Gone
            user.is_staff = user.is_superuser = True
            user.save()
            row.over_on, row.digest = today(), ""
            row.save()


def check_alone(user: User) -> list[str]:
    """What stands in the way of deleting this account: what would be left without an owner."""
    with transaction.atomic():  # or part of the one that deletes it
        return [
            *Membership.objects.names_owned_alone(user),
            *(f"the team {name}" for name in TeamMembership.objects.names_owned_alone(user)),
        ]


def delete_account(user: User) -> None:
    """With its parts, tokens, sessions and factors; not if something would have no owner left."""
    with transaction.atomic():
        admins = models.Q(is_superuser=True, is_active=True)
        held = User.objects.select_for_update().filter(admins | models.Q(pk=user.pk))
        if user.is_superuser and [each.pk for each in held.order_by("pk")] == [user.pk]:
            raise ValidationError("You are the only admin of this site. Make another one first.")
        if alone := check_alone(user):
            raise ValidationError("You are the last owner of: " + "; ".join(alone) + ".")
        user.delete()
