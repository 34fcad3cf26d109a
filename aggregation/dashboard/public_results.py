"""Public results: a page for anyone, where the owner of a survey wants it.

The same figures and words as the dashboard, of the latest release. It is the same for
everybody: no login, no cookie (shell.respondent_protection), and a cache may keep it for a minute.
"""

import math
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from aggregation.dashboard import survey_page
from aggregation.dashboard.downloads import download_section, too_often
from aggregation.dashboard.sections import sections
from aggregation.releases.intervals import Choice
from survey import rate_limits
from survey.design import Design
from survey.models import Survey

FRESH = 60  # seconds that a copy may be kept
EARLIER = 20  # releases that are listed
WEAK = math.log(19)  # as static/respond/odds.js: above this, one could be more than 95 in 100 sure


@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    request.user = AnonymousUser()  # whoever it is
    if seconds := rate_limits.stranger(request):
        return too_often(request, seconds)
    survey = Survey.objects.exclude(state=Survey.State.DRAFT).filter(slug=slug).first()
    if survey is None or not survey.results_public:
        return render(
            request, "aggregation/dashboard/no_public_results.html", {"slug": slug}, status=404
        )
    return shown(request, survey)


@cache_control(public=True, max_age=FRESH)
def shown(request: HttpRequest, survey: Survey) -> HttpResponse:
    design = survey.frozen_design()
    wanted = request.GET.get("by", "")
    by = next((one for one in design.background if one.key == wanted), None)
    releases = list(survey.releases.order_by("-number")[: EARLIER + 1])
    release = releases[0] if releases else None
    context: dict[str, Any] = {
        "survey": survey,
        "design": design,
        "release": release,
        "earlier": releases[1:],
        "by": by,
        "sure": sure(design),
        "dots": dots(design.sure),
        "weak": design.epsilon > WEAK,
    }
    if not release:
        context["why_nothing"] = survey_page.why_nothing(survey)
    else:
        context["choice"] = choice = Choice.default(release)
        context["sections"] = sections(release, by, choice)
        here = reverse("results", args=[survey.slug])
        context["group_links"] = survey_page.group_links(design, by, here)
        context["home"] = download_section(request, release)
    return render(request, "aggregation/dashboard/public_results.html", context)


def sure(design: Design) -> str:
    """How sure one can be after a report, in words that are never too small."""
    return "more than 99 in 100" if design.sure > 99 else f"at most about {design.sure} in 100"


def dots(filled: int) -> SafeString:
    """So many of a hundred, ten by ten."""
    circles = [
        format_html(
            '<circle class="{}" cx="{}" cy="{}" r="3.5"/>',
            "filled" if i < filled else "empty",
            5 + 10 * (i % 10),
            5 + 10 * (i // 10),
        )
        for i in range(100)
    ]
    text = (
        f"A square of 100 dots. {filled} are filled: how sure they can be. "
        f"{100 - filled} are empty: the doubt that stays."
    )
    return format_html(
        '<svg class="dots" viewBox="0 0 100 100" width="160" height="160" role="img"'
        ' aria-label="{}">{}</svg>',
        text,
        SafeString("".join(circles)),
    )
