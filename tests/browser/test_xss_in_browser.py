"""The attacks of `xss_vectors`, stored as articles and shown by a real browser: no script runs.

The page writes down every dialogue, error of a script, and what a reader's clicks and moves set off. A page of the
same attacks as they were sent shows that it would notice.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait
from tornado.ioloop import IOLoop

from plugins.testing import Client, expect
from tests.api.cms.content import ARTICLES, draft
from tests.api.cms.xss_vectors import HTML, MARKDOWN

pytestmark = pytest.mark.gen_test(timeout=60)
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # the attacks name addresses of the outside world: none is looked up
    "--host-resolver-rules=MAP * ~NOTFOUND",
)

WATCH = """
window.hits = [];
for (const name of ["alert", "confirm", "prompt", "print", "open"]) window[name] = what => { hits.push(name + " " + what); };
addEventListener("error", event => { if (event instanceof ErrorEvent) hits.push("error " + event.message); });
window.onunhandledrejection = event => { hits.push("rejection " + event.reason); };
"""
READ = """
const EVENTS = ["click", "mouseover", "mouseenter", "mousemove", "pointerover", "focus", "focusin", "toggle", "load",
                "error", "loadstart", "animationstart", "begin", "input", "submit", "keydown", "pageshow", "close"];
addEventListener("click", event => { if (/^(https?|mailto|tel|file):/.test(event.target.closest("a")?.protocol ?? "")) event.preventDefault(); });
addEventListener("load", () => {
  for (const element of document.querySelectorAll("article *")) {
    for (const name of EVENTS) element.dispatchEvent(new Event(name, {bubbles: true, cancelable: true}));
    if (element.click) element.click();
  }
  // a javascript: address and a failed picture run later than what leads to them
  setTimeout(() => { document.title = "read"; }, 300);
});
"""


class Browser:
    """Chromium without a network. Its methods block: they belong in a thread."""

    def __init__(self, folder: Path) -> None:
        options = ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for argument in (*QUIET, f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(argument)
        self._driver = Chrome(options=options, service=Service(DRIVER))
        self._folder = folder

    def hits(self, contents: Sequence[str], way: str) -> list[str]:
        """What ran when these texts were shown, `written` into the page or `set` as a front end does it."""
        page = self._folder / "page.html"
        page.write_text(_page(contents, way), encoding="utf-8", errors="surrogatepass")
        self._driver.get(page.as_uri())
        WebDriverWait(self._driver, 60).until(lambda driver: driver.title == "read")
        found: list[str] = self._driver.execute_script("return window.hits")
        return found

    def elements(self) -> int:
        """How many elements the articles on the page have."""
        return int(self._driver.execute_script("return document.querySelectorAll('article *').length"))

    def quit(self) -> None:
        """End the browser."""
        self._driver.quit()


def _page(contents: Sequence[str], way: str) -> str:
    if way == "written":
        body = "".join(f"<article>{content}</article>\n" for content in contents)
    else:
        texts = json.dumps(contents).replace("<", "\\u003c")
        body = f"""<script>for (const text of {texts}) {{
            const article = document.body.appendChild(document.createElement("article")); article.innerHTML = text;
        }}</script>"""
    return f"<!doctype html><meta charset=utf-8><script>{WATCH}{READ}</script><body>{body}"


@pytest.fixture(scope="module")
def browser(io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not CHROMIUM or not DRIVER:
        pytest.skip("chromium and chromedriver are not installed")
    folder = tmp_path_factory.mktemp("chromium")
    opened = io_loop.run_sync(lambda: asyncio.to_thread(Browser, folder))
    yield opened
    io_loop.run_sync(lambda: asyncio.to_thread(opened.quit))


@pytest.fixture(scope="module")
def stored_contents(io_loop: IOLoop, admin: Client) -> list[str]:
    """The HTML that the service returns for an article of each attack, as HTML and as Markdown."""

    few = asyncio.Semaphore(4)  # as many as one person may have cleaned at once

    async def stored(values: dict[str, Any]) -> str:
        async with few:
            article = await draft(admin, **values)
            link = expect(await admin.post(f"{ARTICLES}/{article['id']}/preview"))
            return str(expect(await admin.get(link["url"]))["content"])

    async def all_stored() -> list[str]:
        markdown = [{"format": "markdown", "source": attack} for attack in (*MARKDOWN, *HTML)]
        return list(await asyncio.gather(*map(stored, [*({"content": attack} for attack in HTML), *markdown])))

    found: list[str] = io_loop.run_sync(all_stored, timeout=60)
    return found


@pytest.mark.parametrize("way", ["written", "set"])
async def test_no_stored_attack_runs(way: str, browser: Browser, stored_contents: list[str]) -> None:
    assert len(stored_contents) == 2 * len(HTML) + len(MARKDOWN)
    assert await asyncio.to_thread(browser.hits, stored_contents, way) == []
    # make sure that the articles are on the page
    assert await asyncio.to_thread(browser.elements) > 200


@pytest.mark.parametrize("way", ["written", "set"])
async def test_the_page_notices_attacks_that_were_not_sanitised(way: str, browser: Browser) -> None:
    raw = (
        "<img src=x onerror=alert(1)>",
        "<a href='javascript:alert(2)'>X</a>",
        "<p onmouseover=alert(3)>x</p>",
        "<details open ontoggle=alert(4)>x</details>",
        "<form><button formaction='javascript:alert(5)'>X</button></form>",
        "<b onclick='undefined_name()'>x</b>",
    )
    found = set(await asyncio.to_thread(browser.hits, raw, way))
    assert found == {
        *(f"alert {n}" for n in range(1, 6)),
        "error Uncaught ReferenceError: undefined_name is not defined",
    }
