"""manage.py simulate SLUG --people N --truth q1=0.1,…: let invented people answer a survey."""

import math
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from random import Random
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from survey import simulation
from survey.design import Design, Question
from survey.management import survey_or_error
from survey.models import Survey


class Command(BaseCommand):
    help = "Send a simulated population through the real randomizer and the real ingest code."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--people", type=int, required=True)
        parser.add_argument(
            "--truth",
            default="",
            help="true shares: q1=0.1 is the share of yes; q2=0.2/0.5/0.3 has one share for every "
            "option of a choice. Other questions are answered at random.",
        )
        parser.add_argument(
            "--into-a-real-survey",
            action="store_true",
            help="required outside a demo, because invented reports cannot be removed",
        )
        parser.add_argument("--seed", type=int, help="for the answers; the noise is never seeded")

    def handle(
        self, *args: Any, slug: str, people: int, truth: str, seed: int | None, **options: Any
    ) -> None:
        if not (settings.DEMO or options["into_a_real_survey"]):
            raise CommandError(
                "This is not a demo, and invented reports cannot be removed from a survey. To "
                "continue anyway, add --into-a-real-survey."
            )
        survey = survey_or_error(slug)
        if survey.state != Survey.State.OPEN:
            raise CommandError(f"The survey {slug!r} is {survey.state}, not open.")
        if people < 1:
            raise CommandError(f"--people must be 1 or more, not {people}")
        design = survey.frozen_design()
        shares = simulation.uniform_shares(design.questions) | parse_truth(truth, design)
        random = Random(seed)  # noqa: S311
        sent = simulation.send(slug, design, people, lambda _: shares, shares, random)
        show_progress(sent, people)
        self.stdout.write(f"{people} reports stored for {slug}.")


def parse_truth(text: str, design: Design) -> dict[str, list[float]]:
    """Parse `q1=0.1,q2=0.2/0.8` into the shares of every option."""
    questions = {question.key: question for question in design.questions}
    truth: dict[str, list[float]] = {}
    for item in filter(None, text.split(",")):
        key, _, value = item.partition("=")
        question = questions.get(key.strip())
        if question is None:
            raise CommandError(f"--truth: there is no question {key!r}")
        try:
            numbers = [float(number) for number in value.split("/")]
        except ValueError:
            raise CommandError(f"--truth: {item!r} must be key=share") from None
        truth[question.key] = _shares(question, numbers, item)
    return truth


def _shares(question: Question, numbers: list[float], item: str) -> list[float]:
    options = len(question.options)
    if len(numbers) == 1 and question.kind == "yes_no":
        numbers = [1 - numbers[0], numbers[0]]
        numbers += [0.0] * (options - 2)  # nobody declines
    if len(numbers) != options and question.kind != "number":
        raise CommandError(f"--truth: {item!r} needs {options} shares, separated by /")
    if any(not 0 <= number <= 1 for number in numbers):
        raise CommandError(f"--truth: the shares in {item!r} must be in [0, 1]")
    if question.kind != "several" and not math.isclose(sum(numbers), 1):
        raise CommandError(f"--truth: the shares in {item!r} must sum to 1")
    return numbers


def show_progress(done: Iterable[int], total: int) -> None:
    """Show a progress bar on a terminal and nothing elsewhere."""
    live = sys.stderr.isatty()
    for count in done:
        if live:
            filled = 30 * count // total
            bar = "█" * filled + "░" * (30 - filled)
            print(f"\r  {bar} {count:,} of {total:,}", end="", file=sys.stderr, flush=True)
    if live:
        print(file=sys.stderr)
