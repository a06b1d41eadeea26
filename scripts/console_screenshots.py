"""Takes pictures of the console in a headless browser that logs in to a demo server."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

from PIL import Image
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parent.parent
_PATIENCE_SECONDS = 120
_ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1400,900", "--lang=en-GB")
_LOG_IN = """
const set = (name, value) => { document.querySelector(`dialog [name=${name}]`).value = value; };
set("username", arguments[0]);
set("password", arguments[1]);
document.querySelector("dialog form").requestSubmit();
"""
_IS_DRAWN = "return document.querySelector('main .antd-Page') && !document.querySelector('main .antd-Spinner--overlay')"


# clicks the last visible element that matches, and that has just this text if one is given
_CLICK = """
const found = [...document.querySelectorAll(arguments[0])].filter((one) => one.offsetParent !== null);
const named = found.filter((one) => !arguments[1] || one.textContent.trim() === arguments[1]);
named[0]?.click();
return named.length > 0;
"""
_COLOURS = 128


@dataclass(frozen=True)
class Picture:
    """A picture of a page: its address after the `#`, and what to wait for and to click before it is taken.

    `shows` and `then_shows` are CSS selectors of what must be there before and after the clicks; `clicks` are selectors
    and texts of the elements to click; `person` is the user who is logged in.
    """

    name: str
    address: str
    shows: str
    clicks: tuple[tuple[str, str], ...] = ()
    then_shows: str = ""
    person: str = "admin"


_ROWS = "main .antd-Table-table tbody tr td"
_BUTTON = "main button, main a"
PICTURES = (
    Picture("console-dashboards", "#/dashboard", "main .dashboard canvas"),
    Picture(
        "console-records-behind",
        "#/dashboard",
        "main .dashboard-finance-summary .figure button",
        (("main .dashboard-finance-summary .figure button", ""),),
        ".antd-Drawer .behind tbody tr td",
    ),
    Picture("console-list", "#/crm.customer", _ROWS),
    Picture("console-record", "#/inventory.sales-order", _ROWS, ((_BUTTON, "Open"),), "main .antd-Property"),
    Picture(
        "console-form",
        "#/crm.lead",
        _ROWS,
        (("main button.antd-Button--primary", ""),),
        ".antd-Drawer input[name=name]",
    ),
    Picture("console-desk", "#/approval.task", _ROWS, ((_BUTTON, "Open"),), ".antd-Drawer .antd-Property", "manager"),
)


def main(arguments: Sequence[str], program: str) -> int:
    """Take all pictures, and return the exit code."""
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="of a running scripts/server")
    parser.add_argument("--accounts", type=Path, default=ROOT / ".data" / "demo-accounts.json", help="its log-ins")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "images", help="the folder of the pictures")
    given = parser.parse_args(arguments)
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        print("chromium and chromedriver are missing: apt-get install chromium chromium-driver", file=sys.stderr)
        return 1
    passwords = json.loads(given.accounts.read_text())
    with tempfile.TemporaryDirectory() as profile:
        options = ChromeOptions()
        options.binary_location = browser
        for argument in (*_ARGUMENTS, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        chrome = Chrome(options=options, service=Service(driver))
        try:
            _take(chrome, given.url, passwords, given.to)
        finally:
            chrome.quit()
    return 0


def _take(chrome: Chrome, url: str, passwords: Mapping[str, str], folder: Path) -> None:
    person = ""
    for picture in PICTURES:
        if picture.person != person:
            person = picture.person
            _log_in(chrome, url, person, passwords[person])
        chrome.execute_script("location.hash = arguments[0]", picture.address)
        _wait_for(chrome, picture.shows)
        for selector, text in picture.clicks:
            _until(chrome, partial(chrome.execute_script, _CLICK, selector, text))
        if picture.then_shows:
            _wait_for(chrome, picture.then_shows)
        _until(chrome, lambda: chrome.execute_script(_IS_DRAWN))
        time.sleep(2)  # charts and drawers are animated for a moment
        path = folder / f"{picture.name}.png"
        with Image.open(BytesIO(chrome.get_screenshot_as_png())) as taken:
            taken.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
        print(path, flush=True)


def _log_in(chrome: Chrome, url: str, person: str, password: str) -> None:
    chrome.get(f"{url}/console")
    chrome.execute_script("sessionStorage.clear(); localStorage.setItem('tradewind.language', 'en'); location.reload()")
    _wait_for(chrome, "dialog form")
    chrome.execute_script(_LOG_IN, person, password)
    _wait_for(chrome, "main .drawn")


def _wait_for(chrome: Chrome, selector: str) -> None:
    _until(chrome, lambda: chrome.find_elements(By.CSS_SELECTOR, selector))


def _until(chrome: Chrome, condition: Callable[[], object]) -> None:
    WebDriverWait(chrome, _PATIENCE_SECONDS, poll_frequency=0.1).until(lambda _: condition())
