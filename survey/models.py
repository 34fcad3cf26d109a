"""Surveys, what they ask, who may read them, and the inbox of reports.

An answer never comes here: a Report holds what chance left of it. No column here may hold an
address, a user agent, an account or a time beside a report.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import connection, models, transaction
from django.db.models.functions import Now
from django.dispatch import Signal

from survey import design as designs
from survey import languages, passes
from survey.design import Design, DesignError
from survey.languages import ENGLISH, MAX_TAG, MAX_TITLE, TAG, TOLD, Words
from survey.log import Actor, record

IDS_AT_A_TIME = 500  # deleted in one transaction; SQLite overwrites them, page by page
PAUSE = 0.005  # seconds between two of them: SQLite does not queue those who wait to write

key_validator = RegexValidator(
    rf"\A{designs.KEY.pattern}\Z", "Use 1 to 50 letters, digits, hyphens or underscores."
)
tag_validator = RegexValidator(
    rf"\A{TAG.pattern}\Z", "Use a language tag, such as en, pt-BR or zh-Hant."
)


# Sent by Survey.open, with the survey as it will be frozen and its design, while it is locked. Who
# knows of something that stands in the way raises NotReady (docs/decisions/0029-opening.md).
opening = Signal()


class NotReady(ValidationError):
    """What stands in the way of opening a survey that could be opened."""


class Role(models.TextChoices):
    """What somebody is in a survey or a team; each contains the one before."""

    VIEWER = "viewer"
    RESEARCHER = "researcher"
    OWNER = "owner"


# Who may do what with a survey: the one place. A superuser may do everything.
#   see     what is public once the owner says so: estimates, and the files made of them
#   read    the dashboard, all releases and finished analyses
#   ask     for releases and analyses, and cancel these
#   take    the noisy reports home
#   manage  people, and whether the results are public
Deed = Literal["see", "read", "ask", "take", "manage"]
MAY: dict[Deed, set[Role]] = {
    "see": {Role.VIEWER, Role.RESEARCHER, Role.OWNER},
    "read": {Role.VIEWER, Role.RESEARCHER, Role.OWNER},
    "ask": {Role.RESEARCHER, Role.OWNER},
    "take": {Role.RESEARCHER, Role.OWNER},
    "manage": {Role.OWNER},
}


def may_design(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Whether this person may make surveys and teams: the permission, or a team's work.

    That owners and researchers of a team have it is said by survey.accounts.Passwords.
    """
    return isinstance(user, User) and user.has_perm("survey.add_survey")


class TeamQuerySet(models.QuerySet["Team"]):
    def where_may(self, user: AbstractBaseUser | AnonymousUser, deed: Deed) -> "TeamQuerySet":
        """The teams with whose surveys this person may do this; who manages those, manages it."""
        if getattr(user, "is_superuser", False):
            return self
        parts = TeamMembership.objects.filter(user=user.pk, role__in=MAY[deed])
        return self.filter(pk__in=parts.values("team"))


class Team(models.Model):
    """People who work together: what each is in the team, they are in all its surveys."""

    name = models.CharField(max_length=100)

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name

    def may(self, user: AbstractBaseUser | AnonymousUser, deed: Deed) -> bool:
        return Team.objects.where_may(user, deed).filter(pk=self.pk).exists()


class SurveyQuerySet(models.QuerySet["Survey"]):
    def where_may(self, user: AbstractBaseUser | AnonymousUser, deed: Deed) -> "SurveyQuerySet":
        """The surveys with which this person may do this."""
        if getattr(user, "is_superuser", False):
            return self
        parts = Membership.objects.filter(user=user.pk, role__in=MAY[deed])
        teams = TeamMembership.objects.filter(user=user.pk, role__in=MAY[deed])
        allowed = models.Q(pk__in=parts.values("survey")) | models.Q(team__in=teams.values("team"))
        if deed == "see":
            allowed |= models.Q(results_public=True) & ~models.Q(state=Survey.State.DRAFT)
        return self.filter(allowed)

    def readable_by(self, user: AbstractBaseUser | AnonymousUser) -> "SurveyQuerySet":
        """The surveys that this person has a part in."""
        return self.where_may(user, "read")


