"""The console in a real browser: log in, open a list, a record and the dashboards; nothing hostile runs."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from tornado.ioloop import IOLoop

from plugins.runtime import Running
from plugins.testing import PASSWORD, Client, expect, unique
from scripts.console_renderer import fetch, home_of
from tests.test_docs_page import CHROMIUM, DRIVER, QUIET

pytestmark = pytest.mark.gen_test(timeout=60)
PATIENCE_SECONDS = 30
HOSTILE = "<img src=x onerror=document.title='run'>${1+1}<%= 1 %>"
LOG_IN = """
const set = (name, value) => { document.querySelector(`dialog [name=${name}]`).value = value; };
set("username", arguments[0]);
set("password", arguments[1]);
document.querySelector("dialog form").requestSubmit();
"""


class Console:
    """The console, open in a browser of its own. Its methods block: they belong in a thread."""

    def __init__(self, url: str, profile: Path) -> None:
        options = ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for argument in (*QUIET, "--lang=en-GB", "--accept-lang=en-GB", f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = Chrome(options=options, service=Service(DRIVER))
        self.browser.get(f"{url}/console")

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition` holds."""
        WebDriverWait(self.browser, PATIENCE_SECONDS, poll_frequency=0.1).until(lambda _: condition())

    def count(self, selector: str) -> int:
        """How many elements there are."""
        return len(self.browser.find_elements(By.CSS_SELECTOR, selector))

    def log_in(self, username: str) -> None:
        """Log in by the dialogue, and wait for the first page: charts that it leaves behind would be drawn nowhere."""
        self.until(lambda: self.count("dialog form"))
        self.browser.execute_script(LOG_IN, username, PASSWORD)
        self.until(lambda: self.count("main .dashboard canvas"))

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
        """What the browser has complained of since this was asked last."""
        return [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] != "INFO"]

    def draw_all(self, parts: str, drawn: str) -> None:
        """Bring each part into view, as the renderer draws what is seen, and wait until it is drawn."""
        for part in self.browser.find_elements(By.CSS_SELECTOR, parts):
            self.browser.execute_script("arguments[0].scrollIntoView()", part)
            self.until(lambda part=part: part.find_elements(By.CSS_SELECTOR, drawn))


@pytest.fixture(scope="module")
def console(io_loop: IOLoop, tradewind: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    # a browser is no package of Python's: `scripts/test` cannot bring it
    if not CHROMIUM or not DRIVER:
        pytest.skip("chromium and chromedriver are not installed")
    fetch(home_of(sys.executable))
    opened = io_loop.run_sync(lambda: asyncio.to_thread(Console, tradewind.url, tmp_path_factory.mktemp("chromium")))
    yield opened
    io_loop.run_sync(lambda: asyncio.to_thread(opened.browser.quit))


async def shot(console: Console, name: str) -> None:
    """Keep a picture for whoever asks for it."""
    folder = os.environ.get("CONSOLE_SHOTS")
    if folder:
        await asyncio.to_thread(console.browser.save_screenshot, f"{folder}/{name}.png")


async def test_a_person_logs_in_and_sees_hostile_names_as_text(console: Console, admin: Client) -> None:
    company = unique("company") + HOSTILE
    lead = expect(await admin.post("/api/v1/crm/leads", {"name": HOSTILE, "company": company}))
    await asyncio.to_thread(console.log_in, "admin")
    listed = await asyncio.to_thread(console.open, "#/crm.lead", "main table tbody tr td")
    await shot(console, "list")
    assert HOSTILE in listed
    shown = await asyncio.to_thread(
        console.open, f"#/records/crm.leads/{lead['id']}", "main [role=tab], main .antd-Tabs"
    )
    await asyncio.to_thread(console.until, lambda: company in console.browser.find_element(By.TAG_NAME, "main").text)
    await shot(console, "record")
    assert shown
    assert console.browser.title == "Tradewind"


async def test_what_two_people_changed_is_shown_and_nothing_typed_is_lost(console: Console, admin: Client) -> None:
    lead = expect(await admin.post("/api/v1/crm/leads", {"name": "first", "company": unique("company"), "phone": "1"}))
    at = f"/api/v1/crm/leads/{lead['id']}"
    await asyncio.to_thread(console.open, f"#/records/crm.leads/{lead['id']}", "main .antd-Tabs")
    await asyncio.to_thread(console.edit, company="mine", phone="2")
    expect(await admin.patch(at, {"company": HOSTILE, "name": "second", "version": lead["version"]}))
    await asyncio.to_thread(console.press, ".antd-Drawer .antd-Button--primary")
    await asyncio.to_thread(console.until, lambda: console.count("dialog.conflict"))
    shown = console.browser.find_element(By.CSS_SELECTOR, "dialog.conflict").text
    await shot(console, "conflict")
    assert all(text in shown for text in (lead["company"], HOSTILE, "mine", "first", "second"))
    await asyncio.to_thread(console.press, "dialog.conflict [name=company][value=theirs]")
    await asyncio.to_thread(console.press, "dialog.conflict [type=submit]")
    await asyncio.to_thread(console.until, lambda: not console.count(".antd-Drawer"))
    saved = expect(await admin.get(at))
    assert (saved["company"], saved["name"], saved["phone"]) == (HOSTILE, "second", "2")
    # the browser says of every refusal that it was one
    assert ["409 (Conflict)" in message for message in await asyncio.to_thread(console.complaints)] == [True]


async def test_every_dashboard_is_drawn(console: Console) -> None:
    await asyncio.to_thread(console.open, "#/dashboard", "main .dashboard")
    await asyncio.to_thread(console.until, lambda: console.count("main .dashboard") == 13)
    await asyncio.to_thread(console.draw_all, "main .dashboard", "canvas, .figure")
    await shot(console, "dashboards")


async def test_the_browser_has_nothing_to_complain_of(console: Console) -> None:
    assert await asyncio.to_thread(console.complaints) == []
