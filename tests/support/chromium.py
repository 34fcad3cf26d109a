"""Debian's Chromium, watched."""

from playwright.sync_api import BrowserContext, ConsoleMessage, WebError

# What Chromium makes ready with every window for whoever types an address, which takes more time
# than most pages do; then what Playwright disables, since of two such flags only the last counts.
DISABLED = """
PreloadTopChromeWebUI WebUIOmniboxPopup WebUIOmniboxAimPopup

AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose HttpsUpgrades
HttpsFirstBalancedModeAutoEnable LensOverlay MediaRouter PaintHolding ThirdPartyStoragePartitioning
AvoidCorsURLLoaderRestartOnRedirect TcpPortRandomizationWin OptimizationHints
NetworkTimeServiceQuerying AimEnabled PreconnectToSearch msForceBrowserSignIn
msEdgeUpdateLaunchServicesPreferredVersion
""".split()


CHROMIUM_FLAGS = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(DISABLED)}",
]


def watch(context: BrowserContext, problems: list[str]) -> None:
    """Watch Chromium's console messages, so that pages without scripts are covered too.

    The event is listened for besides, because a policy that only reports writes other words.
    """

    def on_console(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "securitypolicyviolation" in message.text:
            problems.append(message.text)

    def on_error(error: WebError) -> None:
        problems.append(f"uncaught: {error.error}")

    context.on("console", on_console)
    context.on("weberror", on_error)
    context.add_init_script(
        "addEventListener('securitypolicyviolation', (event) => console.error("
        "`securitypolicyviolation: ${event.violatedDirective} ${event.blockedURI}`), true);"
    )
