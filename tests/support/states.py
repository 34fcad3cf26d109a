"""Every state of the respondent's page, reached as a person would.

A walk yields the name of each state as the page shows it. The accessibility tests look at all of
them in every variant, and docs/images.py takes their pictures. Elements are found by their classes,
because the words depend on the language.
"""

import json
from collections.abc import Callable, Iterator

from playwright.sync_api import Locator, Page, Route, expect

from tests.support.pages import await_in

REPORTS = "**/reports/"
DEFINITION = "**/definition/"

# What the server answers to a report, and the problem page that follows.
REFUSALS = {
    "closed-meanwhile": (410, {}),
    "refused": (400, {"errors": {"id": ["wrong"]}}),
}
# What it answers when the survey is asked for.
NO_SURVEY = {
    "missing": (404, {}),
    "closed": (200, {"protocol": 1, "state": "closed"}),
    "outdated": (200, {"protocol": 2}),
}
# A survey for the states that a good one has not: hardly protected, not translated, a number,
# multiple choice, a long list.
POOR = {
    "slug": "poor",
    "title": "Un sondaggio",
    "introduction": "Tre domande.",
    "language": "it",
    "epsilon": 6,
    "crowd": 20,
    "questions": [
        {"key": "q1", "text": "Quale?", "kind": "choice", "options": ["A", "B", "C"]},
        {"key": "q2", "text": "Quanti?", "kind": "number", "least": 0, "most": 10,
         "unit": "giorni", "prefer_not_to_say": True},
        {"key": "q3", "text": "Quali?", "kind": "several", "options": ["A", "B", "C"], "picks": 2},
    ],
    "background": [
        {"key": "ward", "text": "Dove?", "options": [f"Reparto {i}" for i in range(1, 13)]}
    ],
    "blocks": [["q1"], ["q2"], ["q3"]],
    "ask": 3,
}  # fmt: skip
SKIP = ".asking .actions .secondary"  # only background questions have it
# The first answer to every question, up to the last step. One press after the other as a program
# makes them, which takes a twentieth of the time.
HURRY = """() => {
  for (let steps = 0; steps < 50 && document.querySelector(".asking"); steps++) {
    document.querySelector(".option input").click();
    document.querySelector(".primary").click();
  }
}"""


