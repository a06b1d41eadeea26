"""The console in a real browser: log in, open a list, a record and the dashboards; nothing hostile runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest
from selenium.webdriver.common.by import By
from tornado.ioloop import IOLoop

from plugins.runtime import Running
from plugins.testing import Client, expect, unique
from tests.browser.browser import Console, opened

pytestmark = pytest.mark.gen_test(timeout=60)
HOSTILE = "<img src=x onerror=document.title='run'>${1+1}<%= 1 %>"
# holds back the options of pickers, until `release` is called
HOLD = """
const plain = window.fetch;
window.held = 0;
const released = new Promise((resolve) => { window.release = resolve; });
window.fetch = async (...given) => {
  const reply = await plain(...given);
  if (given[0].startsWith("/api/v1/meta/options/")) { window.held += 1; await released; }
  return reply;
};
"""


@pytest.fixture(scope="module")
def console(io_loop: IOLoop, tradewind: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with opened(io_loop, tradewind.url, tmp_path_factory.mktemp("chromium")) as console:
        yield console


async def shot(console: Console, name: str) -> None:
    """Keep a picture for whoever asks for it."""
    folder = os.environ.get("CONSOLE_SHOTS")
    if folder:
        await asyncio.to_thread(console.browser.save_screenshot, f"{folder}/{name}.png")


def offers(console: Console) -> int:
    """Open the first picker of the form on top, also if it has been drawn anew; return how much it offers."""
    if not console.count(".antd-Select-menu"):
        console.press(".antd-Drawer .antd-Select")
    return console.count(".antd-Select-option")


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
    await asyncio.to_thread(console.press, "main .antd-Flex button")
    typed = ".antd-Drawer input[name=company]"
    await asyncio.to_thread(console.until, lambda: console.count(f"{typed}[value]:not([value=''])"))
    assert console.browser.find_element(By.CSS_SELECTOR, typed).get_property("value") == company
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


async def test_a_click_on_a_figure_or_a_point_opens_the_records_behind_it(console: Console, admin: Client) -> None:
    figure = expect(await admin.get("/api/dashboard/overview"))["customers"]
    await asyncio.to_thread(console.press, "main .dashboard-overview .figure button")
    await asyncio.to_thread(console.until, lambda: console.count(".antd-Drawer .behind tbody tr td"))
    assert console.browser.find_element(By.CSS_SELECTOR, ".antd-Drawer .behind .figure").text == f"{figure:,}"
    await shot(console, "behind")
    await asyncio.to_thread(console.press, ".antd-Drawer-close")
    await asyncio.to_thread(console.until, lambda: not console.count(".antd-Drawer"))
    funnel = console.browser.find_element(By.CSS_SELECTOR, "main .dashboard-opportunity-funnel canvas")
    console.browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", funnel)
    await asyncio.to_thread(console.click_until, funnel, lambda: console.count(".antd-Drawer .behind tbody tr td"))


async def test_a_form_that_is_closed_before_its_options_arrive_does_not_fail_on_them(console: Console) -> None:
    await asyncio.to_thread(console.open, "#/crm.contact", "main .antd-Crud button")
    await asyncio.to_thread(console.browser.execute_script, HOLD)
    await asyncio.to_thread(console.press, "main button.antd-Button--primary")
    await asyncio.to_thread(console.until, lambda: console.browser.execute_script("return window.held"))
    await asyncio.to_thread(console.press, ".antd-Drawer-close")
    await asyncio.to_thread(console.until, lambda: not console.count(".antd-Drawer"))
    await asyncio.to_thread(console.browser.execute_script, "window.release()")
    # those of the next form are shown, after the first ones have arrived
    await asyncio.to_thread(console.press, "main button.antd-Button--primary")
    await asyncio.to_thread(console.until, lambda: offers(console))
    assert await asyncio.to_thread(console.complaints) == []


async def test_the_browser_has_nothing_to_complain_of(console: Console) -> None:
    assert await asyncio.to_thread(console.complaints) == []
