"""Forms of the console: lines, files, imports, drafts and articles, as people fill them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
from tests.api.crm.tables import as_xlsx
from tests.api.inventory.goods import AT, Goods
from tests.browser.browser import Console, do

pytestmark = pytest.mark.gen_test(timeout=180)
CONFIRM = ".antd-Drawer .antd-Drawer-footer .antd-Button--primary"
ROWS = "main tbody tr td :is(a, button)"  # of a list that is read
NEW = "main button.antd-Button--primary"
PASTE = """
const data = new DataTransfer();
data.setData("text/html", arguments[0]);
document.querySelector(".rich-text .area").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
"""


def choose_file(console: Console, part: str, *paths: Path) -> None:
    """Choose files where a part of the page asks for them."""
    chooser = console.browser.find_element(By.CSS_SELECTOR, f"{part} input[type=file]")
    chooser.send_keys("\n".join(str(path) for path in paths))


def enter_line(console: Console, sku: str, *cells: str) -> None:
    """Choose the product of the line whose picker has the focus, and enter its cells, with keys alone."""
    console.keys(Keys.ENTER)
    console.until(lambda: console.count("[role=option]"))
    console.until(lambda: "aria-autocomplete" in focus(console))
    console.keys(sku)
    console.until(lambda: console.count("[role=option]") == 1)
    console.keys(Keys.ARROW_DOWN, Keys.ENTER)
    for cell, name in zip(cells, ("quantity", "price", "discount", "tax_rate"), strict=False):
        console.until(lambda name=name: f'name="{name}"' in focus(console))
        console.keys(cell, Keys.ENTER)


def focus(console: Console) -> str:
    return str(console.browser.execute_script("return document.activeElement.outerHTML.replace(/>.*/s, '>')"))


def order(console: Console, name: str) -> str:
    """Enter a sales order of two lines, and confirm it at once, and again after a refusal; returns the totals of the form."""
    console.until(lambda: console.count(ROWS))
    console.press(NEW)
    console.until(lambda: console.count(".antd-Drawer [name=customer_name]"))
    console.type(".antd-Drawer [name=customer_name]", name)
    console.press(".lines .antd-Combo-addBtn")
    console.until(lambda: console.count(".lines [role=combobox]"))
    console.browser.execute_script("document.querySelector('.lines [role=combobox]').focus()")
    enter_line(console, name, "3", "9.99", "", "13")
    console.until(lambda: "33.87" in console.shown(".totals"))
    totals = console.shown(".antd-Drawer .totals")
    console.browser.execute_script("document.querySelector('.lines [name=quantity]').focus()")
    console.until(lambda: console.count(".lines .antd-Combo-delBtn") == 2)
    console.browser.execute_script("[...document.querySelectorAll('.lines .antd-Combo-delBtn')].at(-1).click()")
    console.keys("0")  # 30
    wrong = {".antd-Drawer [name=freight]": "-1", ".lines [name=discount]": "150"}  # that is 150 %
    for field, text in wrong.items():
        console.type(field, text)
    console.press(CONFIRM)
    console.until(lambda: console.count(".antd-Drawer .is-error [name=freight]"))
    console.until(lambda: console.count(".lines .cell.is-error [name=discount]"))
    for field in wrong:
        console.type(field, Keys.CONTROL, "a")
        console.type(field, Keys.DELETE)
    console.press(CONFIRM)
    console.until(lambda: not console.count(".antd-Drawer"))
    return totals


def begin_invoice(console: Console, order: dict[str, Any]) -> None:
    """Open the form of an invoice from what is to be received for an order of 20.00."""
    console.robot("open", address="#/finance.invoice", tab="Receivables")
    row = (
        f"[...document.querySelectorAll('main tbody tr')].find((one) => one.textContent.includes('{order['number']}'))"
    )
    new = f"[...{row}.querySelectorAll('button, a')].find((one) => one.textContent === 'New invoice…').click()"
    console.browser.execute_script(new)
    console.until(lambda: console.value(".antd-Drawer [name=amount]") == "20.00")


async def test_lines_are_entered_with_keys_and_come_to_what_the_server_counts(
    console: Console, company: Running, admin: Client
) -> None:
    goods, name = await Goods.fresh(admin), unique("line")
    product = expect(await admin.get(f"{AT}/products/{goods.product_id}"))
    expect(await admin.patch(f"{AT}/products/{goods.product_id}", {"name": name, "version": product["version"]}))
    await do(console.visit, company.url, admin, "#/inventory.sales-order")
    totals = await do(order, console, name)
    assert [part for part in totals.split() if "." in part] == ["29.97", "3.90", "33.87"]
    (made,) = expect(await admin.get(f"{AT}/sales-orders?q={name}"))["items"]
    assert (made["lines"][0]["quantity"], made["amount"]) == ("30", "338.66")
    assert all("status of 400" in one for one in await do(console.complaints))


async def test_a_part_of_an_order_is_invoiced_by_its_lines_and_not_by_the_sum_that_is_open(
    console: Console, company: Running, admin: Client
) -> None:
    goods = await Goods.stocked(admin, 4)
    order = await goods.sale(4, "5.00")
    expect(await goods.deliver(order, 3))
    await do(console.visit, company.url, admin)
    await do(begin_invoice, console, order)
    await do(console.press, ".antd-Drawer [data-amis-name=kind] .antd-Select")
    await do(console.press, ".antd-Select-option:nth-child(3)")  # a part
    await do(console.until, lambda: not console.count(".antd-Drawer [name=amount]"))
    await do(console.press, CONFIRM)
    await do(console.until, lambda: not console.count(".antd-Drawer"))
    (made,) = expect(await admin.get("/api/v1/finance/invoices?page_size=1&sort=-created_at"))["items"]
    assert (made["kind"], made["amount"], made["lines"][0]["order_line"]) == ("part", "20.00", 1)


async def test_a_prepayment_is_asked_for_although_lines_were_begun(
    console: Console, company: Running, admin: Client
) -> None:
    goods = await Goods.stocked(admin, 4)
    order = await goods.sale(4, "5.00")
    expect(await goods.deliver(order, 1))
    await do(console.visit, company.url, admin)
    await do(begin_invoice, console, order)
    await do(console.type, ".antd-Drawer [name=amount]", Keys.CONTROL, "a")
    await do(console.type, ".antd-Drawer [name=amount]", "10.00")
    await do(console.press, ".lines .antd-Combo-addBtn")
    await do(console.until, lambda: console.count(".lines [name=quantity]"))
    await do(console.type, ".lines [name=quantity]", "2")
    await do(console.robot, "rest")  # what is counted of lines draws the form anew, and closes a list that is open
    await do(console.press, ".antd-Drawer [data-amis-name=kind] .antd-Select")
    await do(console.press, ".antd-Select-option:nth-child(2)")
    await do(console.until, lambda: not console.count(".antd-Drawer :is([data-amis-name=lines], .totals)"))
    await do(console.press, CONFIRM)
    await do(console.until, lambda: not console.count(".antd-Drawer"))
    (made,) = expect(await admin.get("/api/v1/finance/invoices?page_size=1&sort=-created_at"))["items"]
    assert (made["kind"], made["amount"], len(made["lines"])) == ("prepayment", "10.00", 1)


async def test_files_are_attached_to_a_record_and_a_refusal_says_why(
    console: Console, company: Running, admin: Client, tmp_path: Path
) -> None:
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("files")}))
    good, bad = tmp_path / "good.txt", tmp_path / "<b>bad.html"
    good.write_text("a text")
    bad.write_text("<p>a page")
    await do(console.visit, company.url, admin, f"#/records/crm.customers/{customer['id']}")
    await do(console.click, "Files")
    await do(console.until, lambda: console.count(".attachments .none"))
    await do(choose_file, console, ".attachments", good, bad)
    await do(console.until, lambda: console.count(".attachments .name") and console.count(".files [role=alert]"))
    assert "<b>bad.html" in console.shown(".attachments")
    query = f"biz_type=CUSTOMER&resource_id={customer['id']}"
    files = expect(await admin.get(f"/api/attachments?{query}"))["items"]
    assert [file["file_name"] for file in files] == ["good.txt"]


async def test_an_import_is_checked_first_and_names_each_fault(
    console: Console, company: Running, admin: Client, tmp_path: Path
) -> None:
    mark, table = unique("import"), tmp_path / "leads.xlsx"
    table.write_bytes(as_xlsx([["name", "company"], [mark, "first"], ["", "second"]]))
    await do(console.visit, company.url, admin, "#/crm.lead")
    await do(console.until, lambda: console.count(ROWS))
    await do(console.robot, "rest")  # a dialogue that opens while the list is drawn goes with it
    await do(console.click, "Import")
    await do(console.until, lambda: console.count(".importer input[type=file]"))
    await do(choose_file, console, ".importer", table)
    await do(console.until, lambda: "nothing is written yet: 1 would be new" in console.shown(".importer"))
    await do(console.until, lambda: "3\tname\tis required" in console.shown(".faults"))
    assert expect(await admin.get(f"/api/v1/crm/leads?q={mark}"))["items"] == []
    await do(
        console.browser.execute_script,
        "HTMLAnchorElement.prototype.click = function () { window.saved = this.download; }",
    )
    await do(console.click, "Download the faulty rows")
    await do(
        console.until,
        lambda: console.browser.execute_script("return window.saved") == "leads-Download the faulty rows.xlsx",
    )
    await do(console.click, "Write 1 record")
    await do(console.until, lambda: "Written: 1 new" in console.shown(".importer"))
    assert len(expect(await admin.get(f"/api/v1/crm/leads?q={mark}"))["items"]) == 1
    assert await do(console.complaints) == []


def type_and_reload(console: Console, name: str) -> None:
    """Begin a lead, refuse to lose it, reload the page, and send what is restored."""
    kept = "return Object.keys(sessionStorage).some((key) => key.endsWith('/crm/leads'))"
    console.until(lambda: console.count(ROWS))
    console.press(NEW)
    console.until(lambda: console.count(".antd-Drawer [name=name]"))
    assert console.shown(".antd-Drawer-title") == "Create lead"
    console.type(".antd-Drawer [name=name]", name)
    console.until(lambda: console.browser.execute_script(kept))
    console.browser.execute_script("window.confirm = () => false")
    console.press(".antd-Drawer-footer .antd-Button--default")
    assert console.count(".antd-Drawer [name=name]")
    console.browser.refresh()
    console.until(lambda: console.count(ROWS))
    console.press(NEW)
    console.until(lambda: console.value(".antd-Drawer [name=name]") == name)
    console.press(CONFIRM)
    console.until(lambda: not console.count(".antd-Drawer"))
    assert not console.browser.execute_script(kept)


def make_while_picking(console: Console, name: str) -> None:
    """Begin a contract, make its customer from the picker, and look at what the picker then holds."""
    console.until(lambda: console.count(ROWS))
    console.press(NEW)
    console.until(lambda: console.count(".antd-Drawer [data-amis-name=customer_id] .antd-Select"))
    console.robot("rest")  # a picker opens once it has loaded what can be chosen
    console.press(".antd-Drawer [data-amis-name=customer_id] .antd-Select")
    console.press(".antd-Select-addBtn")
    console.until(lambda: console.count(".antd-Drawer [name=name]") == 2)
    made = console.browser.find_elements(By.CSS_SELECTOR, ".antd-Drawer [name=name]")[-1]
    made.send_keys(name)
    console.click("Confirm")
    console.until(lambda: console.shown(".antd-Drawer [data-amis-name=customer_id]").endswith(name))


async def test_a_picker_makes_the_record_that_is_missing_and_holds_it(
    console: Console, company: Running, admin: Client
) -> None:
    name = unique("picked")
    await do(console.visit, company.url, admin, "#/crm.contract")
    await do(make_while_picking, console, name)
    assert len(expect(await admin.get(f"/api/v1/crm/customers?q={name}"))["items"]) == 1
    assert await do(console.complaints) == []


def look_beside(console: Console, name: str) -> None:
    """Look at the customer of a contract beside it, and go on to the customer's own page."""
    console.press("main .antd-Property a[href*='crm.customers']")
    console.until(lambda: name in console.shown(".antd-Drawer .antd-Property"))
    assert "#/records/crm.contracts" in console.browser.current_url
    console.click("Open page")
    console.until(lambda: console.shown("main .trail").startswith("Customers") and not console.count(".antd-Drawer"))