class Survey(models.Model):
    """A survey. Once open, nothing that was promised to respondents can change.

    The database itself refuses such a change (survey/triggers.py), whichever way it is tried.
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
    opens_seen = models.CharField(max_length=64, blank=True, editable=False)
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

    def may(self, user: AbstractBaseUser | AnonymousUser, deed: Deed) -> bool:
        """Whether this person may do this; pages, API and downloads all ask here."""
        return Survey.objects.where_may(user, deed).filter(pk=self.pk).exists()

    def deeds(self, user: AbstractBaseUser | AnonymousUser) -> set[Deed]:
        """All that `may` allows, for pages that show several, in one query."""
        if getattr(user, "is_superuser", False):
            return set(MAY)
        own = Membership.objects.filter(user=user.pk, survey=self).values_list("role", flat=True)
        team = TeamMembership.objects.filter(user=user.pk, team=self.team_id)
        mine = {Role(role) for role in own.union(team.values_list("role", flat=True))}
        found = {deed for deed, roles in MAY.items() if mine & roles}
        if self.results_public and self.state != Survey.State.DRAFT:
            found.add("see")
        return found

    def draft_design(self) -> Design:
        """The design that opening would freeze; DesignError says what stands in the way."""
        designs.check_text("title", self.title)
        designs.check_text("introduction", self.introduction)
        for name in TOLD:
            designs.check_text(name, getattr(self, name))
        told = self.told()
        questions = self.sensitive_questions()
        numbers = sorted({q.block for q in questions if q.block is not None})
        if numbers and any(question.block is None for question in questions):
            raise DesignError("blocks", "give every question a block, or none of them")
        blocks = [[q.key for q in questions if q.block == number] for number in numbers]
        design = designs.build(
            self.epsilon,
            [question.as_design() for question in questions],
            [designs.Background(one.as_design(), one.cost) for one in self.background_questions()],
            blocks or None,
            self.ask,
            languages.freeze(self.language, self.translations, self.questions.all(), told),
            told,
        )
        return replace(design, work=self.work)

    def sensitive_questions(self) -> "list[Question]":
        return [question for question in self.questions.all() if not question.background]

    def background_questions(self) -> "list[Question]":
        return [question for question in self.questions.all() if question.background]

    def told(self) -> dict[str, Any]:
        """What respondents are told about who asks: what there is of it."""
        texts = {name: getattr(self, name) for name in TOLD if getattr(self, name).strip()}
        return texts | ({"retention_days": self.retention_days} if self.retention_days else {})

    def seen(self) -> str:
        """A hash of all that opening would freeze: who opens a survey must have seen it."""
        try:
            design = self.draft_design()
        except DesignError:
            return ""
        texts = [
            self.title,
            self.introduction,
            self.language,
            self.translations,
            self.crowd,
            self.access,
        ]
        return hashlib.sha256(json.dumps([self.slug, design.hash, *texts]).encode()).hexdigest()

    def frozen_design(self) -> Design:
        return parse_design(self.design)

    def design_to_open(self) -> Design:
        """Return the draft's design, if this site lets a survey spend as much."""
        design = self.draft_design()
        spent = [("epsilon", design.epsilon, settings.MAX_EPSILON)]
        spent += [
            (f"background {block.questions[0].key}.epsilon", block.epsilon, most)
            for block in design.background_blocks
            for most in [settings.MAX_BACKGROUND_EPSILON]
        ]
        for where, epsilon, most in spent:
            if epsilon > most:
                raise DesignError(where, f"at most {most:g} on this site, not {epsilon:g}")
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
            if seen is not None and seen != survey.seen():
                raise ValidationError("The survey has changed since you looked. Look again.")
            opening.send(Survey, survey=survey, design=design)
            Draft.objects.filter(survey=survey).delete()
            if survey.access == self.Access.INVITED:
                design = replace(design, passes=PassKey.objects.make(survey))
            survey.design, survey.design_hash = design.canonical, design.hash
            survey.state, survey.opened_on = self.State.OPEN, today()
            survey.opens_at, survey.opens_seen, survey.opens_refused = None, "", ""
            survey.save()
            record(by, "survey opened", survey, design=design.hash)
        self.refresh_from_db()

    def close(self, by: Actor = None) -> None:
        """Take no more reports; a worker then moves what still waits, if that is a crowd."""
        with transaction.atomic():
            PassKey.objects.hold(self)
            survey = Survey.objects.select_for_update().get(pk=self.pk)
            if survey.state != self.State.OPEN:
                raise ValidationError(f"The survey is {survey.state}: only an open one can close.")
            survey.state, survey.closed_on, survey.closes_at = self.State.CLOSED, today(), None
            survey.due_on = today()
            survey.invited, survey.fetched = Invitation.objects.forget(survey)
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
        """Delete the ids of a closed survey, which takes no report again; yields how many so far.

        A range of ids at a time, in their order, so that none is read twice: the ids have no index
        by survey. Each is a short transaction, after which others may write; whoever is interrupted
        starts again.
        """
        if self.state != self.State.CLOSED:
            raise ValidationError(f"The survey is {self.state}: its ids are needed.")
        ids = Report.objects.filter(survey=self, content__isnull=True).order_by("pk")
        gone, rest = 0, ids
        while end := rest.values_list("pk", flat=True)[IDS_AT_A_TIME:].first():
            gone += rest.filter(pk__lt=end).delete()[0]
            yield gone
            rest = ids.filter(pk__gte=end)
            time.sleep(PAUSE)
        yield gone + rest.delete()[0]
        Survey.objects.filter(pk=self.pk).update(ids_removed_on=today())


