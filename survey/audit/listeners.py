"""Writes Django's own events to the audit log: logins, changes of accounts and the admin pages.

For a failed login, only the name of an existing account is logged. Other names are not, because
people sometimes type their password there by mistake.
"""

from typing import Any

from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from survey import rate_limits
from survey.models import Survey
from survey.models.log import record

FAILURES_NOTED = 1  # per minute and account, so that an attack does not fill the disk


@receiver(user_logged_in, dispatch_uid="log")
def logged_in(user: User, **rest: Any) -> None:
    record(user, "logged in")


@receiver(user_logged_out, dispatch_uid="log")
def logged_out(user: User | None, **rest: Any) -> None:
    if user is not None and user.is_authenticated:
        record(user, "logged out")


@receiver(user_login_failed, dispatch_uid="log")
def login_failed(credentials: dict[str, Any], **rest: Any) -> None:
    name = credentials.get(get_user_model().USERNAME_FIELD)
    if not User.objects.filter(username=name or "").exists():
        return
    if not rate_limits.wait("failed-login", str(name), FAILURES_NOTED):
        record(None, "login failed", account=name)


@receiver(post_save, sender=User, dispatch_uid="log")
def account_saved(instance: User, created: bool, raw: bool = False, **rest: Any) -> None:
    if raw:
        return
    if created:
        powers = [power for power in ("staff", "superuser") if getattr(instance, f"is_{power}")]
        record(None, "account made", account=instance.username, powers=powers)
    elif getattr(instance, "_password", None) is not None:  # after set_password
        record(None, "password changed", account=instance.username)


@receiver(post_delete, sender=User, dispatch_uid="log")
def account_deleted(instance: User, **rest: Any) -> None:
    record(None, "account deleted", account=instance.username)


@receiver(post_save, sender=LogEntry, dispatch_uid="log")
def admin_site_used(instance: LogEntry, created: bool, raw: bool = False, **rest: Any) -> None:
    """Log a change in the admin pages. Django notes the changed fields, but not their values."""
    if raw or not created:
        return
    verbs = {ADDITION: "added", CHANGE: "changed"}
    kind = instance.content_type
    about = kind.model if kind else "?"
    survey = None
    if about == "survey":
        survey = Survey.objects.filter(pk=instance.object_id or 0).first()
    record(
        instance.user,
        f"{verbs.get(instance.action_flag, 'deleted')} in the admin pages",
        survey,
        kind=about,
        name=instance.object_repr,
        changes=instance.get_change_message(),
    )