class States:
    """A walk through all of them, by tapping or by the keyboard alone; `poor` is that of POOR.

    The questions are answered so once. Where they only lie on the way to another state, the page
    is hurried past them.
    """

    def __init__(self, page: Page, url: str, poor: str, keyboard: bool = False) -> None:
        self.page = page
        self.url = url
        self.poor = poor
        self.keyboard = keyboard

    def __iter__(self) -> Iterator[str]:
        yield from self.before_the_questions()
        yield from self.asking()
        yield from self.sending()
        yield from self.afterwards()
        yield from self.in_a_kiosk()
        yield from self.problems()
        yield from self.poorly()
        yield from self.without_a_program()

    def before_the_questions(self) -> Iterator[str]:
        page = self.page
        page.route(DEFINITION, lambda route: None)  # never answered
        page.goto(self.url)
        expect(page.locator(".loading")).to_be_visible()
        yield "loading"
        page.unroute(DEFINITION)
        self.open()
        yield "opening"
        for place, name in enumerate(("odds", "unprotected", "contact", "check")):
            self.tap(page.locator(".links button").nth(place))
            expect(page.locator(f".{name}")).to_be_visible()
            yield name
            self.tap(page.locator(".back"))
            expect(page.locator(".opening")).to_be_visible()
        self.tap(page.locator(".how"))
        expect(page.locator(".practice")).to_be_visible()
        yield "practice"
        self.tap(page.locator(".practice .option").first)
        expect(page.locator(".tries")).to_be_visible()
        yield "practice-tried"
        self.tap(page.locator(".tries button"))
        expect(page.locator(".squares")).to_be_visible()
        yield "practice-again"
        self.go_on()

    def asking(self) -> Iterator[str]:
        page = self.page
        expect(page.locator(".asking")).to_be_visible()
        yield "question"
        page.reload()
        expect(page.locator(".reloaded")).to_be_visible()
        yield "reloaded"
        self.go_on()
        self.tap(page.locator(".primary"))
        expect(page.get_by_role("alert")).not_to_be_empty()
        yield "question-missing"
        self.tap(page.locator(".option").first)
        yield "question-chosen"
        self.tap(page.locator(".note summary"))
        yield "question-how"
        while not page.locator(SKIP).count():
            self.tap(page.locator(".option").first)
            self.go_on()
        yield "background"
        while page.locator(".asking").count():
            self.tap(page.locator(".option").first)
            self.go_on()
        expect(page.locator(".answers").first).to_be_visible()
        yield "review"

    def sending(self) -> Iterator[str]:
        page = self.page
        held: list[Route] = []
        page.route(REPORTS, lambda route: held.append(route))
        self.tap(page.locator(".primary"))
        expect(page.locator(".pulse")).to_be_visible()
        yield "sending"
        await_in(page, lambda: held, "the report")
        held[0].abort()
        expect(page.locator(".icon.waiting")).to_be_visible()
        page.unroute(REPORTS)
        page.route(REPORTS, lambda route: route.abort())
        yield "waiting"
        self.tap(page.locator("summary").first)
        yield "waiting-what"
        page.reload()
        expect(page.locator(".icon.waiting")).to_be_visible()
        yield "waiting-resumed"
        page.unroute(REPORTS)
        self.tap(page.locator(".primary"))
        expect(page.locator(".icon.done")).to_be_visible()
        yield "waited"

    def afterwards(self) -> Iterator[str]:
        page = self.page
        page.reload()
        expect(page.locator(".icon.done")).to_be_visible()
        yield "answered"
        self.tap(page.locator(".other"))
        self.to_review()
        self.tap(page.locator(".primary"))
        expect(page.locator(".receipt")).to_be_attached()
        yield "thanks"
        self.tap(page.locator("summary"))
        yield "thanks-details"
        self.tap(page.locator("p > .link").first)
        expect(page.locator(".ledger")).to_be_visible()
        yield "ledger-offer"
        self.tap(page.locator(".ledger .secondary"))
        expect(page.locator("table")).to_be_visible()
        yield "ledger"
        self.tap(page.locator("table button"))
        expect(page.locator("table")).to_have_count(0)
        yield "ledger-empty"
        self.tap(page.locator(".ledger p .link"))
        expect(page.locator(".receipt")).to_be_attached()

    def in_a_kiosk(self) -> Iterator[str]:
        page = self.page
        page.clock.install()
        self.open("?kiosk")
        self.go_on()
        page.clock.fast_forward(41_000)
        expect(page.get_by_role("dialog")).to_be_visible()
        yield "kiosk-idle"
        self.tap(page.get_by_role("dialog").get_by_role("button"))
        expect(page.get_by_role("dialog")).to_have_count(0)
        self.answer_all()
        page.route(REPORTS, lambda route: route.abort())
        self.tap(page.locator(".primary"))
        expect(page.locator(".icon.waiting")).to_be_visible()
        yield "kiosk-waiting"
        page.unroute(REPORTS)
        self.go_on()
        self.to_review()
        self.tap(page.locator(".primary"))
        expect(page.locator(".icon.done")).to_be_visible()
        yield "kiosk-thanks"
        page.clock.resume()

    def problems(self) -> Iterator[str]:
        page = self.page
        for name, (status, content) in NO_SURVEY.items():
            page.route(DEFINITION, fulfil(status, content))
            page.goto(self.url)
            expect(page.locator(".icon.stop")).to_be_visible()
            yield name
            page.unroute(DEFINITION)
        page.route(DEFINITION, lambda route: route.abort())
        page.goto(self.url)
        expect(page.locator(".icon.stop")).to_be_visible()
        yield "offline"
        page.unroute(DEFINITION)
        for name, (status, content) in REFUSALS.items():
            self.open()
            self.to_review()
            page.route(REPORTS, fulfil(status, content))
            self.tap(page.locator(".primary"))
            expect(page.locator(".icon.stop")).to_be_visible()
            yield name
            page.unroute(REPORTS)
        self.open()
        self.to_review()
        page.route(REPORTS, fulfil(503, {}))
        self.tap(page.locator(".primary"))
        expect(page.locator(".icon.waiting")).to_be_visible()
        yield "busy"
        self.tap(page.locator("p > .link"))
        page.unroute(REPORTS)
        expect(page.locator(".icon.stop")).to_be_visible()
        yield "dropped"

    def poorly(self) -> Iterator[str]:
        page = self.page
        page.goto(self.poor)
        expect(page.locator(".promise.weak")).to_be_visible()
        yield "weak"
        self.tap(page.locator(".how"))
        self.tap(page.locator(".practice .option").first)
        expect(page.locator(".tries")).to_be_visible()
        yield "weak-tried"
        self.go_on()
        expect(page.locator(".untranslated")).to_be_visible()
        yield "untranslated"
        self.tap(page.locator(".option").first)
        self.go_on()
        expect(page.locator(".number")).to_be_visible()
        yield "number"
        self.tap(page.locator(".primary"))
        expect(page.get_by_role("alert")).not_to_be_empty()
        yield "number-missing"
        self.tap(page.locator(".number button").last)
        self.go_on()
        expect(page.locator("#hint")).to_be_visible()
        for option in page.locator(".option").all():
            self.tap(option)
        expect(page.get_by_role("alert")).not_to_be_empty()
        yield "several-too-many"
        self.go_on()
        expect(page.locator("main select")).to_be_visible()
        yield "long-list"

    def without_a_program(self) -> Iterator[str]:
        """Comes last, because the page does not recover from it."""
        page = self.page
        page.route("**/respond/app.*.js", lambda route: route.abort())
        page.goto(self.url)
        page.evaluate("document.getAnimations().forEach((one) => one.finish())")  # 8 s later
        expect(page.locator(".late")).to_be_visible()
        yield "not-starting"
        page.unroute("**/respond/app.*.js")
        page.add_init_script("Object.defineProperty(globalThis, 'crypto', {value: undefined})")
        page.goto(self.url)
        expect(page.locator(".icon.stop")).to_be_visible()
        yield "generator"

    # --- Steps ------------------------------------------------------------------------------------

    def open(self, query: str = "") -> None:
        """Open the survey in a tab that has not answered yet."""
        self.page.evaluate("sessionStorage.clear()")
        self.page.goto(self.url + query)
        expect(self.page.locator(".opening")).to_be_visible()

    def to_review(self) -> None:
        """Go to the last step with the first answer everywhere."""
        expect(self.page.locator(".opening")).to_be_visible()
        self.go_on()
        self.answer_all()

    def answer_all(self) -> None:
        self.page.evaluate(HURRY)
        expect(self.page.locator(".answers").first).to_be_visible()

    def go_on(self) -> None:
        """Press the main button and wait for the next screen."""
        before = self.page.locator(".screen").element_handle()
        self.tap(self.page.locator(".primary"))
        self.page.wait_for_function("(screen) => !screen.isConnected", arg=before)

    def tap(self, target: Locator) -> None:
        if not self.keyboard:
            target.click()
            return
        radio = target.locator("input")
        (radio if radio.count() else target).focus()
        self.page.keyboard.press("Space")


def fulfil(status: int, content: object) -> Callable[[Route], None]:
    body = json.dumps(content)
    return lambda route: route.fulfill(status=status, content_type="application/json", body=body)
