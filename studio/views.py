"""The pages of the studio where surveys are created and edited. See studio/drafts.py."""

import json
import re
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateformat import format as date_format
from django.views.decorators.http import require_POST

from aggregation.planner.forms import number
from aggregation.planner.solving import MOST_PEOPLE
from studio import checklist, dial, drafts, ways
from studio.findings import place_of
from studio.topics import topics
from survey import files
from survey.design import (
    BACKGROUND_EPSILON,
    KINDS,
    MAX_OPTIONS,
    MAX_QUESTIONS,
    Design,
    languages,
)
from survey.design.mechanism import MAX_BOUND, MAX_EPSILON
from survey.files import FileError
from survey.models import Draft, Survey
from survey.permissions import private_form, private_page, survey_or_403

MOST_BYTES = 1024 * 1024  # in a document
EPSILON = 2.0  # for a blank survey
SLIDER = 8.0  # the end of the slider, even if the site allows more


# --- Creating surveys -----------------------------------------------------------------------------


class NumbersForm(forms.Form):
    """The numbers in a link from the planner. Invalid ones are ignored."""

    epsilon = number(forms.FloatField, 0.01, 800, required=False)
    people = number(forms.IntegerField, 1, MOST_PEOPLE, required=False)

    def numbers(self) -> dict[str, Any]:
        self.full_clean()
        return {name: value for name, value in self.cleaned_data.items() if value is not None}


@private_form
def new(request: HttpRequest) -> HttpResponse:
    """Show ways to create a survey. POST `blank`, a `topic`, a `file`, or `copy` with a slug."""
    if not request.user.has_perm("survey.add_survey"):
        raise PermissionDenied
    given = request.POST if request.method == "POST" else request.GET
    numbers = NumbersForm(given.dict()).numbers()
    mine = Survey.objects.readable_by(request.user).order_by("slug")
    refused = ""
    if request.method == "POST":
        try:
            survey = create(request, numbers)
        except FileError as error:
            refused = f"Nothing was created. {in_words(str(error))}"
        else:
            return redirect("studio", survey.slug)
    context = {
        "topics": topics(),
        "mine": mine,
        "numbers": numbers,
        "refused": refused,
        "chosen": request.POST.get("copy", ""),
    }
    return render(request, "studio/new.html", context, status=400 if refused else 200)


def create(request: HttpRequest, numbers: dict[str, Any]) -> Survey:
    """Create the requested survey with the planner's numbers; FileError if that is impossible."""
    user, given = request.user, request.POST
    assert isinstance(user, User)  # noqa: S101  # required to add surveys
    names = {"epsilon": "epsilon", "people": "expected"}
    planned = {names[name]: value for name, value in numbers.items()}
    if "blank" in given:
        return drafts.make({"title": "", "epsilon": EPSILON, "questions": []} | planned, user)
    if given.get("topic") in topics():
        return drafts.make(topics()[given["topic"]]["survey"] | planned, user)
    if "copy" in given:
        chosen = Survey.objects.readable_by(user).filter(slug=given["copy"]).first()
        if chosen is None:
            raise FileError("Choose one of your surveys.")
        return drafts.copy(chosen, user)
    file = request.FILES.get("file")
    if file is None:
        raise FileError("Choose how to start. To import a survey, choose a file.")
    if (file.size or 0) > MOST_BYTES:
        raise FileError("The file is larger than a megabyte.")
    try:
        text = file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError("The file is not text in UTF-8.") from None
    return drafts.make(files.parse(text), user, "survey imported")


NAMES = {"questions": "Question", "background": "Background question"}
PARTS = {"only_if": "“ask only if”", "least": "least number", "most": "greatest number"}
PLACE = re.compile(r"(questions|background)\[(\d+)\](?:\.(\w+)(?:\.\w+)?(?:\[(\d+)\])?)?: (.*)")


