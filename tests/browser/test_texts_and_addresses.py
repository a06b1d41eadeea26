"""What colleagues write makes no element of a page, and what an address says leads to no other request."""

from __future__ import annotations

import pytest

from plugins.boot.runtime import Running
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
    await do(console.until, lambda: console.shown("main").count(MARKUP) >= 3)
    assert await do(console.count, "[data-made]") == 0


async def test_what_is_counted_by_codes_is_shown_by_their_words(
    console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/crm.customer")
    show = """
    const [given, done] = arguments, place = document.createElement("p");
    import("/console/values.js").then(({ namedValues }) => { namedValues(place).update(given); done(place.textContent); }, (error) => done(String(error)));
    """
    given = {"name": "days", "map": {"parental": "育儿假"}, "data": {"days": {"parental": "0.5", "other": "1"}}}
    assert await do(console.browser.execute_async_script, show, given) == "育儿假: 0.5\nother: 1"


@pytest.mark.parametrize("id", ["..%2f..%2fsystem%2fusers%2f80%23", "..", "a%2f..", "a%23", "a?b", "%5c..%5cx"])
async def test_an_address_that_names_no_record_shows_none(
    id: str, console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/crm.customer")
    await do(console.open, f"#/records/crm.customers/{id}", "main .notice")
    assert await do(console.count, "main .drawn") == 0


SENT = ["/api/v1/a", "/api/v1/a?q=b", "/api/v1/a?", "/api/v1/a/%E7%BA%BF%E4%B8%8A", "/api/v1/a/b%2Fc"]
NOT_SENT = [
    "/a/../b",
    "/a#b",
    "//elsewhere.example/a",
    "/api\\a",
    "/a b",
    "/a/..%2Fb",
    "/a/%2e%2e/b",
    "/a/..",
    "/a/线上",
]


async def test_a_path_that_could_be_taken_for_another_is_not_sent(
    console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/crm.customer")
    check = """
    const [paths, done] = arguments;
    const taken = (checked, path) => { try { checked(path); return true; } catch { return false; } };
    import("/console/paths.js").then(({ checked }) => done(paths.map((path) => taken(checked, path))), (error) => done(String(error)));
    """
    taken = await do(console.browser.execute_async_script, check, [*SENT, *NOT_SENT])
    assert taken == [True] * len(SENT) + [False] * len(NOT_SENT)
