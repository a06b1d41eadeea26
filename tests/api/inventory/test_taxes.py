"""Taxes as records: what they say, and which of them the lines of an order take."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
TAXES, SALES, PURCHASES = f"{AT}/taxes", f"{AT}/sales-orders", f"{AT}/purchase-orders"


async def tax(admin: Client, rate: str, **further: Any) -> dict[str, Any]:
    """A new tax."""
    code = unique("TAX")
    made: dict[str, Any] = expect(await admin.post(TAXES, {"code": code, "name": code, "rate": rate, **further}))
    return made


async def taxed(goods: Goods, *lines: dict[str, Any], **further: Any) -> list[tuple[Any, ...]]:
    """The tax, rate, net and tax amount of each line of a new sales order of one piece at 113.00."""
    made = [{"product_id": goods.product_id, "quantity": "1", "price": "113", **line} for line in lines]
    order = expect(await goods.client.post(SALES, {"customer_name": "somebody", "lines": made, **further}))
    return [tuple(line[name] for name in ("tax_id", "tax_rate", "net", "tax")) for line in order["lines"]]


async def test_a_line_takes_the_tax_of_its_customer_or_of_its_product_unless_it_names_one(admin: Client) -> None:
    normal, low = await tax(admin, "0.13"), await tax(admin, "0.06", included=True)
    abroad = await tax(admin, "0", treatment="reverse_charge", reason="Article 196 of Directive 2006/112/EC")
    goods = await Goods.fresh(admin, tax_id=normal["id"])
    given = [{}, {"tax_id": low["id"]}, {"tax_rate": "0.08875"}, {"tax_id": normal["id"], "tax_rate": "0.13"}]
    assert await taxed(goods, *given) == [
        (normal["id"], "0.13", "113.00", "14.69"),
        (low["id"], "0.06", "106.60", "6.40"),
        (None, "0.08875", "113.00", "10.03"),
        (normal["id"], "0.13", "113.00", "14.69"),
    ]
    customer = {"name": unique("abroad"), "tax_id": abroad["id"]}
    customer_id = expect(await admin.post("/api/v1/crm/customers", customer))["id"]
    assert await taxed(goods, {}, customer_id=customer_id) == [(abroad["id"], "0", "113.00", "0.00")]
    supplier = {"code": unique("SUP"), "name": "abroad", "tax_id": abroad["id"]}
    supplier_id = expect(await admin.post(f"{AT}/suppliers", supplier))["id"]
    lines = [{"product_id": goods.product_id, "quantity": "1"}]
    bought = expect(await admin.post(PURCHASES, {"supplier_id": supplier_id, "lines": lines}))
    assert bought["lines"][0]["tax_id"] == abroad["id"]


async def test_a_changed_tax_changes_no_document_and_a_disabled_one_is_not_taken(admin: Client) -> None:
    one = await tax(admin, "0.17")
    goods = await Goods.fresh(admin, tax_id=one["id"])
    line = {"product_id": goods.product_id, "quantity": "1", "price": "100"}
    order = expect(await admin.post(SALES, {"customer_name": "somebody", "lines": [line]}))
    change = {"version": 1, "rate": "0.13", "status": "disabled"}
    expect(await admin.patch(f"{TAXES}/{one['id']}", change))
    freight = {"version": order["version"], "freight": "1"}
    assert expect(await admin.patch(f"{SALES}/{order['id']}", freight))["tax_amount"] == "17.00"
    assert (await taxed(goods, {}))[0][:2] == (None, None)
    named = {"customer_name": "somebody", "lines": [{**line, "tax_id": one["id"]}]}
    assert (await admin.post(SALES, named)).fields == {"lines[0].tax_id"}
    expect(await admin.delete(f"{TAXES}/{one['id']}"), 40901)


async def test_a_rate_that_is_not_that_of_the_tax_is_refused(admin: Client) -> None:
    goods, one = await Goods.fresh(admin), await tax(admin, "0.13")
    line = {"product_id": goods.product_id, "quantity": "1", "tax_id": one["id"], "tax_rate": "0.06"}
    assert (await admin.post(SALES, {"customer_name": "somebody", "lines": [line]})).fields == {"lines[0].tax_rate"}


async def test_what_is_not_taxed_has_no_rate_and_says_why(admin: Client) -> None:
    body = {"code": unique("TAX"), "name": "exempt", "rate": "0.06", "treatment": "exempt"}
    assert (await admin.post(TAXES, body)).fields == {"rate"}
    assert (await admin.post(TAXES, {**body, "rate": "0"})).fields == {"reason"}
    made = expect(await admin.post(TAXES, {**body, "rate": "0", "reason": "免税"}))
    assert (await admin.patch(f"{TAXES}/{made['id']}", {"version": 1, "reason": None})).fields == {"reason"}
