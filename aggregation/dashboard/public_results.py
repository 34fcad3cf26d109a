"""The public page of a survey's results, if its owner publishes them.

It has the figures and words of the dashboard for the latest release. It is the same for everybody:
no login, no cookie (shell.respondent_protection), and caches may keep it for a minute.
"""

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
from aggregation.releases.choice import IntervalChoice
from survey import rate_limits
from survey.design import Design
from survey.design.odds import is_weak
from survey.models import Survey

FRESH = 60  # seconds that a cache may keep the page
EARLIER = 20  # releases listed


@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    request.user = AnonymousUser()  # so that the page is the same for everybody
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
        "weak": is_weak(design.epsilon),
    }
    if not release:
        context["why_nothing"] = survey_page.why_nothing(survey)
    else:
        context["choice"] = choice = IntervalChoice.headline(release.final)
        context["sections"] = sections(release, by, choice)
        here = reverse("results", args=[survey.slug])
        context["group_links"] = survey_page.group_links(design, by, here)
        context["home"] = download_section(request, release)
    return render(request, "aggregation/dashboard/public_results.html", context)


def sure(design: Design) -> str:
    """Return how sure somebody guessing 50:50 can become. Never understate it."""
    return "more than 99 in 100" if design.sure > 99 else f"at most about {design.sure} in 100"


def dots(filled: int) -> SafeString:
    """Draw a square of 100 dots, this many of them filled."""
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
        f"A square of 100 dots: {filled} are filled, for how sure somebody can be, and "
        f"{100 - filled} are empty, for the doubt that remains."
    )
    return format_html(
        '<svg class="dots" viewBox="0 0 100 100" width="160" height="160" role="img"'
        ' aria-label="{}">{}</svg>',
        text,
        SafeString("".join(circles)),
    )
