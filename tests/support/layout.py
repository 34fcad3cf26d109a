"""How the respondent's page is laid out, measured alike in every browser.

`Window` is what a measurement needs of a browser: tests.support.other_browsers.Browser has it, and
`Tab` gives it to a tab of Chromium.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from playwright.sync_api import BrowserContext, Page

from tests.support.services import wait_until

LANGUAGES = ("en-US", "de-DE", "es-ES", "fr-FR", "ar-EG")
LOW_PHONE = (360, 560)
PHONE = (360, 640)
ZOOMED = {"200 %": (640, 400), "400 %": (320, 200)}  # a laptop of 1280 x 800

# A question of two or three lines with five options, of which some take two lines.
FIVE: dict[str, Any] = {
    "slug": "five-options",
    "title": "Work",
    "introduction": "A question.",
    "epsilon": 2,
    "crowd": 20,
    "questions": [
        {
            "key": "q1",
            "kind": "scale",
            "text": "In the past 12 months, how often did you come to work although you were ill?",
            "options": ["Never", "Once or twice", "Every few months",
                        "Every month, or more often than that", "I would rather not work here"],
        }
    ],
    "blocks": [["q1"]],
    "translations": {
        "de": {"title": "Arbeit", "introduction": "Eine Frage.", "questions": {"q1": {
            "text": "Wie oft sind Sie in den letzten 12 Monaten zur Arbeit gekommen, obwohl Sie "
            "krank waren?",
            "options": ["Nie", "Ein- oder zweimal", "Alle paar Monate",
                        "Jeden Monat oder noch häufiger als das", "Ich arbeite nicht gern hier"],
        }}},
        "es": {"title": "Trabajo", "introduction": "Una pregunta.", "questions": {"q1": {
            "text": "En los últimos 12 meses, ¿con qué frecuencia fue a trabajar estando enfermo?",
            "options": ["Nunca", "Una o dos veces", "Cada pocos meses",
                        "Todos los meses o con más frecuencia", "Preferiría no trabajar aquí"],
        }}},
        "fr": {"title": "Travail", "introduction": "Une question.", "questions": {"q1": {
            "text": "Ces 12 derniers mois, êtes-vous venu travailler alors que vous étiez malade ?",
            "options": ["Jamais", "Une ou deux fois", "Tous les deux ou trois mois",
                        "Tous les mois, ou encore plus souvent", "Je préférerais partir d’ici"],
        }}},
        "ar": {"title": "العمل", "introduction": "سؤال واحد.", "questions": {"q1": {
            "text": "خلال الأشهر الاثني عشر الماضية، كم مرة جئتم إلى العمل وأنتم مرضى؟",
            "options": ["أبدًا", "مرة أو مرتين", "كل بضعة أشهر",
                        "كل شهر أو أكثر من ذلك", "أفضّل ألا أعمل هنا"],
        }}},
    },
}  # fmt: skip

# What can be seen of some elements: the part between the edges of the window and of whatever
# scrolls, from 0 to 1, and whether anything covers that part.
SEEN = """
const [css] = arguments;
return [...document.querySelectorAll(css)].map((one) => {
  const {left, top, bottom, width, height} = one.getBoundingClientRect();
  let [first, last] = [Math.max(top, 0), Math.min(bottom, innerHeight)];
  for (let box = one.parentElement; box; box = box.parentElement) {
    if (getComputedStyle(box).overflowY === "visible") continue;
    const edges = box.getBoundingClientRect();
    [first, last] = [Math.max(first, edges.top), Math.min(last, edges.bottom)];
  }
  const part = Math.max(0, last - first) / height;
  const others = [0.1, 0.5, 0.9]
    .map((at) => document.elementFromPoint(left + width / 2, first + at * (last - first)))
    .filter((there) => part > 0.1 && there && !one.contains(there) && !there.contains(one));
  const covered = others.map((there) => there.outerHTML.slice(0, 80));
  return {name: one.outerHTML.slice(0, 80), part, covered};
});
"""
STICKY = """
return [...document.querySelectorAll("body *")].filter((one) =>
  ["sticky", "fixed"].includes(getComputedStyle(one).position)).map((one) => one.className);
"""
ONE_SCREEN = """
const box = document.querySelector(".scroll");
return box.scrollHeight <= box.clientHeight && document.documentElement.scrollWidth <= innerWidth;
"""


class Window(Protocol):
    def goto(self, url: str) -> None: ...
    def script(self, body: str, *arguments: Any) -> Any: ...
    def click(self, css: str) -> None: ...
    def wait(self, css: str, text: str = "") -> None: ...
    def resize(self, width: int, height: int) -> None: ...
    def speak(self, language: str) -> None: ...


class Tab:
    """A tab of Chromium, a new one for each language."""

    def __init__(self, new_context: Callable[..., BrowserContext]) -> None:
        self.new_context = new_context
        self.page: Page

    def speak(self, language: str) -> None:
        self.page = self.new_context(locale=language, reduced_motion="reduce").new_page()

    def goto(self, url: str) -> None:
        self.page.goto(url)

    def script(self, body: str, *arguments: Any) -> Any:
        call = f"(given) => (function () {{ {body} }}).apply(null, given)"
        return self.page.evaluate(call, list(arguments))

    def click(self, css: str) -> None:
        self.page.locator(css).first.click()

    def wait(self, css: str, text: str = "") -> None:
        self.page.locator(css).filter(has_text=text).first.wait_for()

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})


def check(window: Window, demo: str, five: str, language: str) -> None:
    """Measure the opening of the demo and a question with five options in this language."""
    window.speak(language)
    window.resize(*PHONE)
    window.goto(demo)
    window.wait(".opening")
    assert window.script(ONE_SCREEN), language
    all_whole(window, ".actions button, .links button")
    for size in ZOOMED.values():
        window.resize(*size)
        all_whole(window, ".actions .primary")

    window.resize(*LOW_PHONE)
    window.goto(five)
    window.wait(".opening")
    window.click(".primary")
    window.wait(".asking")
    all_whole(window, ".back, .actions .primary")
    options = window.script(SEEN, ".option")
    assert len(options) == 5
    hidden = [one["part"] for one in options if one["part"] < 0.99]
    assert not hidden or hidden[0] >= 0.5, (language, options)
    for size in (LOW_PHONE, *ZOOMED.values()):
        window.resize(*size)
        all_whole(window, ".actions .primary")
        nothing_covered(window)
        window.click(".primary")  # without an answer
        window.wait(".alert:not(:empty)")
        all_whole(window, ".alert, .actions .primary")
        nothing_covered(window)
        assert window.script(STICKY) == []


def all_whole(window: Window, css: str) -> None:
    """Expect that all of these can be seen whole."""

    def hidden() -> list[Any]:
        return [one for one in window.script(SEEN, css) if one["part"] <= 0.99 or one["covered"]]

    assert window.script(SEEN, css)
    none(hidden)


def nothing_covered(window: Window) -> None:
    css = ".option, .alert:not(:empty), .note summary"
    none(lambda: [one for one in window.script(SEEN, css) if one["covered"]])


def none(problems: Callable[[], list[Any]]) -> None:
    """Expect no problems, once the browser has laid the page out."""
    with suppress(TimeoutError):
        wait_until(lambda: not problems(), 10, "the layout")
    found = problems()
    assert found == [], found
