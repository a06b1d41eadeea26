"""The docs page in a real browser: it renders, stays at home, logs in, and then signs what it sends."""

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait
from tornado.ioloop import IOLoop

from plugins.runtime import Running
from plugins.testing import PASSWORD, Client

pytestmark = pytest.mark.gen_test(timeout=120)
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
QUIET = (
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
)
PATIENCE_SECONDS = 120
# as pasted: the page draws itself anew for every single key
PASTE = """
const paste = (field, text) => {
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value").set.call(field, text);
  field.dispatchEvent(new Event("input", {bubbles: true}));
};
"""
TAGS = "return [...document.querySelectorAll('.opblock-tag')].map((found) => found.dataset.tag);"
# one heading after the other, by the page's filter: it renders all that it shows whenever anything changes
COUNT = f"""
{PASTE}
const done = arguments[arguments.length - 1];
const until = async (condition) => {{ while (!condition()) await new Promise((resolve) => setTimeout(resolve)); }};
const headings = () => [...document.querySelectorAll(".opblock-tag")];
const heading = (tag) => headings().find((found) => found.dataset.tag === tag);
const operations = (tag) => heading(tag).closest(".opblock-tag-section").querySelectorAll(".opblock").length;
const filter = (text) => paste(document.querySelector(".operation-filter-input"), text);
(async () => {{
  const counts = {{}};
  const tags = headings().map((found) => found.dataset.tag);
  for (const tag of tags) {{
    filter(tag);
    await until(() => heading(tag) && headings().every((found) => found.dataset.tag.includes(tag)));
    heading(tag).click();
    await until(() => operations(tag));
    counts[tag] = operations(tag);
    heading(tag).click();
    await until(() => !operations(tag));
  }}
  filter("");
  await until(() => headings().length === tags.length);
  done(counts);
}})();
"""


class Page:
    """The docs page, open in a browser of its own. Its methods block: they belong in a thread."""

    def __init__(self, url: str, profile: Path) -> None:
        options = ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for argument in (*QUIET, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.url = f"{url}/api/docs"
        self.browser = Chrome(options=options, service=Service(DRIVER))
        # a script waits while the page draws hundreds of operations, and one of ours goes through all headings
        self.browser.set_script_timeout(2 * PATIENCE_SECONDS)
        self.browser.get(self.url)
        self.until(lambda: self.tags())
        self.folded = not self.operations()
        self.counts: dict[str, int] = self.browser.execute_async_script(COUNT)
        self.events: list[dict[str, Any]] = []

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition` holds."""
        WebDriverWait(self.browser, PATIENCE_SECONDS, poll_frequency=0.1).until(lambda _: condition())

    def tags(self) -> list[str]:
        """The headings that operations are folded under."""
        tags: list[str] = self.browser.execute_script(TAGS)
        return tags

    def operations(self) -> list[WebElement]:
        """The operations that the page shows."""
        return self.browser.find_elements(By.CSS_SELECTOR, ".opblock")

    def toggle(self, tag: str | None) -> None:
        """Fold or unfold the operations under a heading."""
        self.browser.find_element(By.CSS_SELECTOR, f'.opblock-tag[data-tag="{tag}"]').click()

    def paste(self, field: WebElement, text: str) -> None:
        """Replace what a field holds."""
        self.browser.execute_script(f"{PASTE} paste(arguments[0], arguments[1]);", field, text)

    def show(self, tag: str) -> None:
        """Show the operations of few tags, this one among them, by the page's filter."""
        self.paste(self.browser.find_element(By.CSS_SELECTOR, ".operation-filter-input"), tag)
        self.until(lambda: tag in (shown := self.tags()) and all(tag in one for one in shown))

    def execute(self, tag: str, operation: str, **body: str) -> str:
        """Unfold `tag` and send `operation` with the page's own buttons; returns what the page shows as the response."""
        self.show(tag)
        self.toggle(tag)
        try:
            return self._execute(operation, **body)
        finally:
            self.toggle(tag)

    def _execute(self, operation: str, **body: str) -> str:
        selector = f"[id$='-{operation}']"
        self.until(lambda: self.browser.find_elements(By.CSS_SELECTOR, selector))
        self.browser.find_element(By.CSS_SELECTOR, f"{selector} .opblock-summary-control").click()
        self.until(lambda: self.browser.find_elements(By.CSS_SELECTOR, f"{selector} .try-out__btn"))
        block = self.browser.find_element(By.CSS_SELECTOR, selector)
        block.find_element(By.CSS_SELECTOR, ".try-out__btn").click()
        if body:
            field = block.find_element(By.CSS_SELECTOR, "textarea.body-param__text")
            self.paste(field, json.dumps(body))
        block.find_element(By.CSS_SELECTOR, ".execute").click()
        self.until(lambda: block.find_elements(By.CSS_SELECTOR, ".live-responses-table .response-col_status"))
        return block.find_element(By.CSS_SELECTOR, ".live-responses-table tbody").text

    def requested_hosts(self) -> set[str]:
        """Where requests have gone since the browser was started; `chrome:` and `data:` are no addresses."""
        self.events += [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        addresses = [urlsplit(request["request"]["url"]) for request in sent]
        return {address.netloc for address in addresses if address.scheme in ("http", "https", "ws", "wss")}


@pytest.fixture(scope="module")
def page(io_loop: IOLoop, tradewind: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if not CHROMIUM or not DRIVER:
        pytest.skip("chromium and chromedriver are not installed")
    profile = tmp_path_factory.mktemp("chromium")
    opened = io_loop.run_sync(lambda: asyncio.to_thread(Page, tradewind.url, profile))
    yield opened
    io_loop.run_sync(lambda: asyncio.to_thread(opened.browser.quit))


async def test_every_operation_is_on_the_page(page: Page, anonymous: Client) -> None:
    paths = (await anonymous.get("/api/openapi.json")).json["paths"]
    described = sum(len(operations) for operations in paths.values())
    assert sum(page.counts.values()) == described


async def test_operations_are_folded_under_the_resource_that_they_are_about(page: Page) -> None:
    assert page.folded
    assert {"crm: customers", "system: users", "auth", "dashboard"} <= page.counts.keys()


async def test_a_login_through_the_page_signs_the_next_request(page: Page, tmp_path: Path) -> None:
    refused = await asyncio.to_thread(page.execute, "auth", "get_auth_profile")
    assert refused.startswith("401")
    login = await asyncio.to_thread(page.execute, "auth", "post_auth_login", username="admin", password=PASSWORD)
    assert login.startswith("200")
    customers = await asyncio.to_thread(page.execute, "crm: customers", "get_crm_customers")
    assert customers.startswith("200")
    assert '"total"' in customers
    await asyncio.to_thread(page.browser.save_screenshot, str(tmp_path / "docs.png"))


async def test_the_page_asks_no_outside_address(page: Page, tradewind: Running) -> None:
    assert await asyncio.to_thread(page.requested_hosts) == {urlsplit(tradewind.url).netloc}


async def test_the_browser_has_nothing_to_complain_of(page: Page) -> None:
    # a response of 401 is noted under "network"; a breach of the content policy is under "security"
    log = await asyncio.to_thread(page.browser.get_log, "browser")
    assert [entry["message"] for entry in log if entry["source"] != "network"] == []
