"""Firefox for the tests, driven through Marionette: the browser's own protocol, on a loopback port.

Playwright drives only a Firefox of its own making; this one is the distribution's. A message is its
length, a colon and JSON: `[0, id, command, parameters]` there, `[1, id, error, result]` back. The
commands are those of WebDriver.
"""

import base64
import io
import json
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

from tests.support.other_browsers import ANSWER_SECONDS, KEYS, Browser
from tests.support.packages import firefox
from tests.support.services import clean_environment, die_with_parent

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key that WebDriver gives to elements
NOWHERE = 9  # the port of a proxy that is not there

# Marionette itself turns off updates, telemetry and the like. What still wants to leave this
# machine goes to a proxy that is not there.
PREFERENCES = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": NOWHERE,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": NOWHERE,
    "network.captive-portal-service.enabled": False,
}

# Errors of pages, and not of the browser's own parts: uncaught ones, and what a policy refused.
# Forgotten once they are told.
PROBLEMS = """
const problems = Services.console.getMessageArray().filter((message) =>
  message instanceof Ci.nsIScriptError && message.sourceName.startsWith("http") &&
  (!(message.flags & Ci.nsIScriptError.warningFlag) || message.category.startsWith("CSP")));
Services.console.reset();
return problems.map(({category, errorMessage}) => `${category}: ${errorMessage}`);
"""

# The window of a desktop cannot be as narrow as a phone; what it shows a page in can.
RESIZE = """
const {style} = gBrowser.selectedBrowser;
[style.width, style.height] = [`${arguments[0]}px`, `${arguments[1]}px`];
[style.minWidth, style.flex] = ["0", "none"];
"""


class Firefox(Browser):
    def __init__(self) -> None:
        super().__init__("firefox")
        self.stream: io.BufferedRWPair | None = None
        self.sent = 0

    def start(self) -> None:
        profile = self.folder / "profile"
        profile.mkdir()
        preferences = {"marionette.port": self.port, **PREFERENCES}
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in preferences.items()]
        (profile / "user.js").write_text("".join(lines))
        home = {name: str(self.folder) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME")}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(firefox()), "--headless", "--no-remote", "--profile", str(profile),
                 "--marionette", "--remote-allow-system-access"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env={**clean_environment(), **home}, start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGTERM),
            )  # fmt: skip
        self._await(self._connects)
        self.command("WebDriver:NewSession")

    def _connects(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), ANSWER_SECONDS) as connection:
                self.stream = connection.makefile("rwb")
        except ConnectionRefusedError:
            return False
        return bool(self._receive()["marionetteProtocol"] == 3)

    def _let_go(self, number: signal.Signals) -> None:
        if self.stream:
            self.stream.close()

    # --- The protocol ---------------------------------------------------------------------------

    def command(self, name: str, **parameters: Any) -> Any:
        assert self.stream is not None
        self.sent += 1
        message = json.dumps([0, self.sent, name, parameters]).encode()
        self.stream.write(b"%d:%s" % (len(message), message))
        self.stream.flush()
        _, number, error, result = self._receive()
        assert number == self.sent
        if error:
            raise RuntimeError(f"{name}: {error['error']}: {error['message']}")
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def _receive(self) -> Any:
        assert self.stream is not None
        length = b""
        while (byte := self.stream.read(1)) != b":":
            if not byte:
                raise RuntimeError(f"Firefox closed the connection:\n{self.tail()}")
            length += byte
        return json.loads(self.stream.read(int(length)))

    # --- What a test does -----------------------------------------------------------------------

    def goto(self, url: str) -> None:
        self.command("WebDriver:Navigate", url=url)

    def back(self) -> None:
        self.command("WebDriver:Back")

    def reload(self) -> None:
        self.command("WebDriver:Refresh")

    def script(self, body: str, *arguments: Any) -> Any:
        return self.command("WebDriver:ExecuteScript", script=body, args=arguments)

    def browser_script(self, body: str, *arguments: Any) -> Any:
        """Run a script with the browser's own rights."""
        self.command("Marionette:SetContext", value="chrome")
        try:
            return self.script(body, *arguments)
        finally:
            self.command("Marionette:SetContext", value="content")

    def click(self, css: str) -> None:
        self.command("WebDriver:ElementClick", id=self._find(css))

    def fill(self, css: str, text: str) -> None:
        field = self._find(css)
        self.command("WebDriver:ElementClear", id=field)
        self.command("WebDriver:ElementSendKeys", id=field, text=text)

    def _find(self, css: str) -> str:
        found = self.command("WebDriver:FindElement", using="css selector", value=css)
        return str(found[ELEMENT])

    def press(self, *names: str) -> None:
        strokes = [{"type": kind, "value": KEYS[name]}
                   for name in names for kind in ("keyDown", "keyUp")]  # fmt: skip
        self.command(
            "WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": strokes}]
        )

    def _resize(self, width: int, height: int) -> None:
        self.browser_script(RESIZE, width, height)

    def speak(self, language: str) -> None:
        preference = "Services.prefs.setStringPref('intl.accept_languages', arguments[0])"
        self.browser_script(preference, language)

    def cookies(self) -> list[Any]:
        found: list[Any] = self.command("WebDriver:GetCookies")
        return found

    def forget_cookies(self) -> None:
        self.command("WebDriver:DeleteAllCookies")

    def offline(self, yes: bool) -> None:
        self.browser_script("Services.io.offline = arguments[0]", yes)

    def problems(self) -> list[str]:
        # That a policy names Trusted Types, which an older Firefox does not know, is no problem.
        found: list[str] = self.browser_script(PROBLEMS)
        return [one for one in found if not one.startswith("CSP_couldNotProcessUnknownDirective")]

    def screenshot(self, path: Path) -> None:
        picture = self.command("WebDriver:TakeScreenshot", full=True, hash=False)
        path.write_bytes(base64.b64decode(picture))
