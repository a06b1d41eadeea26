"""The frame around the pages: the search, the pages that stay open, notifications, and the phone."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, unique
from tests.browser.accessible import PHONE
from tests.browser.browser import Console, do

pytestmark = pytest.mark.gen_test(timeout=60)
AT = "return location.hash"


async def test_a_page_is_found_with_keys_and_a_page_that_was_left_is_as_it_was_but_with_new_data(
    console: Console, company: Running, admin: Client
) -> None:
    mark = unique("left")
    expect(await admin.post("/api/v1/crm/leads", {"name": f"{mark} first", "company": "x"}))
    await do(console.visit, company.url, admin, "#/crm.lead")
    await do(console.until, lambda: console.count("main .antd-SearchBox input"))
    await do(console.type, "main .antd-SearchBox input", mark, Keys.ENTER)
    await do(console.until, lambda: console.count("main tbody tr") == 1 and mark in console.shown("main"))
    await do(console.type, "main .antd-SearchBox input", Keys.CONTROL, "k")
    await do(console.until, lambda: console.count("dialog.finder li"))
    await do(console.keys, "contacts", Keys.ENTER)
    await do(console.until, lambda: console.browser.execute_script(AT) == "#/crm.contact")
    await do(console.until, lambda: console.count('.tabs a[href="#/crm.contact"][aria-current]'))
    expect(await admin.post("/api/v1/crm/leads", {"name": f"{mark} second", "company": "x"}))
    await do(console.press, '.tabs a[href="#/crm.lead"]')
    await do(console.until, lambda: console.count("main tbody tr") == 2 and f"{mark} second" in console.shown("main"))
    assert await do(console.value, "main .antd-SearchBox input") == mark
    await do(console.press, ".tabs li:has([aria-current]) button")
    await do(console.until, lambda: console.browser.execute_script(AT) == "#/crm.contact")
    await do(console.until, lambda: console.count(".tabs li") == 1)
    assert await do(console.complaints) == []


async def test_a_notification_in_the_panel_opens_what_it_speaks_of_and_is_read(
    console: Console, company: Running, admin: Client, people: People
) -> None:
    reader = await people.person(["crm:lead:list", "crm:lead:read"], "all")
    lead = expect(await admin.post("/api/v1/crm/leads", {"name": unique("lead"), "company": "x"}))
    news = {"title": unique("news"), "user_ids": [reader.user["userId"]], "link": f"/crm/leads/{lead['id']}"}
    await do(console.visit, company.url, reader)
    expect(await admin.post("/api/v1/notifications", news))
    await do(console.until, lambda: console.shown("header .inbox b") == "1")
    await do(console.press, "header .inbox")
    await do(console.press, ".news .unread button")
    await do(console.until, lambda: lead["name"] in console.shown("main"))
    await do(console.until, lambda: console.shown("header .inbox b") == "")
    assert lead["name"] in await do(console.shown, ".tabs [aria-current]")
    assert await do(console.complaints) == []


async def test_on_a_phone_the_menu_is_a_drawer_and_the_page_has_the_whole_width(
    console: Console, company: Running, admin: Client
) -> None:
    await do(console.resize, *PHONE)
    await do(console.visit, company.url, admin, "#/crm.lead")
    widths = "const { clientWidth, scrollWidth } = document.documentElement; return [clientWidth, scrollWidth, content.offsetWidth]"
    assert len(set(await do(console.browser.execute_script, widths))) == 1
    seen = "return document.querySelector('.menu input').checkVisibility({ visibilityProperty: true })"
    assert not await do(console.browser.execute_script, seen)
    await do(console.press, ".bar .more")
    await do(console.until, lambda: console.browser.execute_script(seen))
    await do(console.press, '.menu a[data-menu="crm.contact"]')
    await do(console.until, lambda: not console.browser.execute_script(seen))
    await do(console.until, lambda: console.count('.menu a[data-menu="crm.contact"][aria-current]'))