class PassKeyManager(models.Manager["PassKey"]):
    def make(self, survey: Survey) -> dict[str, str]:
        """A new key for a survey that is about to open; its public half, for the design."""
        key = passes.new_key()
        self.create(survey=survey, private=passes.private_bytes(key))
        return passes.public_text(key.public_key())

    def hold(self, survey: "Survey | int") -> "PassKey | None":
        """The key, held until the end of the transaction; None once the survey is closed.

        Whoever writes invitations holds it first, before any row of theirs or of the survey, so
        that nobody waits for somebody who waits for them.
        """
        return self.select_for_update().filter(survey=survey).first()


class PassKey(models.Model):
    """The private key that signs the passes of a survey, while it is open.

    The public half is part of the design. The database lets no key be changed, nor a second one
    come to an opened survey (survey/triggers.py). Whoever uses or rewrites invitations holds this
    row.
    """

    survey = models.OneToOneField(Survey, models.CASCADE, primary_key=True, related_name="pass_key")
    private = models.BinaryField()  # PKCS 8

    objects = PassKeyManager()

    def __str__(self) -> str:
        return f"Key of {self.survey}"


class InvitationError(Exception):
    """Why there is no pass for a code."""

    def __init__(self, reason: Literal["unknown", "used", "closed"]) -> None:
        super().__init__(reason)
        self.reason = reason


