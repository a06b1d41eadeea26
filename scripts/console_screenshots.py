"""Pictures of the console, made in a browser of its own that logs in to a demo server."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parent.parent
_PATIENCE_SECONDS = 120
_ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1400,900", "--lang=en-GB")
_LOG_IN = """
const set = (name, value) => { document.querySelector(`dialog [name=${name}]`).value = value; };
set("username", "admin");
set("password", arguments[0]);
document.querySelector("dialog form").requestSubmit();
"""
_IS_DRAWN = "return document.querySelector('main .antd-Page') && !document.querySelector('main .antd-Spinner--overlay')"


@dataclass(frozen=True)
class Picture:
    """A page: its address behind the `#`, what must be there, and what is clicked then, by CSS selectors."""

    name: str
    address: str
    shows: str
    clicks: str = ""
    then_shows: str = ""


_ROWS = "main .antd-Table-table tbody tr td"
PICTURES = (
    Picture("console-dashboards", "#/dashboard", "main .dashboard canvas"),
    Picture(
        "console-records-behind",
        "#/dashboard",
        "main .dashboard-overview .figure button",
        "main .dashboard-overview .figure button",
        ".antd-Drawer .behind tbody tr td",
    ),
    Picture("console-list", "#/crm.customer", _ROWS),
    Picture("console-record", "#/crm.customer", _ROWS, "main .antd-Table-table tbody a", "main .antd-Tabs"),
    Picture("console-form", "#/crm.lead", _ROWS, "main button.antd-Button--primary", ".antd-Drawer input[name=name]"),
)


def main(arguments: Sequence[str]) -> int:
    """Make all pictures; the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/screenshots", description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="of a running scripts/server")
    parser.add_argument("--accounts", type=Path, default=ROOT / ".data" / "demo-accounts.json", help="its log-ins")
    parser.add_argument("--to", type=Path, default=ROOT / "docs", help="the folder of the pictures")
    given = parser.parse_args(arguments)
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        print("chromium and chromedriver are missing: apt-get install chromium chromium-driver", file=sys.stderr)
        return 1
    password = json.loads(given.accounts.read_text())["admin"]
    with tempfile.TemporaryDirectory() as profile:
        options = ChromeOptions()
        options.binary_location = browser
        for argument in (*_ARGUMENTS, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        chrome = Chrome(options=options, service=Service(driver))
        try:
            _take(chrome, given.url, password, given.to)
        finally:
            chrome.quit()
    return 0


def _take(chrome: Chrome, url: str, password: str, folder: Path) -> None:
    chrome.get(f"{url}/console")
    chrome.execute_script("localStorage.setItem('tradewind.language', 'en'); location.reload()")
    _wait_for(chrome, "dialog form")
    chrome.execute_script(_LOG_IN, password)
    _wait_for(chrome, PICTURES[0].shows)
    for picture in PICTURES:
        if picture.address:
            chrome.execute_script("location.hash = arguments[0]", picture.address)
        _wait_for(chrome, picture.shows)
        if picture.clicks:
            chrome.execute_script("document.querySelector(arguments[0]).click()", picture.clicks)
            _wait_for(chrome, picture.then_shows)
        _until(chrome, lambda: chrome.execute_script(_IS_DRAWN))
        time.sleep(2)  # charts and drawers move for a moment
        chrome.save_screenshot(str(folder / f"{picture.name}.png"))
        print(folder / f"{picture.name}.png", flush=True)


def _wait_for(chrome: Chrome, selector: str) -> None:
    _until(chrome, lambda: chrome.find_elements(By.CSS_SELECTOR, selector))


def _until(chrome: Chrome, condition: Callable[[], object]) -> None:
    WebDriverWait(chrome, _PATIENCE_SECONDS, poll_frequency=0.1).until(lambda _: condition())
