"""The texts that the server writes for respondents, in our languages: pages, errors, letters.

One file of plain data per language (docs/translating.md). The respondent's page and the checking
page have catalogues of their own in static/, because they are the same bytes for everybody.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import override

from survey.words import ar, de, en, es, fr

NAME = re.compile(r"\{(\w+)\}")
Template = str | Mapping[str, str]  # a text with {names}, or one for each plural form


@dataclass(frozen=True)
class Catalogue:
    """The texts of one language, and how it writes numbers, dates and plurals."""

    tag: str
    name: str  # in the language itself
    texts: Mapping[str, Any]
    thousands: str = ","
    decimal: str = "."
    direction: str = "ltr"

    def __getitem__(self, page: str) -> Any:
        return self.texts[page]

    def fill(self, text: Template, **values: Any) -> str:
        """Fill in {names}. Numbers are formatted, and `count` chooses the plural form."""
        form = text if isinstance(text, str) else text[plural(self.tag, values["count"])]
        shown = {
            name: self.number(value) if isinstance(value, int) else str(value)
            for name, value in values.items()
        }
        # In one pass, because a text of a survey may contain braces.
        return NAME.sub(lambda found: shown[found[1]], form)

    def number(self, value: float, digits: int = 0) -> str:
        """Write a number with the digits 0 to 9, as static/respond/words.js does."""
        value = round(value, digits) + 0.0  # no minus before 0
        whole, point, decimals = f"{value:,.{digits}f}".partition(".")
        if self.tag == "es" and len(whole.lstrip("-")) == 5:  # four digits stay together
            whole = whole.replace(",", "")
        whole = whole.replace("-", "−").replace(",", self.thousands)
        return whole + point.replace(".", self.decimal) + decimals

    def date(self, day: date) -> str:
        with override(self.tag):
            return date_format(day, "j F Y" if self.tag == "en" else "DATE_FORMAT")

    def quoted(self, text: str) -> str:
        """Return a survey's own text in quotation marks, isolated because of its direction."""
        before, after = QUOTES[self.tag]
        return f"{before}\u2068{text}\u2069{after}"

    def either(self, words: list[str]) -> str:
        """Return words as a list with “or”."""
        return f" {OR[self.tag]} ".join(words)


QUOTES = {"en": "“”", "de": "„“", "es": "«»", "fr": ("«\u202f", "\u202f»"), "ar": "«»"}
OR = {"en": "or", "de": "oder", "es": "o", "fr": "ou", "ar": "أو"}
CATALOGUES = {
    one.tag: one
    for one in (
        Catalogue("en", "English", en.TEXTS),
        Catalogue("de", "Deutsch", de.TEXTS, ".", ","),
        Catalogue("es", "Español", es.TEXTS, ".", ","),
        Catalogue("fr", "Français", fr.TEXTS, "\u202f", ","),
        Catalogue("ar", "العربية", ar.TEXTS, direction="rtl"),
    )
}
ENGLISH = CATALOGUES["en"]
MILLION = 1_000_000


def plural(tag: str, count: int) -> str:
    """Return the plural form of a count, by the rules of Unicode's CLDR for whole numbers."""
    if tag == "ar":
        named = {0: "zero", 1: "one", 2: "two"}.get(count)
        rest = count % 100
        return named or ("few" if 3 <= rest <= 10 else "many" if rest >= 11 else "other")
    if count == 1 or (tag == "fr" and count == 0):
        return "one"
    return "many" if tag in ("es", "fr") and count and count % MILLION == 0 else "other"


def base(tag: str) -> str:
    """Return the language of a tag: `de` for `de-AT`."""
    return tag.partition("-")[0]


def catalogue(tag: str) -> Catalogue:
    """Return our texts in a language, or in English."""
    return CATALOGUES.get(base(tag), ENGLISH)
