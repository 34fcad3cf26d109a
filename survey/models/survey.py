"""A survey, from draft to closed. Once it is open, nothing that was promised can change."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
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
from survey.models.draft_design import build_draft_design, check_site_limits, hash_content
from survey.models.invitation import Invitation, PassKey
from survey.models.log import Actor, record
from survey.models.question import Question
from survey.models.removed import Removed
from survey.models.report import Report

tag_validator = RegexValidator(
    rf"\A{TAG.pattern}\Z", "Use a language tag, such as en, pt-BR or zh-Hant."
)


# Sent by Survey.open, with the survey as it will be frozen and its design, while it is locked. Who
# knows of something that stands in the way raises NotReady (docs/decisions/0029-opening.md).
opening = Signal()


class NotReady(ValidationError):
    """What stands in the way of opening a survey that could be opened."""


class SurveyQuerySet(models.QuerySet["Survey"]):
    def where_may(self, user: AbstractBaseUser | AnonymousUser, action: Action) -> "SurveyQuerySet":
        """The surveys with which this person may do this."""
        if getattr(user, "is_superuser", False):
            return self
        parts = Membership.objects.filter(user=user.pk, role__in=ROLE_ACTIONS[action])
        teams = TeamMembership.objects.filter(user=user.pk, role__in=ROLE_ACTIONS[action])
        allowed = models.Q(pk__in=parts.values("survey")) | models.Q(team__in=teams.values("team"))
        if action == "see":
            allowed |= models.Q(results_public=True) & ~models.Q(state=Survey.State.DRAFT)
        return self.filter(allowed)

    def readable_by(self, user: AbstractBaseUser | AnonymousUser) -> "SurveyQuerySet":
        """The surveys that this person has a part in."""
        return self.where_may(user, "read")


class Survey(models.Model):
    """A survey. Once open, nothing that was promised to respondents can change.

    The database itself refuses such a change (survey/triggers/), whichever way it is tried.
    """

    class State(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        CLOSED = "closed"

    class Access(models.TextChoices):
        OPEN = "open", "Open: anyone who has the address"
        INVITED = "invited", "Invited: one report for each invitation"

    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=MAX_TITLE)
    introduction = models.TextField(blank=True)
    asked_by = models.CharField(
        "who asks", max_length=200, blank=True, help_text="A name that respondents know."
    )
    purpose = models.TextField(
        "why", blank=True, help_text="What it is for, and what becomes of the results."
    )
    contact = models.CharField(
        max_length=200, blank=True, help_text="How to reach whoever asks, with questions."
    )
    expected = models.PositiveIntegerField(
        "people one hopes to reach",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000_000)],
        help_text="For the check before opening. Nobody else is told.",
    )
    retention_days = models.PositiveIntegerField(
        "days until deletion",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(36_500)],
        help_text="So long after the closing everything is deleted by itself. Respondents are "
        "told, and it cannot be changed then. Empty: kept until somebody deletes it.",
    )
    language = models.CharField(
        max_length=MAX_TAG,
        default="en",
        validators=[tag_validator],
        help_text="The language tag of the texts here, such as en, pt-BR or zh-Hant.",
    )
    translations = models.JSONField(default=dict, blank=True)  # in the form of a survey file
    epsilon = models.FloatField(
        "ε of the sensitive answers",
        validators=[MinValueValidator(1e-9, "More than 0, please.")],
        help_text="For all sensitive answers of one person together; each background answer has "
        "an ε of its own. Smaller protects better and needs more people: 1 is strong, 2 is usual, "
        "above 3 is weak.",
    )
    ask = models.PositiveSmallIntegerField(
        "blocks asked",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="How many blocks one person is asked. Empty: the number with the least error.",
    )
    crowd = models.PositiveIntegerField(
        default=20,
        validators=[MinValueValidator(2), MaxValueValidator(1_000_000)],
        help_text="Reports are counted, and estimates change, only in crowds of at least this.",
    )
    access = models.CharField(
        max_length=7,
        choices=Access,
        default=Access.OPEN,
        help_text="An open survey is not safe from people who send many reports. Invitations are "
        "made once it is open; nothing that is stored connects an invitation with a report.",
    )
    work = models.PositiveSmallIntegerField(
        "proof of work",
        default=0,
        validators=[MaxValueValidator(designs.MAX_WORK)],
        help_text="Of an open survey: how many bits of work a browser does for each report, 0 to "
        f"{designs.MAX_WORK}. 16 takes a phone a few seconds, each bit more twice as long. It "
        "makes forging many reports slower, not impossible.",
    )
    state = models.CharField(max_length=6, choices=State, default=State.DRAFT, editable=False)
    design = models.TextField(editable=False, blank=True)  # canonical JSON, frozen on opening
    design_hash = models.CharField(max_length=71, editable=False, blank=True)
    opened_on = models.DateField(null=True, editable=False)
    closed_on = models.DateField(null=True, editable=False)
    ids_removed_on = models.DateField(null=True, editable=False)
    # Of a closed survey: the day on which a worker looks at it again; none when nothing is left.
    due_on = models.DateField(null=True, editable=False)
    # Of a closed survey: how many invitations there were, and how many of them fetched a pass.
    invited = models.PositiveIntegerField(default=0, editable=False)
    fetched = models.PositiveIntegerField(default=0, editable=False)
    # When it opens and closes by itself, and what the person who said so has seen.
    opens_at = models.DateTimeField(null=True, editable=False)
    approved_hash = models.CharField(max_length=64, blank=True, editable=False)
    opens_refused = models.TextField(blank=True, editable=False)  # why it did not open
    closes_at = models.DateTimeField(null=True, editable=False)
    archived_on = models.DateField(null=True, editable=False)  # closed, and put out of the way
    delete_asked_on = models.DateField(null=True, editable=False)  # a worker does it
    results_public = models.BooleanField(
        default=False, help_text="Anyone may read the estimates, through the API as well."
    )
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
            raise ValidationError({"work": "Only for open surveys: a pass is proof enough."})
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
        """Whether this person may do this; pages, API and downloads all ask here."""
        return Survey.objects.where_may(user, action).filter(pk=self.pk).exists()

    def actions(self, user: AbstractBaseUser | AnonymousUser) -> set[Action]:
        """All that `may` allows, for pages that show several, in one query."""
        if getattr(user, "is_superuser", False):
            return set(ROLE_ACTIONS)
        own = Membership.objects.filter(user=user.pk, survey=self).values_list("role", flat=True)
        team = TeamMembership.objects.filter(user=user.pk, team=self.team_id)
        mine = {Role(role) for role in own.union(team.values_list("role", flat=True))}
        found = {action for action, roles in ROLE_ACTIONS.items() if mine & roles}
        if self.results_public and self.state != Survey.State.DRAFT:
            found.add("see")
        return found

    def draft_design(self) -> Design:
        """Return the design that opening would freeze; DesignError says what to fix first."""
        for name in ("title", "introduction", *DISCLOSURES):
            designs.check_text(name, getattr(self, name))
        design = build_draft_design(
            list(self.questions.all()),
            self.epsilon,
            self.ask,
            self.language,
            self.translations,
            self.disclosures(),
        )
        return replace(design, work=self.work)

    def sensitive_questions(self) -> "list[Question]":
        return [question for question in self.questions.all() if not question.background]

    def background_questions(self) -> "list[Question]":
        return [question for question in self.questions.all() if question.background]

    def disclosures(self) -> dict[str, Any]:
        """What respondents are told about who asks: what there is of it."""
        texts = {name: getattr(self, name) for name in DISCLOSURES if getattr(self, name).strip()}
        return texts | ({"retention_days": self.retention_days} if self.retention_days else {})

    def content_hash(self) -> str:
        """Return a hash of all that opening would freeze, or nothing if it cannot open.

        Whoever opens a survey must have seen this content.
        """
        try:
            design = self.draft_design()
        except DesignError:
            return ""
        texts = [self.title, self.introduction, self.language, self.translations]
        return hash_content(self.slug, design, [*texts, self.crowd, self.access])

    def frozen_design(self) -> Design:
        return parse_design(self.design)

    def hold(self) -> "Survey":
        """Return the survey as it is now, held until the end of the transaction.

        NO KEY, so that reports that refer to it can still come in.
        """
        return Survey.objects.select_for_update(no_key=True).get(pk=self.pk)

    def design_to_open(self) -> Design:
        """Return the draft's design, if this site lets a survey spend as much."""
        design = self.draft_design()
        check_site_limits(design)
        return design

    def open(self, seen: str | None = None, by: Actor = None) -> None:
        """Freeze the design and start taking reports; `seen` is what the person has looked at.

        The only way to open a survey. DesignError, ValidationError and its NotReady say why not.
        """
        with transaction.atomic():
            survey = Survey.objects.select_for_update().get(pk=self.pk)
            if survey.state != self.State.DRAFT:
                raise ValidationError(f"The survey is {survey.state}: only a draft can be opened.")
            design = survey.design_to_open()
            if seen is not None and seen != survey.content_hash():
                raise ValidationError("The survey has changed since you looked. Look again.")
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
        """Take no more reports; a worker then moves what still waits, if that is a crowd."""
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
        """Let anyone read the estimates, or no longer."""
        with transaction.atomic():
            others = Survey.objects.filter(pk=self.pk).exclude(results_public=public)
            if others.update(results_public=public):
                record(by, "results made public" if public else "results hidden", self)
        self.refresh_from_db()

    def delete_due(self) -> bool:
        """Whether it has been kept for as long as it may be, by our clock and the database's.

        What is deleted does not come back when a clock is set right.
        """
        if self.delete_on is None or today() < self.delete_on:
            return False
        days = timedelta(days=(self.delete_on - self.closed_on).days if self.closed_on else 0)
        return Survey.objects.filter(pk=self.pk, closed_on__lte=Now() - days).exists()

    @property
    def stage(self) -> str:
        """The state in a word, for people: an archived survey is a closed one out of the way."""
        if self.delete_asked_on:
            return "Being deleted"
        return "Archived" if self.archived_on else self.get_state_display()

    @property
    def delete_on(self) -> date | None:
        """The day on which everything goes, as respondents were told; or sooner, if asked for."""
        if self.delete_asked_on or not (self.closed_on and self.retention_days):
            return self.delete_asked_on
        return self.closed_on + timedelta(days=self.retention_days)

    def pending(self) -> "models.QuerySet[Report]":
        """The reports that wait in the inbox."""
        return Report.objects.filter(survey=self, content__isnull=False)

    def in_crowds(self, count: int) -> int:
        """So many waiting reports as may be told of, in whole crowds.

        Else whoever may look could see when each one comes, and whether somebody who has fetched a
        pass then sent a report.
        """
        return count - count % self.crowd

    def waiting(self, count: int | None = None) -> str:
        """How many reports wait, in words that may be shown."""
        told = self.in_crowds(self.pending().count() if count is None else count)
        return f"{told:,} or more" if told else f"fewer than {self.crowd}"

    @property
    def ids_due_on(self) -> date | None:
        """The day on which the ids have been kept for long enough after the closing."""
        if self.closed_on is None or self.ids_removed_on is not None:
            return None
        return self.closed_on + timedelta(days=settings.KEEP_IDS_DAYS)

    def ids_due(self) -> bool:
        return self.ids_due_on is not None and self.ids_due_on <= today()

    def look_again(self) -> None:
        """Note the next day on which something is due for a closed survey."""
        survey = Survey.objects.get(pk=self.pk)
        days = [day for day in (survey.ids_due_on, survey.delete_on) if day]
        # Unless its deletion was asked for meanwhile, which is due at once.
        unchanged = Survey.objects.filter(pk=self.pk, delete_asked_on=survey.delete_asked_on)
        unchanged.update(due_on=min(days, default=None))

    def forget_ids(self) -> Iterator[int]:
        """Delete the ids of a closed survey, which takes no more reports; yield how many so far."""
        if self.state != self.State.CLOSED:
            raise ValidationError(f"The survey is {self.state}: its ids are needed.")
        yield from Report.objects.forget_ids(self.pk)
        Survey.objects.filter(pk=self.pk).update(ids_removed_on=today())


@lru_cache(maxsize=1024)
def parse_design(canonical: str) -> Design:
    return Design.from_json(canonical)
