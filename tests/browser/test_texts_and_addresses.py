"""What colleagues write makes no element of a page, and what an address says leads to no other request."""

from __future__ import annotations

import pytest

from plugins.runtime import Running
from plugins.testing import Client, expect, unique
from tests.browser.browser import Console, do

pytestmark = pytest.mark.gen_test(timeout=60)
MARKUP = "<b data-made=1>bold</b>"
CUSTOMERS = "/api/v1/crm/customers"


async def test_texts_that_a_filter_shows_make_no_element(console: Console, company: Running, admin: Client) -> None:
    made = expect(await admin.post(CUSTOMERS, {"name": unique("customer"), "tags": [MARKUP]}))
    changed = {"version": 1, "tags": ["other", MARKUP], "remark": MARKUP}
    expect(await admin.patch(f"{CUSTOMERS}/{made['id']}", changed))
    await do(console.visit, company.url, admin, f"#/records/crm.customers/{made['id']}")
    await do(console.until, lambda: f"other, {MARKUP}" in console.shown("main"))
    await do(console.click, "History")
    # before and after of the tags, and the remark
    await do(console.until, lambda: console.shown("main .antd-Tabs-pane.is-active").count(MARKUP) == 3)
    assert await do(console.count, "[data-made]") == 0


@pytest.mark.parametrize("id", ["..%2f..%2fsystem%2fusers%2f80%23", "..", "a%2f..", "a%23", "a?b", "%5c..%5cx"])
async def test_an_address_that_names_no_record_shows_none(
    id: str, console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/crm.customer")
    await do(console.open, f"#/records/crm.customers/{id}", "main .notice")
    assert await do(console.count, "main .drawn") == 0


@pytest.mark.parametrize(
    "path", ["/api/v1/a/../b", "/api/v1/a#b", "//elsewhere.example/a", "/api/v1\\a", "/api/v1/a b"]
)
async def test_a_path_that_the_browser_reads_as_another_is_not_sent(
    path: str, console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/crm.customer")
    send = """
    const [path, done] = arguments;
    import(`${location.pathname}/static/session.js`.replace("/console/static", "/console/static"))
      .then(({ call }) => call(path)).then(() => done("sent"), (error) => done(error.message));
    """
    assert (await do(console.browser.execute_async_script, send, path)).startswith("not a path of the API")
