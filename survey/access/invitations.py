"""The page where the owner of a survey creates invitations: as a file, as a sheet or by e-mail.

A code is shown or sent only once, and only its digest is stored, so a reminder replaces the code.
The address and the day of the last e-mail are kept until the code is used, so that nobody gets two
e-mails in a day. After that, only a keyed hash of the address is kept, so that the same list can be
pasted again without inviting anybody twice.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from email.errors import MessageError
from smtplib import SMTPException
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, get_connection
from django.core.validators import validate_email
from django.db import transaction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import salted_hmac

from survey.access import letters
from survey.access.codes import new_code, shown
from survey.design import NO_TEXT
from survey.design.passes import to_text
from survey.models import Invitation, InvitationError, PassKey, Survey, digest, today
from survey.models.log import record
from survey.permissions import private_form, survey_or_403
from survey.qr_codes import qr_code
from survey.spreadsheets import Line, csv_parts
from survey.words import catalogue

MOST_CODES = 100_000  # at once
MOST_ON_A_SHEET = 500
MOST_ADDRESSES = 10_000
MAIL_SECONDS = 20.0  # how long one request sends e-mails; the next one continues
LINK_HASH = 27  # letters of the design's hash in a link: 162 bits, too many to forge


# --- Links ----------------------------------------------------------------------------------------


def fingerprint(survey: Survey) -> str:
    """Return the start of the design's hash, which ends every invitation link of a survey."""
    return to_text(bytes.fromhex(survey.design_hash.removeprefix("sha256:")))[:LINK_HASH]


def link(address: str, survey: Survey, code: str) -> str:
    """Return the link with the code and the design's fingerprint after the #, which is not sent."""
    return f"{address}#{code}.{fingerprint(survey)}"


def make(survey: Survey, count: int) -> list[str]:
    codes = [new_code() for _ in range(count)]
    Invitation.objects.make(survey.pk, codes)
    return codes


# --- Mail -----------------------------------------------------------------------------------------


def person(survey: Survey, email: str) -> str:
    """Return a keyed hash of an address, which means nothing without the site's secret key."""
    return salted_hmac(f"candor.invited.{survey.pk}", email.lower(), algorithm="sha256").hexdigest()


def add_people(survey: Survey, emails: Sequence[str]) -> int:
    """Create invitations for new addresses, without codes yet; return how many were new."""
    people = {person(survey, email): email for email in emails}
    with transaction.atomic():
        if PassKey.objects.hold(survey.pk) is None:
            raise InvitationError("closed")
        mine = Invitation.objects.filter(survey=survey).exclude(person="")
        known = set(mine.values_list("person", flat=True))
        # This code is never sent: the first e-mail replaces it.
        new = [
            Invitation(survey=survey, digest=digest(new_code()), email=email, person=key)
            for key, email in people.items()
            if key not in known
        ]
        Invitation.objects.bulk_create(sorted(new, key=lambda row: row.digest), batch_size=1000)
    return len(new)


@dataclass(frozen=True)
class Letter:
    subject: str
    text: str  # contains {link}
    answers: str = ""  # the Reply-To address; if empty, the site's own

    def to(self, email: str, address: str) -> EmailMessage:
        text = self.text.replace("{link}", address)
        answers = [self.answers] if self.answers else None
        return EmailMessage(self.subject, text, to=[email], reply_to=answers)


def contact(survey: Survey) -> str:
    """Return the survey's contact if it is an e-mail address, otherwise ""."""
    try:
        validate_email(survey.contact.strip())
    except ValidationError:
        return ""
    return survey.contact.strip()


@dataclass
class Sent:
    """The outcome of sending e-mails."""

    sent: int = 0
    failed: int = 0


