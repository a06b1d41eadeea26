"""Work in the console: with keys alone, at the desk of approvals, with news that arrive, and with hostile texts."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import EVERYTHING, ask, define, node
from tests.api.cms.xss_vectors import HTML, MARKDOWN
from tests.browser.browser import Console, do
from tests.browser.hostile import NOTES, PAGE, see, spaced, written_notes

pytestmark = pytest.mark.gen_test(timeout=180)
CUSTOMERS = [f"crm:customer:{action}" for action in ("list", "read", "create", "update", "delete")]
CONTRACTS = [f"crm:contract:{action}" for action in ("list", "read", "create", "update", "submit", "approve")]
MOST_OF_A_PAGE = 200
NAMED = "one.matches('main td a') && one.textContent.trim() === {}"


def create_with_keys(console: Console, username: str, name: str) -> None:
    """Log in and create a customer, without a mouse."""
    console.log_in_with_keys(username)
    console.enter("one.matches('.menu summary') && one.textContent === 'CRM'")
    console.enter("one.dataset.menu === 'crm.customer'")
    console.until(lambda: console.count("main .antd-Crud button.antd-Button--primary"))
    console.robot("rest")
    console.enter("one.matches('main button.antd-Button--primary')")
    console.until(lambda: console.count(".antd-Drawer input[name=name]"))
    console.reach("one.matches('.antd-Drawer input[name=name]')")
    console.keys(name)
    console.enter("one.matches('.antd-Drawer .antd-Button--primary')")
    console.until(lambda: not console.count(".antd-Drawer") and name in console.shown())


def approve_with_keys(console: Console, username: str, title: str) -> None:
    """Log in, find a contract and approve it, without a mouse."""
    console.log_in_with_keys(username)
    console.enter("one.matches('.menu summary') && one.textContent === 'CRM'")
    console.enter("one.dataset.menu === 'crm.contract'")
    console.until(lambda: title in console.shown())
    console.enter(NAMED.format(repr(title)))
    console.until(lambda: console.count("main .antd-Property"))
    console.enter("one.textContent.trim() === 'Approve' && !one.disabled")
    console.until(lambda: console.count(".antd-Modal .antd-Button--primary"))
    console.enter("one.matches('.antd-Modal .antd-Button--primary')")
    console.until(lambda: not console.count(".antd-Modal") and "In force" in console.shown())


async def test_a_customer_is_created_and_a_contract_approved_with_keys_alone(
    console: Console, company: Running, people: People
) -> None:
    staff, manager = await people.person([*CUSTOMERS, *CONTRACTS]), await people.person(CONTRACTS, "all")
    name, title = unique("customer"), unique("contract")
    await do(console.visit, company.url)
    await do(create_with_keys, console, staff.user["username"], name)
    (customer,) = expect(await staff.get(f"/api/v1/crm/customers?q={name}"))["items"]
    body = {"customer_id": customer["id"], "name": title, "amount": "5.00"}
    contract = expect(await staff.post("/api/v1/crm/contracts", body))
    expect(await staff.post(f"/api/v1/crm/contracts/{contract['id']}/submit", {}))
    await do(console.visit, company.url)
    await do(approve_with_keys, console, manager.user["username"], title)
    assert expect(await manager.get(f"/api/v1/crm/contracts/{contract['id']}"))["status"] == "in_force"


def decide(console: Console) -> None:
    """Agree to the request that waits at the desk."""
    console.until(lambda: console.count("#notices a"))
    console.until(lambda: console.shown("header .inbox b") == "1")
    console.open("#/crm.customer", "main .antd-Crud")
    console.open("#/approval.task", "main tbody tr td button")
    console.press("main tbody tr .acts .opens")
    console.press(".menu-of:popover-open button:last-child")  # opens it beside the desk
    console.until(lambda: console.count(".antd-Drawer .antd-Property"))
    console.click("Agree")
    console.until(lambda: console.count(".antd-Modal [name=comment]"))
    console.type(".antd-Modal [name=comment]", "well done")
    console.press(".antd-Modal .antd-Modal-footer .antd-Button--primary")
    console.until(lambda: "Approved" in console.shown())


async def test_pending_tasks_are_notified_and_decided_at_the_desk(
    console: Console, company: Running, admin: Client, people: People
) -> None:
    staff, manager = await people.person(EVERYTHING), await people.person([*EVERYTHING, *CUSTOMERS])
    flow = await define(admin, node("first", manager))
    await do(console.visit, company.url, manager, "#/approval.task")
    await do(console.until, lambda: console.count("main .antd-Tabs"))
    instance = await ask(staff, flow, title=unique("request"))
    await do(decide, console)
    decided = expect(await admin.get(f"/api/v1/approvals/instances/{instance['id']}"))
    assert (decided["status"], decided["tasks"][0]["comment"]) == ("approved", "well done")
    assert await do(console.complaints) == []


async def test_every_attack_of_the_suite_is_shown_as_text(console: Console, company: Running, admin: Client) -> None:
    mark, record, texts = await written_notes(admin, HTML + MARKDOWN)
    assert [attack for attack in HTML + MARKDOWN if not any(spaced(attack) in text for text in texts)] == []
    await do(console.visit, company.url, admin)
    await do(see, console, NOTES, "content", mark, record, texts)
    assert await do(console.complaints) == []


async def test_a_view_of_a_list_is_kept_and_its_second_page_begins_at_a_cursor(
    console: Console, company: Running, people: People, admin: Client
) -> None:
    mark = unique("kept")
    for at in range(PAGE + 1):
        expect(await admin.post("/api/v1/crm/leads", {"name": f"{mark} {at}", "company": "x"}))
    other = expect(await admin.post("/api/v1/crm/leads", {"name": unique("other"), "company": "x"}))["name"]
    person = await people.person(["crm:lead:list", "crm:lead:read"], "all")
    await do(console.visit, company.url, person, "#/crm.lead")
    await do(console.until, lambda: other in console.shown())
    await do(console.type, "main .antd-SearchBox input", mark, Keys.ENTER)
    await do(console.until, lambda: other not in console.shown() and mark in console.shown())
    await do(console.click, "Views")
    await do(console.until, lambda: console.count("dialog.asked input"))
    await do(console.keys, "Just these", Keys.ENTER)
    await do(console.browser.refresh)
    await do(console.until, lambda: other in console.shown())
    await do(console.click, "Views")
    await do(console.click, "Just these")
    await do(console.until, lambda: other not in console.shown() and f"{mark} {PAGE}" in console.shown())
    await do(console.press, "main .antd-Pagination-next")
    await do(console.until, lambda: f"{mark} 0" in console.shown())
    asked = "return performance.getEntriesByType('resource').map((one) => one.name).filter((one) => /page=2/.test(one))"
    assert ["cursor=" in one for one in await do(console.browser.execute_script, asked)] == [True]


async def test_all_rows_of_a_list_are_one_sheet_that_draws_what_is_in_sight(
    console: Console, company: Running, admin: Client
) -> None:
    mark, count, attack = unique("sheet"), MOST_OF_A_PAGE + 10, min(HTML, key=len)
    for at in range(count):
        expect(await admin.post("/api/v1/crm/leads", {"name": f"{mark} {attack}", "company": f"row {at}"}))
    await do(console.visit, company.url, admin, "#/crm.lead")
    await do(console.until, lambda: console.count("main .antd-SearchBox input"))
    await do(console.type, "main .antd-SearchBox input", mark, Keys.ENTER)
    await do(console.until, lambda: console.shown().count(mark) == PAGE)
    await do(console.click, "All rows")
    await do(console.until, lambda: f"All rows ({count})" in console.shown())
    await do(console.until, lambda: f"row {count - 1}" in console.shown())
    sheet = console.browser.find_element(By.CSS_SELECTOR, ".sheet")
    assert spaced(f"{mark} {attack}") in spaced(console.shown(".sheet"))
    await do(console.browser.execute_script, "arguments[0].scrollTop = 1e6", sheet)
    await do(console.until, lambda: "row 0" in console.shown(".sheet").splitlines())
    assert console.count(".sheet [role=row]") < count / 2
    await do(console.press, ".sheet [role=row] a")
    await do(console.until, lambda: console.count("main .antd-Property"))
    assert await do(console.complaints) == []


async def test_a_refusal_can_be_asked_for_its_reasons(
    console: Console, company: Running, people: People, admin: Client
) -> None:
    person = await people.person([*CUSTOMERS, "crm:customer:export"], "all")
    await do(console.visit, company.url, person, "#/crm.customer")
    await do(console.until, lambda: console.count("main .antd-Crud"))
    fewer = await people.role(CUSTOMERS, "all")
    user = expect(await admin.get(f"/api/v1/system/users/{person.user['userId']}"))
    body = {"role_ids": [fewer], "version": user["version"]}
    expect(await admin.patch(f"/api/v1/system/users/{user['id']}", body))
    await do(console.click, "Export")
    await do(console.click, "Why?")
    await do(console.until, lambda: console.count("dialog.asked li"))