class InvitationManager(models.Manager["Invitation"]):
    def make(self, survey: Survey, codes: Sequence[str]) -> None:
        """Invitations with these codes, all in one transaction and in the order of their digests,
        so that nothing tells in which order they were made."""
        rows = sorted((Invitation(digest=digest(code), survey=survey) for code in codes), key=_pk)
        with transaction.atomic():
            if PassKey.objects.hold(survey) is None:
                raise InvitationError("closed")
            self.bulk_create(rows, batch_size=1000)

    def use(self, survey: int, code: str, blinded: bytes) -> bytes:
        """Note that a pass is fetched for this code with this blinded message; the key to sign it.

        The same once more is as if it were the first time: an answer that was lost on its way can
        be asked for again. The address, if any, goes: nobody is reminded after this.
        """
        with transaction.atomic():
            key = PassKey.objects.hold(survey)
            if key is None:
                raise InvitationError("closed")
            invitation = self.filter(digest=digest(code), survey=survey).first()
            if invitation is None:
                raise InvitationError("unknown")
            with_this = hashlib.sha256(blinded).hexdigest()
            if invitation.used_with not in ("", with_this):
                raise InvitationError("used")
            if not invitation.used_with:
                self.filter(pk=invitation.pk).update(used_with=with_this, email="", mailed_on=None)
            return bytes(key.private)

    def rewrite(self, survey: Survey) -> None:
        """Write the used ones of a survey again, together and in the order of their digests.

        Where a row lies, and the transaction that PostgreSQL notes beside it, tell in which order
        passes were fetched, and beside the order of reports that would tell who sent which.
        """
        with transaction.atomic(), connection.cursor() as cursor:
            if PassKey.objects.hold(survey) is None:
                return
            if connection.vendor == "postgresql":
                cursor.execute(
                    "WITH gone AS (DELETE FROM survey_invitation"
                    " WHERE survey_id = %s AND used_with <> '' RETURNING *)"
                    " INSERT INTO survey_invitation SELECT * FROM gone ORDER BY digest",
                    [survey.pk],
                )

    def forget(self, survey: Survey) -> tuple[int, int]:
        """Delete all of a survey; how many there were, and how many of them were used."""
        every = self.filter(survey=survey)
        counts = every.count(), every.exclude(used_with="").count()
        every.delete()
        return counts


def _pk(invitation: "Invitation") -> str:
    return invitation.digest


class Invitation(models.Model):
    """The right to fetch one pass. Nothing of a report, no time, and the code only as its digest.

    It goes when the survey closes.
    """

    digest = models.CharField(max_length=64, primary_key=True, editable=False)  # SHA-256 of a code
    survey = models.ForeignKey(Survey, models.CASCADE, related_name="invitations")
    # Of the blinded message that it was used with, its SHA-256; empty until then.
    used_with = models.CharField(max_length=64, blank=True, editable=False)
    # Until it is used: where to send it, and the day of its last letter.
    email = models.EmailField(blank=True)
    mailed_on = models.DateField(null=True)
    # A keyed hash of the address, so that nobody is invited twice; survey/invitations.py.
    person = models.CharField(max_length=64, blank=True, editable=False)

    objects = InvitationManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["survey", "person"],
                condition=~models.Q(person=""),
                name="invitation_once_a_person",
            )
        ]

    def __str__(self) -> str:
        return self.digest


class Removed(models.Model):
    """What is left of a survey that was removed: that it was, and of which archive to ask more.

    While one is there, the database lets the closed survey of this id and slug be deleted, and no
    other one come to its address (survey/triggers.py). It stays for good.
    """

    id = models.BigIntegerField(primary_key=True)  # that of the survey
    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=MAX_TITLE)
    design_hash = models.CharField(max_length=71)
    reports = models.PositiveBigIntegerField()
    archive = models.CharField("SHA-256 of the archive", max_length=64)
    removed_on = models.DateField()

    class Meta:
        ordering = ["slug"]
        verbose_name = "removed survey"

    def __str__(self) -> str:
        return self.title


@lru_cache(maxsize=1024)
def parse_design(canonical: str) -> Design:
    return Design.from_json(canonical)


def today() -> date:
    return datetime.now(UTC).date()


