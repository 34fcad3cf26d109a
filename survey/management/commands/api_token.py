"""manage.py api_token USERNAME [--create] [--survey SLUG]…: print a token on the last line."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from survey.management import survey_or_error
from survey.models import MOST_TOKENS, ApiToken, Membership, Role, TooManyTokens


class Command(BaseCommand):
    help = "Create an API token for a person, and make them a researcher of the given surveys."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--create", action="store_true", help="create a missing account")
        parser.add_argument("--survey", action="append", default=[], metavar="SLUG")

    @transaction.atomic
    def handle(
        self, *args: Any, username: str, create: bool, survey: list[str], **options: Any
    ) -> None:
        user = User.objects.filter(username=username).first()
        if user is None and not create:
            raise CommandError(f"There is no account {username!r}. Use --create to create it.")
        if user is None:
            user = User.objects.create_user(username)  # no password, so API access only
        for slug in survey:
            target = survey_or_error(slug)
            if not Membership.objects.filter(survey=target, user=user).exists():
                Membership.objects.give(target, user, Role.RESEARCHER)
        try:
            self.stdout.write(ApiToken.objects.issue(user, label="made by manage.py api_token"))
        except TooManyTokens:
            raise CommandError(f"{username!r} has {MOST_TOKENS} tokens. Revoke one.") from None
