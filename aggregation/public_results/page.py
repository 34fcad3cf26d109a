"""The public page of a survey's results, if its owner publishes them.

It is for the people who answered: what came out, in plain words and in their language. The
dashboard's charts and tables and the files for anyone are folded, in English, for researchers. The
page is the same for everybody who reads a language: no login, no cookie
(shell.respondent_protection), and caches may keep it for a minute.
"""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from aggregation.dashboard.downloads import download_section
from aggregation.dashboard.sections import sections
from aggregation.models import Release
from aggregation.public_results.plain import Teller
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.due import unfinished
from survey import rate_limits
from survey.design import Question
from survey.models import Survey
from survey.words import Catalogue
from survey.words.errors import error_page, too_often
from survey.words.protection import promise
from survey.words.reader import Content, Text, menu, reader_of, varies

FRESH = 60  # seconds that a cache may keep the page
EARLIER = 20  # releases listed


@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    request.user = AnonymousUser()  # so that the page is the same for everybody
    if seconds := rate_limits.stranger(request):
        return too_often(request, seconds)
    survey = Survey.objects.exclude(state=Survey.State.DRAFT).filter(slug=slug).first()
    if survey is None or not survey.results_public:
        return error_page(request, "no_results", 404, link=reverse("dashboard", args=[slug]))
    response = shown(request, survey)
    patch_cache_control(response, public=True, max_age=FRESH)
    varies(response)
    return response


def shown(request: HttpRequest, survey: Survey) -> HttpResponse:
    design = survey.frozen_design()
    words = reader_of(request, survey)
    content = Content(survey, design, words.tag)
    wanted = request.GET.get("by", "")
    by = next((one for one in design.background if one.key == wanted), None)
    releases = list(survey.releases.order_by("-number")[: EARLIER + 1])
    release = releases[0] if releases else None
    context: dict[str, Any] = {
        "survey": survey,
        "design": design,
        "words": words,
        "menu": menu(request, survey, words),
        "content": content,
        "asked_by": content.disclosure("asked_by"),
        "promise": promise(words, design),
        "release": release,
        "earlier": releases[1:],
        "by": by,
    }
    if release:
        choice = IntervalChoice.headline(release.final)
        found = sections(release, by, choice)
        context |= {
            "choice": choice,
            "sections": found,
            "home": download_section(request, release),
            "stage": stage(words, release),
            "questions": [Teller(content, words).question(one, by) for one in found],
            "group_links": group_links(request, content, words, by) if design.background else [],
        }
    else:
        context["why_nothing"] = why_nothing(words, survey)
    return render(request, "aggregation/public_results/page.html", context)


def stage(words: Catalogue, release: Release) -> str:
    texts = words["results"]
    if release.final:
        return str(texts["closed"])
    return words.fill(texts["still_open"], date=words.date(release.made_at))


def why_nothing(words: Catalogue, survey: Survey) -> str:
    """Say why there is no release yet, or why there will be none."""
    texts = words["results"]
    closed = survey.state == Survey.State.CLOSED
    if closed and not unfinished(survey):
        return words.fill(texts["never"], count=survey.crowd)
    return words.fill(texts["appear"], count=survey.crowd if closed else 2 * survey.crowd)


def group_links(
    request: HttpRequest, content: Content, words: Catalogue, by: Question | None
) -> list[tuple[str, Text, bool]]:
    """Return the links to the results of everybody and by each background question."""
    links = [("", Text(words["results"]["everybody"], words.tag), by is None)]
    for question in content.design.background:
        links.append((question.key, content.question(question), question == by))
    found = []
    for key, text, current in links:
        query = request.GET.copy()
        query.pop("by", None)
        if key:
            query["by"] = key
        found.append((f"?{query.urlencode()}", text, current))
    return found
