"""Word lists that find problems in questions, in five languages. Pure.

Word lists do not understand a question: they find common cases and are sometimes wrong. Words that
identify a person are searched in all languages at once, the others in the language of the text.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

# Questions that would identify a person.
IDENTIFIES = {
    "a name": r"(your|full|first|last|family) names?\b|\bsurname"
    r"|\b(ihr|dein|vor|nach|familien)(en)?\s?name|\b(su|tu) nombre|\bapellidos?\b"
    r"|\b(votre|ton) nom\b|\bpr[ée]nom\b|\bnom de famille|اسمك|اسم العائلة|لقبك",
    "an e-mail address": r"\be-?mail|\bcorreo electr|\bcourriel|@|البريد الإلكتروني|بريدك",
    "a telephone number": r"\b(tele)?phone number|\btelefonnummer|\bhandynummer"
    r"|\bn[úu]mero de tel[ée]fono|\bnum[ée]ro de t[ée]l[ée]phone|رقم (ال)?هاتف",
    "a date of birth": r"\b(date of birth|birth ?da(te|y)|day of birth)|\bgeburts(tag|datum)"
    r"|\bfecha de nacimiento|\bdate de naissance|تاريخ (ال)?ميلاد",
    "a postcode": r"\b(post(al)? ?code|zip ?code)|\bpostleitzahl|\bplz\b|\bc[óo]digo postal"
    r"|\bcode postal|الرمز البريدي",
    "an address": r"\b(home|street|your|ip)[ -]address|\b(ihre|deine) adresse|\bip-adresse"
    r"|\b(su|tu) direcci[óo]n|\bdirecci[óo]n ip|\b(votre|ton) adresse|\badresse ip|عنوان(ك|\s?ip)",
    "a personal number": r"\b(employee|staff|personnel|student|patient|passport|insurance|id)"
    r"[ -](number|no\.|id)\b|\b(personal|matrikel|ausweis|versicherten|patienten)nummer"
    r"|\bn[úu]mero de (empleado|paciente|pasaporte|estudiante)|\bmatricule\b"
    r"|\bnum[ée]ro (d.employ[ée]|de patient|de passeport|d.[ée]tudiant)"
    r"|الرقم (الوظيفي|الجامعي|القومي)|رقم (الموظف|جواز|المريض)",
}
IDENTIFYING = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in IDENTIFIES.items()}

# Conjunctions. The Arabic “and” is written together with the next word.
JOINING = {
    "en": r"\b(and|or)\b",
    "de": r"\b(und|oder|bzw\.?|sowie)\b",
    "es": r"\b(y|e|o|u|y/o)\b",
    "fr": r"\b(et|ou)\b",
    "ar": r"\b(أو|أم)\b|(?<=\s)و(?=\w{3,})",
}
# Phrases in which a conjunction does not join two questions.
HARMLESS = {
    "en": r"\b(yes or no|or more|or less|or not|or never|and over|and older|more or less"
    r"|whether or not|between \S+ and \S+)\b",
    "de": r"\b(ja oder nein|oder mehr|oder weniger|oder nicht|oder nie|und mehr|und älter"
    r"|mehr oder weniger|zwischen \S+ und \S+)\b",
    "es": r"\b(s[íi] o no|o m[áa]s|o menos|o no|o nunca|y m[áa]s|entre \S+ y \S+)\b",
    "fr": r"\b(oui ou non|ou plus|ou moins|ou non|ou pas|ou jamais|et plus|entre \S+ et \S+)\b",
    "ar": r"(نعم أو لا|أو أكثر|أو أقل|أم لا|بين \S+ و\S+)",
}

# Topics that many people would rather not talk about.
SENSITIVE = {
    "en": r"alcohol|drug|cannabis|sex|abort|pregnan|harass|abus|violen|assault|bulli|crim|steal"
    r"|stole|fraud|brib|illegal|cheat|affair|suicid|depress|mental|disease|\bhiv\b|disab|income"
    r"|salary|debt|tax|religio|politic|\bvote|immigra|asylum|racis|discriminat|gambl|mistake",
    "de": r"alkohol|droge|cannabis|sex|abtreib|schwanger|beläst|missbrauch|gewalt|mobb|straf"
    r"|stehl|gestohlen|betrug|betrog|bestech|illegal|schwarz|affäre|suizid|selbstmord|depress"
    r"|psych|krankheit|\bhiv\b|behinder|einkommen|gehalt|schulden|steuer|religi|politi|gewählt"
    r"|asyl|rassis|diskrim|glücksspiel|fehler",
    "es": r"alcohol|droga|cannabis|sex|abort|embaraz|acos|abus|violen|agresi|delito|robar|robado"
    r"|fraude|soborn|ilegal|engañ|suicid|depres|mental|enfermedad|\bvih\b|discapac|ingresos"
    r"|salario|deuda|impuesto|religi|polític|votad|asilo|racis|discrimin|apuest|error",
    "fr": r"alcool|drogue|cannabis|sexe|sexuel|avort|enceinte|harcel|harcèl|abus|violen|agress"
    r"|délit|vol[ée]|fraud|pot-de-vin|illégal|trich|suicid|dépress|mental|maladie|\bvih\b"
    r"|handicap|revenu|salaire|dette|impôt|religi|politi|voté|asile|racis|discrimin|pari|erreur",
    "ar": r"كحول|خمر|مخدر|جنس|إجهاض|حامل|تحرش|عنف|اعتداء|جريمة|سرق|احتيال|رشوة|غير قانون|غش"
    r"|انتحار|اكتئاب|نفسي|مرض|إعاقة|دخل|راتب|دين|ضريب|سياس|صوّت|لجوء|عنصري|تمييز|قمار|خطأ",
}

# A range of numbers in an option.
RANGE = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*(?:-|–|—|to|bis|hasta|à|a|إلى)\s*(\d+(?:[.,]\d+)?)", re.IGNORECASE
)


def knows(tag: str) -> bool:
    """Return whether there are word lists for this language."""
    return tag.partition("-")[0] in JOINING


@lru_cache(maxsize=8192)  # every save checks the whole draft, mostly the same texts
def identifies(text: str) -> str:
    """Return what a text asks for that would identify a person, or ""."""
    return next((what for what, pattern in IDENTIFYING.items() if pattern.search(text)), "")


def asks_two(text: str, tag: str) -> bool:
    language = tag.partition("-")[0]
    if language not in JOINING:
        return False
    plain = re.sub(HARMLESS[language], " ", text, flags=re.IGNORECASE)
    return re.search(JOINING[language], plain, re.IGNORECASE) is not None


def sensitive(text: str, tag: str) -> bool:
    pattern = SENSITIVE.get(tag.partition("-")[0])
    return pattern is not None and re.search(pattern, text, re.IGNORECASE) is not None


def same(options: Sequence[str]) -> tuple[str, str] | None:
    """Return two options that differ only in case, spaces or final punctuation, or None."""
    seen: dict[str, str] = {}
    for option in options:
        normal = " ".join(option.split()).casefold().rstrip(" .,;:!")
        if normal in seen:
            return seen[normal], option
        seen[normal] = option
    return None


def overlap(options: Sequence[str]) -> tuple[str, str] | None:
    """Return two options whose ranges of numbers overlap, or None."""
    ranges = []
    for option in options:
        if match := RANGE.search(option):
            low, high = (float(number.replace(",", ".")) for number in match.groups())
            ranges.append((low, high, option))
    ranges.sort()
    for (_, high, first), (low, _, second) in zip(ranges, ranges[1:], strict=False):
        if low <= high:
            return first, second
    return None