class Question(models.Model):
    """A question, sensitive or background: its answers are randomized in the browser.

    A background question is a choice that everybody is asked, in a block of its own and with an ε
    of its own; “Prefer not to say” is always one of its options.
    """

    class Kind(models.TextChoices):
        YES_NO = "yes_no", "Yes or no"
        CHOICE = "choice", "One of several options"

    survey = models.ForeignKey(Survey, models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField(default=0)
    key = models.CharField(max_length=50, validators=[key_validator])
    text = models.TextField()
    kind = models.CharField(max_length=6, choices=Kind, default=Kind.YES_NO)
    options = models.JSONField(default=list, blank=True, help_text="For a choice: one a line.")
    prefer_not_to_say = models.BooleanField(
        "may be declined",
        default=False,
        help_text="Adds “Prefer not to say”, randomized like the other options.",
    )
    block = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Questions with the same number are randomized together. "
        "Empty everywhere: chosen for the least error.",
    )

    background = models.BooleanField(default=False)
    epsilon = models.FloatField(
        "ε",
        null=True,
        blank=True,
        validators=[MinValueValidator(1e-9, "More than 0, please.")],
        help_text="For a background question: what its answer costs. Empty: "
        f"{designs.BACKGROUND_EPSILON:g}.",
    )

    class Meta:
        ordering = ["background", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["survey", "key"], name="question_key_once_a_survey"),
            models.CheckConstraint(
                condition=models.Q(background=False, epsilon__isnull=True)
                | models.Q(
                    background=True, kind="choice", prefer_not_to_say=True, block__isnull=True
                ),
                name="question_background",
            ),
        ]

    def __str__(self) -> str:
        return self.key

    def clean(self) -> None:
        if self.kind == self.Kind.YES_NO and self.options:
            raise ValidationError({"options": "A yes/no question has no options of its own."})
        if self.kind == self.Kind.CHOICE:
            check_options(self.options)
        if self.background and (self.kind != self.Kind.CHOICE or not self.prefer_not_to_say):
            raise ValidationError("A background question is a choice that may be declined.")
        if self.background and self.block is not None:
            raise ValidationError({"block": "A background question is a block of its own."})
        if self.epsilon is not None and not self.background:
            raise ValidationError({"epsilon": "Only a background question has an ε of its own."})
        declined = self._words().declined
        keys = [option.key for option in designs.options_from_texts(self.options)]
        if self.prefer_not_to_say and ("prefer-not-to-say" in keys or declined in self.options):
            raise ValidationError({"options": f"“{declined}” stands there twice."})

    @property
    def cost(self) -> float:
        """The ε of a background answer."""
        return self.epsilon or designs.BACKGROUND_EPSILON

    def _words(self) -> Words:
        return languages.words(self.survey.language) or ENGLISH

    def option_texts(self, own: Sequence[str], words: Words) -> list[str]:
        """Return all options in one language: the question's own there, and those that are ours."""
        yes_no = [words.no, words.yes] if self.kind == self.Kind.YES_NO else []
        return [*yes_no, *own, *([words.declined] if self.prefer_not_to_say else [])]

    def as_design(self) -> designs.Question:
        """Keys do not depend on the language: those of our options are made of the English."""
        keyed = designs.options_from_texts(self.option_texts(self.options, ENGLISH))
        texts = self.option_texts(self.options, self._words())
        options = (
            designs.Option(option.key, text) for option, text in zip(keyed, texts, strict=True)
        )
        return designs.Question(self.key, self.text, tuple(options), self.kind)


def check_options(options: Any) -> None:
    """Check what the import command and the admin forms both ask of a list of option texts."""
    if not isinstance(options, list) or not all(
        isinstance(text, str) and text.strip() for text in options
    ):
        raise ValidationError({"options": "A list of texts, none of them empty."})
    if not 2 <= len(options) <= designs.MAX_OPTIONS:
        raise ValidationError(
            {"options": f"2 to {designs.MAX_OPTIONS} options, not {len(options)}."}
        )
    if len(set(options)) < len(options):
        raise ValidationError({"options": "The same option stands there twice."})


class Draft(models.Model):
    """Where the editing of a draft stands; gone, with the history, when the survey opens."""

    survey = models.OneToOneField(Survey, models.CASCADE, primary_key=True, related_name="editing")
    number = models.PositiveIntegerField(default=1)  # higher after each change, undoing included
    place = models.PositiveIntegerField(default=0)  # in the history, of what the draft is now

    def __str__(self) -> str:
        return f"{self.survey}, {self.number}"


