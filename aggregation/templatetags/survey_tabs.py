"""The navigation of all pages of a survey."""

from typing import Any

from django import template
from django.urls import reverse

from survey.models import Survey

register = template.Library()

TABS = {
    "dashboard": "Results",
    "trend": "Over time",
    "analyses": "Explore",
    "survey-files": "Files",
    "survey-settings": "Settings",
}
OF_DRAFTS = ("dashboard", "survey-settings")


@register.inclusion_tag("aggregation/dashboard/tabs.html")
def survey_tabs(survey: Survey, current: str = "") -> dict[str, Any]:
    """Show the tabs of a survey, of which one is current. A draft has only the first and last."""
    draft = survey.state == Survey.State.DRAFT
    return {
        "tabs": [
            (reverse(name, args=[survey.slug]), text, name == current)
            for name, text in TABS.items()
            if not draft or name in OF_DRAFTS
        ]
    }
