"""Tokens that open the API in their owner’s name."""

import hashlib
import secrets

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction

from survey.models.clock import today
from survey.models.log import Actor, record

MOST_TOKENS = 20  # a person


class TooManyTokens(Exception):
    """Somebody has MOST_TOKENS already."""


class ApiTokenManager(models.Manager["ApiToken"]):
    def issue(self, user: User, label: str = "", by: Actor = None) -> str:
        """A new token for this person: shown once, stored only as its SHA-256."""
        token = secrets.token_urlsafe(32)
        with transaction.atomic():
            User.objects.select_for_update().get(pk=user.pk)  # one at a time, to count them
            if self.filter(user=user).count() >= MOST_TOKENS:
                raise TooManyTokens
            self.create(user=user, label=label, digest=digest(token), made_on=today())
            record(by, "token made", account=user.get_username(), label=label)
        return token


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class ApiToken(models.Model):
    """Opens the API in its owner's name: `Authorization: Token …`."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    label = models.CharField(max_length=100, blank=True)
    made_on = models.DateField(editable=False)
    used_on = models.DateField(null=True, editable=False)  # the last day, no time

    objects = ApiTokenManager()

    def __str__(self) -> str:
        return self.label or f"Token of {self.user}"

    def revoke(self, by: Actor = None) -> None:
        with transaction.atomic():
            self.delete()
            record(by, "token revoked", account=self.user.get_username(), label=self.label)

    def note_use(self) -> None:
        """Written once a day, so that reading does not write."""
        if self.used_on != today():
            ApiToken.objects.filter(pk=self.pk).update(used_on=today())
