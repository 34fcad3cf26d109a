"""What the words of a question give away, in the five languages that we know. Pure.

Lists of words cannot understand a question: they find what is usual, and are wrong now and then.
What names a person is looked for in all languages at once, the rest in the language of the text.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

# What would say who somebody is.
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
    "a number of a person": r"\b(employee|staff|personnel|student|patient|passport|insurance|id)"
    r"[ -](number|no\.|id)\b|\b(personal|matrikel|ausweis|versicherten|patienten)nummer"
    r"|\bn[úu]mero de (empleado|paciente|pasaporte|estudiante)|\bmatricule\b"
    r"|\bnum[ée]ro (d.employ[ée]|de patient|de passeport|d.[ée]tudiant)"
    r"|الرقم (الوظيفي|الجامعي|القومي)|رقم (الموظف|جواز|المريض)",
}
IDENTIFYING = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in IDENTIFIES.items()}

# What joins two things. Arabic writes its “and” together with the word behind it.
JOINING = {
    "en": r"\b(and|or)\b",
    "de": r"\b(und|oder|bzw\.?|sowie)\b",
    "es": r"\b(y|e|o|u|y/o)\b",
    "fr": r"\b(et|ou)\b",
    "ar": r"\b(أو|أم)\b|(?<=\s)و(?=\w{3,})",
}
# Where it joins nothing that could be answered apart.
HARMLESS = {
    "en": r"\b(yes or no|or more|or less|or not|or never|and over|and older|more or less"
    r"|whether or not|between \S+ and \S+)\b",
    "de": r"\b(ja oder nein|oder mehr|oder weniger|oder nicht|oder nie|und mehr|und älter"
    r"|mehr oder weniger|zwischen \S+ und \S+)\b",
    "es": r"\b(s[íi] o no|o m[áa]s|o menos|o no|o nunca|y m[áa]s|entre \S+ y \S+)\b",
    "fr": r"\b(oui ou non|ou plus|ou moins|ou non|ou pas|ou jamais|et plus|entre \S+ et \S+)\b",
    "ar": r"(نعم أو لا|أو أكثر|أو أقل|أم لا|بين \S+ و\S+)",
}

# What many would rather not say.
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

# From one number to another, as options write it.
RANGE = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*(?:-|–|—|to|bis|hasta|à|a|إلى)\s*(\d+(?:[.,]\d+)?)", re.IGNORECASE
)


def knows(tag: str) -> bool:
    """Whether there are words of this language here."""
    return tag.partition("-")[0] in JOINING


@lru_cache(maxsize=8192)  # a draft is looked through with every save, mostly the same texts
def identifies(text: str) -> str:
    """What a text asks for that would say who somebody is; empty if nothing."""
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
    """Two options that differ in nothing that one hears."""
    heard: dict[str, str] = {}
    for option in options:
        sound = " ".join(option.split()).casefold().rstrip(" .,;:!")
        if sound in heard:
            return heard[sound], option
        heard[sound] = option
    return None


def overlap(options: Sequence[str]) -> tuple[str, str] | None:
    """Two options with ranges of numbers that share one."""
    ranges = []
    for option in options:
        if found := RANGE.search(option):
            low, high = (float(number.replace(",", ".")) for number in found.groups())
            ranges.append((low, high, option))
    ranges.sort()
    for (_, high, one), (low, _, other) in zip(ranges, ranges[1:], strict=False):
        if low <= high:
            return one, other
    return None