def send(survey: Survey, letter: Letter, address: str, remind: bool = False) -> Sent:
    """Send the letter to people without one, or with `remind` to those who have not responded.

    Reminders go only to people whose last e-mail is from an earlier day. Sending stops after
    MAIL_SECONDS; the next call continues. Each invitation is marked as sent, with its new code,
    before its e-mail leaves, so after a crash nobody gets two e-mails. At worst somebody gets none
    until the reminder. E-mails that the mail server refuses are not marked.
    """
    outcome, end = Sent(), time.monotonic() + MAIL_SECONDS
    mailed = {"mailed_on__lt": today()} if remind else {"mailed_on": None}
    waiting = Invitation.objects.filter(survey=survey, used_with="", **mailed).exclude(email="")
    keys = list(waiting.values_list("pk", "mailed_on"))
    if not keys:
        return outcome
    with get_connection() as mail:
        for key, before in keys:
            if time.monotonic() > end:
                break
            code = new_code()
            email = _renew(survey, key, code, today())
            if not email:
                continue  # used, revoked or sent in the meantime
            try:
                mail.send_messages([letter.to(email, link(address, survey, code))])
                outcome.sent += 1
            except (SMTPException, OSError, ValueError, MessageError):
                _renew(survey, digest(code), new_code(), before)
                outcome.failed += 1
    return outcome


def _renew(survey: Survey, key: str, code: str, mailed_on: date | None) -> str:
    """Replace an unused code; return its address, or "" if it was used."""
    with transaction.atomic():
        if PassKey.objects.hold(survey.pk) is None:
            return ""
        old = Invitation.objects.filter(pk=key, used_with="").first()
        if old is None:
            return ""
        old.delete()
        code_digest, email = digest(code), old.email
        Invitation.objects.create(
            survey=survey, digest=code_digest, email=email, person=old.person, mailed_on=mailed_on
        )
        return email


# --- The page -------------------------------------------------------------------------------------


class CodesForm(forms.Form):
    count = forms.IntegerField(
        min_value=1,
        max_value=MOST_CODES,
        error_messages={
            "required": "Enter how many you need.",
            "invalid": "Enter a whole number.",
            "min_value": "Enter 1 or more.",
            "max_value": f"Enter at most {MOST_CODES:,}.",
        },
    )
    form = forms.ChoiceField(choices=[("csv", "File"), ("sheet", "Sheet")])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("form") == "sheet" and data.get("count", 0) > MOST_ON_A_SHEET:
            self.add_error("count", f"A sheet has room for {MOST_ON_A_SHEET}. Choose the file.")
        return data


class LetterForm(forms.Form):
    """The recipients and text of an e-mail. Without addresses, it goes to waiting people."""

    addresses = forms.CharField(required=False, max_length=1_000_000)
    subject = forms.CharField(max_length=200, error_messages={"required": "Enter a subject."})
    text = forms.CharField(max_length=10_000, error_messages={"required": "Enter a text."})

    def clean_subject(self) -> str:
        subject: str = self.cleaned_data["subject"]
        if NO_TEXT.search(subject) or len(subject.splitlines()) > 1 or "\t" in subject:
            raise ValidationError("The subject must be one line of plain text.")
        return subject

    def clean_addresses(self) -> list[str]:
        addresses = [*filter(None, re.split(r"[\s,;]+", self.cleaned_data["addresses"]))]
        if len(addresses) > MOST_ADDRESSES:
            raise ValidationError(f"Enter at most {MOST_ADDRESSES:,}, not {len(addresses):,}.")
        for address in addresses:
            try:
                validate_email(address)
            except ValidationError:
                raise ValidationError(f"“{address[:80]}” is not an e-mail address.") from None
            if len(address) > 254:
                raise ValidationError(f"“{address[:80]}…” is too long.")
        return addresses

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if "{link}" not in text:
            raise ValidationError("Write {link} where the link should go.")
        return text


