"""The console in a real browser: log in, open a list, a record and the dashboards; nothing hostile runs."""

from __future__ import annotations

import os

import pytest
from selenium.webdriver.common.by import By

from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
from tests.browser.browser import Console, do

pytestmark = pytest.mark.gen_test(timeout=60)
HOSTILE = "<img src=x onerror=document.title='run'>${1+1}<%= 1 %>"
# holds back the replies below this path, until `release` is called
HOLD = """
const [path] = arguments;
const plain = window.fetch;
window.held = 0;
const released = new Promise((resolve) => { window.release = resolve; });
window.fetch = async (...given) => {
  const reply = await plain(...given);
  if (given[0].startsWith(path)) { window.held += 1; await released; }
  return reply;
};
"""


async def shot(console: Console, name: str) -> None:
    """Keep a picture for whoever asks for it."""
    folder = os.environ.get("CONSOLE_SHOTS")
    if folder:
        await do(console.browser.save_screenshot, f"{folder}/{name}.png")


def offers(console: Console) -> int:
    """Open the first picker of the form on top, also if it has been drawn anew; return how much it offers."""
    if not console.count(".antd-Select-menu"):
        console.press(".antd-Drawer .antd-Select")
    return console.count(".antd-Select-option")


async def test_a_person_logs_in_and_sees_hostile_names_as_text(
    console: Console, company: Running, admin: Client
) -> None:
    work_at = unique("company") + HOSTILE
    lead = expect(await admin.post("/api/v1/crm/leads", {"name": HOSTILE, "company": work_at}))
    await do(console.visit, company.url)
    await do(console.log_in, "admin")
    await do(console.open, "#/crm.lead", "main table tbody tr td")
    await do(console.until, lambda: HOSTILE in console.shown("main"))
    await shot(console, "list")
    await do(console.open, f"#/records/crm.leads/{lead['id']}", "main [role=tab], main .antd-Tabs")
    await do(console.until, lambda: work_at in console.shown("main"))
    # the buttons of a record are one row, also the menu with those that do not fit
    assert (
        await do(console.browser.execute_script, "return document.querySelector('main .antd-Flex').offsetHeight") < 60
    )
    await shot(console, "record")
    await do(console.press, "main .antd-Flex button")
    await do(console.until, lambda: console.value(".antd-Drawer input[name=company]"))
    assert await do(console.value, ".antd-Drawer input[name=company]") == work_at
    assert console.browser.title == "Tradewind"
    assert await do(console.complaints) == []


async def test_what_two_people_changed_is_shown_and_nothing_typed_is_lost(
    console: Console, company: Running, admin: Client
) -> None:
    lead = expect(await admin.post("/api/v1/crm/leads", {"name": "first", "company": unique("company"), "phone": "1"}))
    at = f"/api/v1/crm/leads/{lead['id']}"
    await do(console.visit, company.url, admin, f"#/records/crm.leads/{lead['id']}")
    await do(console.edit, {"company": "mine", "phone": "2"})
    expect(await admin.patch(at, {"company": HOSTILE, "name": "second", "version": lead["version"]}))
    await do(console.press, ".antd-Drawer .antd-Button--primary")
    await do(console.until, lambda: console.count("dialog.conflict"))
    shown = await do(console.shown, "dialog.conflict")
    await shot(console, "conflict")
    assert all(text in shown for text in (lead["company"], HOSTILE, "mine", "first", "second"))
    await do(console.press, "dialog.conflict [name=company][value=theirs]")
    await do(console.press, "dialog.conflict [type=submit]")
    await do(console.until, lambda: not console.count(".antd-Drawer"))
    saved = expect(await admin.get(at))
    assert (saved["company"], saved["name"], saved["phone"]) == (HOSTILE, "second", "2")
    # the browser says of every refusal that it was one
    assert ["409 (Conflict)" in message for message in await do(console.complaints)] == [True]


async def test_every_dashboard_is_drawn_and_its_figures_and_points_open_the_records_behind_them(
    console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/dashboard")
    assert await do(lambda: console.robot("draw", address="#/dashboard")) == 13
    await shot(console, "dashboards")
    figure = expect(await admin.get("/api/dashboard/overview"))["customers"]
    await do(console.press, "main .dashboard-overview .figure button")
    await do(console.until, lambda: console.count(".antd-Drawer .behind tbody tr td"))
    assert await do(console.shown, ".antd-Drawer .behind .figure") == f"{figure:,}"
    await shot(console, "behind")
    await do(console.press, ".antd-Drawer-close")
    await do(console.until, lambda: not console.count(".antd-Drawer"))
    funnel = console.browser.find_element(By.CSS_SELECTOR, "main .dashboard-opportunity-funnel canvas")
    await do(console.browser.execute_script, "arguments[0].scrollIntoView({ block: 'center' })", funnel)
    await do(console.click_until, funnel, lambda: console.count(".antd-Drawer .behind tbody tr td"))
    assert await do(console.complaints) == []


async def test_a_form_that_is_closed_before_its_options_arrive_does_not_fail_on_them(
    console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/crm.contact")
    await do(console.until, lambda: console.count("main .antd-Crud button"))
    await do(console.browser.execute_script, HOLD, "/api/v1/meta/options/")
    await do(console.press, "main button.antd-Button--primary")
    await do(console.until, lambda: console.browser.execute_script("return window.held"))
    await do(console.press, ".antd-Drawer-close")
    await do(console.until, lambda: not console.count(".antd-Drawer"))
    await do(console.browser.execute_script, "window.release()")
    # those of the next form are shown, after the first ones have arrived
    await do(console.press, "main button.antd-Button--primary")
    await do(console.until, lambda: offers(console))
    assert await do(console.complaints) == []


async def test_what_is_pressed_above_a_list_while_its_rows_are_read_opens_once_they_are_there(
    console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin)
    await do(console.browser.execute_script, HOLD, "/api/v1/crm/contacts")
    await do(console.open, "#/crm.contact", "main .is-loading button.antd-Button--primary")
    await do(console.until, lambda: console.browser.execute_script("return window.held"))
    await do(console.press, "main .is-loading button.antd-Button--primary")
    await do(console.browser.execute_script, "window.release()")
    await do(console.until, lambda: console.count(".antd-Drawer form"))
    assert await do(console.complaints) == []
