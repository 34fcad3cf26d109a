"""The checklist's checks of texts in all languages.

They use word lists (studio/wording.py), which can only guess, so they only warn.
"""

from collections.abc import Iterator
from typing import Any

from studio import wording
from studio.findings import Finding, Look, Version, blocks, place_of, warns
from survey.design.languages import ENGLISH, words
from survey.respondent.public_design import language_name

LONG = {"title": 100, "introduction": 1200, "purpose": 800}  # characters; longer is long on a phone
LONG_QUESTION, LONG_OPTION = 200, 80
# Other texts to translate. Names stay the same, so not the contact or who is asking.
OPTIONAL = {"introduction": "the introduction", "purpose": "why"}


def identity(look: Look) -> Iterator[Finding]:
    what = "No question asks who somebody is"
    yield from look.nothing_asked(what)
    yield from look.unread(what)
    for question in look.questions:
        for version in look.versions(question):
            texts = (version.text, *version.options)
            if found := next(filter(None, map(wording.identifies, texts)), ""):
                yield warns(
                    f"{version.name} seems to ask for {found}",
                    "Leave it out: people who must say who they are do not believe that their "
                    "answers are private.",
                    version.place,
                )
                break  # one language is enough


def languages(look: Look) -> Iterator[Finding]:
    """Yield what is missing in translations, which must be finished or removed."""
    for tag, translation in look.survey.translations.items():
        missing = list(_missing(look, tag, translation))
        optional = [text for name, text in missing if name in OPTIONAL]
        required = [text for name, text in missing if name not in OPTIONAL]
        if required:
            yield blocks(
                f"Finish the translation into {language_name(tag)}, or remove it",
                f"Missing: {_some(required)}.",
                f"language-{tag}",
            )
        if optional:
            yield warns(
                f"Some texts are not translated into {language_name(tag)}",
                f"Missing: {_some(optional)}. Respondents see them in "
                f"{language_name(look.survey.language)}.",
                f"language-{tag}",
            )


def _missing(look: Look, tag: str, translation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and a description of every text that this translation lacks."""
    for name, text in {"title": "the title", **OPTIONAL}.items():
        if getattr(look.survey, name).strip() and not translation.get(name):
            yield name, text
    for question in look.questions:
        texts = translation.get("questions", {}).get(question.key, {})
        if not texts.get("text"):
            yield question.key, f"“{question.text}”"
        # We translate our own options in the languages that we know.
        own = question.options
        if not texts.get("options") and (
            own if words(tag) else question.option_texts(own, ENGLISH)
        ):
            yield question.key, f"the options of “{question.text}”"
        if question.details.get("unit") and not texts.get("unit"):
            yield question.key, f"the unit of “{question.text}”"


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return f"{', '.join(texts[:3])}{more}"


def questions(look: Look) -> Iterator[Finding]:
    """Yield warnings about the wording of questions. They are guesses and may be wrong."""
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
        if pair[0] != pair[1]:  # otherwise the editor already says so
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
        texts |= {tag: others.get(name) or "" for tag, others in survey.translations.items()}
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
