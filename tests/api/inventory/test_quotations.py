"""Quotations over HTTP: what customers say to them, and the orders and contracts that are made of them."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.inventory.quotation_records import QUOTATIONS
from plugins.testing import Client, People, expect, unique
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
QUOTES, SALES = f"{AT}/quotations", f"{AT}/sales-orders"
TOMORROW = str(date.today() + timedelta(days=2))  # wherever the business is


async def quoted(goods: Goods, quantity: str = "10", line: dict[str, Any] | None = None, **terms: Any) -> Any:
    """A draft for so many of the goods."""
    lines = [{"product_id": goods.product_id, "quantity": quantity, **(line or {})}]
    return expect(await goods.client.post(QUOTES, {"customer_name": "somebody", "lines": lines, **terms}))


async def sent(goods: Goods, quantity: str = "10", line: dict[str, Any] | None = None, **terms: Any) -> Any:
    """A quotation that the customer has."""
    return expect(await act(goods.client, await quoted(goods, quantity, line, **terms), "send"))


async def act(client: Client, quotation: Any, action: str, body: Any = None) -> Any:
    return await client.post(f"{QUOTES}/{quotation['id']}/{action}", body)


async def order(client: Client, quotation: Any, quantity: str | None = None, line: int = 1) -> Any:
    """Order so much of a line, or all that is left."""
    return await act(client, quotation, "order", {"lines": [{"line": line, "quantity": quantity}]} if quantity else {})


async def state(client: Client, quotation: Any) -> tuple[str, list[str]]:
    """Its state, and how much of its lines is ordered."""
    found = expect(await client.get(f"{QUOTES}/{quotation['id']}"))
    return found["status"], [line["ordered_quantity"] for line in found["lines"]]


async def test_a_quotation_is_ordered_in_parts_which_add_up_to_it(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    lines = [
        {"product_id": goods.product_id, "quantity": "3", "price": "10", "discount_amount": "1.00", "tax_rate": "0.13"},
        {"description": "安装调试", "quantity": "1", "price": "99.99", "tax_rate": "0.06"},
        {"description": "送货上门"},
    ]
    made = await sent(goods, lines=lines, order_discount="5.00", freight="8.00", terms_days=30)
    first = expect(await order(admin, made, "1"))
    assert (first["quotation_id"], first["terms_days"], first["lines"][0]["quotation_line"]) == (made["id"], 30, 1)
    assert await state(admin, made) == ("partly_ordered", ["1", "0", "0"])
    beyond = await order(admin, made, "3")
    assert (beyond.code, beyond.data) == (40901, {"open": "2", "field": "lines[0].quantity"})
    second = expect(await order(admin, made))
    assert await state(admin, made) == ("ordered", ["3", "1", "0"])
    assert [line["kind"] for line in second["lines"]] == ["product", "service", "text"]
    for name in ("order_discount", "freight", "net_amount"):
        assert Decimal(first[name]) + Decimal(second[name]) == Decimal(made[name]), name
    assert (await order(admin, made)).code == 40901


async def test_what_is_ordered_at_once_comes_to_what_was_quoted(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    line = {"price": "3.333333", "tax_rate": "0.13", "discount": "0.05"}
    made = await sent(goods, "7", line, order_discount="1.11", prices_include_tax=True)
    whole = expect(await order(admin, made))
    compared = ("net_amount", "tax_amount", "amount", "order_discount", "prices_include_tax", "tax_rounding")
    assert {name: whole[name] for name in compared} == {name: made[name] for name in compared}


async def test_orders_have_the_price_that_was_quoted_whatever_the_lists_say_by_then(admin: Client) -> None:
    goods = await Goods.fresh(admin, price="10.00")
    proposed, given = await sent(goods), await sent(goods, line={"price": "8.88"})
    product = expect(await admin.get(f"{AT}/products/{goods.product_id}"))
    change = {"price": "12.00", "version": product["version"]}
    expect(await admin.patch(f"{AT}/products/{goods.product_id}", change))
    lines = [expect(await order(admin, one))["lines"][0] for one in (proposed, given)]
    me = admin.user["userId"]
    kept = [(one["price"], one["proposed_price"], one["priced_by"]) for one in lines]
    assert kept == [("10.00", "10.00", None), ("8.88", "10.00", me)]


async def test_an_expired_quotation_says_so_and_has_to_be_renewed(admin: Client, tradewind: Running) -> None:
    goods = await Goods.fresh(admin)
    made = await sent(goods, valid_until=TOMORROW)
    past = {"$set": {"valid_until": "2026-01-31"}}
    found = QUOTATIONS.parse_id(made["id"])
    await tradewind.service.database.driver.update_one(QUOTATIONS.name, {"_id": found}, past)
    (listed,) = expect(await admin.get(f"{QUOTES}?number={made['number']}"))["items"]
    assert (listed["expired"], made["expired"]) == (True, False)
    refused = [await act(admin, made, action) for action in ("accept", "order", "contract")]
    assert [reply.code for reply in refused] == [40901] * 3
    assert (await act(admin, made, "renew", {"valid_until": "2026-02-01"})).fields == {"valid_until"}
    renewed = expect(await act(admin, made, "renew", {"valid_until": TOMORROW}))
    assert (renewed["status"], renewed["expired"]) == ("sent", False)
    expect(await order(admin, made))


async def test_of_two_who_order_the_last_quantity_at_once_one_gets_it(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    made = await sent(goods, "1")
    replies = await asyncio.gather(order(admin, made, "1"), order(admin, made, "1"))
    assert sorted(reply.code for reply in replies) == [0, 40901]
    assert await state(admin, made) == ("ordered", ["1"])


async def test_an_order_that_is_changed_cancelled_or_deleted_gives_back_what_it_had(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    made = await sent(goods, "10")
    first, second = expect(await order(admin, made, "6")), expect(await order(admin, made, "4"))
    lines = [{"product_id": goods.product_id, "quantity": "5"}]
    change = {"lines": lines, "version": first["version"]}
    expect(await admin.patch(f"{SALES}/{first['id']}", change))
    assert await state(admin, made) == ("partly_ordered", ["9"])
    lines[0]["quantity"] = "7"
    beyond = await admin.patch(f"{SALES}/{first['id']}", {**change, "version": first["version"] + 1})
    assert (beyond.code, beyond.data) == (40901, {"open": "6", "field": "lines[0].quantity"})
    expect(await admin.post(f"{SALES}/{first['id']}/cancel"))
    expect(await admin.delete(f"{SALES}/{second['id']}"))
    assert await state(admin, made) == ("accepted", ["0"])
    expect(await admin.post(f"{SALES}/{second['id']}/restore"))
    assert await state(admin, made) == ("partly_ordered", ["4"])
    expect(await admin.delete(f"{SALES}/{second['id']}"))
    expect(await order(admin, made, "7"))
    assert (await admin.post(f"{SALES}/{second['id']}/restore")).code == 40901


async def test_a_quotation_that_was_sent_is_changed_as_a_draft_again(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    made = await sent(goods)
    change = {"valid_until": TOMORROW, "version": made["version"]}
    assert (await admin.patch(f"{QUOTES}/{made['id']}", change)).code == 40901
    rejected = expect(await act(admin, made, "reject", {"reason": "价格偏高"}))
    assert (rejected["status"], rejected["reason"]) == ("rejected", "价格偏高")
    assert (await order(admin, made)).code == 40901
    draft = expect(await act(admin, made, "revise"))
    lines = [{"product_id": goods.product_id, "quantity": "10", "price": "5.00"}]
    cheaper = expect(await admin.patch(f"{QUOTES}/{made['id']}", {"lines": lines, "version": draft["version"]}))
    assert (cheaper["status"], cheaper["amount"]) == ("draft", "50.00")


async def test_a_contract_is_made_of_a_quotation_and_its_orders_are_owed_under_it(
    admin: Client, people: People
) -> None:
    goods = await Goods.fresh(admin)
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))
    made = await sent(goods, customer_id=customer["id"])
    outsider = await people.person(permissions=["inventory:quotation:contract"], scope="self")
    assert (await act(outsider, made, "contract")).code == 40400
    agreed = expect(await act(admin, made, "contract"))
    contract = expect(await admin.get(f"/api/v1/crm/contracts/{agreed['contract_id']}"))
    assert (contract["amount"], contract["customer_id"]) == (made["amount"], customer["id"])
    assert (contract["status"], contract["reference"]) == ("draft", made["number"])
    assert (await act(admin, made, "contract")).code == 40901
    assert expect(await order(admin, made))["contract_id"] == contract["id"]


async def test_only_those_in_whose_scope_a_quotation_is_order_it(admin: Client, people: People) -> None:
    rights = [f"inventory:quotation:{one}" for one in ("read", "order")]
    seller, other = [await people.person(permissions=rights, scope=scope) for scope in ("all", "self")]
    made = await sent(await Goods.fresh(admin))
    assert (await other.get(f"{QUOTES}/{made['id']}")).code == (await order(other, made)).code == 40400
    assert (await act(seller, made, "accept")).code == 40300
    assert expect(await order(seller, made))["creator_id"] == seller.user["userId"]


async def test_the_paper_of_a_quotation_is_older_once_it_is_renewed(admin: Client, anonymous: Client) -> None:
    made = await sent(await Goods.fresh(admin), valid_until=TOMORROW)
    paper = await admin.get(f"{QUOTES}/{made['id']}/print?language=en")
    assert (paper.status, paper.body[:5]) == (200, b"%PDF-")
    check = f"/api/v1/print/check/{paper.headers['X-Print-Token']}?number={made['number']}&total={made['amount']}"
    assert expect(await anonymous.get(check)) == {"status": "equal"}
    expect(await act(admin, made, "renew", {"valid_until": str(date.today() + timedelta(days=9))}))
    assert expect(await anonymous.get(check)) == {"status": "older"}
