"""Lines of statements and reminders name the invoices, and what changed what is owed, not the order alone."""

from __future__ import annotations

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.sales import customer
from tests.api.finance.accounts_of_parties import statement
from tests.api.finance.books import AT, Books
from tests.api.finance.test_billed_items import confirm, item_of
from tests.api.inventory.goods import AT as INVENTORY, Goods

pytestmark = pytest.mark.gen_test(timeout=60)


async def test_the_lines_of_an_order_name_invoices_payments_and_credit_notes(admin: Client) -> None:
    goods, books, who = await Goods.stocked(admin, 20), await Books.fresh(admin), await customer(admin)
    line = {"product_id": goods.product_id, "quantity": "10", "price": "10.00"}
    body = {"customer_id": who["id"], "lines": [line], "warehouse_id": goods.warehouse_id}
    draft = expect(await admin.post(f"{INVENTORY}/sales-orders", body))
    order = expect(await admin.post(f"{INVENTORY}/sales-orders/{draft['id']}/confirm"))
    numbers = []
    for units in ("4", "6"):
        expect(await goods.deliver(order, units))
        item = await item_of(admin, order)
        bill = {"direction": "out", "open_item_id": item["id"], "lines": [{"order_line": 1, "quantity": units}]}
        invoice = expect(await confirm(admin, expect(await admin.post(f"{AT}/invoices", bill))))
        numbers.append(invoice["number"])
    bank = unique("TT")
    payment = expect(await books.enter("in", "50.00", (await item_of(admin, order), "50.00"), reference=bank))
    expect(await admin.post(f"{AT}/invoices/{invoice['id']}/credit-notes", {"lines": [{"line": 1, "quantity": "1"}]}))
    (note,) = expect(await admin.get(f"{AT}/credit-notes?invoice_id={invoice['id']}"))["items"]
    lines = (await statement(admin, {"customer_id": who["id"]}))["items"]
    assert {line["number"] for line in lines} == {order["number"]}
    assert [(line["invoice_numbers"], line["reference"]) for line in lines] == [
        (numbers[0], None),
        (numbers[1], None),
        (", ".join(numbers), f"{payment['number']} {bank}"),
        (numbers[1], note["number"]),
    ]
