"""What stands in the way of opening a survey, and what should be thought of before.

`of` only looks. `refuse` is what Survey.open asks, by whichever way somebody comes: what blocks
here does not open. What the editor says is wrong in a draft (studio/drafts.py) is part of it, so
that there is one list. A finding is one of four kinds: it blocks (unsafe or useless), it warns, it
could not be checked yet, or it is fine. Words are looked for in every language that is shown, each
text by the words of its own.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.conf import settings
from django.utils import timezone

from aggregation import plan
from aggregation.statistics import planning
from studio import drafts, wording
from survey.design import Design, DesignError
from survey.languages import TOLD, words
from survey.models import NotReady, Question, Stratum, Survey
from survey.public import language_name

USELESS, WIDE = 0.15, 0.10  # half-widths of the 95 % interval of the least precise question
LONG = {"title": 100, "introduction": 1200, "purpose": 800}  # characters, for a phone
FIELDS = {"title", "introduction", "epsilon", "ask", "crowd", *TOLD}  # places of their own
# Texts that are translated as well. Not who asks and the contact: names are as they are.
BESIDE = {"introduction": "the introduction", "purpose": "why"}
LONG_QUESTION, LONG_OPTION = 200, 80
MANY_OPTIONS = 12  # of a background question
USUAL_CROWD = 20  # nobody is asked to go below it

Level = Literal["blocks", "warns", "unchecked", "fine"]
ORDER: tuple[Level, ...] = ("blocks", "warns", "unchecked", "fine")


@dataclass(frozen=True)
class Finding:
    level: Level
    what: str
    why: str
    place: str  # the field in the editor


def blocks(what: str, why: str, place: str) -> Finding:
    return Finding("blocks", what, why, place)


def warns(what: str, why: str, place: str) -> Finding:
    return Finding("warns", what, why, place)


def unchecked(what: str, why: str) -> Finding:
    return Finding("unchecked", f"Not checked yet: {what[0].lower()}{what[1:]}", why, "")


@dataclass(frozen=True)
class Version:
    """A question or stratum as it is shown in one language."""

    tag: str
    text: str
    options: Sequence[str]
    name: str  # for a finding
    place: str


class Look:
    """A draft as the checks see it; `design` is missing where there cannot be one."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.questions: list[Question] = list(survey.questions.all())
        self.strata: list[Stratum] = list(survey.strata.all())
        try:
            self.design: Design | None = survey.draft_design()
        except DesignError:
            self.design = None

    @property
    def asked(self) -> list[Question | Stratum]:
        return [*self.questions, *self.strata]

    @property
    def tags(self) -> list[str]:
        return [self.survey.language, *self.survey.translations]

    def versions(self, asked: Question | Stratum) -> Iterator[Version]:
        """In the survey's own language, and in all others that there is something of."""
        own = f"“{asked.text}”"
        yield Version(self.survey.language, asked.text, asked.options, own, place_of(asked))
        kind = "questions" if isinstance(asked, Question) else "strata"
        for tag, translation in self.survey.translations.items():
            given = translation.get(kind, {}).get(asked.key, {})
            text, options = given.get("text") or "", [*filter(None, given.get("options") or [])]
            name = f"“{text}” (in {language_name(tag)})" if text else f"{language_name(tag)}: {own}"
            yield Version(tag, text, options, name, f"language-{tag}")

    def nothing_asked(self, what: str) -> Iterator[Finding]:
        if not self.asked:
            yield unchecked(what, "There is no question yet.")

    def unread(self, what: str) -> Iterator[Finding]:
        """Where texts are of a language whose words we do not know."""
        for tag in self.tags:
            if not wording.knows(tag):
                yield unchecked(what, f"Candor knows no words of {language_name(tag)}.")


def place_of(asked: Question | Stratum) -> str:
    return f"{'question' if isinstance(asked, Question) else 'stratum'}-{asked.key}"


def of(survey: Survey) -> list[Finding]:
    """All findings, those that block first; a part in which nothing was found is fine."""
    look = Look(survey)
    found: list[Finding] = []
    for part, fine in PARTS:
        here = list(part(look))
        found += here or [Finding("fine", fine, "", "")]
    return sorted(found, key=lambda finding: ORDER.index(finding.level))


