"""The checklist: what must be fixed before a survey opens, and what its owner should consider.

`of` returns the findings. Survey.open always calls `refuse`, so a survey with a finding that blocks
cannot open. The problems that the editor shows (studio/drafts.py) are included, so there is only
one list. A finding blocks (unsafe or useless), warns, cannot be checked yet, or is fine.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from django.dispatch import receiver
from django.utils import timezone

from studio import dial, drafts, precision, text_checks
from studio.findings import ORDER, Finding, Level, Look, blocks, place_of, unchecked, warns
from survey import design as designs
from survey.design import BACKGROUND_EPSILON, Design
from survey.design.kinds.number import Number
from survey.design.languages import DISCLOSURES
from survey.design.odds import is_weak
from survey.models import NotReady, Question, Survey, opening
from survey.respondent.public_design import language_name

USELESS, WIDE = 0.15, 0.10  # half-widths of the 95 % interval of the least precise question
FIELDS = {"title", "introduction", "epsilon", "ask", "crowd", *DISCLOSURES}  # with their own places
USUAL_CROWD = 20  # never advise less than this
MUCH_BACKGROUND = 3 * BACKGROUND_EPSILON  # for all background answers together


def of(survey: Survey) -> list[Finding]:
    """Return all findings, those that block first. A part without findings is fine."""
    look = Look(survey)
    found: list[Finding] = []
    for part, fine in PARTS:
        here = list(part(look))
        found += here or [Finding("fine", fine, "", "")]
    return sorted(found, key=lambda finding: ORDER.index(finding.level))


@receiver(opening)
def refuse(survey: Survey, **_: Any) -> None:
    """Raise NotReady with the findings that block. Called by Survey.open with the survey locked."""
    if not settings.CHECKLIST:
        return
    if stops := [f"{one.what}. {one.why}".strip() for one in of(survey) if one.level == "blocks"]:
        raise NotReady(stops)


# --- The parts ------------------------------------------------------------------------------------


def designed(look: Look) -> Iterator[Finding]:
    """Yield the problems that the editor shows, except exceeded limits, which `privacy` yields."""
    over = {f"{place}.epsilon" for place, question in drafts.placed(look.survey) if _over(question)}
    if look.survey.epsilon > settings.MAX_EPSILON:
        over.add("epsilon")
    for where, what in drafts.problems(look.survey).items():
        if where not in over:
            place, why = _located(look, where)
            yield blocks(what.rstrip("."), why, place)


def _located(look: Look, where: str) -> tuple[str, str]:
    """Return the place of a part of the document in the editor, and a description of it."""
    if found := re.match(r"((questions|background)\[\d+\])", where):
        question = dict(drafts.placed(look.survey))[found[1]]
        kind = "Question" if found[2] == "questions" else "Background question"
        number = int(found[1].partition("[")[2][:-1]) + 1
        named = f": “{question.text}”" if question.text.strip() else ""
        return place_of(question), f"{kind} {number}{named}"
    if found := re.match(r"translations\.([\w-]+)\.?", where):
        at = f", at {where[found.end() :]}" if where[found.end() :] else ""
        return f"language-{found[1]}", f"In {language_name(found[1])}{at}"
    if where in FIELDS:
        return where, ""
    return "questions", "" if where == "questions" else f"At {where}"


def privacy(look: Look) -> Iterator[Finding]:
    epsilon, most = look.survey.epsilon, settings.MAX_EPSILON
    if epsilon > most:
        yield blocks(
            f"ε = {epsilon:g} is over this site’s limit of {most:g}",
            "Anyone who sees a report could be nearly sure of the answers.",
            "epsilon",
        )
    elif is_weak(epsilon):
        yield warns(
            "The protection is weak",
            f"With ε = {epsilon:g} someone guessing 50:50 could become {dial.sure(epsilon)} sure, "
            "and the page tells respondents so.",
            "epsilon",
        )
    for question in look.survey.background_questions():
        if _over(question):
            yield blocks(
                f"The ε of “{question.text}” is {question.cost:g}, over this site’s limit of "
                f"{settings.MAX_BACKGROUND_EPSILON:g}",
                "Anyone who sees a report could be nearly sure of this background answer.",
                place_of(question),
            )

    spent = sum(question.cost for question in look.survey.background_questions())
    if spent > MUCH_BACKGROUND:
        yield warns(
            f"The background answers cost ε = {spent:g} together",
            "Where they hint at a sensitive answer, they can tell more than that answer itself. "
            "Ask fewer background questions, or give each a smaller ε.",
            "background",
        )


def _over(question: Question) -> bool:
    return question.background and question.cost > settings.MAX_BACKGROUND_EPSILON


def people(look: Look) -> Iterator[Finding]:
    expected, crowd = look.survey.expected, look.survey.crowd
    if crowd < settings.MIN_CROWD:
        yield blocks(
            f"Results that update after {crowd:,} responses are too fine: this site requires at "
            f"least {settings.MIN_CROWD:,}",
            "Changes by so few people can reveal who took part.",
            "crowd",
        )
    if expected is None:
        yield blocks(
            "You have not said how many people you hope to reach",
            "Without that, nobody can tell whether the results will be useful.",
            "expected",
        )
        return
    population = look.survey.population
    if population is not None and expected > population:
        yield blocks(
            f"You hope to reach {expected:,} people, but there are only {population:,} in all",
            "Correct one of the two numbers. The results use the number of people in all.",
            "population",
        )
    if crowd > expected:
        large = crowd > USUAL_CROWD
        yield blocks(
            f"Results need {crowd:,} responses, and you hope to reach only {expected:,} people",
            "There would be none until the survey closes. "
            + (f"{USUAL_CROWD} is usual." if large else "Reach more people."),
            "crowd" if large else "expected",
        )
    elif 4 * crowd > expected:
        yield warns(
            f"{expected:,} people are few for results that need {crowd:,} responses each",
            f"Results would appear late and rarely update. {4 * crowd:,} people would be better.",
            "expected",
        )
    if look.design:
        yield from _precision(look.design, expected)
    else:
        yield unchecked("Enough people for useful results", "The design is not complete yet.")


def _precision(design: Design, expected: int) -> Iterator[Finding]:
    width, question = precision.least_precise(design, expected)
    if width > USELESS:
        yield blocks(
            f"{expected:,} people are too few for useful results",
            "The margin of error of the least precise question would be "
            f"{_margin(width, question)}. Reach more people{_enough(design, USELESS)}, ask fewer "
            "questions or options, or choose a larger ε.",
            "expected",
        )
        return
    if width > WIDE:
        enough = _enough(design, WIDE, f" for {_margin(WIDE, question)}")
        yield warns(
            f"With {expected:,} people the results are rough",
            "The margin of error of the least precise question would be "
            f"{_margin(width, question)}{enough}.",
            "expected",
        )
    for block in design.background_blocks:
        by, (width, question) = block.questions[0], precision.least_precise(design, expected, block)
        if width > USELESS:
            yield warns(
                f"By “{by.text}” the results are rough",
                f"In one of {by.size - 1} groups of equal size, the margin of error of the least "
                f"precise question would be {_margin(width, question)}. Offer fewer groups, or "
                "reach more people.",
                f"question-{by.key}",
            )


def _enough(design: Design, width: float, what: str = "") -> str:
    people = precision.people_for(design, width)
    return f" ({people:,} would do{what})" if people else ""


def _margin(width: float, question: designs.Question) -> str:
    """Return a margin of error in points, or that of an average in its unit."""
    if width > 1:
        return "the whole range"
    if not isinstance(question, Number):
        return f"{100 * width:.0f} points"
    if not question.unit:
        return f"{100 * width:.0f}\u202f% of its range"
    return f"{dial.rounded(width * (question.most - question.least))} {question.unit}"


def durations(look: Look) -> Iterator[Finding]:
    """Yield a warning if the time that somebody takes can show which questions they were asked."""
    depend = any(question.only_if for question in look.questions)
    if depend and not look.survey.fillers:
        yield warns(
            "People who are asked follow-ups take longer",
            "Somebody who watches can guess from that how they answered. Turn on filler questions, "
            "unless people answer where nobody sees them.",
            "fillers",
        )


WHO: tuple[tuple[str, Level, str, str], ...] = (  # field, level, and what to say if it is empty
    ("asked_by", "blocks", "You have not said who is asking",
     "People decide whom to trust before they answer."),
    ("contact", "blocks", "No contact is given",
     "People who are asked sensitive questions must be able to ask back."),
    ("purpose", "warns", "You have not said why you are asking",
     "Say what the survey is for, and what will happen with the results."),
    ("introduction", "warns", "There is no introduction",
     "Two sentences before the questions help people decide to take part."),
    ("retention_days", "warns", "Nothing is deleted automatically",
     "Enter after how many days. Respondents will be told."),
)  # fmt: skip


def who(look: Look) -> Iterator[Finding]:
    for field, level, what, why in WHO:
        if not str(getattr(look.survey, field) or "").strip():
            yield Finding(level, what, why, field)


def times(look: Look) -> Iterator[Finding]:
    survey = look.survey
    opens = max(filter(None, (survey.opens_at, timezone.now())))
    if survey.closes_at and survey.closes_at <= opens:
        yield blocks(
            "It would close before it opens",
            f"It is set to close on {survey.closes_at:%-d %B %Y, %H:%M} UTC.",
            "closes_at",
        )


PARTS: tuple[tuple[Callable[[Look], Iterator[Finding]], str], ...] = (
    (designed, "The design is complete"),
    (privacy, "Every ε is within this site’s limits"),
    (people, "Enough people for useful results"),
    (durations, "The time that somebody takes shows nothing about the answers"),
    (text_checks.identity, "No question asks who somebody is"),
    (who, "Respondents are told who is asking, why, and when everything is deleted"),
    (text_checks.languages, "Every language is complete"),
    (text_checks.questions, "Every question asks one thing"),
    (text_checks.lengths, "All texts fit a phone"),
    (times, "It opens before it closes"),
)
