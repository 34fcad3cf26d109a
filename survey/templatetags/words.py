"""Texts of a language on a page: `{% say words.design.block key=… %}`."""

import math
from typing import Any

from django import template

from survey.design import Design
from survey.design.mechanism import SCALE
from survey.words import Template, catalogue

register = template.Library()


@register.simple_tag(takes_context=True)
def say(context: template.Context, text: Template, **values: Any) -> str:
    """Fill in the {names} of a text in the page's language, `words`."""
    words = context["words"]
    return str(words.fill(text, **values))


@register.simple_tag
def who_may_answer(design: Design, tag: str) -> str:
    """Say who may answer, and what forged reports can do where anybody may."""
    words = catalogue(tag)
    texts = words["access"]
    if design.passes:
        return str(texts["invited"])
    # By how many points 1 forged report in 100 can move an estimate: at most 1/(a - b), where
    # only one of the picks of multiple choice is sent.
    reach = max(block.mechanism.slots * SCALE / block.keep for block in design.blocks)
    digits = max(0, 1 - math.floor(math.log10(reach)))
    bound = math.ceil(reach * 10**digits - 1e-6) / 10**digits
    forged = words.fill(texts["forged"], points=words.number(bound, digits))
    return " ".join([texts["open"], *([texts["work"]] if design.work else []), forged])
