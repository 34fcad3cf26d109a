"""The public page with the frozen design of an opened survey, to read, save and verify.

It is the same for everybody: no login, no cookies (shell.respondent_protection), and caches may
keep it for a minute. It contains nothing from reports.
"""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import get_language_info
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from survey.access.invitations import fingerprint
from survey.design import Block, Design
from survey.design.languages import DISCLOSURES
from survey.models import Survey

FRESH = 60  # seconds that caches may keep a copy
LABELS = {
    "title": "Title",
    "introduction": "Introduction",
    "asked_by": "Who asks",
    "purpose": "Why",
    "contact": "Contact",
}


def opened(slug: str) -> Survey:
    return get_object_or_404(Survey.objects.exclude(state=Survey.State.DRAFT), slug=slug)


@require_safe
@cache_control(public=True, max_age=FRESH)
def page(request: HttpRequest, slug: str) -> HttpResponse:
    request.user = AnonymousUser()  # the same page for everybody
    survey = opened(slug)
    design = survey.frozen_design()
    context: dict[str, Any] = {
        "survey": survey,
        "design": design,
        "disclosures": [
            (LABELS[name], design.disclosures[name])
            for name in DISCLOSURES
            if name in design.disclosures
        ],
        "ending": fingerprint(survey) if design.passes else "",
        "sure": "more than 99" if design.sure > 99 else f"at most about {design.sure}",
        "blocks": [{"block": block, "questions": _odds(block)} for block in design.blocks],
        "translations": [
            (tag, language_name(tag), _texts(survey, design, tag))
            for tag in sorted(survey.translations)
        ],
    }
    return render(request, "survey/respondent/design.html", context)


@require_safe
@cache_control(public=True, max_age=FRESH)
def canonical(request: HttpRequest, slug: str) -> HttpResponse:
    """Return exactly the bytes that were hashed."""
    survey = opened(slug)
    headers = {"Content-Disposition": f'attachment; filename="{survey.slug}.design.json"'}
    return HttpResponse(survey.design.encode(), "application/json", headers=headers)


def language_name(tag: str) -> str:
    """Return the English name of a language, with the tag if Django only knows a broader one."""
    try:
        info = get_language_info(tag.lower())
    except KeyError:
        return f"the language {tag}"
    return str(info["name"]) if info["code"] == tag.lower() else f"{info['name']} ({tag})"


def _odds(block: Block) -> list[dict[str, Any]]:
    """Return each question with how often, out of 100, true and other values are reported."""
    known = {question.key: question for question in block.questions}
    rows = []
    for place, question in enumerate(block.questions):
        channels = [block.mechanism.channel(place, value) for value in range(question.size)]
        true, false = (_range([100 * one[i] for one in channels]) for i in (0, 1))
        row: dict[str, Any] = {"question": question, "true": true, "false": false}
        if question.only_if:
            gate, wanted = question.only_if
            options = [one.text for one in known[gate].options if one.key in wanted]
            row |= {"gate": known[gate], "gate_options": options}
        rows.append(row)
    return rows


def _range(shares: list[float]) -> str:
    """Write shares that may depend on the answer."""
    least, most = (f"{one(shares):.1f}" for one in (min, max))
    return least if least == most else f"{least} to {most}"


def _texts(survey: Survey, design: Design, tag: str) -> list[str]:
    """Return all texts of a translation in the order of the page."""
    given, frozen = survey.translations[tag], design.translations.get(tag, {})
    disclosures = frozen.get("disclosures", {})
    texts = [
        given.get("title"),
        given.get("introduction"),
        *(disclosures.get(name) for name in DISCLOSURES),
    ]
    for question in design.questions:
        translated = frozen.get("questions", {}).get(question.key, {})
        texts += [
            translated.get("text"),
            translated.get("unit"),
            " · ".join(translated.get("options", [])),
        ]
    return [text for text in texts if text]
