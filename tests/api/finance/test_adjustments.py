"""Adjustments over HTTP: rebates, cash discounts and the like lower what is owed, and no money moves."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from plugins.testing import Client, Reply, expect
from tests.api.crm.sales import in_force
from tests.api.finance.accounts_of_parties import aged, billed as invoiced, new_customer, paid, statement
from tests.api.finance.books import AT, Books
from tests.api.finance.test_billed_items import billed, item_of, owed
from tests.api.finance.test_credit_notes import credit, read
from tests.api.inventory.goods import Goods
from tests.api.inventory.test_returns import delivered, send_back

pytestmark = pytest.mark.gen_test(timeout=60)
DAY, LATER = "2026-11-20", "2026-11-25"


async def adjust(client: Client, item: dict[str, Any], kind: str, amount: str, **further: Any) -> Reply:
    return await client.post(f"{AT}/open-items/{item['id']}/adjustments", {"kind": kind, "amount": amount, **further})


async def reverse(client: Client, adjustment: dict[str, Any], **body: Any) -> Reply:
    return await client.post(f"{AT}/adjustments/{adjustment['id']}/reverse", body)


async def test_each_kind_settles_what_is_not_paid_of_an_invoice_with_an_entry_of_its_own(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    invoice = await invoiced(admin, party, "100.00", DAY, DAY)
    item = await item_of(admin, invoice)
    kinds = {"rebate": "10.00", "cash_discount": "2.00", "charge": "0.50", "difference": "0.01"}
    made = [expect(await adjust(admin, item, kind, amount, day=LATER)) for kind, amount in kinds.items()]
    assert await aged(admin, party, LATER) == ("0.00", "87.49", "0.00", "0.00", "0.00")
    await paid(books, invoice, "80.00", LATER)
    assert expect(await adjust(admin, item, "write_off", "7.50"), 40901)["open"] == "7.49"
    made.append(expect(await adjust(admin, item, "write_off", "7.49", day=LATER, reason="insolvent")))
    assert (await read(admin, invoice))["status"] == "paid"
    told = await statement(admin, party)
    assert Counter(line["kind"] for line in told["items"]) == Counter(["owed", *kinds, "paid", "write_off"])
    assert (told["closing_balance"], await books.balance()) == ("0.00", "80.00")
    for one in made:
        expect(await reverse(admin, one, day=LATER))
    after = await read(admin, invoice)
    assert (after["status"], after["adjusted"], await owed(admin, invoice)) == ("partly_paid", "0.00", "20.00")
    expect(await reverse(admin, made[0]), 40901)


async def test_an_adjustment_of_a_delivered_order_settles_the_invoice_that_bills_it(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 2, "50.00")
    item = await item_of(admin, order)
    made = expect(await adjust(admin, item, "rebate", "30.00"))
    invoice = await billed(admin, item, "100.00")
    assert await owed(admin, order) == "70.00"
    books = await Books.fresh(admin)
    expect(await books.enter("in", "70.00", (await item_of(admin, order), "70.00")))
    assert (await read(admin, invoice))["status"] == "paid"
    expect(await reverse(admin, made))
    after = await read(admin, invoice)
    assert (after["status"], after["adjusted"]) == ("partly_paid", "0.00")
    assert await owed(admin, order) == "30.00"
    expect(await adjust(admin, item, "rebate", "30.00"))
    expect(await send_back(goods, delivery, 2))
    assert await owed(admin, order) == "-70.00"


async def test_what_is_adjusted_is_not_credited_too_and_never_more_than_is_open_is_adjusted_at_once(
    admin: Client,
) -> None:
    invoice = await invoiced(admin, await new_customer(admin), "100.00", DAY, None)
    item = await item_of(admin, invoice)
    replies = await asyncio.gather(*(adjust(admin, item, "rebate", "40.00") for _ in range(4)))
    assert Counter(reply.code for reply in replies) == Counter({0: 2, 40901: 2})
    assert expect(await credit(admin, invoice), 40901)["open"] == "20.00"
    expect(await credit(admin, invoice, amount="20.00"))
    assert await owed(admin, invoice) == "0.00"


async def test_an_adjustment_needs_a_known_kind_an_amount_above_zero_and_a_day_on_which_the_item_was_owed(
    admin: Client,
) -> None:
    item = await item_of(admin, await in_force(admin, "100.00"))
    faulty = [("gift", "1.00", {}), ("rebate", "0.00", {}), ("rebate", "1.00", {"day": "2000-01-01"})]
    fields = [(await adjust(admin, item, kind, amount, **more)).fields for kind, amount, more in faulty]
    assert fields == [{"kind"}, {"amount"}, {"day"}]
    expect(await adjust(admin, item, "rebate", "1.00"))
    assert await owed(admin, {"id": item["resource_id"]}) == "99.00"
