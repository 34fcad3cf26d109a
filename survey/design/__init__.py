"""The design of a survey: its questions and their privacy cost. Pure: no Django."""

from survey.design.canonical import canonical_json
from survey.design.design import (
    ABSENT,
    BACKGROUND_EPSILON,
    MAX_WORK,
    PASSES,
    Background,
    Block,
    Design,
    block_epsilon,
    build,
    make_block,
)
from survey.design.grouping import plan, variance_factor
from survey.design.questions import (
    KEY,
    MAX_OPTIONS,
    MAX_QUESTIONS,
    NO_TEXT,
    DesignError,
    Option,
    Question,
    check_text,
    options_from_texts,
)

__all__ = [
    "ABSENT",
    "BACKGROUND_EPSILON",
    "KEY",
    "MAX_OPTIONS",
    "MAX_QUESTIONS",
    "MAX_WORK",
    "NO_TEXT",
    "PASSES",
    "Background",
    "Block",
    "Design",
    "DesignError",
    "Option",
    "Question",
    "block_epsilon",
    "build",
    "canonical_json",
    "check_text",
    "make_block",
    "options_from_texts",
    "plan",
    "variance_factor",
]
