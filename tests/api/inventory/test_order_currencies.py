"""Orders in a currency over HTTP: they keep their amounts in it, and stock and figures count the company's own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, expect, unique
from tests.api.approval.flows import AT as FLOWS, DEFINITIONS, define, node
from tests.api.finance.test_billed_items import item_of, owed
from tests.api.finance.test_currencies import rate
from tests.api.finance.test_invoice_lines import billed
from tests.api.inventory.goods import AT, Goods
from tests.api.inventory.test_lines import PURCHASES, SALES
from tests.api.inventory.test_order_amounts import traded_in
from tests.api.inventory.test_order_tables import load, orders_of, sku_of
from tests.api.inventory.test_prices import listed
from tests.api.inventory.test_returns import send_back, shipments

pytestmark = pytest.mark.gen_test(timeout=30)
FINANCE, CRM = "/api/v1/finance", "/api/v1/crm"
QUOTATIONS = f"{AT}/quotations"
UNKNOWN, FIRST, DAY = [(date.today() - timedelta(days=days)).isoformat() for days in (76, 75, 60)]
MONTH = DAY[:7]
RATE = "0.33333333"  # of which the parts of an amount do not add up by themselves


@pytest.fixture
def rates(admin: Client, io_loop: IOLoop) -> Iterator[None]:
    """Rates of two currencies."""
    at, made = f"{FINANCE}/exchange-rates", []
    for code, worth in (("NOK", RATE), ("DKK", "2")):
        body = {"currency": code, "day": FIRST, "rate": worth}
        made.append(expect(io_loop.run_sync(partial(admin.post, at, body))))
    yield
    for one in made:
        expect(io_loop.run_sync(partial(admin.delete, f"{at}/{one['id']}")))


async def party(client: Client, at: str, currency: str | None, **further: Any) -> str:
    """A customer or supplier whose documents are in a currency."""
    body = {"name": unique("party"), "currency": currency, **further}
    if at == f"{AT}/suppliers":
        body["code"] = unique("SUP")
    return str(expect(await client.post(at, body))["id"])


async def ordered(goods: Goods, at: str, quantity: str, price: str | None = None, **order: Any) -> dict[str, Any]:
    """A confirmed order of the goods."""
    line = {"product_id": goods.product_id, "quantity": quantity, "price": price, "tax_rate": "0.13"}
    body = {"warehouse_id": goods.warehouse_id, "ordered_on": DAY, "lines": [line], **order}
    draft = expect(await goods.client.post(at, body))
    confirmed: dict[str, Any] = expect(await goods.client.post(f"{at}/{draft['id']}/confirm"))
    return confirmed


@pytest.mark.usefixtures("rates")
async def test_goods_that_are_bought_in_a_currency_cost_what_they_are_worth_and_owe_what_was_agreed(
    admin: Client,
) -> None:
    goods = await Goods.fresh(admin, cost="4.00")
    supplier = await party(admin, f"{AT}/suppliers", "NOK")
    before = await traded_in(admin, MONTH, "purchase")
    order = await ordered(goods, PURCHASES, "3", "10.00", supplier_id=supplier, freight="1.00")
    assert (order["currency"], order["rate"], order["amount"]) == ("NOK", RATE, "34.90")
    assert await traded_in(admin, MONTH, "purchase") - before == Decimal("11.63")
    for quantity, worth in ((1, "3.33"), (2, "10.00")):
        expect(await goods.receive(order, quantity, day=DAY))
        assert (await goods.stock())[1] == worth
    first, last = await shipments(admin, order)
    assert (first["currency"], first["amount"], first["cost"]) == ("NOK", "12.30", "3.33")
    back = expect(await send_back(goods, last, 1, day=DAY))
    assert [back[name] for name in ("currency", "amount", "cost", "difference")] == ["NOK", "11.30", "3.33", "-0.01"]
    item = await item_of(admin, order, "payables")
    assert [item[name] for name in ("amount", "currency", "rate", "base_amount")] == ["23.60", "NOK", RATE, "7.87"]
    assert await owed(admin, order, "payables") == "7.87"
    assert await traded_in(admin, MONTH, "purchase") - before == Decimal("7.87")
    query = f"{PURCHASES}/last-prices?product_id={goods.product_id}"
    (price,) = expect(await admin.get(query))["items"]
    assert (price["price"], price["currency"]) == ("10.00", "NOK")


@pytest.mark.usefixtures("rates")
async def test_a_sale_in_a_currency_takes_prices_in_it_and_earns_what_they_are_worth(admin: Client) -> None:
    goods = await Goods.stocked(admin, 9, "4.00")
    own = await listed(goods, ("0", "1.11"), currency="CNY")
    in_currency = await listed(goods, ("0", "7.50"), currency="DKK")
    customer = await party(admin, f"{CRM}/customers", "DKK", price_list_ids=[own, in_currency])
    order = await ordered(goods, SALES, "2", customer_id=customer, customer_name=unique("客户"))
    assert (order["currency"], order["rate"], order["amount"]) == ("DKK", "2.00", "16.95")
    assert [order["lines"][0][name] for name in ("price", "price_list_id")] == ["7.50", in_currency]
    expect(await goods.deliver(order, day="2016-03-03"))
    query = f"from=2016-03-01&to=2016-03-31&product_id={goods.product_id}"
    (row,) = expect(await admin.get(f"{AT}/margins?{query}"))["items"]
    assert [row[name] for name in ("net", "cost", "margin")] == ["30.00", "8.00", "22.00"]
    invoice = await billed(admin, await item_of(admin, order), day=DAY)
    assert [invoice[name] for name in ("total", "currency", "rate")] == ["16.95", "DKK", "2.00"]
    lines = [{"product_id": goods.product_id, "quantity": "2"}]
    asked = {"customer_id": customer, "lines": lines}
    for currency, price, list_id in (("NOK", "29.70", None), ("CNY", "1.11", own)):
        told = expect(await admin.post(f"{SALES}/amounts", {**asked, "currency": currency, "ordered_on": DAY}))
        assert (told["lines"][0]["price"], told["lines"][0]["price_list_id"]) == (price, list_id)
    free = {"direction": "out", "counterparty": "c", "number": unique("INV"), "day": DAY, **asked}
    invoice = expect(await admin.post(f"{FINANCE}/invoices", free))
    assert [invoice[name] for name in ("total", "currency")] == ["15.00", "DKK"]
    mixed = f"{SALES}?sum=amount&customer_id={customer}"
    assert expect(await admin.get(mixed))["sums"] == {"amount": "16.95"}
    await ordered(goods, SALES, "1", customer_id=customer, currency="CNY")
    assert expect(await admin.get(mixed))["sums"] is None


async def test_what_is_less_after_its_month_was_closed_is_less_in_the_companys_currency(admin: Client) -> None:
    goods, day = await Goods.stocked(admin, 2), "2009-05-31"
    order = await ordered(
        goods, SALES, "2", "10.00", customer_name="c", currency="NOK", rate="1.23456789", ordered_on=day
    )
    expect(await goods.deliver(order, day=day))
    expect(await admin.post(f"{FINANCE}/periods/{day[:7]}/close"))
    (delivery,) = await shipments(admin, order)
    expect(await send_back(goods, delivery, 1, day="2009-06-01"))
    (change,) = expect(await admin.get(f"{AT}/sales-order-changes?order_id={order['id']}"))["items"]
    assert (change["day"], change["amount"]) == ("2009-06-01", "-13.95")  # 27.90 less 13.95
    assert expect(await admin.get(f"{SALES}/{order['id']}"))["booked_later"] == "-13.95"


@pytest.mark.usefixtures("rates")
async def test_what_has_no_rate_no_prices_or_a_contract_in_another_currency_is_refused(admin: Client) -> None:
    goods, customer = await Goods.fresh(admin), await party(admin, f"{CRM}/customers", "NOK")
    contract = {"customer_id": customer, "name": "c", "amount": "1.00", "currency": "CNY"}
    contract = expect(await admin.post(f"{CRM}/contracts", contract))
    line = {"product_id": goods.product_id, "quantity": "1", "price": "999999999.99"}
    good = {"customer_id": customer, "ordered_on": DAY, "lines": [line]}
    for body, field in (
        ({"ordered_on": UNKNOWN}, "currency"),
        ({"currency": "SEK"}, "currency"),
        ({"currency": "CNY", "rate": "2"}, "rate"),
        ({"rate": "999999.99"}, "rate"),
        ({"currency": "NOK", "contract_id": contract["id"]}, "currency"),
    ):
        assert (await admin.post(SALES, {**good, **body})).fields == {field}, body
    own = expect(await admin.post(SALES, {**good, "contract_id": contract["id"]}))
    assert (own["currency"], own["rate"]) == (None, None)
    draft = expect(await admin.post(SALES, good))
    at = f"{SALES}/{draft['id']}"
    for body, field in (
        ({"currency": "DKK"}, "lines"),
        ({"currency": None}, "lines"),
        ({"contract_id": contract["id"]}, "currency"),
        ({"rate": "999999.99"}, "rate"),
    ):
        assert (await admin.patch(at, {**body, "version": draft["version"]})).fields == {field}, body
    changed = expect(await admin.patch(at, {"rate": "0.5", "version": draft["version"]}))
    assert (changed["currency"], changed["rate"], changed["amount"]) == ("NOK", "0.50", draft["amount"])
    change = {"currency": "DKK", "lines": [{**line, "price": None}], "version": changed["version"]}
    changed = expect(await admin.patch(at, change))
    assert (changed["rate"], changed["lines"][0]["price"]) == ("2.00", "4.95")


@pytest.mark.usefixtures("rates")
async def test_a_draft_has_the_rate_of_its_day_unless_somebody_typed_one(admin: Client) -> None:
    goods, customer = await Goods.fresh(admin), await party(admin, f"{CRM}/customers", "DKK")
    lines = [{"product_id": goods.product_id, "quantity": "1", "price": "10.00"}]
    async with rate(admin, "DKK", "3", DAY):
        for at, dated in ((SALES, "ordered_on"), (QUOTATIONS, "quoted_on")):
            draft = expect(await admin.post(at, {"customer_id": customer, dated: FIRST, "lines": lines}))
            for change, expected in (
                ({dated: DAY}, "3.00"),
                ({"remark": "later"}, "3.00"),
                ({dated: FIRST}, "2.00"),
                ({"rate": "2.5"}, "2.50"),
                ({dated: DAY}, "2.50"),
            ):
                draft = expect(await admin.patch(f"{at}/{draft['id']}", {**change, "version": draft["version"]}))
                assert (draft["currency"], draft["rate"]) == ("DKK", expected), (at, change)


@pytest.mark.usefixtures("rates")
async def test_the_last_price_is_proposed_again_as_long_as_the_supplier_has_its_currency(admin: Client) -> None:
    goods, supplier = await Goods.fresh(admin), await party(admin, f"{AT}/suppliers", "NOK")
    await ordered(goods, PURCHASES, "1", "10.00", supplier_id=supplier)
    place = {"product_id": goods.product_id, "warehouse_id": goods.warehouse_id}
    level = expect(await admin.post(f"{AT}/reorder-levels", {**place, "level": "5"}))
    proposals = f"{AT}/reorder-proposals?product_id={goods.product_id}"
    for currency, price, ordered_at in (("NOK", "10.00", "10.00"), ("DKK", None, "2.00")):
        kept = expect(await admin.get(f"{AT}/suppliers/{supplier}"))
        expect(await admin.patch(f"{AT}/suppliers/{supplier}", {"currency": currency, "version": kept["version"]}))
        (proposed,) = expect(await admin.get(proposals))["items"]
        assert (proposed["price"], proposed["currency"]) == (price, currency)
        made = expect(await admin.post(f"{AT}/reorder-proposals/{level['id']}/order"))
        assert (made["currency"], made["lines"][0]["price"]) == (currency, ordered_at)
        expect(await admin.delete(f"{PURCHASES}/{made['id']}"))


@pytest.mark.usefixtures("rates")
async def test_an_imported_order_has_the_currency_of_its_rows(admin: Client) -> None:
    goods, reference = await Goods.fresh(admin), unique("IMP")
    header = ("number", "reference", "customer_name", "ordered_on", "currency", "lines.product_id", "lines.quantity")
    rows = [("1", reference, "c", DAY, "DKK", await sku_of(goods), "2")]
    assert (await load(admin, [header, *rows]))["created"] == 1
    (order,) = await orders_of(admin, reference)
    assert [order[name] for name in ("currency", "rate", "amount")] == ["DKK", "2.00", "9.90"]


@pytest.mark.usefixtures("rates")
async def test_conditions_of_an_approval_compare_what_a_purchase_is_worth_to_the_company(admin: Client) -> None:
    goods, supplier = await Goods.fresh(admin), await party(admin, f"{AT}/suppliers", "NOK")
    line = {"product_id": goods.product_id, "quantity": "3", "price": "10.00"}
    draft = expect(await admin.post(PURCHASES, {"supplier_id": supplier, "ordered_on": DAY, "lines": [line]}))
    conditions = [{"field": name, "op": "eq", "value": 10} for name in ("amount", "lines.amount.sum")]
    conditions += [{"field": "currency_amount", "op": "eq", "value": 30}]
    mine = [{"field": "id", "op": "eq", "value": draft["id"]}]
    flow = await define(admin, node("boss"), biz_type="PURCHASE_ORDER", conditions=mine + conditions, priority=0)
    tried = expect(await admin.post(f"{FLOWS}/simulate", {"biz_type": "PURCHASE_ORDER", "resource_id": draft["id"]}))
    expect(await admin.delete(f"{DEFINITIONS}/{flow['id']}"))
    assert [one["key"] for one in tried["nodes"]] == ["boss"]


@pytest.mark.usefixtures("rates")
async def test_a_typed_rate_lowers_neither_what_an_approval_compares_nor_what_a_customer_is_credited(
    admin: Client,
) -> None:
    goods, typed = await Goods.stocked(admin, 9), {"currency": "DKK", "rate": "0.2"}
    line = {"product_id": goods.product_id, "quantity": "3", "price": "10.00"}
    supplier = await party(admin, f"{AT}/suppliers", None)
    draft = expect(await admin.post(PURCHASES, {"supplier_id": supplier, "lines": [line], **typed}))
    mine = [{"field": "id", "op": "eq", "value": draft["id"]}, {"field": "amount", "op": "eq", "value": 60}]
    flow = await define(admin, node("boss"), biz_type="PURCHASE_ORDER", conditions=mine, priority=0)
    tried = expect(await admin.post(f"{FLOWS}/simulate", {"biz_type": "PURCHASE_ORDER", "resource_id": draft["id"]}))
    expect(await admin.delete(f"{DEFINITIONS}/{flow['id']}"))
    assert [one["key"] for one in tried["nodes"]] == ["boss"]
    customer = await party(admin, f"{CRM}/customers", None, credit_limit="50.00")
    for excess in ("17.80", "85.60"):  # the first order, of which some is delivered, counts as it did by itself
        order = await ordered(goods, SALES, "3", "10.00", customer_id=customer, ordered_on=None, **typed)
        assert order["credit_excess"] == excess
        expect(await goods.deliver(order, 2))


@pytest.mark.usefixtures("rates")
async def test_conditions_on_a_revision_compare_what_it_is_worth_to_the_company(admin: Client) -> None:
    goods, supplier = await Goods.fresh(admin), await party(admin, f"{AT}/suppliers", "NOK")
    order = await ordered(goods, PURCHASES, "3", "10.00", supplier_id=supplier)
    more = {"version": order["version"], "reason": "more", "lines": [{"line": 1, "quantity": "6"}]}
    revision = expect(await admin.post(f"{PURCHASES}/{order['id']}/revise", more))
    assert [revision[name] for name in ("status", "currency", "amount", "change")] == ["draft", "NOK", "67.80", "33.90"]
    worth = {"amount": 22.6, "change": 11.3, "amount_before": 11.3, "lines.amount.sum": 22.6}
    conditions = [{"field": name, "op": "eq", "value": value} for name, value in worth.items()]
    kind = {"biz_type": "PURCHASE_ORDER_REVISION"}
    mine = [{"field": "id", "op": "eq", "value": revision["id"]}]
    flow = await define(admin, node("boss"), conditions=mine + conditions, priority=0, **kind)
    tried = expect(await admin.post(f"{FLOWS}/simulate", {**kind, "resource_id": revision["id"]}))
    expect(await admin.delete(f"{DEFINITIONS}/{flow['id']}"))
    assert [one["key"] for one in tried["nodes"]] == ["boss"]


@pytest.mark.usefixtures("rates")
async def test_what_is_made_of_a_quotation_has_its_currency_and_the_rate_of_its_own_day(admin: Client) -> None:
    goods, customer = await Goods.fresh(admin), await party(admin, f"{CRM}/customers", None)
    lines = [{"product_id": goods.product_id, "quantity": "2", "price": "10.00"}]
    body = {"customer_id": customer, "currency": "DKK", "rate": "1.5", "lines": lines}
    at = f"{QUOTATIONS}/{expect(await admin.post(QUOTATIONS, body))['id']}"
    expect(await admin.post(f"{at}/send"))
    of_contract = expect(await admin.post(f"{at}/contract"))["contract_id"]
    contract = expect(await admin.get(f"{CRM}/contracts/{of_contract}"))
    order = expect(await admin.post(f"{at}/order"))
    for made in (contract, order):
        assert [made[name] for name in ("currency", "rate", "amount")] == ["DKK", "2.00", "20.00"]
    change = {"remark": "x", "version": order["version"]}
    assert expect(await admin.patch(f"{SALES}/{order['id']}", change))["contract_id"] == of_contract
