"""The console in a browser of its own, for tests that look at what people see."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait
from tornado.ioloop import IOLoop

from handlers.schema.messages import Language
from plugins.testing import PASSWORD
from scripts.console_renderer import fetch, home_of
from tests.browser.test_docs_page import CHROMIUM, DRIVER, QUIET

PATIENCE_SECONDS = 120
NOWHERE = "[ECharts] Can't get DOM width or height"
LOG_IN = """
const set = (name, value) => { document.querySelector(`dialog [name=${name}]`).value = value; };
set("username", arguments[0]);
set("password", arguments[1]);
document.querySelector("dialog form").requestSubmit();
"""


# counts the requests that the page waits for, and keeps those that were refused
WATCH = """
if (window.waiting !== undefined) return;
const plain = window.fetch;
Object.assign(window, { waiting: 0, refused: [], asked: 0 });
window.fetch = async (...given) => {
  window.waiting += 1;
  window.asked += 1;
  try {
    const reply = await plain(...given);
    if (reply.status >= 400) window.refused.push(`${reply.status} ${given[1]?.method ?? "GET"} ${given[0]}`);
    else if (given[1]?.method === "POST") reply.clone().json().then((body) => { window.made = body.data?.id; }, () => null);
    return reply;
  } finally { setTimeout(() => { window.waiting -= 1; }, 0); }
};
"""
AT_REST = "return window.waiting === 0 && document.querySelector('main [class$=-Page]') && !document.querySelector('main [class*=-Spinner]')"
QUIET_TIMES, MOST_TABS = 3, 300
CLICK = """
const parts = document.querySelectorAll("button, a, [role=tab]");
const found = [...parts].filter((one) => one.offsetParent && !one.disabled && one.textContent.trim() === arguments[0]);
found.at(-1)?.click();
return found.length > 0;
"""


ROBOT = Path(__file__).with_name("robot.js").read_text()


class Console:
    """The console, open in a browser of its own. Its methods block: they belong in a thread."""

    def __init__(self, url: str, profile: Path) -> None:
        options = ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for argument in (*QUIET, "--lang=en-GB", "--accept-lang=en-GB", f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = Chrome(options=options, service=Service(DRIVER))
        self.browser.set_script_timeout(PATIENCE_SECONDS)
        self.browser.get(f"{url}/console")

    def speak(self, language: Language) -> None:
        """Make the page anew in this language, for somebody who is not logged in yet."""
        self.browser.execute_script(
            "sessionStorage.clear(); localStorage.setItem('tradewind.language', arguments[0])", language
        )
        self.browser.get(self.browser.current_url.partition("#")[0])

    def watch(self) -> None:
        """From now on count the requests of the page."""
        self.browser.execute_script(WATCH)

    def rest(self) -> None:
        """Wait until the page is drawn, and has waited for nothing a few times in a row."""
        quiet = 0

        def at_rest() -> bool:
            nonlocal quiet
            quiet = quiet + 1 if self.browser.execute_script(AT_REST) else 0
            return quiet >= QUIET_TIMES

        self.until(at_rest)

    def robot(self, step: str, **given: Any) -> None:
        """Do one step of a person's work at the page, by `robot.js`; AssertionError says what does not work."""
        fault = self.browser.execute_async_script(ROBOT, step, given)
        assert fault == "", fault

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition` holds; AssertionError says what the page shows where it never does."""
        try:
            WebDriverWait(self.browser, PATIENCE_SECONDS, poll_frequency=0.1).until(lambda _: condition())
        except TimeoutException as error:
            shown = self.browser.find_element(By.TAG_NAME, "body").text
            raise AssertionError(f"{self.browser.current_url} shows: {shown[:1000]}") from error

    def count(self, selector: str) -> int:
        """How many elements there are."""
        return len(self.browser.find_elements(By.CSS_SELECTOR, selector))

    def log_in(self, username: str, first: str = "main .dashboard canvas", password: str = PASSWORD) -> None:
        """Log in by the dialogue, and wait for the first page: charts that it leaves behind would be drawn nowhere."""
        self.until(lambda: self.count("dialog form"))
        self.browser.execute_script(LOG_IN, username, password)
        self.until(lambda: self.count(first))

    def open(self, address: str, *selectors: str) -> str:
        """Go to a page, and wait for these parts of it; returns its text."""
        self.browser.execute_script("location.hash = arguments[0]", address)
        for selector in selectors:
            self.until(lambda selector=selector: self.count(selector))
        return self.browser.find_element(By.TAG_NAME, "main").text

    def press(self, selector: str) -> None:
        """Click the first of these elements, once there is one."""
        self.until(lambda: self.count(selector))
        self.browser.execute_script("document.querySelector(arguments[0]).click()", selector)

    def click(self, text: str) -> None:
        """Click the button, link or tab that is on top and says this, once there is one."""
        self.until(lambda: self.browser.execute_script(CLICK, text))

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
        self.until(lambda: self.count("dialog form"))
        self.keys(username, Keys.TAB, PASSWORD, Keys.ENTER)
        self.until(lambda: self.count("main .drawn"))

    def click_until(self, canvas: WebElement, condition: Callable[[], object]) -> None:
        """Click on the middle of a chart, which may still be moving, until `condition` holds."""

        def clicked() -> object:
            ActionChains(self.browser).click(canvas).perform()
            return condition()

        self.until(clicked)

    def create(self, name: str) -> None:
        """Make a record of the list that is shown, which has nothing but a name, and wait until it is in the list."""
        self.press("main button.antd-Button--primary")
        self.until(lambda: self.count(".antd-Drawer input[name=name]"))
        self.browser.find_element(By.CSS_SELECTOR, ".antd-Drawer input[name=name]").send_keys(name)
        self.press(".antd-Drawer .antd-Button--primary")
        self.until(lambda: name in self.browser.find_element(By.TAG_NAME, "main").text)

    def edit(self, **values: str) -> None:
        """Open the form of the record that is shown, and replace these texts once it has been read."""
        self.until(lambda: self.count("main .antd-Flex button"))
        self.press("main .antd-Flex button")
        for name, value in values.items():
            self.until(lambda name=name: self.count(f".antd-Drawer input[name={name}][value]:not([value=''])"))
            field = self.browser.find_element(By.CSS_SELECTOR, f".antd-Drawer input[name={name}]")
            field.send_keys(Keys.CONTROL, "a")
            field.send_keys(value)

    def complaints(self) -> list[str]:
        """What the browser has complained of since this was asked last, but for charts of a page that was left."""
        said = (entry["message"] for entry in self.browser.get_log("browser") if entry["level"] != "INFO")
        return [message for message in said if NOWHERE not in message]

    def draw_all(self, parts: str, drawn: str) -> None:
        """Bring each part into view, as the renderer draws what is seen, and wait until it is drawn."""
        for part in self.browser.find_elements(By.CSS_SELECTOR, parts):
            self.browser.execute_script("arguments[0].scrollIntoView()", part)
            self.until(lambda part=part: part.find_elements(By.CSS_SELECTOR, drawn))


@contextmanager
def opened(io_loop: IOLoop, url: str, profile: Path) -> Iterator[Console]:
    """The console of a server. The test is skipped where there is no browser."""
    # a browser is no package of Python's: `scripts/test` cannot bring it
    if not CHROMIUM or not DRIVER:
        pytest.skip("chromium and chromedriver are not installed")
    fetch(home_of(sys.executable))
    console = io_loop.run_sync(lambda: asyncio.to_thread(Console, url, profile))
    try:
        yield console
    finally:
        io_loop.run_sync(lambda: asyncio.to_thread(console.browser.quit))


async def do(work: Callable[..., Any], *given: Any) -> Any:
    """Let the browser do something, while the server serves it."""
    return await asyncio.to_thread(work, *given)
