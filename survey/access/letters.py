"""The texts of invitations: the e-mail, the reminder and the printed card, in our languages.

An e-mail is in the survey's own language, followed by its translations as far as we know their
languages. The sender can change every word. The subject names neither the survey nor who is asking,
because others may see a list of e-mails.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from survey.design.languages import DISCLOSURES
from survey.models import Survey

BETWEEN = "\n\n· · ·\n\n"  # separates the languages of one e-mail


@dataclass(frozen=True)
class Words:
    subject: str
    subject_again: str
    hello: str
    invited: str
    again: str
    labels: tuple[str, str, str]  # for DISCLOSURES
    once: str
    stored: str
    nothing: str
    scan: str  # on a card
    type: str
    card: str
    tag: str = "en"
    direction: str = "ltr"


WORDS = {
    "en": Words(
        "Your invitation to a survey",
        "A reminder: your invitation to a survey",
        "Hello,",
        "you are invited to take part in a survey: “{title}”.",
        "this is a reminder of a survey: “{title}”. The link that you got before does not work any "
        "more; this one does.",
        ("Who asks", "Why", "Questions to"),
        "The link is for you alone and works once.",
        "Nothing that is stored connects it with your report: the page says how, and what it does "
        "not protect from.",
        "If you do not want to take part, do nothing.",
        "Scan the picture, or open",
        "and type",
        "For one person, once. Nothing that is stored connects this code with your report.",
    ),
    "de": Words(
        "Ihre Einladung zu einer Umfrage",
        "Erinnerung: Ihre Einladung zu einer Umfrage",
        "Guten Tag,",
        "Sie sind zu einer Umfrage eingeladen: „{title}“.",
        "wir erinnern Sie an eine Umfrage: „{title}“. Der Link von vorher gilt nicht mehr, nur "
        "noch dieser hier.",
        ("Wer fragt", "Warum", "Fragen an"),
        "Der Link ist nur für Sie und gilt einmal.",
        "Nichts, was gespeichert wird, verbindet ihn mit Ihrem Bericht: Auf der Seite steht, wie "
        "das geht und wovor es nicht schützt.",
        "Wenn Sie nicht teilnehmen möchten, brauchen Sie nichts zu tun.",
        "Scannen Sie das Bild, oder öffnen Sie",
        "und geben Sie ein",
        "Für eine Person, einmal. Nichts, was gespeichert wird, verbindet diesen Code mit Ihrem "
        "Bericht.",
        "de",
    ),
    "es": Words(
        "Su invitación a una encuesta",
        "Recordatorio: su invitación a una encuesta",
        "Hola:",
        "Se le invita a participar en una encuesta: «{title}».",
        "Le recordamos una encuesta: «{title}». El enlace anterior ya no sirve; este sí.",
        ("Quién pregunta", "Para qué", "Preguntas a"),
        "El enlace es solo para usted y sirve una vez.",
        "Nada de lo que se guarda lo relaciona con su informe: la página dice cómo, y de qué no "
        "protege.",
        "Si no quiere participar, no haga nada.",
        "Escanee la imagen o abra",
        "y escriba",
        "Para una persona, una vez. Nada de lo que se guarda relaciona este código con su informe.",
        "es",
    ),
    "fr": Words(
        "Votre invitation à une enquête",
        "Rappel : votre invitation à une enquête",
        "Bonjour,",
        "vous êtes invité·e à participer à une enquête : « {title} ».",
        "nous vous rappelons une enquête : « {title} ». Le lien reçu auparavant ne marche plus ; "
        "celui-ci marche.",
        ("Qui demande", "Pourquoi", "Questions à"),
        "Le lien est pour vous seul·e et ne sert qu’une fois.",
        "Rien de ce qui est enregistré ne le relie à votre rapport : la page dit comment, et de "
        "quoi cela ne protège pas.",
        "Si vous ne voulez pas participer, ne faites rien.",
        "Scannez l’image, ou ouvrez",
        "et tapez",
        "Pour une personne, une fois. Rien de ce qui est enregistré ne relie ce code à votre "
        "rapport.",
        "fr",
    ),
    "ar": Words(
        "دعوتكم إلى استطلاع",
        "تذكير: دعوتكم إلى استطلاع",
        "مرحبًا،",
        "أنتم مدعوون إلى المشاركة في استطلاع: «{title}».",
        "نذكّركم باستطلاع: «{title}». الرابط الذي وصلكم من قبل لم يعد صالحًا، وهذا هو الصالح.",
        ("من يسأل", "لماذا", "للأسئلة"),
        "هذا الرابط لكم وحدكم ويصلح مرة واحدة.",
        "لا شيء مما يُحفظ يربطه بتقريركم: تشرح الصفحة كيف ذلك، ومِمَّ لا تحمي.",
        "إن لم تريدوا المشاركة فلا تفعلوا شيئًا.",
        "امسحوا الصورة، أو افتحوا",
        "واكتبوا",
        "لشخص واحد ومرة واحدة. لا شيء مما يُحفظ يربط هذا الرمز بتقريركم.",
        "ar",
        "rtl",
    ),
}


def words(tag: str) -> Words:
    return WORDS.get(tag.partition("-")[0], WORDS["en"])


def subject(survey: Survey, again: bool = False) -> str:
    known = words(survey.language)
    return known.subject_again if again else known.subject


def text(survey: Survey, again: bool = False) -> str:
    """Return the default text, with {link} once in each language."""
    own = {name: getattr(survey, name) for name in ("title", *DISCLOSURES)}
    parts = ["\n".join(_lines(words(survey.language), own, again))]
    for tag, translated in sorted(survey.translations.items()):
        if tag.partition("-")[0] in WORDS:
            texts = {name: translated.get(name) or own[name] for name in own}
            parts.append("\n".join(_lines(words(tag), texts, again)))
    return BETWEEN.join(parts) + "\n"


def _lines(known: Words, texts: Mapping[str, Any], again: bool) -> Iterator[str]:
    yield from (known.hello, "")
    # Not `format`, because a title may contain braces.
    yield (known.again if again else known.invited).replace("{title}", texts["title"])
    for label, name in zip(known.labels, DISCLOSURES, strict=True):
        if texts[name].strip():
            yield f"{label}: {texts[name].strip()}"
    yield from ("", "{link}", "", f"{known.once} {known.stored}", "", known.nothing)
