"""The docs page in a real browser: it renders, stays at home, logs in, and then signs what it sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import PASSWORD, Client
from tests.browser.browser import Console, do

pytestmark = pytest.mark.gen_test(timeout=120)
# as pasted: the page draws itself anew for every single key
PASTE = """
const [field, text] = arguments;
Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value").set.call(field, text);
field.dispatchEvent(new Event("input", {bubbles: true}));
"""
TAGS = "return [...document.querySelectorAll('.opblock-tag')].map((found) => found.dataset.tag)"
# unfolds all headings while none is shown: the page draws all that it shows whenever anything changes
COUNT = """
const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
const operations = (heading) => heading.closest(".opblock-tag-section").querySelectorAll(".opblock").length;
const headings = () => [...document.querySelectorAll(".opblock-tag")];
const until = async (condition) => { while (!condition()) await drawn(); };
const { show, updateFilter } = window.ui.layoutActions;
const tags = headings().map((found) => found.dataset.tag);
const unfold = async (isShown) => {
  updateFilter("no such heading");
  await until(() => !headings().length);
  for (const tag of tags) show(["operations-tag", tag], isShown);
  updateFilter("");
  await until(() => headings().length === tags.length);
};
return unfold(true).then(async () => {
  const counts = Object.fromEntries(headings().map((heading) => [heading.dataset.tag, operations(heading)]));
  await unfold(false);
  return counts;
});
"""
ADDRESSES = "return performance.getEntriesByType('resource').map((one) => one.name)"


class Page:
    """The docs page. Its methods block: they belong in a thread."""

    def __init__(self, console: Console, url: str) -> None:
        self.browser: Chrome = console.browser
        self.until = console.until
        self.browser.get(f"{url}/api/docs")
        self.until(self.tags)
        self.folded = not self.operations()
        self.counts: dict[str, int] = self.browser.execute_script(COUNT)

    def tags(self) -> list[str]:
        """The headings that operations are folded under."""
        tags: list[str] = self.browser.execute_script(TAGS)
        return tags

    def operations(self) -> list[WebElement]:
        """The operations that the page shows; what webhooks send stands below them."""
        return self.browser.find_elements(By.CSS_SELECTOR, ".opblock-tag-section .opblock")

    def toggle(self, tag: str) -> None:
        """Fold or unfold the operations under a heading."""
        self.browser.find_element(By.CSS_SELECTOR, f'.opblock-tag[data-tag="{tag}"]').click()

    def paste(self, field: WebElement, text: str) -> None:
        """Replace what a field holds."""
        self.browser.execute_script(PASTE, field, text)

    def show(self, tag: str) -> None:
        """Show the operations of few tags, this one among them, by the page's filter."""
        self.paste(self.browser.find_element(By.CSS_SELECTOR, ".operation-filter-input"), tag)
        self.until(lambda: tag in (shown := self.tags()) and all(tag in one for one in shown))

    def unfold(self, operation: str) -> WebElement:
        """Unfold an operation that is shown, and let it be tried out."""
        selector = f"[id$='-{operation}']"
        self.until(lambda: self.browser.find_elements(By.CSS_SELECTOR, selector))
        self.browser.find_element(By.CSS_SELECTOR, f"{selector} .opblock-summary-control").click()
        self.until(lambda: self.browser.find_elements(By.CSS_SELECTOR, f"{selector} .try-out__btn"))
        block = self.browser.find_element(By.CSS_SELECTOR, selector)
        block.find_element(By.CSS_SELECTOR, ".try-out__btn").click()
        return block

    def execute(self, block: WebElement, status: int, **body: str) -> str:
        """Send an operation with the page's own buttons; returns what the page shows once a response has this status."""
        if body:
            self.paste(block.find_element(By.CSS_SELECTOR, "textarea.body-param__text"), json.dumps(body))
        block.find_element(By.CSS_SELECTOR, ".execute").click()
        shown = ".live-responses-table .response-col_status"
        self.until(lambda: [one for one in block.find_elements(By.CSS_SELECTOR, shown) if str(status) in one.text])
        return block.find_element(By.CSS_SELECTOR, ".live-responses-table tbody").text

    def asked(self) -> set[str]:
        """The hosts from which the page has asked for anything."""
        return {urlsplit(address).netloc for address in self.browser.execute_script(ADDRESSES)}


@pytest.fixture(scope="module")
def page(io_loop: IOLoop, company: Running, the_browser: Console) -> Iterator[Page]:
    yield io_loop.run_sync(lambda: do(Page, the_browser, company.url))
    io_loop.run_sync(lambda: do(the_browser.leave))


async def test_every_operation_is_on_the_page(page: Page, company: Running) -> None:
    paths = (await Client(company.url).get("/api/openapi.json")).json["paths"]
    described = sum(len(operations) for operations in paths.values())
    assert sum(page.counts.values()) == described


async def test_operations_are_folded_under_the_resource_that_they_are_about(page: Page) -> None:
    assert page.folded
    assert {"crm: customers", "system: users", "auth", "dashboard"} <= page.counts.keys()


def profiles(page: Page) -> list[str]:
    """What the page shows of the caller's profile, before and after a log-in."""
    page.show("auth")
    page.toggle("auth")
    profile = page.unfold("get_auth_profile")
    refused = page.execute(profile, 401)
    page.execute(page.unfold("post_auth_login"), 200, username="admin", password=PASSWORD)
    return [refused, page.execute(profile, 200)]


async def test_a_login_through_the_page_signs_the_next_request(page: Page) -> None:
    refused, signed = await do(profiles, page)
    assert '"username": "admin"' not in refused
    assert '"username": "admin"' in signed


async def test_the_page_asks_no_outside_address_and_the_browser_has_nothing_to_complain_of(
    page: Page, company: Running
) -> None:
    assert await do(page.asked) == {urlsplit(company.url).netloc}
    # a breach of the content policy is noted, and so is a request to an address that is not looked up
    log = await do(page.browser.get_log, "browser")
    assert [one["message"] for one in log if "401 (Unauthorized)" not in one["message"]] == []
