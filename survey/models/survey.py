"""A survey, from draft to closed."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction
from django.db.models.functions import Now
from django.dispatch import Signal

from survey import design as designs
from survey.design import Design, DesignError
from survey.design.languages import DISCLOSURES, MAX_TAG, MAX_TITLE, TAG
from survey.models.access import ROLE_ACTIONS, Action, Membership, Role, Team, TeamMembership
from survey.models.clock import today
from survey.models.draft import Draft
from survey.models.draft_design import build_design, check_site_limits, hash_content, parse_design
from survey.models.invitation import Invitation, PassKey
from survey.models.log import Actor, record
from survey.models.question import Question
from survey.models.removed import Removed
from survey.models.report import Report

tag_validator = RegexValidator(
    rf"\A{TAG.pattern}\Z", "Use a language tag, such as en, pt-BR or zh-Hant."
)

# Sent by Survey.open while the survey is locked, with the survey and the design to freeze. A
# receiver can raise NotReady to prevent the opening (docs/decisions/0029-opening.md).
opening = Signal()


class NotReady(ValidationError):
    """The reasons why a survey with a valid design may not open yet."""


class SurveyQuerySet(models.QuerySet["Survey"]):
    def where_may(self, user: AbstractBaseUser | AnonymousUser, action: Action) -> "SurveyQuerySet":
        """Return the surveys that allow this person this action."""
        if getattr(user, "is_superuser", False):
            return self
        own = Membership.objects.filter(user=user.pk, role__in=ROLE_ACTIONS[action])
        teams = TeamMembership.objects.filter(user=user.pk, role__in=ROLE_ACTIONS[action])
        allowed = models.Q(pk__in=own.values("survey")) | models.Q(team__in=teams.values("team"))
        if action == "see":
            allowed |= models.Q(results_public=True) & ~models.Q(state=Survey.State.DRAFT)
        return self.filter(allowed)

    def readable_by(self, user: AbstractBaseUser | AnonymousUser) -> "SurveyQuerySet":
        """Return the surveys in which this person has a role."""
        return self.where_may(user, "read")


class Survey(models.Model):
    """A survey. Once it is open, nothing that respondents were promised can change.

    The database itself refuses such changes, wherever they come from (survey/triggers/).
    """

    class State(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        CLOSED = "closed"

    class Access(models.TextChoices):
        OPEN = "open", "Open: anyone with the address"
        INVITED = "invited", "Invited: one report per invitation"

    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=MAX_TITLE)
    introduction = models.TextField(blank=True)
    asked_by = models.CharField(
        "who is asking", max_length=200, blank=True, help_text="A name that respondents know."
    )
    purpose = models.TextField(
        "why", blank=True, help_text="The purpose, and what will happen with the results."
    )
    contact = models.CharField(
        max_length=200, blank=True, help_text="Where respondents can send questions."
    )
    expected = models.PositiveIntegerField(
        "expected number of people",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000_000)],
        help_text="Used for the check before opening. Respondents do not see it.",
    )
    retention_days = models.PositiveIntegerField(
        "days until deletion",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(36_500)],
        help_text="Everything is deleted automatically this many days after the survey closes. "
        "Respondents are told, so it cannot change later. If empty, it is kept until deleted.",
    )
    language = models.CharField(
        max_length=MAX_TAG,
        default="en",
        validators=[tag_validator],
        help_text="The language tag of these texts, such as en, pt-BR or zh-Hant.",
    )
    translations = models.JSONField(default=dict, blank=True)  # as in a survey file
    epsilon = models.FloatField(
        "ε of the sensitive answers",
        validators=[MinValueValidator(1e-9, "Enter a number above 0.")],
        help_text="For all sensitive answers of one person; each background answer has its own. A "
        "smaller ε protects better but needs more people: 1 is strong, 2 usual, 3 weak.",
    )
    ask = models.PositiveSmallIntegerField(
        "blocks asked",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Blocks that one person is asked. If empty, the number with the smallest error.",
    )
    blocks = models.JSONField(default=list, blank=True)  # lists of keys, or empty for the best
    shuffled = models.BooleanField("questions in random order", default=False)
    fillers = models.BooleanField("neutral questions instead of follow-ups", default=False)
    population = models.PositiveIntegerField(
        "number of people in all",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000_000)],
        help_text="If it is known, such as all staff. Used for totals and narrower intervals.",
    )
    crowd = models.PositiveIntegerField(
        default=20,
        validators=[MinValueValidator(2), MaxValueValidator(1_000_000)],
        help_text="Reports are counted, and estimates change, only in groups of at least this.",
    )
    access = models.CharField(
        max_length=7,
        choices=Access,
        default=Access.OPEN,
        help_text="An open survey cannot stop people from sending many reports. Invitations are "
        "created once it is open; nothing stored links an invitation to a report.",
    )
    work = models.PositiveSmallIntegerField(
        "proof of work",
        default=0,
        validators=[MaxValueValidator(designs.MAX_WORK)],
        help_text=f"For an open survey: bits of work for each report, 0 to {designs.MAX_WORK}. 16 "
        "takes a phone a few seconds; each further bit doubles that. It only slows forgeries down.",
    )
    state = models.CharField(max_length=6, choices=State, default=State.DRAFT, editable=False)
    design = models.TextField(editable=False, blank=True)  # canonical JSON, frozen on opening
    design_hash = models.CharField(max_length=71, editable=False, blank=True)
    opened_on = models.DateField(null=True, editable=False)
    closed_on = models.DateField(null=True, editable=False)
    ids_removed_on = models.DateField(null=True, editable=False)
    # For a closed survey: the day of a worker's next task, or none if nothing is left to do.
    due_on = models.DateField(null=True, editable=False)
    # For a closed survey: how many invitations there were, and how many fetched a pass.
    invited = models.PositiveIntegerField(default=0, editable=False)
    fetched = models.PositiveIntegerField(default=0, editable=False)
    # When it opens and closes automatically, and the content_hash of what was approved.
    opens_at = models.DateTimeField(null=True, editable=False)
    approved_hash = models.CharField(max_length=64, blank=True, editable=False)
    opens_refused = models.TextField(blank=True, editable=False)  # why it did not open
    closes_at = models.DateTimeField(null=True, editable=False)
    archived_on = models.DateField(null=True, editable=False)  # only if closed
    delete_asked_on = models.DateField(null=True, editable=False)  # a worker deletes it
    results_public = models.BooleanField(default=False)  # anyone can read the estimates
    team = models.ForeignKey(
        Team, models.PROTECT, null=True, blank=True, editable=False, related_name="surveys"
    )
    researchers: "models.ManyToManyField[User, Membership]" = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="surveys"
    )

    objects = SurveyQuerySet.as_manager()

    class Meta:
        ordering = ["slug"]
        indexes = [models.Index(fields=["state", "due_on"], name="survey_due")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state="draft") | ~models.Q(design=""),
                name="survey_open_has_design",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["draft", "open", "closed"]), name="survey_state"
            ),
            models.CheckConstraint(condition=models.Q(crowd__gte=2), name="survey_crowd"),
            models.CheckConstraint(
                condition=models.Q(access="open") | models.Q(access="invited", work=0),
                name="survey_access",
            ),
            models.CheckConstraint(
                condition=models.Q(state="closed")
                | models.Q(archived_on__isnull=True, delete_asked_on__isnull=True),
                name="survey_over",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        if self.access == self.Access.INVITED and self.work:
            raise ValidationError({"work": "Only open surveys can require work. Set it to 0."})
        if self.state == self.State.DRAFT and (
            removed := Removed.objects.filter(slug=self.slug).first()
        ):
            raise ValidationError(
                {
                    "slug": "This address belonged to a survey that was removed on "
                    f"{removed.removed_on}. Choose another."
                }
            )

    def may(self, user: AbstractBaseUser | AnonymousUser, action: Action) -> bool:
        """Return whether this person may do this, for pages, API and downloads alike."""
        return Survey.objects.where_may(user, action).filter(pk=self.pk).exists()

    def actions(self, user: AbstractBaseUser | AnonymousUser) -> set[Action]:
        """Return all actions that `may` allows, in one query."""
        if getattr(user, "is_superuser", False):
            return set(ROLE_ACTIONS)
        own = Membership.objects.filter(user=user.pk, survey=self).values_list("role", flat=True)
        team = TeamMembership.objects.filter(user=user.pk, team=self.team_id)
        held = {Role(role) for role in own.union(team.values_list("role", flat=True))}
        actions = {action for action, roles in ROLE_ACTIONS.items() if held & roles}
        if self.results_public and self.state != Survey.State.DRAFT:
            actions.add("see")
        return actions

    def draft_design(self) -> Design:
        """Return the design that opening would freeze; DesignError says what to fix first."""
        for name in ("title", "introduction", *DISCLOSURES):
            designs.check_text(name, getattr(self, name))
        design = build_design(
            list(self.questions.all()),
            self.epsilon,
            self.blocks,
            self.ask,
            self.language,
            self.translations,
            self.disclosures(),
        )
        return replace(design, work=self.work, shuffled=self.shuffled, fillers=self.fillers)

    def sensitive_questions(self) -> "list[Question]":
        return [question for question in self.questions.all() if not question.background]

    def background_questions(self) -> "list[Question]":
        return [question for question in self.questions.all() if question.background]

    def disclosures(self) -> dict[str, Any]:
        """Return what respondents are told about who asks, leaving out empty texts."""
        texts = {name: getattr(self, name) for name in DISCLOSURES if getattr(self, name).strip()}
        return texts | ({"retention_days": self.retention_days} if self.retention_days else {})

    def content_hash(self) -> str:
        """Return a hash of everything that opening would freeze, or "" if it cannot open.

        Opening a survey requires the hash of what its owner has looked at.
        """
        try:
            design = self.draft_design()
        except DesignError:
            return ""
        texts = [self.title, self.introduction, self.language, self.translations]
        return hash_content(self.slug, design, [*texts, self.crowd, self.access, self.population])

    def frozen_design(self) -> Design:
        return parse_design(self.design)

    def hold(self) -> "Survey":
        """Return the current survey, locked until the end of the transaction.

        NO KEY allows reports that refer to it to be stored meanwhile.
        """
        return Survey.objects.select_for_update(no_key=True).get(pk=self.pk)

    def design_to_open(self) -> Design:
        """Return the draft's design if every ε is within this site's limits."""
        design = self.draft_design()
        check_site_limits(design)
        return design

    def open(self, seen: str | None = None, by: Actor = None) -> None:
        """Freeze the design and start accepting reports. This is the only way to open a survey.

        `seen` is the content_hash of what the person has looked at. Raises DesignError,
        ValidationError or its subclass NotReady if the survey cannot open.
        """
        with transaction.atomic():
            survey = Survey.objects.select_for_update().get(pk=self.pk)
            if survey.state != self.State.DRAFT:
                raise ValidationError(f"The survey is {survey.state}: only a draft can be opened.")
            design = survey.design_to_open()
            if seen is not None and seen != survey.content_hash():
                raise ValidationError("The survey has changed since you checked. Check it again.")
            opening.send(Survey, survey=survey, design=design)
            Draft.objects.filter(survey=survey).delete()
            if survey.access == self.Access.INVITED:
                design = replace(design, passes=PassKey.objects.make(survey.pk))
            survey.design, survey.design_hash = design.canonical, design.hash
            survey.state, survey.opened_on = self.State.OPEN, today()
            survey.opens_at, survey.approved_hash, survey.opens_refused = None, "", ""
            survey.save()
            record(by, "survey opened", survey, design=design.hash)
        self.refresh_from_db()

    def close(self, by: Actor = None) -> None:
        """Stop accepting reports. A worker then moves the waiting ones if they are a crowd."""
        with transaction.atomic():
            PassKey.objects.hold(self.pk)
            survey = Survey.objects.select_for_update().get(pk=self.pk)
            if survey.state != self.State.OPEN:
                raise ValidationError(f"The survey is {survey.state}: only an open one can close.")
            survey.state, survey.closed_on, survey.closes_at = self.State.CLOSED, today(), None
            survey.due_on = today()
            survey.invited, survey.fetched = Invitation.objects.forget(survey.pk)
            survey.save()
            PassKey.objects.filter(survey=survey).delete()
            record(by, "survey closed", survey)
        self.refresh_from_db()

    def publish_results(self, public: bool, by: Actor = None) -> None:
        """Make the estimates readable by anyone, or stop doing so."""
        with transaction.atomic():
            others = Survey.objects.filter(pk=self.pk).exclude(results_public=public)
            if others.update(results_public=public):
                record(by, "results made public" if public else "results hidden", self)
        self.refresh_from_db()

    def delete_due(self) -> bool:
        """Return whether the retention period is over by our clock and by the database's.

        Both must agree because a wrong clock cannot be corrected after a deletion.
        """
        if self.delete_on is None or today() < self.delete_on:
            return False
        days = timedelta(days=(self.delete_on - self.closed_on).days if self.closed_on else 0)
        return Survey.objects.filter(pk=self.pk, closed_on__lte=Now() - days).exists()

    @property
    def stage(self) -> str:
        """The state as shown to people. An archived survey is closed."""
        if self.delete_asked_on:
            return "Being deleted"
        return "Archived" if self.archived_on else self.get_state_display()

    @property
    def delete_on(self) -> date | None:
        """The day of deletion that respondents were told, or an earlier one that was requested."""
        if self.delete_asked_on or not (self.closed_on and self.retention_days):
            return self.delete_asked_on
        return self.closed_on + timedelta(days=self.retention_days)

    def pending(self) -> "models.QuerySet[Report]":
        """Return the reports that wait in the inbox."""
        return Report.objects.filter(survey=self, content__isnull=False)

    def round_to_crowds(self, count: int) -> int:
        """Round the number of waiting reports down to a multiple of the crowd.

        The exact number would show when each report arrives, and whether somebody who fetched a
        pass then sent a report.
        """
        return count - count % self.crowd

    def waiting(self, count: int | None = None) -> str:
        """Describe how many reports wait, without revealing the exact number."""
        rounded = self.round_to_crowds(self.pending().count() if count is None else count)
        return f"{rounded:,} or more" if rounded else f"fewer than {self.crowd}"

    @property
    def ids_due_on(self) -> date | None:
        """The day on which to delete the ids of a closed survey, if that is still to be done."""
        if self.closed_on is None or self.ids_removed_on is not None:
            return None
        return self.closed_on + timedelta(days=settings.KEEP_IDS_DAYS)

    def ids_due(self) -> bool:
        return self.ids_due_on is not None and self.ids_due_on <= today()

    def schedule_next_task(self) -> None:
        """Store the next day on which something is due for a closed survey."""
        survey = Survey.objects.get(pk=self.pk)
        days = [day for day in (survey.ids_due_on, survey.delete_on) if day]
        # A deletion that was requested in the meantime stays due immediately.
        unchanged = Survey.objects.filter(pk=self.pk, delete_asked_on=survey.delete_asked_on)
        unchanged.update(due_on=min(days, default=None))

    def forget_ids(self) -> Iterator[int]:
        """Delete the report ids of a closed survey; yield how many so far."""
        if self.state != self.State.CLOSED:
            raise ValidationError(f"The survey is {self.state}: its ids are still needed.")
        yield from Report.objects.forget_ids(self.pk)
        Survey.objects.filter(pk=self.pk).update(ids_removed_on=today())
