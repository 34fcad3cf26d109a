"""manage.py load_demo: load demo accounts and surveys with simulated answers. Demos only."""

from collections.abc import Iterator
from itertools import accumulate
from random import Random
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from aggregation.releases.publish import make_release
from operations.demo import DRAFT, LOGINS
from operations.demo_surveys import ANSWERED, DemoSurvey
from survey import files, simulation
from survey.management.commands.simulate import show_progress
from survey.models import Membership, Removed, Role, Survey

ROLES = {"researcher": Role.RESEARCHER, "viewer": Role.VIEWER, "admin": Role.OWNER}
FOLDER = settings.BASE_DIR / "survey" / "demo"


class Command(BaseCommand):
    help = "Load the demo surveys with simulated answers, once. Only works in a demo."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("Nothing was loaded. This is not a demo: CANDOR_DEMO is not set.")
        self.people()
        for demo in ANSWERED:
            if survey := self.survey(demo.slug, opens=True):
                self.answers(survey, demo)
        self.survey(DRAFT, opens=False)

    def people(self) -> None:
        for name, password in LOGINS.items():
            user, created = User.objects.get_or_create(username=name)
            if created:
                user.is_staff = user.is_superuser = name == "admin"
                user.set_password(password)
                user.save()

    @transaction.atomic
    def survey(self, slug: str, opens: bool) -> Survey | None:
        """Return a survey, loaded if it is missing, or None if somebody removed it."""
        if Removed.objects.filter(slug=slug).exists():
            return None
        if found := Survey.objects.filter(slug=slug).first():
            return found
        survey = files.load((FOLDER / f"{slug}.json").read_text(encoding="utf-8"))
        if opens:
            survey.open()
        for name, role in ROLES.items():
            Membership.objects.give(survey, User.objects.get(username=name), role)
        return survey

    def answers(self, survey: Survey, demo: DemoSurvey) -> None:
        """Let the people answer who have not done so yet, and make the releases."""
        missing = sum(demo.waves) - survey.reports.count()
        if survey.state == Survey.State.OPEN:
            if missing > 0:
                self.stdout.write(f"{missing:,} simulated people answer “{survey.title}” …")
                show_progress(waves(survey, demo), missing)
            if demo.closes:
                survey.publish_results(True)
                survey.close()
        make_release(survey)


def waves(survey: Survey, demo: DemoSurvey) -> Iterator[int]:
    """Send the missing reports of each wave and make a release; yield how many are sent so far."""
    design, random, before = survey.frozen_design(), Random(2026), 0  # noqa: S311
    for wave, upto in enumerate(accumulate(demo.waves)):
        missing = max(0, upto - survey.reports.count())
        population = demo.population(wave, random)
        for sent in simulation.send(
            survey.slug, design, missing, population, demo.background, random
        ):
            yield before + sent
        before += missing
        if missing:
            make_release(survey)
