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
from survey.design.kinds import KINDS
from survey.design.questions import (
    DECLINED,
    KEY,
    MAX_OPTIONS,
    MAX_QUESTIONS,
    NO_TEXT,
    DesignError,
    Field,
    Measure,
    Option,
    Question,
    check_text,
    options_from_texts,
)

__all__ = [
    "ABSENT",
    "BACKGROUND_EPSILON",
    "DECLINED",
    "KEY",
    "KINDS",
    "MAX_OPTIONS",
    "MAX_QUESTIONS",
    "MAX_WORK",
    "NO_TEXT",
    "PASSES",
    "Background",
    "Block",
    "Design",
    "DesignError",
    "Field",
    "Measure",
    "Option",
    "Question",
    "block_epsilon",
    "build",
    "canonical_json",
    "check_text",
    "make_block",
    "options_from_texts",
]
