"""Debian's browsers that Playwright cannot drive.

`Firefox` and `WebKit` differ in how a command reaches them, and in nothing that a test sees.
"""

import json
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.support.mirror import Mirror
from tests.support.services import (
    STOP_SECONDS,
    Candor,
    Server,
    command_line,
    descendants,
    wait_until,
)

ANSWER_SECONDS = 180  # for one command or condition; only a hang takes this long
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Space": " ", "ArrowDown": "\ue015"}
SEEN = """
const [css, text] = arguments;
return [...document.querySelectorAll(css)].some((one) =>
  one.checkVisibility() && one.textContent.includes(text));
"""


class Browser(Server):
    """A browser with one tab and its own profile. Elements are CSS selectors."""

    def _signal(self, number: signal.Signals) -> None:
        """Also wait for the page processes, which end a moment after the main one."""
        family = descendants(self.process.pid) if self.process else {}
        self._let_go(number)
        super()._signal(number)
        wait_until(lambda: not any(map(command_line, family)), STOP_SECONDS, "the browser's end")

    def _let_go(self, number: signal.Signals) -> None:
        """Close connections to the browser before it gets this signal."""
        raise NotImplementedError

    def goto(self, url: str) -> None:
        raise NotImplementedError

    def back(self) -> None:
        raise NotImplementedError

    def reload(self) -> None:
        raise NotImplementedError

    def script(self, body: str, *arguments: Any) -> Any:
        """Return what this function's body returns in the page; a promise is waited for."""
        raise NotImplementedError

    def click(self, css: str) -> None:
        raise NotImplementedError

    def fill(self, css: str, text: str) -> None:
        """Type this text instead of what the field holds."""
        raise NotImplementedError

    def press(self, *names: str) -> None:
        """Press these KEYS, one after the other."""
        raise NotImplementedError

    def _resize(self, width: int, height: int) -> None:
        raise NotImplementedError

    def speak(self, language: str) -> None:
        """Have the next page told that its reader prefers this language."""
        raise NotImplementedError

    def cookies(self) -> list[Any]:
        """Return the cookies of the page's host, those that scripts cannot see included."""
        raise NotImplementedError

    def forget_cookies(self) -> None:
        raise NotImplementedError

    def problems(self) -> list[str]:
        """Return what went wrong in pages since the last call."""
        raise NotImplementedError

    def screenshot(self, path: Path) -> None:
        raise NotImplementedError

    # --- What follows from these ----------------------------------------------------------------

    def wait(self, css: str, text: str = "") -> None:
        """Wait until such an element can be seen, with this text in it."""
        self.wait_for(lambda: bool(self.script(SEEN, css, text)), f"{css} {text}")

    def wait_for(self, ready: Callable[[], bool], what: str) -> None:
        try:
            wait_until(ready, ANSWER_SECONDS, what)
        except TimeoutError as error:
            raise TimeoutError(f"{error}. The page says:\n{self.text('body')}") from None

    def resize(self, width: int, height: int) -> None:
        """Give pages this much room, in CSS pixels."""
        self._resize(width, height)
        room = "return [innerWidth, innerHeight]"
        self.wait_for(lambda: self.script(room) == [width, height], f"{width} x {height} pixels")

    def text(self, css: str) -> str:
        return str(self.script("return document.querySelector(arguments[0]).innerText", css))


class Site(Mirror):
    """An embedded installation under an origin of its own."""

    def __init__(self, candor: Candor) -> None:
        super().__init__(candor.url)
        self.database = candor.var / "candor.sqlite3"

    def reports(self) -> list[bytes]:
        """Return the bodies of the reports that were sent, whatever became of them."""
        return [one.body for one in self.received if one.path.endswith("/reports/")]

    def stored(self) -> int:
        """Count the ids that were sent and are in the database."""
        ids = {json.loads(body)["id"].replace("-", "") for body in self.reports()}
        with closing(sqlite3.connect(self.database)) as database:
            marks = ",".join("?" * len(ids))
            statement = f"SELECT count(*) FROM survey_report WHERE id IN ({marks})"
            return int(database.execute(statement, tuple(ids)).fetchone()[0])
