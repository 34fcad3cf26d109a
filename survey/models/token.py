"""Tokens that give access to the API on behalf of their owner."""

import hashlib
import secrets

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction

from survey.models.clock import today
from survey.models.log import Actor, record

MOST_TOKENS = 20  # per person


class TooManyTokens(Exception):
    """The person already has MOST_TOKENS."""


class ApiTokenManager(models.Manager["ApiToken"]):
    def issue(self, user: User, label: str = "", by: Actor = None) -> str:
        """Create and return a token for this person. Only its SHA-256 is stored."""
        token = secrets.token_urlsafe(32)
        with transaction.atomic():
            User.objects.select_for_update().get(pk=user.pk)  # locked to keep the count exact
            if self.filter(user=user).count() >= MOST_TOKENS:
                raise TooManyTokens
            self.create(user=user, label=label, digest=digest(token), made_on=today())
            record(by, "token made", account=user.get_username(), label=label)
        return token


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class ApiToken(models.Model):
    """Access to the API on behalf of its owner: `Authorization: Token …`."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    label = models.CharField(max_length=100, blank=True)
    made_on = models.DateField(editable=False)
    used_on = models.DateField(null=True, editable=False)  # the last day; no time is stored

    objects = ApiTokenManager()

    def __str__(self) -> str:
        return self.label or f"Token of {self.user}"

    def revoke(self, by: Actor = None) -> None:
        with transaction.atomic():
            self.delete()
            record(by, "token revoked", account=self.user.get_username(), label=self.label)

    def note_use(self) -> None:
        """Note the day of use, at most once a day, so that most reads do not write."""
        if self.used_on != today():
            ApiToken.objects.filter(pk=self.pk).update(used_on=today())
