"""The design of a draft, from its questions and settings, and of an opened survey."""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.conf import settings

from survey import design as designs
from survey.design import Design, DesignError, languages
from survey.models.question import Question


def build_design(
    questions: Sequence[Question],
    epsilon: float,
    blocks: list[list[str]],
    ask: int | None,
    language: str,
    translations: Any,
    disclosures: dict[str, Any],
) -> Design:
    """Return the design of these questions; DesignError says what to fix first.

    Sensitive questions are in the blocks that their authors chose, or in those of the planner if
    there are none.
    """
    return designs.build(
        epsilon,
        [question.as_design() for question in questions if not question.background],
        [designs.Background(one.as_design(), one.cost) for one in questions if one.background],
        blocks or None,
        ask,
        languages.freeze(language, translations, questions, disclosures),
        disclosures,
    )


@lru_cache(maxsize=1024)
def parse_design(canonical: str) -> Design:
    """Return a frozen design from its canonical form."""
    return Design.from_json(canonical)


def check_site_limits(design: Design) -> None:
    """Refuse a design that spends more privacy than this site allows."""
    spent = [("epsilon", design.epsilon, settings.MAX_EPSILON)]
    spent += [
        (f"background {block.questions[0].key}.epsilon", block.epsilon, most)
        for block in design.background_blocks
        for most in [settings.MAX_BACKGROUND_EPSILON]
    ]
    for where, epsilon, most in spent:
        if epsilon > most:
            raise DesignError(where, f"at most {most:g} on this site, not {epsilon:g}")


def hash_content(slug: str, design: Design, content: Sequence[Any]) -> str:
    """Return a hash of a draft's design and of all else that opening would freeze."""
    return hashlib.sha256(json.dumps([slug, design.hash, *content]).encode()).hexdigest()
