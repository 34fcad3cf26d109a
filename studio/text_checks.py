"""The checklist's checks of texts, in every language that is shown.

Texts are read with word lists (studio/wording.py): what they suggest is a guess, and only warns.
"""

from collections.abc import Iterator
from typing import Any

from studio import wording
from studio.findings import Finding, Look, Version, blocks, place_of, warns
from survey.design.languages import words
from survey.models import Question
from survey.respondent.public_design import language_name

LONG = {"title": 100, "introduction": 1200, "purpose": 800}  # characters, for a phone
LONG_QUESTION, LONG_OPTION = 200, 80
# Texts that are translated as well. Not who asks and the contact: names are as they are.
BESIDE = {"introduction": "the introduction", "purpose": "why"}


def identity(look: Look) -> Iterator[Finding]:
    what = "No question asks who somebody is"
    yield from look.nothing_asked(what)
    yield from look.unread(what)
    for question in look.questions:
        if found := next(_identifying(look, question), None):
            version, asked_for = found
            yield warns(
                f"{version.name} seems to ask for {asked_for}",
                "Leave it out: people who are asked who they are do not believe that their answers "
                "are private.",
                version.place,
            )


def _identifying(look: Look, question: Question) -> Iterator[tuple[Version, str]]:
    for version in look.versions(question):
        for text in (version.text, *version.options):
            if found := wording.identifies(text):
                yield version, found


def languages(look: Look) -> Iterator[Finding]:
    """Yield what a translation lacks: one that was begun is finished, or removed."""
    for tag, translation in look.survey.translations.items():
        lacks = list(_missing(look, tag, translation))
        beside = [text for name, text in lacks if name in BESIDE]
        asked = [text for name, text in lacks if name not in BESIDE]
        if asked:
            yield blocks(
                f"Finish the translation into {language_name(tag)}, or remove it",
                f"Missing: {_some(asked)}.",
                f"language-{tag}",
            )
        if beside:
            yield warns(
                f"Some texts are not translated into {language_name(tag)}",
                f"Missing: {_some(beside)}. Respondents see them in "
                f"{language_name(look.survey.language)}.",
                f"language-{tag}",
            )


def _missing(look: Look, tag: str, translation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the survey's own language has and this one lacks: the field and words for it."""
    for name, text in {"title": "the title", **BESIDE}.items():
        if getattr(look.survey, name).strip() and not translation.get(name):
            yield name, text
    for question in look.questions:
        given = translation.get("questions", {}).get(question.key, {})
        if not given.get("text"):
            yield question.key, f"“{question.text}”"
        ours = words(tag) is not None and not question.options  # we bring yes and no
        if not given.get("options") and not ours:
            yield question.key, f"the options of “{question.text}”"


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return f"{', '.join(texts[:3])}{more}"


def questions(look: Look) -> Iterator[Finding]:
    """Yield what the words of each question suggest: guesses, which warn and may be wrong."""
    what = "Every question asks one thing"
    yield from look.nothing_asked(what)
    yield from look.unread(what)
    for question in look.questions:
        for version in look.versions(question):
            yield from _worded(version)
        if not question.prefer_not_to_say and wording.sensitive(
            question.text, look.survey.language
        ):
            yield warns(
                f"Let people decline “{question.text}”",
                "It is sensitive. Offer “Prefer not to say”, or people may leave here.",
                place_of(question),
            )


def _worded(version: Version) -> Iterator[Finding]:
    if wording.asks_two(version.text, version.tag):
        yield warns(
            f"{version.name} may ask two things",
            "If somebody could say yes to one part and no to the other, split it into two "
            "questions.",
            version.place,
        )
    if pair := wording.same(version.options):
        if pair[0] != pair[1]:  # else the editor says it
            yield blocks(
                f"Two options of {version.name} are the same",
                f"Change or remove one of “{pair[0]}” and “{pair[1]}”.",
                version.place,
            )
    elif pair := wording.overlap(version.options):
        yield warns(
            f"Options of {version.name} overlap",
            f"Both “{pair[0]}” and “{pair[1]}” can be right for the same person. Change one.",
            version.place,
        )


def lengths(look: Look) -> Iterator[Finding]:
    survey = look.survey
    yield from look.nothing_asked("All texts fit a phone")
    for name, most in LONG.items():
        called = "text about why" if name == "purpose" else name
        texts = {"": getattr(survey, name)}
        texts |= {tag: given.get(name) or "" for tag, given in survey.translations.items()}
        for tag, text in texts.items():
            if len(text) > most:
                of = f" in {language_name(tag)}" if tag else ""
                yield warns(
                    f"The {called}{of} is long for a phone",
                    f"It has {len(text):,} characters. Shorten it to {most:,} or fewer.",
                    f"language-{tag}" if tag else name,
                )
    for question in look.questions:
        for version in look.versions(question):
            long = len(version.text) > LONG_QUESTION
            if long or any(len(option) > LONG_OPTION for option in version.options):
                yield warns(
                    f"“{version.text[:60]}…” is long for a phone"
                    if long
                    else f"An option of {version.name} is long for a phone",
                    f"Shorten it: questions up to {LONG_QUESTION} characters and options up to "
                    f"{LONG_OPTION} read well.",
                    version.place,
                )
