"""manage.py remove_factor USERNAME: for somebody who lost their phone and recovery codes."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from people.models import Factor, Session


class Command(BaseCommand):
    help = "Switch off an account's second factor and end its sessions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no account {username!r}.")
        if not Factor.objects.filter(user=user).exists():
            raise CommandError(f"{username!r} has no second factor.")
        Factor.switch_off(user)
        Session.objects.filter(user=user).delete()
        self.stdout.write(f"{username} can now log in with just the password.")
