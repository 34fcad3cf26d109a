"""manage.py load_demo: load demo accounts and a survey with simulated answers. Demos only."""

from random import Random
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from aggregation.releases.publish import make_release
from operations.demo import LOGINS, SLUG
from survey import files, simulation
from survey.management.commands.simulate import show_progress
from survey.models import Membership, Role, Survey

ROLES = {"researcher": Role.RESEARCHER, "viewer": Role.VIEWER, "admin": Role.OWNER}
PEOPLE = 5_000
SURVEY = settings.BASE_DIR / "survey" / "demo" / f"{SLUG}.json"

# The true shares of every option among the invented people, by role.
TRUTH: dict[str, list[list[float]]] = {
    "harassed": [[0.83, 0.17], [0.91, 0.09], [0.88, 0.12]],
    "worked-ill": [[0.46, 0.54], [0.38, 0.62], [0.66, 0.34]],
    "unreported": [[0.72, 0.28], [0.65, 0.35], [0.84, 0.16]],
    "leaving": [[0.57, 0.43], [0.71, 0.29], [0.76, 0.24]],
    "substances": [[0.87, 0.09, 0.04], [0.83, 0.13, 0.04], [0.92, 0.05, 0.03]],
    "exhausted": [[0.08, 0.31, 0.42, 0.19], [0.10, 0.38, 0.37, 0.15], [0.22, 0.45, 0.25, 0.08]],
}
BACKGROUND = {"role": [0.50, 0.17, 0.30, 0.03], "years": [0.33, 0.40, 0.25, 0.02]}


class Command(BaseCommand):
    help = "Load the demo survey with a simulated population, once. Only works in a demo."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("Nothing was loaded. This is not a demo: CANDOR_DEMO is not set.")
        self.people()
        survey = Survey.objects.filter(slug=SLUG).first() or self.survey()
        missing = PEOPLE - survey.reports.count()
        if missing > 0 and survey.state == Survey.State.OPEN:
            self.stdout.write(f"{missing:,} simulated people answer “{survey.title}” …")
            random = Random(2026)  # noqa: S311
            sent = simulation.send(
                SLUG, survey.frozen_design(), missing, population, BACKGROUND, random
            )
            show_progress(sent, missing)
        make_release(survey)

    def people(self) -> None:
        for name, password in LOGINS.items():
            user, created = User.objects.get_or_create(username=name)
            if created:
                user.is_staff = user.is_superuser = name == "admin"
                user.set_password(password)
                user.save()

    @transaction.atomic
    def survey(self) -> Survey:
        survey = files.load(SURVEY.read_text(encoding="utf-8"))
        survey.open()
        for name, role in ROLES.items():
            Membership.objects.give(survey, User.objects.get(username=name), role)
        return survey


def population(groups: Any) -> dict[str, list[float]]:
    role = min(groups["role"], 2)  # those who prefer not to say answer like other staff
    return {key: shares[role] for key, shares in TRUTH.items()}
