"""WebKit for the tests: Debian's WebKitGTK in its MiniBrowser, driven by Selenium, on a screen that
nobody sees.

Everything stays on this machine: the driver is started here, so Selenium looks for none.
"""

import contextlib
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.proxy import Proxy, ProxyType
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection

from tests.support.other_browsers import ANSWER_SECONDS, KEYS, Browser
from tests.support.packages import minibrowser
from tests.support.services import Server, clean_environment, die_with_parent

# The window is as wide as its toolbar at least; without this a phone would be narrower.
STYLE = "* { font-size: 1px; padding: 0; margin: 0; border: 0; min-width: 0; min-height: 0; }"
LOCALE = Path("/usr/lib/locale/C.utf8")  # there on every Debian

# Returns what a test wants to know together with what has gone wrong in the page since the first
# call. WebKit tells nobody else: a private session, as tests have it, writes no console messages.
WATCHED = """
if (!window.foundProblems) {
  const found = window.foundProblems = [];
  addEventListener("error", ({ message }) => found.push(message));
  addEventListener("unhandledrejection", ({ reason }) => found.push(String(reason)));
  addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
    found.push(`Content-Security-Policy: ${effectiveDirective} ${blockedURI}`), true);
}
const body = () => { %s };
return Promise.resolve(body()).then((value) => [value, foundProblems.splice(0)]);
"""


class Display(Server):
    """A virtual screen with the first free number."""

    def start(self) -> None:
        reader, writer = os.pipe()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1400x1200x24",
                 "-nolisten", "tcp"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                pass_fds=[writer], start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGTERM),
            )  # fmt: skip
        os.close(writer)
        with os.fdopen(reader) as numbers:
            self.number = numbers.readline().strip()
        if not self.number:
            raise RuntimeError(f"Xvfb ended at once:\n{self.tail()}")


class WebKit(Browser):
    """MiniBrowser has no server of its own: `process` is the driver that starts it."""

    def __init__(self) -> None:
        super().__init__("webkit")
        self.display = Display("display", self.folder)
        self.driver: Any = None
        self.language = ""
        self.found: list[str] = []

    def start(self) -> None:
        self.display.start()
        style = self.folder / "gtk-3.0/gtk.css"
        style.parent.mkdir()
        style.write_text(STYLE)
        home = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
                "XDG_RUNTIME_DIR", "LOCPATH")  # fmt: skip
        environment = {
            **clean_environment(),
            **dict.fromkeys(home, str(self.folder)),
            "DISPLAY": f":{self.display.number}",
            "GDK_BACKEND": "x11",
            "GSETTINGS_BACKEND": "memory",
            "DBUS_SESSION_BUS_ADDRESS": "disabled:",
            "NO_AT_BRIDGE": "1",
            "WEBKIT_DISABLE_COMPOSITING_MODE": "1",  # quicker without a graphics card
            # It works neither for root nor in most containers, and the pages are our own.
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["WebKitWebDriver", f"--port={self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env=environment, start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGTERM),
            )  # fmt: skip
        self._await(self._listens)
        self.speak("en-US")

    def _listens(self) -> bool:
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", self.port), ANSWER_SECONDS).close()
            return True
        return False

    def _let_go(self, number: signal.Signals) -> None:
        if self.driver:
            self.driver.command_executor.close()
        self.display._signal(number)  # without it the browser ends with the driver

    # --- What a test does -----------------------------------------------------------------------

    def goto(self, url: str) -> None:
        self.driver.get(url)

    def back(self) -> None:
        self.driver.back()

    def reload(self) -> None:
        self.driver.refresh()

    def script(self, body: str, *arguments: Any) -> Any:
        value, problems = self.driver.execute_script(WATCHED % body, *arguments)
        self.found += problems
        return value

    def click(self, css: str) -> None:
        self.driver.find_element("css selector", css).click()

    def fill(self, css: str, text: str) -> None:
        field = self.driver.find_element("css selector", css)
        field.clear()
        field.send_keys(text)

    def press(self, *names: str) -> None:
        webdriver.ActionChains(self.driver).send_keys(*map(KEYS.get, names)).perform()

    def _resize(self, width: int, height: int) -> None:
        toolbar = self.script("return outerHeight - innerHeight")
        self.driver.set_window_rect(0, 0, width, height + toolbar)

    def speak(self, language: str) -> None:
        """Restart the browser, which takes its language from the environment.

        The C library need not know the language, so one folder serves for all.
        """
        if language == self.language:
            return
        if self.driver:
            self.driver.quit()
        locale = f"{language.replace('-', '_')}.UTF-8"
        with contextlib.suppress(FileExistsError):
            (self.folder / locale).symlink_to(LOCALE)
        options = webdriver.WebKitGTKOptions()
        options.binary_location = "/usr/bin/env"
        for argument in (f"LC_ALL={locale}", str(minibrowser()), "--automation"):
            options.add_argument(argument)
        config = ClientConfig(
            f"http://127.0.0.1:{self.port}",
            proxy=Proxy({"proxyType": ProxyType.DIRECT}),
            timeout=ANSWER_SECONDS,
        )
        connection = RemoteConnection(client_config=config)
        self.driver = webdriver.Remote(connection, options=options)
        self.language = language

    def cookies(self) -> list[Any]:
        return self.driver.get_cookies()

    def forget_cookies(self) -> None:
        self.driver.delete_all_cookies()

    def problems(self) -> list[str]:
        self.script("")
        found, self.found = self.found, []
        return found

    def screenshot(self, path: Path) -> None:
        self.driver.save_screenshot(str(path))