class DraftRevision(models.Model):
    """What a draft was at one place of its history, as a survey file has it."""

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="revisions")
    place = models.PositiveIntegerField()
    document = models.JSONField()
    step = models.CharField(max_length=100, blank=True)  # what was being changed
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    saved_on = models.DateField()

    class Meta:
        ordering = ["place"]
        constraints = [
            models.UniqueConstraint(fields=["draft", "place"], name="revision_once_a_place")
        ]

    def __str__(self) -> str:
        return f"{self.draft} at {self.place}"


class LastOwner(Exception):
    """A survey or a team would be left without an owner."""


class PartQuerySet(models.QuerySet[Any]):
    """Who has which part in `whole`, a survey or a team."""

    def give(self, whole: models.Model, user: User, role: Role, by: Actor = None) -> None:
        """Make somebody this, whatever they were before; LastOwner if nobody else owns it."""
        part: dict[str, Any] = {self.model.whole: whole, "user": user}
        with transaction.atomic():
            self._spare(whole, user, role)
            before = self.filter(**part).values_list("role", flat=True).first()
            self.update_or_create(**part, defaults={"role": role})
            if before != role:
                what = "role changed" if before else "role given"
                self._record(by, what, whole, user, role=str(role))

    def raise_to(self, whole: models.Model, user: User, role: Role) -> None:
        """Make somebody this, unless they are more already: they were invited to it."""
        weaker = [each for each in Role if list(Role).index(each) < list(Role).index(role)]
        part: dict[str, Any] = {self.model.whole: whole, "user": user}
        with transaction.atomic():
            _, created = self.get_or_create(**part, defaults={"role": role})
            raised = self.filter(**part, role__in=weaker).update(role=role)
            if created or raised:
                self._record(user, "invitation accepted", whole, user, role=str(role))

    def remove(self, whole: models.Model, user: User, by: Actor = None) -> None:
        with transaction.atomic():
            self._spare(whole, user)
            if self.filter(**{self.model.whole: whole}, user=user).delete()[0]:
                self._record(by, "role taken", whole, user)

    def _record(self, by: Actor, what: str, whole: models.Model, user: User, **detail: str) -> None:
        survey = whole if isinstance(whole, Survey) else None
        team = {} if survey else {"team": str(whole)}
        record(by, what, survey, account=user.get_username(), **team, **detail)

    def of_last_owner(self, user: User) -> list[str]:
        """The names of what this person owns alone. Held until the commit, as in `_spare`."""
        name = self.model.whole
        owned = self.filter(user=user, role=Role.OWNER).values(name)
        held = self.select_for_update(of=("self",)).filter(
            role=Role.OWNER, **{f"{name}__in": owned}
        )
        parts = list(held.select_related(name, "user").order_by("pk"))
        others = [part for part in parts if part.user_id != user.pk and part.user.is_active]
        shared = {getattr(part, name).pk for part in others}
        wholes = [getattr(part, name) for part in parts if part.user_id == user.pk]
        return [str(whole) for whole in wholes if whole.pk not in shared]

    def _spare(self, whole: models.Model, user: User, role: Role | None = None) -> None:
        """Held until the commit, so that of two owners who leave at once one is the last."""
        owners = self.filter(**{self.model.whole: whole}, role=Role.OWNER).select_related("user")
        held = list(owners.select_for_update(of=("self",)).order_by("pk"))
        owns = any(owner.user_id == user.pk for owner in held)
        others = [owner for owner in held if owner.user_id != user.pk and owner.user.is_active]
        if role != Role.OWNER and owns and not others:
            raise LastOwner


class Membership(models.Model):
    """Somebody's part in a survey."""

    whole = "survey"

    survey = models.ForeignKey(Survey, models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    role = models.CharField(max_length=10, choices=Role, default=Role.RESEARCHER)

    objects = PartQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["survey", "user"], name="researcher_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=["viewer", "researcher", "owner"]),
                name="membership_role",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}, {self.role} of {self.survey}"