async def test_a_tab_counts_what_is_made_in_it(console: Console, company: Running, admin: Client) -> None:
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("counted")}))
    links = "[...document.querySelectorAll('main [class*=Tabs-link]')]"
    count = f"return {links}.find((one) => one.textContent.trim() === 'Contacts')?.dataset.count"
    await do(console.visit, company.url, admin, f"#/records/crm.customers/{customer['id']}")
    await do(console.until, lambda: console.browser.execute_script(count) == "0")
    await do(console.click, "Contacts")
    await do(console.press, "main .antd-Tabs-pane.is-active .antd-Crud-toolbar button")
    await do(console.until, lambda: console.count(".antd-Drawer [name=name]"))
    await do(console.type, ".antd-Drawer [name=name]", unique("contact"))
    await do(console.press, ".antd-Drawer [class*=Drawer-footer] button[class*=primary]")
    await do(console.until, lambda: console.browser.execute_script(count) == "1")


async def test_what_a_record_refers_to_is_shown_beside_it_before_its_page_is_opened(
    console: Console, company: Running, admin: Client
) -> None:
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("beside")}))
    body = {"customer_id": customer["id"], "name": unique("contract"), "amount": "5.00"}
    contract = expect(await admin.post("/api/v1/crm/contracts", body))
    await do(console.visit, company.url, admin, f"#/records/crm.contracts/{contract['id']}")
    await do(look_beside, console, customer["name"])
    assert await do(console.complaints) == []


