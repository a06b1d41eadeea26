"""What was delivered or received and is not invoiced, line by line, on any day."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect
from tests.api.finance.books import AT
from tests.api.finance.test_billed_items import confirm, draft_of, item_of
from tests.api.finance.test_credit_notes import credit
from tests.api.finance.test_invoice_lines import billed
from tests.api.inventory.goods import Goods
from tests.api.inventory.test_lines import sold
from tests.api.inventory.test_returns import send_back, shipments

pytestmark = pytest.mark.gen_test(timeout=60)


async def unbilled(client: Client, item: dict[str, Any], day: str, **query: str) -> list[tuple[Any, ...]]:
    """The rows of an item: line, delivered, invoiced and open quantity, and what the latter comes to."""
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    rows = expect(await client.get(f"{AT}/unbilled?day={day}&page_size=200&{asked}"))["items"]
    names = ("line", "shipped", "billed", "quantity", "net")
    return [tuple(row[name] for name in names) for row in rows if row["open_item_id"] == item["id"]]


async def test_a_line_is_open_from_its_delivery_until_its_invoice_and_again_after_a_credit_note(admin: Client) -> None:
    goods = await Goods.stocked(admin, 20)
    order = await sold(goods, {"quantity": "10", "price": "3.333", "tax_rate": "0.13"}, freight="9.00")
    expect(await goods.deliver(order, 4, day="2018-03-02"))
    expect(await goods.deliver(order, 3, day="2018-03-10"))
    item = await item_of(admin, order)
    made = await billed(admin, item, {"order_line": 1, "quantity": "5"}, {"order_line": 0}, day="2018-03-12")
    expect(await credit(admin, made, lines=[{"line": 1, "quantity": "1"}], day="2018-03-20"))
    expect(await send_back(goods, (await shipments(admin, order))[0], 2, day="2018-03-25"))
    assert await unbilled(admin, item, "2018-03-01") == []
    freight = (0, "1", "0", "1", "9.00")
    assert await unbilled(admin, item, "2018-03-02") == [freight, (1, "4", "0", "4", "13.33")]
    assert await unbilled(admin, item, "2018-03-11") == [freight, (1, "7", "0", "7", "23.33")]
    assert await unbilled(admin, item, "2018-03-12") == [(1, "7", "5", "2", "6.66")]
    assert await unbilled(admin, item, "2018-03-20") == [(1, "7", "4", "3", "9.99")]
    assert await unbilled(admin, item, "2018-03-25") == [(1, "5", "4", "1", "3.33")]
    rest = await billed(admin, item, {"order_line": 1, "quantity": "1"}, day="2018-03-28")
    assert (rest["amount"], await unbilled(admin, item, "2018-03-28")) == ("3.33", [])
    assert await unbilled(admin, item, "2018-03-20") == [(1, "7", "4", "3", "9.99")]
    table = (await admin.get(f"{AT}/unbilled/export?day=2018-03-20&format=csv")).body.decode()
    assert f"{order['number']}" in table


async def test_receipts_count_for_payables_and_an_invoice_without_lines_is_taken_off_as_a_whole(
    admin: Client, people: People
) -> None:
    goods = await Goods.fresh(admin)
    order = expect(await goods.receive(await goods.purchase(10, "7.00"), 6, day="2018-04-02"))
    item = await item_of(admin, order, "payables")
    expect(await confirm(admin, expect(await draft_of(admin, item, "30.00", day="2018-04-05"))))
    assert await unbilled(admin, item, "2018-04-04", kind="payable") == [(1, "6", "0", "6", "42.00")]
    assert await unbilled(admin, item, "2018-04-05", kind="payable") == [
        (1, "6", "0", "6", "42.00"),
        (None, None, None, None, "-30.00"),
    ]
    other = await people.person(["finance:unbilled:list"])
    assert await unbilled(other, item, "2018-04-05", kind="payable") == []