class TeamMembership(models.Model):
    """Somebody's part in a team, and so in all surveys of it."""

    whole = "team"

    team = models.ForeignKey(Team, models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    role = models.CharField(max_length=10, choices=Role)

    objects = PartQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="team_member_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=["viewer", "researcher", "owner"]),
                name="team_role",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}, {self.role} of {self.team}"


Recorded = Literal["stored", "known", "closed"]


class Arrival(NamedTuple):
    """A report that was checked and is not stored yet."""

    id: str  # a UUID as it is usually written
    content: bytes
    survey: int


class ReportManager(models.Manager["Report"]):
    def record(self, reports: Sequence[Arrival]) -> list[Recorded]:
        """Store reports, durable on return, each only while its survey is open.

        One statement, so that a survey cannot close between the look and the commit. An id that is
        there already is known, whatever comes with it: whoever has the receipt of a report must
        not learn its content by trying.
        """
        if not reports:
            return []
        # In one order for everybody, lest two groups with the same ids wait for each other; and
        # not in that of arrival.
        first = {report.id: report for report in reversed(reports)}
        stored = self._insert([first[pk] for pk in sorted(first)])
        if len(stored) == len(reports):
            return ["stored"] * len(reports)
        there = set(map(str, self.filter(pk__in=list(first)).values_list("pk", flat=True)))

        def outcome(report: Arrival) -> Recorded:
            if report.id in stored and report is first[report.id]:
                return "stored"
            return "known" if report.id in there else "closed"

        return [outcome(report) for report in reports]

    def more_wait_than(self, most: int) -> bool:
        return self.filter(content__isnull=False).values("survey_id")[most : most + 1].exists()

    def _insert(self, reports: Sequence[Arrival]) -> set[str]:
        """The ids that were not there before and whose survey is open."""
        values: list[Any]
        if connection.vendor == "postgresql":  # %b: in binary, at half the price
            new = "SELECT * FROM unnest(%s::uuid[], %b::bytea[], %b::bigint[])"
            values = [list(column) for column in zip(*reports, strict=True)]
            # Held until the commit: close() waits for it, or we for close() and then look again.
            hold = " FOR KEY SHARE OF survey_survey"
        else:
            hold = ""
            new = "VALUES " + ", ".join(["(%s, %s, %s)"] * len(reports))
            values = [value for pk, *rest in reports for value in (pk.replace("-", ""), *rest)]
        given = f"new (id, content, survey) AS ({new})"
        insert = (
            " INSERT INTO survey_report (id, content, survey_id)"  # noqa: S608
            " SELECT new.id, new.content, new.survey FROM new"
            " JOIN survey_survey ON survey_survey.id = new.survey WHERE state = 'open'"
            f"{hold} ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS text)"
        )
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute(f"WITH {given} {insert}", values)
                stored = {pk for (pk,) in cursor.fetchall()}
                return {report.id for report in reports if report.id.replace("-", "") in stored}
            # The ids are sent back only where some are missing: a tenth of the time of the rest.
            cursor.execute(
                f"WITH {given}, stored (id) AS ({insert})"  # noqa: S608
                f" SELECT CASE WHEN count(*) < {len(reports)}"
                " THEN coalesce(array_agg(id), '{}') END FROM stored",
                values,
            )
            (some,) = cursor.fetchone()
            return {report.id for report in reports} if some is None else set(some)


class Report(models.Model):
    """One report. Its content leaves with a batch; its id stays, against duplicates.

    The content is a byte for every question of the design: what the report says, or ABSENT where
    the question was not asked.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    # No constraint in the database: the statement that stores a report has looked at the survey,
    # which only goes, closed and by its own command, after its reports. It would cost as much as
    # the insert itself.
    survey = models.ForeignKey(
        Survey, models.PROTECT, db_index=False, db_constraint=False, related_name="reports"
    )
    content = models.BinaryField(null=True)

    objects = ReportManager()

    class Meta:
        indexes = [
            models.Index(
                fields=["survey"],
                name="report_inbox",
                condition=models.Q(content__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return str(self.id)


ABSENT = 255


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
