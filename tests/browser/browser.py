"""The one browser of these tests, and the console in it, for tests that look at what people see."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from selenium.common.exceptions import TimeoutException
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from handlers.schema.messages import Language
from plugins.testing import PASSWORD, Client

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--window-size=1400,2200",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--lang=en-GB",
    "--accept-lang=en-GB",
    # no page may need the outside world, and attacks name addresses of it: none is looked up
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
HERE = {"latitude": 31.23, "longitude": 121.47, "accuracy": 20}
PATIENCE_SECONDS, POLL_SECONDS = 120, 0.02
NOWHERE = "[ECharts] Can't get DOM width or height"
PAGE = Path(__file__).with_name("page.js").read_text()
# what the console keeps in the tab and in the browser
STORE = """
sessionStorage.clear();
const {{ tokens, ...choices }} = {};
if (tokens) sessionStorage.setItem("tradewind.session", JSON.stringify(tokens));
for (const [name, value] of Object.entries(choices)) localStorage.setItem(`tradewind.${{name}}`, value);
"""
LOG_IN = """
const set = (name, value) => { document.querySelector(`dialog [name=${name}]`).value = value; };
set("username", arguments[0]);
set("password", arguments[1]);
document.querySelector("dialog form").requestSubmit();
"""
CLICK = """
const parts = document.querySelectorAll("button, a, [role=tab]");
const found = [...parts].filter((one) => one.offsetParent && !one.disabled && one.textContent.trim() === arguments[0]);
found.at(-1)?.click();
return found.length > 0;
"""
MOST_TABS = 300


class Console:
    """A browser that shows the console of one server or another. Its methods block: they belong in a thread."""

    def __init__(self, profile: Path) -> None:
        options = ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"profile.default_content_setting_values.geolocation": 1})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = Chrome(options=options, service=Service(DRIVER))
        self.browser.execute_cdp_cmd("Emulation.setGeolocationOverride", HERE)
        self.browser.set_script_timeout(2 * PATIENCE_SECONDS)
        self.browser.command_executor.client_config.timeout = 3 * PATIENCE_SECONDS  # a walk is one long script
        self._begin_pages_with(PAGE)

    def visit(
        self,
        url: str,
        person: Client | None = None,
        at: str = "",
        language: Language = "en",
        theme: str = "light",
    ) -> None:
        """Open the console of a server at this address, for a person who has logged in or for nobody."""
        names = ("accessToken", "refreshToken")
        tokens = {name: person.session[name] for name in names} if person is not None else None
        script = STORE.format(json.dumps({"tokens": tokens, "language": language, "theme": theme}))
        once = self._begin_pages_with(f"{{{script}}}")
        self.browser.get(f"{url}/console{at}")
        self.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", once)
        self.until(lambda: self.count("dialog form" if person is None else "main .drawn"))

    def _begin_pages_with(self, script: str) -> dict[str, str]:
        """Run a script in every further page before its own; returns the name of that."""
        named: dict[str, str] = self.browser.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": script}
        )
        return named

    def leave(self) -> None:
        """Show nothing, so that the next test finds a browser that waits for nothing and has nothing to complain of."""
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.browser.get("about:blank")
        self.browser.get_log("browser")

    def resize(self, width: int, height: int) -> None:
        """Show pages as on a screen of this size, until this page is left."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def robot(self, step: str, **given: Any) -> Any:
        """Do one step of a person's work, by `page.js`, and return what it finds; AssertionError says what fails."""
        done = self.browser.execute_script("return robot(arguments[0], arguments[1])", step, given)
        assert done["fault"] == "", done["fault"]
        return done.get("found")

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition` holds; AssertionError says what the page shows where it never does."""
        try:
            WebDriverWait(self.browser, PATIENCE_SECONDS, POLL_SECONDS).until(lambda _: condition())
        except TimeoutException as error:
            raise AssertionError(f"{self.browser.current_url} shows: {self.shown()[:1000]}") from error

    def shown(self, selector: str = "body") -> str:
        """The text of the first of these elements as it is shown; empty if there is none."""
        text = "return document.querySelector(arguments[0])?.innerText ?? ''"
        return str(self.browser.execute_script(text, selector))

    def value(self, selector: str) -> str:
        """What the first of these fields holds; empty if there is none."""
        return str(self.browser.execute_script("return document.querySelector(arguments[0])?.value ?? ''", selector))

    def count(self, selector: str) -> int:
        """How many elements there are."""
        return int(self.browser.execute_script("return document.querySelectorAll(arguments[0]).length", selector))

    def log_in(self, username: str, password: str = PASSWORD, shows: str = "main .drawn") -> None:
        """Log in by the dialogue, and wait for the first page, or for what is shown instead."""
        self.browser.execute_script(LOG_IN, username, password)
        self.until(lambda: self.count(shows))

    def open(self, address: str, *selectors: str) -> str:
        """Go to a page, and wait for these parts of it; returns its text."""
        self.browser.execute_script("location.hash = arguments[0]", address)
        for selector in selectors:
            self.until(lambda selector=selector: self.count(selector))
        return self.shown("main")

    def press(self, selector: str) -> None:
        """Click the first of these elements, once there is one."""
        click = "const one = document.querySelector(arguments[0]); one?.click(); return one !== null"
        self.until(lambda: self.browser.execute_script(click, selector))

    def click(self, text: str) -> None:
        """Click the button, link or tab that is on top and says this, once there is one."""
        self.until(lambda: self.browser.execute_script(CLICK, text))

    def type(self, selector: str, *keys: str) -> None:
        """Type into the first of these fields."""
        self.browser.find_element(By.CSS_SELECTOR, selector).send_keys(*keys)

    def keys(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        ActionChains(self.browser).send_keys(*keys).perform()

    def reach(self, condition: str) -> None:
        """Press the tabulator until the focus is on an element of which this holds, `one` in JavaScript."""
        asked = f"const one = document.activeElement; return one && one !== document.body && ({condition})"
        for _ in range(MOST_TABS):
            self.keys(Keys.TAB)
            if self.browser.execute_script(asked):
                return
        raise AssertionError(f"the keyboard does not reach {condition}")

    def enter(self, condition: str) -> None:
        """Go to the element with the tabulator, and press Enter."""
        self.reach(condition)
        self.keys(Keys.ENTER)

    def log_in_with_keys(self, username: str) -> None:
        """Log in without a mouse."""
        self.keys(username, Keys.TAB, PASSWORD, Keys.ENTER)
        self.until(lambda: self.count("main .drawn"))

    def click_until(self, canvas: WebElement, condition: Callable[[], object]) -> None:
        """Click on the middle of a chart, which may still be moving, until `condition` holds."""

        def clicked() -> object:
            ActionChains(self.browser).click(canvas).perform()
            return condition()

        self.until(clicked)

    def edit(self, values: Mapping[str, str]) -> None:
        """Open the form of the record that is shown, and replace these texts once it has been read."""
        self.press("main .antd-Flex button")
        for name, value in values.items():
            field = f".antd-Drawer input[name={name}]"
            self.until(lambda field=field: self.value(field))
            self.type(field, Keys.CONTROL, "a")
            self.type(field, value)

    def check(self, where: str) -> None:
        """Raise AssertionError if a request was refused, or the browser complained, since this was called last."""
        refused: list[str] = self.browser.execute_script("return window.refused.splice(0)")
        faults = [*refused, *self.complaints()]
        assert faults == [], f"{where}: " + "\n".join(faults)

    def complaints(self) -> list[str]:
        """What the browser has complained of since this was asked last, but for charts of a page that was left."""
        said = (entry["message"] for entry in self.browser.get_log("browser") if entry["level"] != "INFO")
        return [message for message in said if NOWHERE not in message]


async def do(work: Callable[..., Any], *given: Any) -> Any:
    """Let the browser do something, while the server serves it."""
    return await asyncio.to_thread(work, *given)
