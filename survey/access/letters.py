"""The texts of invitations: the e-mail, the reminder and the printed card, in our languages.

An e-mail is in the survey's own language, followed by its translations as far as we know their
languages. The sender can change every word. The subject names neither the survey nor who is asking,
because others may see a list of e-mails.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from survey.design import Design
from survey.design.languages import DISCLOSURES
from survey.models import Survey
from survey.words import CATALOGUES, Catalogue, base, catalogue
from survey.words.protection import promise

BETWEEN = "\n\n· · ·\n\n"  # separates the languages of one e-mail


def subject(survey: Survey, again: bool = False) -> str:
    words = catalogue(survey.language)["letter"]
    return str(words["subject_again" if again else "subject"])


def text(survey: Survey, again: bool = False) -> str:
    """Return the default text, with {link} once in each language."""
    design = survey.frozen_design()
    own = {name: getattr(survey, name) for name in ("title", *DISCLOSURES)}
    parts = ["\n".join(_lines(catalogue(survey.language), own, design, again))]
    for tag, translated in sorted(survey.translations.items()):
        if base(tag) in CATALOGUES:
            texts = {name: translated.get(name) or own[name] for name in own}
            parts.append("\n".join(_lines(catalogue(tag), texts, design, again)))
    return BETWEEN.join(parts) + "\n"


def _lines(
    words: Catalogue, texts: Mapping[str, Any], design: Design, again: bool
) -> Iterator[str]:
    letter = words["letter"]
    yield from (letter["hello"], "")
    yield words.fill(letter["again" if again else "invited"], title=texts["title"])
    for name in DISCLOSURES:
        if texts[name].strip():
            yield f"{letter[name]}: {texts[name].strip()}"
    yield from ("", "{link}", "", str(promise(words, design)), "")
    yield from (f"{letter['once']} {letter['stored']}", "", letter["nothing"])
