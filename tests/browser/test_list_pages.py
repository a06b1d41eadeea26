"""Lists as people work with them: cards on a phone, filters and their chips, an action with several rows."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, unique
from tests.browser.browser import Console, do

pytestmark = pytest.mark.gen_test(timeout=60)
CONTRACTS = "/api/v1/crm/contracts"
ROWS, CHIPS = "main .antd-Table-table > tbody > tr", "main .chips button"
FINANCE = "/api/v1/finance"
OF_ROW = """
const row = [...document.querySelectorAll("tr")].find((one) => one.offsetParent && one.textContent.includes(arguments[0]));
[...row.querySelectorAll("button, a")].find((one) => one.textContent.trim() === arguments[1]).click();
"""
SOME = """
const [names] = arguments;
for (const row of document.querySelectorAll("main .antd-Table-table > tbody > tr")) {
  if (names.some((name) => row.textContent.includes(name))) row.querySelector("input[type=checkbox]").click();
}
"""


async def drafts(admin: Client) -> list[str]:
    """The names of two contracts, of which the second is submitted."""
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))
    names = [unique("contract"), unique("contract")]
    bodies = [{"customer_id": customer["id"], "name": name, "amount": "1.00"} for name in names]
    made = [expect(await admin.post(CONTRACTS, body)) for body in bodies]
    expect(await admin.post(f"{CONTRACTS}/{made[1]['id']}/submit", {}))
    return names


async def test_an_action_with_several_rows_says_what_became_of_each(
    console: Console, company: Running, admin: Client
) -> None:
    draft, submitted = await drafts(admin)
    await do(console.visit, company.url, admin, "#/crm.contract")
    await do(console.until, lambda: draft in console.shown("main"))
    await do(console.browser.execute_script, SOME, [draft, submitted])
    await do(console.click, "Submit")
    await do(console.until, lambda: console.count("dialog.asked li") == 2)
    await do(console.click, "Submit")
    await do(console.until, lambda: "1 done, 1 failed" in console.shown("dialog.asked"))
    told = await do(console.shown, "dialog.asked")
    assert re.search(rf"{draft} · Draft · 1\.00 · \S+ ✓", told.replace("\n", " "))
    assert "does not allow this action" in told


async def test_an_active_filter_is_a_chip_that_takes_it_away(console: Console, company: Running, admin: Client) -> None:
    draft, submitted = await drafts(admin)
    await do(console.visit, company.url, admin, "#/crm.contract")
    await do(console.until, lambda: submitted in console.shown("main"))
    await do(console.press, "main .filters .antd-Select-valueWrap")
    await do(console.press, ".antd-Select-option input")  # the first state: a draft
    await do(console.until, lambda: submitted not in console.shown("main") and draft in console.shown("main"))
    assert await do(console.shown, CHIPS) == "Status: Draft ×"
    await do(console.press, CHIPS)
    await do(console.until, lambda: submitted in console.shown("main") and not console.count(CHIPS))


async def test_what_is_left_in_a_month_is_shown_before_it_is_closed(
    console: Console, company: Running, admin: Client
) -> None:
    day = (date.today().replace(day=1) - timedelta(days=1)).replace(day=3)
    account = expect(await admin.post(f"{FINANCE}/accounts", {"code": unique("A"), "name": "a", "type": "bank"}))
    booked = {"kind": "income", "account_id": account["id"], "amount": "1.00", "day": day.isoformat()}
    expect(await admin.post(f"{FINANCE}/vouchers", booked))
    made = {"direction": "out", "counterparty": unique("party"), "number": unique("I"), "amount": "5.00"}
    invoice = expect(await admin.post(f"{FINANCE}/invoices", {**made, "day": day.isoformat()}))
    await do(console.visit, company.url, admin, "#/finance.period")
    await do(console.until, lambda: f"{day:%Y-%m}" in console.shown("main"))
    await do(console.browser.execute_script, OF_ROW, f"{day:%Y-%m}", "Close")
    await do(console.until, lambda: "Invoices: Draft" in console.shown(".antd-Modal"))
    await do(console.browser.execute_script, OF_ROW, "Invoices: Draft", "Open")
    await do(console.until, lambda: invoice["counterparty"] in console.shown(".antd-Drawer"))


async def test_the_rows_of_a_list_are_cards_on_a_phone(console: Console, company: Running, admin: Client) -> None:
    draft, _ = await drafts(admin)
    await do(console.resize, 390, 844)
    await do(console.visit, company.url, admin, "#/crm.contract")
    await do(console.until, lambda: draft in console.shown("main"))
    cells = "return [...document.querySelectorAll(arguments[0])].map((one) => [one.dataset.label, one.offsetParent !== null])"
    await do(
        console.until, lambda: ["Status", True] in console.browser.execute_script(cells, f"{ROWS}:first-child > td")
    )
    shown = [name for name, seen in await do(console.browser.execute_script, cells, f"{ROWS}:first-child > td") if seen]
    assert [name for name in shown if name] == [
        "Contract name",
        "Status",
        "Contract amount",
        "Contract number",
        "Customer",
        "Actions",
    ]


async def test_a_total_of_amounts_is_exact(console: Console, company: Running, admin: Client) -> None:
    await do(console.visit, company.url, admin, "#/crm.contract")
    sums = """
    const [rows, done] = arguments;
    import("/console/values.js").then(({ filters }) => done(filters.total(rows, "amount")), (error) => done(String(error)));
    """
    rows = [{"amount": "9007199254740993.01"}, {"amount": "-0.02"}, {"amount": None}]
    assert await do(console.browser.execute_async_script, sums, rows) == "9,007,199,254,740,992.99"
    assert await do(console.browser.execute_async_script, sums, [{"amount": "0.01"}, {"amount": "-0.05"}]) == "-0.04"


async def test_a_calendar_shows_the_days_of_whom_is_chosen(console: Console, company: Running, people: People) -> None:
    person = await people.person(["hrm:attendance:list", "hrm:employee:read"], "all")
    day = expect(await person.get("/api/v1/hrm/attendance?page_size=1"))["items"][0]
    await do(console.visit, company.url, person, "#/hrm.attendance")
    await do(console.click, "Calendar")
    await do(console.until, lambda: "Choose: Employee" in console.shown(".days-of-month"))
    await do(console.visit, company.url, person, f"#/records/hrm.employees/{day['employee_id']}")
    await do(console.click, "Attendance · Calendar")
    await do(console.until, lambda: console.count(".days-of-month td .tag"))
    assert await do(console.complaints) == []


async def test_what_a_filter_offers_is_shown_below_it(console: Console, company: Running, admin: Client) -> None:
    await do(console.visit, company.url, admin, "#/crm.contract")
    await do(console.until, lambda: console.count(ROWS))
    await do(console.robot, "rest")
    await do(console.press, "main .filters .antd-Select")
    await do(console.until, lambda: console.count(".antd-Select-popover"))
    place = "return document.querySelector(arguments[0]).getBoundingClientRect().left"
    lefts = [
        console.browser.execute_script(place, one) for one in ("main .filters .antd-Select", ".antd-Select-popover")
    ]
    assert abs(lefts[0] - lefts[1]) < 2