def refuse(survey: Survey, **_: Any) -> None:
    """Asked by Survey.open, with the survey locked: raise what blocks."""
    if not settings.CHECKLIST:
        return
    if stops := [f"{one.what}. {one.why}".strip() for one in of(survey) if one.level == "blocks"]:
        raise NotReady(stops)


# --- The parts ------------------------------------------------------------------------------------


def designed(look: Look) -> Iterator[Finding]:
    """What the editor says is missing or wrong, which is said there beside its field."""
    for where, what in drafts.wrong(look.survey).items():
        if where != "epsilon" or look.survey.epsilon <= settings.MAX_EPSILON:
            place, why = _located(look, where)
            yield blocks(what.rstrip("."), why, place)


def _located(look: Look, where: str) -> tuple[str, str]:
    """Where a part of the document is in the editor, and in words."""
    if found := re.match(r"(questions|strata)\[(\d+)\]", where):
        asked = (look.questions if found[1] == "questions" else look.strata)[int(found[2])]
        kind = "Question" if found[1] == "questions" else "Background question"
        named = f": “{asked.text}”" if asked.text.strip() else ""
        return place_of(asked), f"{kind} {int(found[2]) + 1}{named}"
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
            "Whoever sees a report could be nearly sure of the answers.",
            "epsilon",
        )
    elif epsilon > plan.WEAK:
        yield warns(
            "The protection is weak",
            f"With ε = {epsilon:g} one could be {_sure(epsilon)} in 100 sure, and the page tells "
            "respondents so.",
            "epsilon",
        )


def _sure(epsilon: float) -> int:
    return round(100 / (1 + math.exp(-epsilon)))


def people(look: Look) -> Iterator[Finding]:
    expected, crowd = look.survey.expected, look.survey.crowd
    if crowd < settings.MIN_CROWD:
        yield blocks(
            f"A crowd of {crowd:,} is too small: this site wants {settings.MIN_CROWD:,} at least",
            "What changes by so few people can tell who answered what.",
            "crowd",
        )
    if expected is None:
        yield blocks(
            "It is not said how many people you hope to reach",
            "Without it nobody can tell whether the answers will be of use.",
            "expected",
        )
        return
    if crowd > expected:
        large = crowd > USUAL_CROWD
        yield blocks(
            f"The crowd of {crowd:,} is larger than the {expected:,} people you hope to reach",
            "Nothing would ever be shown. "
            + (f"A crowd of {USUAL_CROWD} is usual." if large else "More people are needed."),
            "crowd" if large else "expected",
        )
    elif 4 * crowd > expected:
        yield warns(
            f"{expected:,} people are few for results that come in crowds of {crowd:,}",
            f"They would come late and in few steps. With {4 * crowd:,} people it is better.",
            "expected",
        )
    if look.design:
        yield from _precision(look.design, expected)
    else:
        yield unchecked("Enough people for a useful answer", "There is no whole design yet.")


