"""Access control: roles, teams, and memberships in surveys and teams."""

from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import models, transaction

from survey.models.log import Actor, record


class Role(models.TextChoices):
    """A role in a survey or a team. Each includes the permissions of the one before."""

    VIEWER = "viewer"
    RESEARCHER = "researcher"
    OWNER = "owner"


# The only place that defines who may do what with a survey. A superuser may do everything.
#   see       the estimates and their files, which an owner can make public
#   read      the dashboard, all releases and finished analyses
#   ask       request releases and analyses, and cancel analyses
#   download  the noisy reports
#   manage    people, and whether the results are public
Action = Literal["see", "read", "ask", "download", "manage"]


ROLE_ACTIONS: dict[Action, set[Role]] = {
    "see": {Role.VIEWER, Role.RESEARCHER, Role.OWNER},
    "read": {Role.VIEWER, Role.RESEARCHER, Role.OWNER},
    "ask": {Role.RESEARCHER, Role.OWNER},
    "download": {Role.RESEARCHER, Role.OWNER},
    "manage": {Role.OWNER},
}


def may_design(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether this person may create surveys and teams.

    Owners and researchers of a team have the permission through people.authentication.Passwords.
    """
    return isinstance(user, User) and user.has_perm("survey.add_survey")


class TeamQuerySet(models.QuerySet["Team"]):
    def where_may(self, user: AbstractBaseUser | AnonymousUser, action: Action) -> "TeamQuerySet":
        """Return the teams whose surveys allow this person this action; so does the team itself."""
        if getattr(user, "is_superuser", False):
            return self
        parts = TeamMembership.objects.filter(user=user.pk, role__in=ROLE_ACTIONS[action])
        return self.filter(pk__in=parts.values("team"))


class Team(models.Model):
    """People who work together. Team roles apply to all of the team's surveys."""

    name = models.CharField(max_length=100)

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name

    def may(self, user: AbstractBaseUser | AnonymousUser, action: Action) -> bool:
        return Team.objects.where_may(user, action).filter(pk=self.pk).exists()


class LastOwner(Exception):
    """The change would leave a survey or a team without an owner."""


class MembershipQuerySet(models.QuerySet[Any]):
    """Memberships in a `target`, which is a survey or a team."""

    def give(self, target: models.Model, user: User, role: Role, by: Actor = None) -> None:
        """Give a person this role in place of any other; LastOwner if no owner would remain."""
        key: dict[str, Any] = {self.model.target: target, "user": user}
        with transaction.atomic():
            self._keep_an_owner(target, user, role)
            before = self.filter(**key).values_list("role", flat=True).first()
            self.update_or_create(**key, defaults={"role": role})
            if before != role:
                what = "role changed" if before else "role given"
                self._record(by, what, target, user, role=str(role))

    def raise_to(self, target: models.Model, user: User, role: Role) -> None:
        """Give an invited person this role, unless they have a higher one."""
        weaker = [each for each in Role if list(Role).index(each) < list(Role).index(role)]
        key: dict[str, Any] = {self.model.target: target, "user": user}
        with transaction.atomic():
            _, created = self.get_or_create(**key, defaults={"role": role})
            raised = self.filter(**key, role__in=weaker).update(role=role)
            if created or raised:
                self._record(user, "invitation accepted", target, user, role=str(role))

    def remove(self, target: models.Model, user: User, by: Actor = None) -> None:
        with transaction.atomic():
            self._keep_an_owner(target, user)
            if self.filter(**{self.model.target: target}, user=user).delete()[0]:
                self._record(by, "role taken", target, user)

    def _record(
        self, by: Actor, what: str, target: models.Model, user: User, **detail: str
    ) -> None:
        survey = target if self.model.target == "survey" else None
        team = {} if survey else {"team": str(target)}
        record(by, what, survey, account=user.get_username(), **team, **detail)

    def names_owned_alone(self, user: User) -> list[str]:
        """Return the names of the targets that only this person owns, locking their owners."""
        name = self.model.target
        owned = self.filter(user=user, role=Role.OWNER).values(name)
        locked = self.select_for_update(of=("self",)).filter(
            role=Role.OWNER, **{f"{name}__in": owned}
        )
        owners = list(locked.select_related(name, "user").order_by("pk"))
        others = [owner for owner in owners if owner.user_id != user.pk and owner.user.is_active]
        shared = {getattr(owner, name).pk for owner in others}
        targets = [getattr(owner, name) for owner in owners if owner.user_id == user.pk]
        return [str(target) for target in targets if target.pk not in shared]

    def _keep_an_owner(self, target: models.Model, user: User, role: Role | None = None) -> None:
        """Raise LastOwner if no owner would remain. Locks, as two owners may leave at once."""
        owners = self.filter(**{self.model.target: target}, role=Role.OWNER).select_related("user")
        locked = list(owners.select_for_update(of=("self",)).order_by("pk"))
        owns = any(owner.user_id == user.pk for owner in locked)
        others = [owner for owner in locked if owner.user_id != user.pk and owner.user.is_active]
        if role != Role.OWNER and owns and not others:
            raise LastOwner


class Membership(models.Model):
    """A person's role in a survey."""

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
    """A person's role in a team, and so in all of its surveys."""

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