def in_words(error: str) -> str:
    """Rewrite a FileError for people who do not read the file: places count from 1."""
    if error.startswith("this is not JSON"):
        found = re.search(r"line \d+ column \d+", error)
        return f"This is not a survey file: this is not JSON{f' ({found[0]})' if found else ''}."
    error = re.sub(r"^the survey[.:] ?", "", error)
    if not (found := PLACE.fullmatch(error)):
        return error
    kind, number, part, option, what = found.groups()
    name = f"{NAMES[kind]} {int(number) + 1}"
    if part is None:
        return f"{name}: {what}"
    if option:
        part = f"option {int(option) + 1}"
    part = PARTS.get(part, part)
    return f"{name}: {part} {what}" if what.startswith("must ") else f"{name}, {part}: {what}"


@login_required
@require_POST
def copy(request: HttpRequest, slug: str) -> HttpResponse:
    """Create a new draft with the same questions."""
    survey = get_object_or_404(Survey, slug=slug)
    if not (request.user.has_perm("survey.add_survey") and survey.may(request.user, "read")):
        raise PermissionDenied
    assert isinstance(request.user, User)  # noqa: S101
    return redirect("studio", drafts.copy(survey, request.user).slug)


# --- The editor -----------------------------------------------------------------------------------


@private_form
def editor(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the editor for a draft, or the frozen design. POST a new `slug` for a draft."""
    survey = survey_or_403(request, slug, "manage")
    context: dict[str, Any] = {
        "survey": survey,
        "may_add": request.user.has_perm("survey.add_survey"),
    }
    if survey.state != Survey.State.DRAFT:
        context["design"] = design = survey.frozen_design()
        context["costs"] = dial.costs(design)
        return render(request, "studio/frozen.html", context)
    if request.method == "POST":
        context["wanted"] = wanted = request.POST.get("slug", "").strip()
        try:
            drafts.move_to(survey, wanted, by=request.user)
            return redirect("studio", wanted)
        except ValidationError as error:
            context["refused"] = error.messages[0].replace("with this Slug", "at this address")
        except drafts.Opened:
            return redirect("studio", slug)
    context |= {
        "most": settings.MAX_EPSILON,
        "slider": min(settings.MAX_EPSILON, SLIDER),
        "presets": dial.presets(settings.MAX_EPSILON),
        "expected": dial.PEOPLE,
        "most_people": MOST_PEOPLE,
        "least_crowd": settings.MIN_CROWD,
    }
    return render(
        request, "studio/editor.html", context, status=400 if "refused" in context else 200
    )


@private_page
def export(request: HttpRequest, slug: str) -> HttpResponse:
    survey = survey_or_403(request, slug, "manage")
    text = json.dumps(files.dump(survey), ensure_ascii=False, indent=2)
    headers = {"Content-Disposition": f'attachment; filename="{survey.slug}.json"'}
    return HttpResponse(f"{text}\n", content_type="application/json", headers=headers)


@private_form
def draft(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the document with its number, its problems, and the figures of the dial.

    POST takes `number`, the one that the page started from, and a `document` or `go` (-1, 1). If
    `follow` is the current slug, the slug follows the title.
    """
    survey = survey_or_403(request, current_slug(request, slug), "manage")
    try:
        if request.method == "POST":
            return save_or_undo(request, survey)
        return JsonResponse(describe(*drafts.load(survey), whole=True))
    except drafts.Opened:
        return JsonResponse({"opened": True}, status=409)


def save_or_undo(request: HttpRequest, survey: Survey) -> JsonResponse:
    """Save the posted document, or undo or redo."""
    if survey.state != Survey.State.DRAFT:
        raise drafts.Opened
    assert isinstance(request.user, User)  # noqa: S101
    try:
        given = parse_body(request)
        number = given["number"]
        if "go" in given:
            return JsonResponse(describe(*drafts.go(survey, number, given["go"]), whole=True))
        survey, state = drafts.save(survey, number, given["document"], given["step"], request.user)
        if given.get("follow") == survey.slug:
            drafts.follow_title(survey, request.user)
        return JsonResponse(describe(survey, state, whole=False))
    except FileError as error:
        where, _, what = str(error).partition(": ")
        where = where.removeprefix("the survey").lstrip(".").removeprefix("document.")
        return JsonResponse({"refused": {"where": where, "what": what}}, status=400)
    except drafts.Changed:
        return JsonResponse(describe(*drafts.load(survey), whole=True), status=409)


def current_slug(request: HttpRequest, slug: str) -> str:
    """Return the current slug of the survey with the page's `id`, because slugs can change."""
    number = request.GET.get("id", "")
    known = Survey.objects.filter(pk=number) if re.fullmatch(r"[0-9]{1,18}", number) else None
    return (known and known.values_list("slug", flat=True).first()) or slug


def parse_body(request: HttpRequest) -> dict[str, Any]:
    """Parse what the page sent; FileError if it is not valid."""
    body = request.body
    if len(body) > MOST_BYTES:
        raise FileError("document: larger than a megabyte")
    given = files.parse(body)
    if not isinstance(given, dict) or type(given.get("number")) is not int:
        raise FileError("number: must be the number of the draft")
    if given.get("go", 1) not in (-1, 1):
        raise FileError("go: must be -1 or 1")
    if "go" not in given and "document" not in given:
        raise FileError("document: is missing")
    step = given.get("step", "")
    return given | {"step": step if isinstance(step, str) else ""}


def describe(survey: Survey, state: Draft, whole: bool) -> dict[str, Any]:
    """Return what the page shows of a draft; the document itself only if `whole`."""
    prefetch_related_objects([survey], "questions")
    design = drafts.design_or_error(survey)
    wrong = drafts.problems(survey, design)
    people = survey.expected or dial.PEOPLE
    complete = design if isinstance(design, Design) else None
    places = state.revisions.values_list("place", flat=True)
    found: dict[str, Any] = {
        "number": state.number,
        "undo": state.place - 1 in places,
        "redo": state.place + 1 in places,
        "wrong": wrong,
        "blocks": blocks(survey, wrong),
        "figures": dial.figures(survey, people, complete),
        "ways": ways.of(survey, people, complete),
        "opens": scheduled_opening(survey),
        "slug": survey.slug,
    }
    if whole:
        found["document"] = drafts.content(survey)
        found["follows"] = drafts.has_generated_slug(survey)
        found["kinds"] = {name: kind.label for name, kind in KINDS.items()}
        found["ours"] = {tag: list(words) for tag, words in languages.WORDS.items()}
        found["limits"] = {
            "questions": MAX_QUESTIONS,
            "options": MAX_OPTIONS,
            "bound": MAX_BOUND,
            "background_epsilon": min(settings.MAX_BACKGROUND_EPSILON, MAX_EPSILON),
            "usual_background_epsilon": BACKGROUND_EPSILON,
            "title": languages.MAX_TITLE,
            "disclosure": languages.MAX_TITLE,
        }
    return found


def blocks(survey: Survey, wrong: dict[str, str]) -> list[dict[str, str]]:
    """Return the checklist's other findings that block, without problems in the document."""
    if not settings.CHECKLIST:
        return []
    said = {"questions"} if wrong else set()
    said |= {where for where in wrong if "." not in where and "[" not in where}
    for place, question in drafts.placed(survey):
        if any(where.startswith(place) for where in wrong):
            said.add(place_of(question))
    said |= {f"language-{where.split('.')[1]}" for where in wrong if "translations." in where}
    return [
        {"what": one.what, "why": one.why, "place": one.place}
        for one in checklist.of(survey)
        if one.level == "blocks" and one.place not in said
    ]


def scheduled_opening(survey: Survey) -> dict[str, Any] | None:
    """Return when the survey opens automatically, and whether it is still as approved."""
    if survey.opens_at is None:
        return None
    at = date_format(survey.opens_at, "j M Y, H:i")
    return {"at": f"{at} UTC", "holds": survey.approved_hash == survey.content_hash()}
