"""Jobs with goods and money: buying, selling, invoicing, paying."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import typst
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from plugins.testing import unique
from tests.experiments.browser.jobs.hand import Hand
from tests.experiments.browser.jobs.jobs import Desk
from tests.support.e_invoice_files import digitalised, fresh_number

_LEAST_INK = 1000  # dark points of a page that says something
PRODUCTS = [f"P-100{number}" for number in range(1, 8)] + ["P-2001", "P-2002", "P-3001"]
_BRACKET = "铝合金支架"
_TOTALS = ".antd-Drawer .totals"


def purchase_to_stock(desk: Desk) -> None:
    """Somebody who buys enters an order of ten lines with keys and submits it; another one confirms and receives it."""
    hand = desk.sit_down("manager")
    hand.go("inventory.purchase-order")
    hand.press("Create")
    hand.pick("supplier_id", "华东金属")
    hand.pick("warehouse_id", "上海仓")
    lines(hand, [(sku, "20", "12.50") for sku in PRODUCTS])
    hand.console.until(lambda: "2,500.00" in hand.console.shown(_TOTALS))
    hand.shot("order-lines")
    hand.confirm()
    hand.click("main tbody tr a")
    hand.shown()
    number = hand.title()
    hand.act("Submit")
    hand.confirm()
    hand = desk.sit_down("admin")
    hand.open_news(number)
    hand.act("Confirm")
    hand.confirm()
    hand.act("Receive")
    hand.shot("receipt-form")
    hand.confirm()
    hand.tab("Receipts")
    hand.row("GR-")
    receipt = hand.title()
    hand.go("inventory.stock")
    hand.shot("stock")
    hand.tab("Stock ledger")
    hand.sees(receipt)


def sale_to_return(desk: Desk) -> None:
    """An order of three lines is confirmed, delivered and invoiced; then the customer returns a part."""
    hand = desk.sit_down("sales")
    hand.go("inventory.sales-order")
    hand.press("Create")
    hand.pick("customer_id", "晨光科技")
    hand.pick("warehouse_id", "上海仓")
    lines(hand, [(sku, "2", "30") for sku in PRODUCTS[:3]])
    hand.confirm()
    hand.click("main tbody tr a")
    hand.shown()
    order = hand.title()
    hand = desk.sit_down("manager")
    hand.go("inventory.sales-order")
    hand.row(order)
    hand.act("Confirm")
    hand.confirm()
    hand.act("Deliver")
    hand.shot("delivery-form")
    hand.confirm()
    hand = desk.sit_down("admin")
    hand.go("finance.invoice")
    hand.tab("Receivables")
    hand.search(order)
    hand.press(desk.say("新增发票…", "New invoice…"), within="main tbody tr")
    hand.type("number", number := unique("INV"))
    hand.console.until(lambda: hand.console.value(".antd-Drawer [name=amount]") == "180.00")
    hand.shot("invoice-form")
    hand.confirm()
    hand.tab("Invoices")
    hand.search(number)
    hand.row(number)
    hand.act("Confirm")
    hand.confirm()
    hand = desk.sit_down("manager")
    hand.go("inventory.sales-order")
    hand.row(order)
    hand.tab("Deliveries")
    hand.row("DN-")
    hand.act("Return from the customer")
    hand.tap(lambda: hand.browser.find_elements(By.CSS_SELECTOR, ".lines .antd-Combo-delBtn")[-1])
    hand.type("reason", desk.say("包装破损", "The packing was damaged"))
    hand.shot("return-form")
    hand.confirm()
    hand.tab("Sales returns")
    hand.sees("SR-")


def lines(hand: Hand, rows: Sequence[Sequence[str]]) -> None:
    """Enter lines with keys: Enter goes from cell to cell, and from the last one to a new line."""
    hand.click(".lines .antd-Combo-addBtn")
    hand.console.until(
        lambda: hand.browser.execute_script("return document.activeElement.matches('.lines [role=combobox]')")
    )
    enter_lines(hand, rows)


def enter_lines(hand: Hand, rows: Sequence[Sequence[str]]) -> None:
    """Enter lines from the picker on that has the focus."""
    focus = "return document.activeElement.outerHTML.replace(/>.*/s, '>')"
    for number, (sku, *cells) in enumerate(rows):
        hand.console.keys(Keys.ENTER)
        hand.console.until(lambda: "aria-autocomplete" in hand.browser.execute_script(focus))
        hand.console.keys(sku)
        hand.console.until(lambda: hand.console.count("[role=option]") == 1)
        hand.console.keys(Keys.ARROW_DOWN, Keys.ENTER)
        hand.console.until(lambda: 'name="quantity"' in hand.browser.execute_script(focus))
        for cell in cells:
            hand.console.keys(cell, Keys.ENTER)
        hand.fields += 1 + len(cells)
        while number < len(rows) - 1 and "combobox" not in hand.browser.execute_script(focus):
            hand.console.keys(Keys.ENTER)


def _line(hand: Hand, product: str, quantity: str) -> None:
    """Enter one line as with the mouse, or on the phone."""
    if not hand.console.count(".antd-Drawer .lines [name=quantity]"):
        hand.click(".lines .antd-Combo-addBtn")
    hand.pick("product_id", product)
    hand.type("quantity", quantity)


def order_revised(desk: Desk) -> None:
    """The customer of a confirmed order wants more: the manager revises it, and reads what the versions are."""
    hand = desk.sit_down("sales")
    hand.go("inventory.sales-order")
    hand.press("Create")
    hand.pick("customer_id", "晨光科技")
    hand.pick("warehouse_id", "上海仓")
    _line(hand, _BRACKET, "2")
    hand.type("price", "30")
    hand.confirm()
    hand.click("main tbody tr a")
    hand.shown()
    order = hand.title()
    hand = desk.sit_down("manager")
    hand.go("inventory.sales-order")
    hand.row(order)
    hand.act("Confirm")
    hand.confirm()
    hand.act(desk.say("变更", "Revise"))  # quotations have another Chinese word for it
    hand.type("reason", why := desk.say("客户追加三件", "The customer wants three more"))
    hand.type("quantity", "5")
    hand.console.until(lambda: "150.00" in hand.console.shown(_TOTALS))
    hand.shot("revision-form")
    hand.confirm()
    hand.tab(desk.say("订单版本", "Versions"))
    hand.sees(why)
    hand.shot("order-versions")


def sale_in_a_currency(desk: Desk) -> None:
    """An administrator enters a rate and prices in a currency; somebody who sells quotes by them, and has it ordered."""
    code, prices = desk.say("USD", "EUR"), unique(desk.say("出口价目", "Export prices"))
    hand = desk.sit_down("admin")
    hand.go("finance.exchange-rate")
    hand.press("Create")
    hand.type("currency", code)
    hand.day("day", "2026-11-01")
    hand.type("rate", desk.say("7.12", "7.85"))
    hand.confirm()
    hand.go("inventory.price-list")
    hand.press("Create")
    hand.type("code", unique("EXP"))
    hand.type("name", prices)
    hand.click('[data-amis-name="for_all"] .antd-Switch')
    hand.type("currency", code)
    hand.confirm()
    hand.row(prices)
    hand.tab("Prices")
    hand.press("Create")
    hand.pick("product_id", _BRACKET)
    hand.type("price", "3.25")
    hand.confirm()
    hand.sees(_BRACKET)
    hand.shot("price-list")
    hand = desk.sit_down("sales")
    hand.go("inventory.quotation")
    hand.press("Create")
    hand.pick("customer_id", "晨光科技")
    hand.pick("warehouse_id", "上海仓")
    hand.type("currency", code)
    _line(hand, _BRACKET, "40")
    hand.console.until(lambda: "130.00" in hand.console.shown(_TOTALS))  # at the price of the list, which nobody typed
    hand.shot("quotation-currency")
    hand.confirm()
    hand.click("main tbody tr a")
    hand.shown()
    for action in ("Send", "Accept", "Order"):
        hand.act(action)
        hand.confirm()
    hand.tab("Sales orders")
    hand.row("SO-")
    hand.sees(code)
    hand.shot("order-currency")


def e_invoice_entered(desk: Desk) -> None:
    """The accountant makes a draft of an e-invoice that a supplier sent; the file is attached to it."""
    hand, number = desk.sit_down("admin"), fresh_number()
    hand.go("finance.invoice")
    hand.press(desk.say("从电子发票新增", "New from an e-invoice"))
    with TemporaryDirectory() as folder:
        file = Path(folder, "invoice.xml")
        file.write_bytes(digitalised(number))
        hand.choose(file, part=".antd-Drawer .stored-file")
        hand.console.until(lambda: file.name in hand.console.shown(".antd-Drawer .stored-file"))
    hand.shot("e-invoice-form")
    hand.confirm()
    hand.row(number)
    hand.shot("e-invoice")
    hand.tab("Files")
    hand.sees(file.name)


def quotation_printed(desk: Desk) -> None:
    """Somebody who sells quotes three products, and saves the quotation as the paper that the customer gets."""
    hand = desk.sit_down("sales")
    hand.go("inventory.quotation")
    hand.press("Create")
    hand.pick("customer_id", "晨光科技")
    lines(hand, [(sku, "4", "25") for sku in PRODUCTS[:3]])
    hand.shot("quotation-form")
    hand.confirm()
    hand.click("main tbody tr a")
    hand.shown()
    hand.shot("quotation")
    paper = drawn(hand.save("Print"))
    with Image.open(BytesIO(paper)) as page:
        ink = sum(page.convert("L").histogram()[:128])
    assert ink > _LEAST_INK, ink
    hand.keep("quotation-paper", paper)


def drawn(pdf: bytes) -> bytes:
    """The first page of a PDF as a picture."""
    with TemporaryDirectory() as folder:
        Path(folder, "paper.pdf").write_bytes(pdf)
        page = Path(folder, "page.typ")
        page.write_text('#set page(width: auto, height: auto, margin: 0pt)\n#image("paper.pdf")')
        made = typst.compile(str(page), root=folder, format="png", ppi=110)
    assert isinstance(made, bytes)
    return made


def payment_allocated(desk: Desk) -> None:
    """The accountant confirms an invoice, enters what was paid, and settles the invoice with it."""
    hand, number = desk.sit_down("admin"), unique("INV")
    hand.go("finance.invoice")
    hand.press("Create")
    hand.pick("direction", "Sent", typed=False)
    hand.type("number", number)
    hand.pick("customer_id", "晨光科技")
    hand.type("amount", "1130")
    hand.type("tax", "130")
    hand.confirm()
    hand.row(number)
    hand.act("Confirm")
    hand.confirm()
    hand.go("finance.payment")
    hand.press("Create")
    hand.pick("direction")
    hand.pick("account_id")
    hand.pick("customer_id", "晨光科技")
    hand.type("amount", "1260")
    hand.confirm()
    hand.click("main tbody tr a")
    hand.shown()
    hand.act("Allocate")
    hand.click(".lines .antd-Combo-addBtn")
    hand.pick("open_item_id", number)
    hand.type("amount", "1260")
    hand.shot("allocation")
    hand.confirm()
    hand.tab("Allocations")
    hand.sees(number)
