"""The public page with the frozen design of an opened survey, to read, save and verify.

It is the same for everybody who reads a language: no login, no cookies
(shell.respondent_protection), and caches may keep it for a minute. It contains nothing from
reports.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import get_language_info, override
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from survey.access.invitations import fingerprint
from survey.design import Block, Design, Question
from survey.design.kinds.number import Number
from survey.design.kinds.several import Several
from survey.design.languages import DISCLOSURES
from survey.models import Survey
from survey.words import Catalogue, base
from survey.words.protection import promise
from survey.words.reader import Content, Text, menu, reader_of, varies

FRESH = 60  # seconds that caches may keep a copy


def opened(slug: str) -> Survey:
    return get_object_or_404(Survey.objects.exclude(state=Survey.State.DRAFT), slug=slug)


@require_safe
@cache_control(public=True, max_age=FRESH)
def page(request: HttpRequest, slug: str) -> HttpResponse:
    request.user = AnonymousUser()  # the same page for everybody
    survey = opened(slug)
    design = survey.frozen_design()
    words = reader_of(request, survey)
    content = Content(survey, design, words.tag)
    teller = Teller(design, content, words)
    texts = words["design"]
    context: dict[str, Any] = {
        "survey": survey,
        "design": design,
        "words": words,
        "menu": menu(request, survey, words),
        "content": content,
        "facts": list(_facts(survey, design, words)),
        "disclosures": [
            (texts[name], content.disclosure(name))
            for name in DISCLOSURES
            if name in design.disclosures
        ],
        "deletion": _deletion(survey, words),
        "ending": f"\u2066{fingerprint(survey)}\u2069" if design.passes else "",
        "promise": promise(words, design),
        "asked": teller.asked(),
        "sensitive": [teller.block(block) for block in design.sensitive_blocks],
        "background": [teller.block(block) for block in design.background_blocks],
        "translations": [
            (tag, language_name(tag, words.tag), _texts(survey, design, tag))
            for tag in sorted(survey.translations)
            if base(tag) != words.tag
        ],
    }
    response = render(request, "survey/respondent/design.html", context)
    varies(response)
    return response


@require_safe
@cache_control(public=True, max_age=FRESH)
def canonical(request: HttpRequest, slug: str) -> HttpResponse:
    """Return exactly the bytes that were hashed."""
    survey = opened(slug)
    headers = {"Content-Disposition": f'attachment; filename="{survey.slug}.design.json"'}
    return HttpResponse(survey.design.encode(), "application/json", headers=headers)


def language_name(tag: str, inside: str = "en") -> str:
    """Return the name of a language, with the tag if Django only knows a broader one."""
    try:
        info = get_language_info(tag.lower())
    except KeyError:
        return f"the language {tag}" if inside == "en" else tag
    with override(inside):
        name = str(info["name_translated"])
    return name if info["code"] == tag.lower() else f"{name} ({tag})"


def _facts(survey: Survey, design: Design, words: Catalogue) -> Iterator[tuple[str, str]]:
    texts = words["design"]
    state = "archived" if survey.archived_on else survey.state
    yield texts["state"], texts["states"][state]
    if survey.opened_on:
        yield texts["opened"], words.date(survey.opened_on)
    if survey.closed_on:
        yield texts["ended"], words.date(survey.closed_on)
    yield texts["epsilon"], _short(design.epsilon, words)
    if design.background_blocks:
        yield texts["report_epsilon"], _short(design.report_epsilon, words)


def _deletion(survey: Survey, words: Catalogue) -> str:
    texts = words["design"]
    if survey.delete_on:
        return words.fill(texts["deleted_on"], date=words.date(survey.delete_on))
    if survey.retention_days:
        return words.fill(texts["deleted_after"], count=survey.retention_days)
    return str(texts["kept"])


@dataclass(frozen=True)
class Teller:
    """What tells how the questions are asked and randomized, in one language."""

    design: Design
    content: Content
    words: Catalogue

    @property
    def texts(self) -> Any:
        return self.words["design"]

    def asked(self) -> str:
        """Say how many blocks one person is asked."""
        blocks = len(self.design.sensitive_blocks)
        if self.design.ask == blocks:
            return str(self.texts["asked_all"])
        return self.words.fill(self.texts["asked_some"], ask=self.design.ask, all=blocks)

    def block(self, block: Block) -> dict[str, Any]:
        return {
            "title": self.words.fill(self.texts["block"], key=block.key),
            "epsilon": _short(block.epsilon, self.words),
            "questions": [
                self.question(block, place, question)
                for place, question in enumerate(block.questions)
            ],
        }

    def question(self, block: Block, place: int, question: Question) -> dict[str, Any]:
        return {
            "text": self.content.question(question),
            "only_after": self.only_after(block, question),
            "number": self.number(question) if isinstance(question, Number) else "",
            "options": list(self.content.options(question).values()),
            "odds": self.odds(block, place, question),
        }

    def only_after(self, block: Block, question: Question) -> str:
        if not question.only_if:
            return ""
        key, wanted = question.only_if
        gate = next(one for one in block.questions if one.key == key)
        options = self.content.options(gate)
        quoted = [self.words.quoted(options[one.key].text) for one in gate.options
                  if one.key in wanted]  # fmt: skip
        return self.words.fill(
            self.texts["only_after"],
            options=self.words.either(quoted),
            question=self.words.quoted(self.content.question(gate).text),
        )

    def number(self, question: Number) -> str:
        unit: Text = self.content.unit(question)
        most = self.words.number(question.most)
        if unit.text:
            most = f"{most}\u00a0\u2068{unit}\u2069"
        return self.words.fill(
            self.texts["number"], least=question.least, most=most, count=question.levels + 1
        )

    def odds(self, block: Block, place: int, question: Question) -> str:
        """Say how often, out of 100, true and other values are reported."""
        channels = [block.mechanism.channel(place, value) for value in range(question.size)]
        true, false = (self.range([100 * one[i] for one in channels]) for i in (0, 1))
        if isinstance(question, Several):
            return self.words.fill(
                self.texts["odds_of_picks"], picks=question.picks, true=true, false=false
            )
        two = question.size == 2 and not question.only_if
        return self.words.fill(self.texts["odds_of_two" if two else "odds"], true=true, false=false)

    def range(self, shares: list[float]) -> str:
        """Write shares that may depend on the answer."""
        least, most = (self.words.number(one(shares), 1) for one in (min, max))
        if least == most:
            return least
        return self.words.fill(self.texts["range"], least=least, most=most)


def _short(number: float, words: Catalogue) -> str:
    """Write a number without zeros at its end."""
    text = f"{number:.6g}"
    return words.number(number, len(text.partition(".")[2])) if "e" not in text else text


def _texts(survey: Survey, design: Design, tag: str) -> list[str]:
    """Return all texts of a translation in the order of the page."""
    given, frozen = survey.translations[tag], design.translations.get(tag, {})
    disclosures = frozen.get("disclosures", {})
    texts = [
        given.get("title"),
        given.get("introduction"),
        *(disclosures.get(name) for name in DISCLOSURES),
    ]
    for question in design.questions:
        translated = frozen.get("questions", {}).get(question.key, {})
        texts += [
            translated.get("text"),
            translated.get("unit"),
            " · ".join(translated.get("options", [])),
        ]
    return [text for text in texts if text]
