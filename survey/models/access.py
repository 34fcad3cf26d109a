"""Who may do what: roles, teams, and memberships in surveys and teams."""

from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import models, transaction

from survey.models.log import Actor, record


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
Action = Literal["see", "read", "ask", "download", "manage"]


ROLE_ACTIONS: dict[Action, set[Role]] = {
    "see": {Role.VIEWER, Role.RESEARCHER, Role.OWNER},
    "read": {Role.VIEWER, Role.RESEARCHER, Role.OWNER},
    "ask": {Role.RESEARCHER, Role.OWNER},
    "download": {Role.RESEARCHER, Role.OWNER},
    "manage": {Role.OWNER},
}


def may_design(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Whether this person may make surveys and teams: the permission, or a team's work.

    That owners and researchers of a team have it is said by survey.accounts.Passwords.
    """
    return isinstance(user, User) and user.has_perm("survey.add_survey")


class TeamQuerySet(models.QuerySet["Team"]):
    def where_may(self, user: AbstractBaseUser | AnonymousUser, action: Action) -> "TeamQuerySet":
        """The teams with whose surveys this person may do this; who manages those, manages it."""
        if getattr(user, "is_superuser", False):
            return self
        parts = TeamMembership.objects.filter(user=user.pk, role__in=ROLE_ACTIONS[action])
        return self.filter(pk__in=parts.values("team"))


class Team(models.Model):
    """People who work together: what each is in the team, they are in all its surveys."""

    name = models.CharField(max_length=100)

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name

    def may(self, user: AbstractBaseUser | AnonymousUser, action: Action) -> bool:
        return Team.objects.where_may(user, action).filter(pk=self.pk).exists()


class LastOwner(Exception):
    """A survey or a team would be left without an owner."""


class MembershipQuerySet(models.QuerySet[Any]):
    """Who has which part in `target`, a survey or a team."""

    def give(self, target: models.Model, user: User, role: Role, by: Actor = None) -> None:
        """Make somebody this, whatever they were before; LastOwner if nobody else owns it."""
        part: dict[str, Any] = {self.model.target: target, "user": user}
        with transaction.atomic():
            self._spare(target, user, role)
            before = self.filter(**part).values_list("role", flat=True).first()
            self.update_or_create(**part, defaults={"role": role})
            if before != role:
                what = "role changed" if before else "role given"
                self._record(by, what, target, user, role=str(role))

    def raise_to(self, target: models.Model, user: User, role: Role) -> None:
        """Make somebody this, unless they are more already: they were invited to it."""
        weaker = [each for each in Role if list(Role).index(each) < list(Role).index(role)]
        part: dict[str, Any] = {self.model.target: target, "user": user}
        with transaction.atomic():
            _, created = self.get_or_create(**part, defaults={"role": role})
            raised = self.filter(**part, role__in=weaker).update(role=role)
            if created or raised:
                self._record(user, "invitation accepted", target, user, role=str(role))

    def remove(self, target: models.Model, user: User, by: Actor = None) -> None:
        with transaction.atomic():
            self._spare(target, user)
            if self.filter(**{self.model.target: target}, user=user).delete()[0]:
                self._record(by, "role taken", target, user)

    def _record(
        self, by: Actor, what: str, target: models.Model, user: User, **detail: str
    ) -> None:
        survey = target if self.model.target == "survey" else None
        team = {} if survey else {"team": str(target)}
        record(by, what, survey, account=user.get_username(), **team, **detail)

    def of_last_owner(self, user: User) -> list[str]:
        """The names of what this person owns alone. Held until the commit, as in `_spare`."""
        name = self.model.target
        owned = self.filter(user=user, role=Role.OWNER).values(name)
        held = self.select_for_update(of=("self",)).filter(
            role=Role.OWNER, **{f"{name}__in": owned}
        )
        parts = list(held.select_related(name, "user").order_by("pk"))
        others = [part for part in parts if part.user_id != user.pk and part.user.is_active]
        shared = {getattr(part, name).pk for part in others}
        wholes = [getattr(part, name) for part in parts if part.user_id == user.pk]
        return [str(target) for target in wholes if target.pk not in shared]

    def _spare(self, target: models.Model, user: User, role: Role | None = None) -> None:
        """Held until the commit, so that of two owners who leave at once one is the last."""
        owners = self.filter(**{self.model.target: target}, role=Role.OWNER).select_related("user")
        held = list(owners.select_for_update(of=("self",)).order_by("pk"))
        owns = any(owner.user_id == user.pk for owner in held)
        others = [owner for owner in held if owner.user_id != user.pk and owner.user.is_active]
        if role != Role.OWNER and owns and not others:
            raise LastOwner


class Membership(models.Model):
    """Somebody's part in a survey."""

    target = "survey"

    survey = models.ForeignKey("survey.Survey", models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    role = models.CharField(max_length=10, choices=Role, default=Role.RESEARCHER)

    objects = MembershipQuerySet.as_manager()

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

    target = "team"

    team = models.ForeignKey(Team, models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    role = models.CharField(max_length=10, choices=Role)

    objects = MembershipQuerySet.as_manager()

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