@private_form
def page(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the page. POST `do`: codes, letters, remind or revoke."""
    survey = survey_or_403(request, slug, "manage")
    ready = survey.access == Survey.Access.INVITED and survey.state == Survey.State.OPEN
    action = request.POST.get("do", "") if request.method == "POST" else ""
    if request.method == "POST" and not (ready and action in ACTIONS):
        what = "Nothing was done."
        if not ready:
            what += " Invitations are only for open surveys that require them."
        return _show(request, survey, problem=what, status=400)
    try:
        return ACTIONS[action](request, survey) if action else _show(request, survey)
    except InvitationError:  # closed in the meantime
        return _show(request, survey, problem="Nothing was done: the survey is closed.", status=400)


def _codes(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    form = CodesForm(request.POST)
    if not form.is_valid():
        return _show(request, survey, codes=form, status=400)
    with transaction.atomic():
        codes = make(survey, form.cleaned_data["count"])
        record(request.user, "invitations made", survey, number=len(codes))
    address = request.build_absolute_uri(reverse("respond", args=[survey.slug]))
    if form.cleaned_data["form"] == "sheet":
        options: dict[str, Any] = {"border": 3, "svgclass": "qr", "omitsize": True}
        rows = [(shown(code), qr_code(link(address, survey, code), **options)) for code in codes]
        words = catalogue(survey.language)
        context = {"survey": survey, "rows": rows, "address": address, "words": words}
        return render(request, "survey/access/invitation_sheet.html", context)
    name = f"invitations-{survey.slug}.csv"
    return StreamingHttpResponse(
        csv_parts(_lines(codes, address, survey)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _lines(codes: Sequence[str], address: str, survey: Survey) -> Iterator[Line]:
    yield ["code", "link"]
    for code in codes:
        yield [shown(code), link(address, survey, code)]


def _letters(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    remind = request.POST["do"] == "remind"
    form = LetterForm(request.POST)
    if not settings.EMAIL_URL:
        return _show(request, survey, problem="E-mail is not set up on this site.", status=400)
    if not form.is_valid():
        return _show(request, survey, letter=form, reminding=remind, status=400)
    if not remind:
        add_people(survey, form.cleaned_data["addresses"])
    address = request.build_absolute_uri(reverse("respond", args=[survey.slug]))
    letter = Letter(form.cleaned_data["subject"], form.cleaned_data["text"], contact(survey))
    more: dict[str, Any] = {"letter": form, "reminding": remind}
    try:
        outcome = send(survey, letter, address, remind)
    except (SMTPException, OSError):  # before the first e-mail; later failures are counted
        why = "The mail server does not answer. Nothing was sent; try again later."
        return _show(request, survey, **more, problem=why, status=503)
    if outcome.sent:
        record(request.user, "reminders sent" if remind else "invitations sent", survey)
    return _show(request, survey, **more, outcome=outcome)


def _revoke(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    if "sure" not in request.POST:
        why = "Nothing was revoked. Tick the box to confirm."
        return _show(request, survey, problem=why, status=400)
    with transaction.atomic():
        PassKey.objects.hold(survey.pk)
        if Invitation.objects.filter(survey=survey, used_with="").delete()[0]:
            record(request.user, "invitations revoked", survey)
    return redirect("invitations", survey.slug)


ACTIONS = {"codes": _codes, "letters": _letters, "remind": _letters, "revoke": _revoke}


def _words(survey: Survey, again: bool, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of the form for the letter or reminder: as sent, or our default."""
    form = more.get("letter") if more.get("reminding", False) is again else None
    if form is None:
        subject, text = letters.subject(survey, again), letters.text(survey, again)
        return {"again": again, "subject": subject, "text": text}
    given = {name: form[name].value() or "" for name in ("subject", "text", "addresses")}
    if not form.errors:  # the invitations are sent
        given["addresses"] = ""
    return {"again": again, **given, "errors": form.errors}


def _show(request: HttpRequest, survey: Survey, status: int = 200, **more: Any) -> HttpResponse:
    mine = Invitation.objects.filter(survey=survey)
    closed = survey.state == Survey.State.CLOSED
    made = survey.invited if closed else mine.count()
    fetched = survey.fetched if closed else mine.exclude(used_with="").count()
    unused = mine.filter(used_with="")
    to_remind = unused.filter(mailed_on__lt=today()).exclude(email="").count()
    context = {
        "survey": survey,
        "made": made,
        "fetched": fetched,
        "unused": made - fetched,
        "to_send": unused.filter(mailed_on=None).exclude(email="").count(),
        "to_remind": to_remind,
        "reminded": unused.filter(mailed_on=today()).exclude(email="").count(),
        "mail": bool(settings.EMAIL_URL),
        "most": MOST_CODES,
        "most_on_a_sheet": MOST_ON_A_SHEET,
        "fingerprint": fingerprint(survey) if survey.design_hash else "",
        "contact": contact(survey),
        "remind_button": f"Remind {to_remind:,} {'person' if to_remind == 1 else 'people'}",
        "forms": [_words(survey, again, more) for again in (False, True) if survey.design],
        **more,
    }
    return render(request, "survey/access/invitations.html", context, status=status)
