"""The page where the owner of a survey opens, closes, archives and deletes it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from aggregation.jobs.removal import remove_draft
from aggregation.models import Job
from aggregation.releases.due import unfinished
from studio import checklist, opening_page
from studio.opening_page import Given
from survey.design import DesignError
from survey.models import Survey, today
from survey.models.log import Actor, record
from survey.permissions import private_form, survey_or_403

FARTHEST = timedelta(days=5 * 365)


def read_moment(given: Given) -> datetime:
    """Read a future time in UTC, to the minute."""
    try:
        text = given.get("at", "").strip().replace("T", " ")
        at = datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
    except ValueError:
        raise ValidationError("Enter a day and a time, such as 2027-03-01 09:00.") from None
    if at <= timezone.now():
        raise ValidationError("This time is in the past. Enter a time in UTC.")
    if at > timezone.now() + FARTHEST:
        raise ValidationError("Enter a time in the next five years.")
    return at


@private_form
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the page. POST `do`, the name of an action, with its fields."""
    survey = survey_or_403(request, slug, "manage")
    refused: list[str] = []
    given = request.POST.dict()
    if request.method == "POST":
        try:
            action = ACTIONS.get(given.get("do", ""))
            if action is None:
                raise ValidationError("Unknown action. Nothing was done.")
            with transaction.atomic():
                action(survey, given, request.user)
        except DesignError as error:
            refused = [f"The survey cannot open. {error}."]
        except ValidationError as error:
            refused = error.messages
        else:
            left = Survey.objects.filter(pk=survey.pk, delete_asked_on=None).exists()
            return redirect(request.path) if left else redirect("surveys")
        survey.refresh_from_db()
    context = opening_page.context(request, survey, given) | {"refused": refused}
    template = f"studio/opening/{survey.state}.html"
    return render(request, template, context, status=400 if refused else 200)


# --- Actions --------------------------------------------------------------------------------------


def _must_have_read(survey: Survey, given: Given) -> None:
    """Require a confirmation that the warnings were read, because opening cannot be undone.

    Findings that block, and changes since the page was loaded, are refused by opening itself.
    """
    found = checklist.of(survey)
    if opening_page.blocked(found) or given.get("seen") != survey.content_hash():
        return
    if opening_page.to_read(found) and "read" not in given:
        raise ValidationError(
            "The survey did not open. Read the warnings, and tick the box to confirm that you have."
        )


def open_now(survey: Survey, given: Given, by: Actor) -> None:
    _must_have_read(survey, given)
    survey.open(given.get("seen", ""), by=by)


def open_at(survey: Survey, given: Given, by: Actor) -> None:
    """Schedule the opening, and refuse now what would be refused then."""
    at = read_moment(given)
    _must_have_read(survey, given)
    with transaction.atomic():
        survey = Survey.objects.select_for_update().get(pk=survey.pk)
        _must_be(survey, Survey.State.DRAFT)
        survey.draft_design()  # raises DesignError if there is none
        if given.get("seen") != survey.content_hash():
            raise ValidationError("The survey has changed since you checked. Check it again.")
        survey.opens_at, survey.approved_hash, survey.opens_refused = at, survey.content_hash(), ""
        checklist.refuse(survey)
        survey.save()
        record(by, "opening set", survey, at=minute(at))


def open_later(survey: Survey, given: Given, by: Actor) -> None:
    drafts = Survey.objects.filter(pk=survey.pk, state=Survey.State.DRAFT)
    if drafts.update(opens_at=None, approved_hash="", opens_refused="") and survey.opens_at:
        record(by, "opening cancelled", survey)


def close_now(survey: Survey, given: Given, by: Actor) -> None:
    if survey.state == Survey.State.OPEN and given.get("slug", "").strip() != survey.slug:
        raise ValidationError(f"It was not closed. Type {survey.slug} to confirm.")
    survey.close(by=by)


def close_at(survey: Survey, given: Given, by: Actor) -> None:
    at = read_moment(given)
    if survey.opens_at and at <= survey.opens_at:
        raise ValidationError("It would close before it opens.")
    unclosed = Survey.objects.filter(pk=survey.pk).exclude(state=Survey.State.CLOSED)
    if not unclosed.update(closes_at=at):
        raise ValidationError("The survey is already closed.")
    record(by, "closing set", survey, at=minute(at))


def close_by_hand(survey: Survey, given: Given, by: Actor) -> None:
    timed = Survey.objects.filter(pk=survey.pk).exclude(closes_at=None)
    if timed.exclude(state=Survey.State.CLOSED).update(closes_at=None):
        record(by, "closing cancelled", survey)


def archive(survey: Survey, given: Given, by: Actor) -> None:
    _must_be(survey, Survey.State.CLOSED)
    if Survey.objects.filter(pk=survey.pk, archived_on=None).update(archived_on=today()):
        record(by, "survey archived", survey)


def bring_back(survey: Survey, given: Given, by: Actor) -> None:
    if Survey.objects.filter(pk=survey.pk, archived_on__isnull=False).update(archived_on=None):
        record(by, "survey unarchived", survey)


def delete(survey: Survey, given: Given, by: Actor) -> None:
    """Delete a draft now, or ask a worker to delete a closed survey, which may be very large."""
    if survey.state == Survey.State.DRAFT:
        remove_draft(survey, by)
        return
    _must_be(survey, Survey.State.CLOSED)
    if given.get("slug", "").strip() != survey.slug:
        raise ValidationError(f"Nothing was deleted. Type {survey.slug} to confirm.")
    if why := unfinished(survey):
        raise ValidationError(f"Not yet. {why}")
    fresh = Survey.objects.filter(pk=survey.pk, delete_asked_on=None).update(
        delete_asked_on=today(), due_on=today()
    )
    Job.objects.request(survey)
    if fresh:
        record(by, "deletion requested", survey)


def minute(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _must_be(survey: Survey, state: Survey.State) -> None:
    if survey.state != state:
        raise ValidationError(f"Nothing was done. The survey is now {survey.state}.")


ACTIONS: dict[str, Callable[[Survey, Given, Actor], None]] = {
    "open": open_now,
    "open-at": open_at,
    "open-later": open_later,
    "close": close_now,
    "close-at": close_at,
    "close-by-hand": close_by_hand,
    "archive": archive,
    "bring-back": bring_back,
    "delete": delete,
}