def _precision(design: Design, expected: int) -> Iterator[Finding]:
    width = half_width(design, expected)
    if width > USELESS:
        yield blocks(
            f"{expected:,} people are too few for a useful answer",
            f"The least precise question would be known to {_points(width)} to either side. "
            f"Reach more people{_would_do(design, USELESS)}, ask fewer questions or options, or "
            "choose a larger ε.",
            "expected",
        )
    elif width > WIDE:
        yield warns(
            f"With {expected:,} people the answers are rough",
            f"The least precise question would be known to {_points(width)} to either side"
            f"{_would_do(design, WIDE, f' for {_points(WIDE)}')}.",
            "expected",
        )
    for stratum in design.strata:
        of_group = half_width(design, expected // stratum.size)
        if max(width, of_group) > USELESS >= width:
            yield warns(
                f"By “{stratum.text}” the answers are rough",
                f"In a group of {expected // stratum.size:,} people the least precise question "
                f"would be known to {_points(of_group)} to either side.",
                f"stratum-{stratum.key}",
            )


def half_width(design: Design, expected: int) -> float:
    """Of the least precise question, in the worst case, 95 %; without reports, infinite."""
    reports = expected * design.ask // len(design.blocks)
    if reports < 1:
        return math.inf
    return max(planning.half_width(reports, kind.channel) for kind in plan.kinds(design))


def people_for(design: Design, width: float) -> int | None:
    """How many people make the least precise question as precise as this; None: far too many."""
    try:
        reports = max(planning.sample_size(width, kind.channel) for kind in plan.kinds(design))
    except ValueError:
        return None
    people = -(-reports * len(design.blocks) // design.ask)
    return people if people <= plan.MOST_PEOPLE else None


def _would_do(design: Design, width: float, what: str = "") -> str:
    people = people_for(design, width)
    return f" ({people:,} would do{what})" if people else ""


def _points(width: float) -> str:
    return "nothing" if width > 1 else f"{100 * width:.0f} points"


def background(look: Look) -> Iterator[Finding]:
    """Background answers are sent in clear: few people may share them."""
    expected, crowd, least = look.survey.expected, look.survey.crowd, least_group(look.survey)
    sizes = [len(stratum.options) for stratum in look.strata if stratum.options]
    if look.strata and (expected is None or len(sizes) < len(look.strata)):
        yield unchecked(
            "Background groups are large enough",
            "It is not said how many people you hope to reach."
            if expected is None
            else "Not every background question has its options.",
        )
    for stratum in look.strata:
        place, size = place_of(stratum), len(stratum.options)
        if expected is not None and size and expected < least * size:
            yield blocks(
                f"The groups of “{stratum.text}” are too small",
                f"{expected:,} people in {size} groups are about {expected // size:,} each. "
                + (
                    f"Groups below the crowd of {crowd:,} are never shown."
                    if expected < crowd * size
                    else f"Background answers are sent in clear: {least:,} should share each."
                ),
                place,
            )
        elif size > MANY_OPTIONS:
            yield warns(
                f"“{stratum.text}” has {size} options",
                "Fine groups can tell who somebody is. Fewer, larger ones are safer.",
                place,
            )
    if expected is not None and len(sizes) > 1 and expected < least * math.prod(sizes):
        yield blocks(
            "The background questions together could tell who somebody is",
            f"They make {math.prod(sizes):,} groups of about {expected // math.prod(sizes):,} "
            f"people each, and they are sent in clear; {least:,} should share each. Ask fewer of "
            "them, or with fewer options.",
            "strata",
        )


def least_group(survey: Survey) -> int:
    """How many people should share their background answers, on average.

    Who makes a survey chooses its crowd, for what is shown; these answers stand in the database
    whatever is shown, so that a small crowd does not make small groups safe. Groups are never equal
    either: twice the site's least crowd leaves one of half the average still a crowd.
    """
    return max(survey.crowd, 2 * settings.MIN_CROWD)


def identity(look: Look) -> Iterator[Finding]:
    what = "Nothing asks who somebody is"
    yield from look.nothing_asked(what)
    yield from look.unread(what)
    for asked in look.asked:
        if found := next(_identifying(look, asked), None):
            version, of_whom = found
            if isinstance(asked, Stratum):
                yield blocks(
                    f"{version.name} asks for {of_whom}",
                    "Background answers are sent in clear: this would say who somebody is.",
                    version.place,
                )
            else:
                yield warns(
                    f"{version.name} seems to ask for {of_whom}",
                    "People who are asked who they are do not believe that nobody knows.",
                    version.place,
                )


def _identifying(look: Look, asked: Question | Stratum) -> Iterator[tuple[Version, str]]:
    for version in look.versions(asked):
        for text in (version.text, *version.options):
            if found := wording.identifies(text):
                yield version, found


def who(look: Look) -> Iterator[Finding]:
    survey = look.survey
    if not survey.asked_by.strip():
        yield blocks(
            "It is not said who asks",
            "People decide whom to trust before they answer.",
            "asked_by",
        )
    if not survey.contact.strip():
        yield blocks(
            "No contact is given",
            "People who are asked sensitive questions must be able to ask back.",
            "contact",
        )
    if not survey.purpose.strip():
        yield warns(
            "It is not said why you ask",
            "Say what it is for, and what becomes of the results.",
            "purpose",
        )
    if not survey.introduction.strip():
        yield warns(
            "There is no introduction",
            "Two sentences before the questions make more people take part.",
            "introduction",
        )
    if survey.retention_days is None:
        yield warns(
            "Nothing is deleted by itself",
            "Say after how many days, and respondents are told.",
            "retention_days",
        )


def languages(look: Look) -> Iterator[Finding]:
    """A language that was begun is finished, or taken out."""
    for tag, translation in look.survey.translations.items():
        lacks = list(_missing(look, tag, translation))
        beside = [text for name, text in lacks if name in BESIDE]
        asked = [text for name, text in lacks if name not in BESIDE]
        if asked:
            yield blocks(
                f"In {language_name(tag)}, not all that is asked is translated",
                f"Missing: {_some(asked)}. Finish the language, or take it out.",
                f"language-{tag}",
            )
        if beside:
            yield warns(
                f"In {language_name(tag)}, some texts are not translated",
                f"Missing: {_some(beside)}. They are shown in "
                f"{language_name(look.survey.language)}.",
                f"language-{tag}",
            )


def _missing(look: Look, tag: str, translation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What there is in the survey's own language and not in this one: field and words for it."""
    for name, text in {"title": "the title", **BESIDE}.items():
        if getattr(look.survey, name).strip() and not translation.get(name):
            yield name, text
    for asked in look.asked:
        kind = "questions" if isinstance(asked, Question) else "strata"
        given = translation.get(kind, {}).get(asked.key, {})
        if not given.get("text"):
            yield asked.key, f"“{asked.text}”"
        ours = words(tag) is not None and not asked.options  # we bring yes and no
        if not given.get("options") and not ours:
            yield asked.key, f"the options of “{asked.text}”"


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return f"{', '.join(texts[:3])}{more}"


def questions(look: Look) -> Iterator[Finding]:
    """Heuristics about the words of each question; they warn, and may be wrong."""
    what = "Every question asks one thing"
    yield from look.nothing_asked(what)
    yield from look.unread(what)
    for asked in look.asked:
        for version in look.versions(asked):
            yield from _worded(version)
        if (
            isinstance(asked, Question)
            and not asked.prefer_not_to_say
            and wording.sensitive(asked.text, look.survey.language)
        ):
            yield warns(
                f"“{asked.text}” cannot be declined",
                "It is sensitive. Offer “prefer not to say”, or people may leave here.",
                place_of(asked),
            )


def _worded(version: Version) -> Iterator[Finding]:
    if wording.asks_two(version.text, version.tag):
        yield warns(
            f"{version.name} may ask two things",
            "If somebody could say yes to one part and no to the other, make it two questions.",
            version.place,
        )
    if pair := wording.same(version.options):
        if pair[0] != pair[1]:  # else the editor says it
            yield blocks(
                f"Two options of {version.name} are the same",
                f"“{pair[0]}” and “{pair[1]}”.",
                version.place,
            )
    elif pair := wording.overlap(version.options):
        yield warns(
            f"Options of {version.name} overlap",
            f"Somebody may be both “{pair[0]}” and “{pair[1]}”.",
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
                    f"{len(text):,} characters; up to {most:,} read well.",
                    f"language-{tag}" if tag else name,
                )
    for asked in look.asked:
        for version in look.versions(asked):
            long = len(version.text) > LONG_QUESTION
            if long or any(len(option) > LONG_OPTION for option in version.options):
                yield warns(
                    f"“{version.text[:60]}…” is long for a phone"
                    if long
                    else f"An option of {version.name} is long for a phone",
                    f"Questions up to {LONG_QUESTION} characters and options up to {LONG_OPTION} "
                    "read well.",
                    version.place,
                )


def times(look: Look) -> Iterator[Finding]:
    survey = look.survey
    opens = max(filter(None, (survey.opens_at, timezone.now())))
    if survey.closes_at and survey.closes_at <= opens:
        yield blocks(
            "It would close before it opens",
            f"It is to close on {survey.closes_at:%-d %B %Y, %H:%M} UTC.",
            "closes_at",
        )


PARTS: tuple[tuple[Callable[[Look], Iterator[Finding]], str], ...] = (
    (designed, "The design is complete"),
    (privacy, "ε is within this site’s limit"),
    (people, "Enough people for a useful answer"),
    (background, "Background groups are large enough"),
    (identity, "Nothing asks who somebody is"),
    (who, "Respondents are told who asks, why, and what becomes of it"),
    (languages, "Every language is complete"),
    (questions, "Every question asks one thing"),
    (lengths, "All texts fit a phone"),
    (times, "It opens before it closes"),
)