async def test_what_was_typed_survives_a_reload_until_it_is_sent(
    console: Console, company: Running, admin: Client
) -> None:
    name = unique("draft")
    await do(console.visit, company.url, admin, "#/crm.lead")
    await do(type_and_reload, console, name)
    assert len(expect(await admin.get(f"/api/v1/crm/leads?q={name}"))["items"]) == 1


async def test_what_is_pasted_into_an_article_is_made_anew_without_scripts(
    console: Console, company: Running, admin: Client
) -> None:
    pasted = '<p style="color:red">text <a href="javascript:alert(2)">link</a><script>alert(3)</script><b>bold</b></p>'
    await do(console.visit, company.url, admin, "#/cms.article")
    await do(console.until, lambda: console.count(ROWS))
    await do(console.press, NEW)
    await do(console.until, lambda: console.count(".rich-text .area"))
    await do(console.browser.execute_script, PASTE, pasted)
    written = "return document.querySelector('.rich-text .area').getHTML()"
    assert await do(console.browser.execute_script, written) == "<p>text link<b>bold</b></p>"


def go_round(console: Console) -> None:
    """Open a form with a key, choose something, press the tabulator more often than there are fields, and leave it with Escape."""
    inside = "return document.activeElement.closest('.antd-Drawer') !== null"
    console.until(lambda: console.count(ROWS))
    console.robot("rest")
    console.browser.execute_script("document.querySelector(arguments[0]).focus()", NEW)
    console.keys(Keys.ENTER)
    console.until(lambda: console.count(".antd-Drawer [name=name]") and console.browser.execute_script(inside))
    console.reach("one.matches('[data-amis-name=owner_id] [role=combobox]')")
    console.keys(Keys.SPACE)  # what is chosen can be cleared, by a link within the picker
    console.until(lambda: "aria-autocomplete" in focus(console) and console.count("[role=option]"))
    console.keys(Keys.ARROW_DOWN, Keys.ENTER)
    console.until(lambda: console.count(".antd-Drawer .antd-Select-clear"))
    fields = console.count(".antd-Drawer [data-amis-name]")
    for _ in range(2 * fields):
        console.keys(Keys.TAB)
        assert console.browser.execute_script(inside)
    console.reach("one.matches('.antd-Drawer-footer .antd-Button--primary')")
    console.reach("one.matches('.antd-Drawer-close')")
    console.browser.execute_script("document.querySelector('.antd-Drawer').focus()")
    console.keys(Keys.SHIFT, Keys.TAB, Keys.NULL)
    assert console.browser.execute_script(inside)
    console.keys(Keys.ESCAPE)
    console.until(lambda: not console.count(".antd-Drawer"))
    console.until(lambda: console.browser.execute_script("return document.activeElement.matches(arguments[0])", NEW))


async def test_the_focus_stays_in_a_form_and_is_back_where_it_was_when_the_form_closes(
    console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/crm.lead")
    await do(go_round, console)


def type_moment(console: Console) -> str:
    """Type a moment into its control, key by key; returns what the control holds then."""
    console.until(lambda: console.count(NEW))
    console.robot("rest")
    console.press(NEW)
    console.until(lambda: console.count(".antd-Drawer [data-amis-name=starts_at] input"))
    console.type("[data-amis-name=starts_at] input", "2031-03-03 09:30")
    console.keys(Keys.TAB)  # its calendar would lie over what follows
    console.until(lambda: not console.count(".antd-DatePicker-popover"))
    return console.value("[data-amis-name=starts_at] input")


async def test_a_moment_is_typed_with_its_space_and_stays_as_it_was_typed(
    console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/approval.delegation")
    assert await do(type_moment, console) == "2031-03-03 09:30"
