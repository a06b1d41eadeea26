"""Bad input to every document from order to cash: a clear error that names the field, and nothing is half booked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
from tests.api.crm.sales import PAYMENTS, PLANS, in_force
from tests.api.finance.accounts_of_parties import new_customer
from tests.api.finance.books import AT as FINANCE, Books
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
CLOSED = "2014-06-15"
SIXTEEN = "1234567890123456.00"
BOOKED = (
    *(f"inventory_{name}" for name in ("stock", "stock_entries", "sales_orders", "purchase_orders", "deliveries")),
    *(f"inventory_{name}" for name in ("receipts", "sales_returns", "purchase_returns", "transfers", "stock_counts")),
    *(f"finance_{name}" for name in ("accounts", "vouchers", "payments", "open_items", "open_item_entries")),
    *(f"finance_{name}" for name in ("invoices", "credit_notes", "adjustments", "expense_claims", "opening_items")),
    *(f"crm_{name}" for name in ("contracts", "payment_plans", "payments")),
)


@dataclass
class Chain:
    """One document of each kind, with its reversal where it was reversed; `ids` are by what they are called here."""

    admin: Client
    running: Running
    ids: Mapping[str, str]

    def fill(self, value: Any) -> Any:
        """Replace `<name>` by the id of that document."""
        if isinstance(value, str):
            for name, id in self.ids.items():
                value = value.replace(f"<{name}>", id)
            return value
        if isinstance(value, dict):
            return {key: self.fill(one) for key, one in value.items()}
        return [self.fill(one) for one in value] if isinstance(value, list) else value

    async def books(self) -> dict[str, Any]:
        """Everything that is booked, as it is stored; but not what jobs note of it meanwhile."""
        driver, noted = (
            self.running.service.database.driver,
            dict.fromkeys(("reminded", "rest", "settles", "settled_on")),
        )
        return {name: [{**row, **noted} for row in await driver.find(name, {})] for name in BOOKED}


async def _chain(admin: Client, running: Running) -> Chain:
    ids: dict[str, str] = {}
    goods, books = await Goods.stocked(admin, 20), await Books.fresh(admin)
    ids |= {"product": goods.product_id, "warehouse": goods.warehouse_id, "account": books.account_id}
    ids["other"] = await goods.warehouse()

    async def made(name: str, path: str, body: Any = None) -> dict[str, Any]:
        record: dict[str, Any] = expect(await admin.post(path, body if body is not None else {}))
        ids[name] = record["id"]
        return record

    for name, order in (("sale", await goods.sale(5, "10.00")), ("purchase", await goods.purchase(5, "4.00"))):
        ids[name] = order["id"]
        action, of = ("deliver", "deliveries") if name == "sale" else ("receive", "receipts")
        at = "sales-orders" if name == "sale" else "purchase-orders"
        for quantity in ("2", "1"):
            body = {"lines": [{"product_id": goods.product_id, "quantity": quantity}]}
            expect(await admin.post(f"{AT}/{at}/{order['id']}/{action}", body))
        found = expect(await admin.get(f"{AT}/{of}?order_id={order['id']}&sort=number"))["items"]
        ids[f"{name} shipped"], ids[f"{name} reversed"] = (one["id"] for one in found)
        back = f"{AT}/{'sales' if name == 'sale' else 'purchase'}-returns"
        await made(f"{name} returned", f"{AT}/{of}/{found[0]['id']}/returns", body)
        await made(f"{name} not returned", f"{back}/{ids[f'{name} returned']}/reverse")
        await made(f"{name} came back", f"{AT}/{of}/{found[0]['id']}/returns", body)
        await made(f"{name} undone", f"{AT}/{of}/{found[1]['id']}/reverse")
    line = {"product_id": goods.product_id, "quantity": "1"}
    moved = {"from_warehouse_id": goods.warehouse_id, "to_warehouse_id": ids["other"], "lines": [line]}
    await made("transfer", f"{AT}/transfers", moved)
    await made("transfer back", f"{AT}/transfers/{ids['transfer']}/reverse")
    counted = {"warehouse_id": goods.warehouse_id, "lines": [{"product_id": goods.product_id, "counted": "30"}]}
    await made("count", f"{AT}/stock-counts", counted)
    await made("count back", f"{AT}/stock-counts/{ids['count']}/reverse")
    party = await new_customer(admin)
    contract = await in_force(admin, "100.00", **party)
    ids |= {"customer": party["customer_id"], "contract": contract["id"], "owed": (await books.item(contract))["id"]}
    await made("received", PAYMENTS, {"contract_id": contract["id"], "amount": "10.00"})
    await made("received twice", PAYMENTS, {"contract_id": contract["id"], "amount": "5.00"})
    undone = await made("received twice", f"{PAYMENTS}/{ids['received twice']}/reverse")
    ids["taken back"] = undone["reversed_by_id"]
    invoice = await books.invoice("out", "100.00", "13.00")
    ids |= {"invoice": invoice["id"], "invoiced": (await books.item(invoice))["id"]}
    for name in ("credited", "credited twice"):
        await made(name, f"{FINANCE}/invoices/{invoice['id']}/credit-notes", {"amount": "1.00"})
    await made("not credited", f"{FINANCE}/credit-notes/{ids['credited twice']}/reverse")
    ids["payable"] = (await books.item({"id": ids["purchase"]}))["id"]
    for name in ("rebate", "rebate kept"):
        rebate = {"kind": "rebate", "amount": "0.10"}
        await made(name, f"{FINANCE}/open-items/{ids['payable']}/adjustments", rebate)
    await made("rebate back", f"{FINANCE}/adjustments/{ids['rebate']}/reverse")
    owed = {"kind": "receivable", "number": unique("OLD"), "amount": "1.00", **party}
    await made("opening", f"{FINANCE}/opening-items", owed)
    await made("opening", f"{FINANCE}/opening-items/{ids['opening']}/reverse")
    await made("opening kept", f"{FINANCE}/opening-items", owed)
    advance = {"direction": "in", "account_id": books.account_id, "amount": "30.00", **party}
    ids["advance voucher"] = (await made("advance", f"{FINANCE}/payments", advance))["voucher_id"]
    await made("payment", f"{FINANCE}/payments", advance)
    await made("payment", f"{FINANCE}/payments/{ids['payment']}/reverse")
    booked = expect(await books.book("income", "5.00"))
    ids |= {"voucher": booked["id"], "voucher back": expect(await books.reverse(booked))["id"]}
    ids["claim"] = (await books.claim("submit", "approve"))["id"]
    ids["claim undone"] = (await books.claim("submit", "approve", "reverse"))["id"]
    return Chain(admin, running, ids)


@pytest.fixture(scope="module")
def chain(io_loop: IOLoop, admin: Client, tradewind: Running) -> Chain:
    """The documents, and a month that is closed."""

    async def make() -> Chain:
        await admin.post(f"{FINANCE}/periods/{CLOSED[:7]}/close")
        return await _chain(admin, tradewind)

    made: Chain = io_loop.run_sync(make, timeout=30)
    return made


def lines(**line: Any) -> dict[str, Any]:
    """A body with one line of the product."""
    return {"lines": [{"product_id": "<product>", **line}]}


SOLD = {"customer_name": "somebody", "warehouse_id": "<warehouse>"}
MOVED = {"from_warehouse_id": "<warehouse>", "to_warehouse_id": "<other>"}
PAID = {"direction": "in", "account_id": "<account>", "customer_id": "<customer>"}
BILLED = {"direction": "out", "number": "X", "counterparty": "c"}
CLAIMED = {"title": "trip"}

TOO_MUCH: Mapping[str, tuple[str, Any, str | None]] = {
    "delivered than ordered": (f"{AT}/sales-orders/<sale>/deliver", lines(quantity="9"), "lines[0].quantity"),
    "received than ordered": (f"{AT}/purchase-orders/<purchase>/receive", lines(quantity="9"), "lines[0].quantity"),
    "returned than delivered": (f"{AT}/deliveries/<sale shipped>/returns", lines(quantity="2"), "lines[0].quantity"),
    "returned than received": (f"{AT}/receipts/<purchase shipped>/returns", lines(quantity="2"), "lines[0].quantity"),
    "moved than held": (f"{AT}/transfers", {**MOVED, **lines(quantity="999")}, None),
    "received of a contract": (PAYMENTS, {"contract_id": "<contract>", "amount": "90.01"}, None),
    "paid of an invoice": (f"{FINANCE}/invoices/<invoice>/pay", {"account_id": "<account>", "amount": "113.01"}, None),
    "paid of a payable": (f"{FINANCE}/payables/<payable>/pay", {"account_id": "<account>", "amount": "99.00"}, None),
    "credited than invoiced": (f"{FINANCE}/invoices/<invoice>/credit-notes", {"amount": "100.01"}, "amount"),
    "allocated than open": (
        f"{FINANCE}/payments",
        {**PAID, "amount": "99.00", "allocations": [{"open_item_id": "<owed>", "amount": "90.01"}]},
        "allocations[0].amount",
    ),
    "allocated than paid in advance": (
        f"{FINANCE}/payments/<advance>/allocations",
        {"allocations": [{"open_item_id": "<owed>", "amount": "30.01"}]},
        None,
    ),
    "paid back than paid in advance": (
        f"{FINANCE}/payments",
        {**PAID, "direction": "out", "amount": "30.01", "repays_id": "<advance>"},
        None,
    ),
}
IN_CLOSED_MONTH: Mapping[str, tuple[str, Any]] = {
    "delivery": (f"{AT}/sales-orders/<sale>/deliver", lines(quantity="1")),
    "receipt": (f"{AT}/purchase-orders/<purchase>/receive", lines(quantity="1")),
    "sales return": (f"{AT}/deliveries/<sale shipped>/returns", {}),
    "purchase return": (f"{AT}/receipts/<purchase shipped>/returns", {}),
    "reversal of a delivery": (f"{AT}/deliveries/<sale shipped>/reverse", {}),
    "reversal of a receipt": (f"{AT}/receipts/<purchase shipped>/reverse", {}),
    "transfer": (f"{AT}/transfers", {**MOVED, **lines(quantity="1")}),
    "stock count": (f"{AT}/stock-counts", {"warehouse_id": "<warehouse>", **lines(counted="3")}),
    "payment of a contract": (PAYMENTS, {"contract_id": "<contract>", "amount": "1.00"}),
    "reversal of a payment of a contract": (f"{PAYMENTS}/<received>/reverse", {}),
    "payment": (f"{FINANCE}/payments", {**PAID, "amount": "1.00"}),
    "reversal of a payment": (f"{FINANCE}/payments/<advance>/reverse", {}),
    "payment of an invoice": (f"{FINANCE}/invoices/<invoice>/pay", {"account_id": "<account>"}),
    "payment of a payable": (f"{FINANCE}/payables/<payable>/pay", {"account_id": "<account>"}),
    "payment of a claim": (f"{FINANCE}/expense-claims/<claim>/pay", {"account_id": "<account>"}),
    "reversal of a claim": (f"{FINANCE}/expense-claims/<claim>/reverse", {}),
    "credit note": (f"{FINANCE}/invoices/<invoice>/credit-notes", {}),
    "reversal of a credit note": (f"{FINANCE}/credit-notes/<credited>/reverse", {}),
    "adjustment": (f"{FINANCE}/open-items/<payable>/adjustments", {"kind": "rebate", "amount": "0.10"}),
    "reversal of an adjustment": (f"{FINANCE}/adjustments/<rebate kept>/reverse", {}),
    "voucher": (f"{FINANCE}/vouchers", {"kind": "income", "account_id": "<account>", "amount": "1.00"}),
    "opening item": (
        f"{FINANCE}/opening-items",
        {"kind": "payable", "counterparty": "c", "number": "1", "amount": "1.00"},
    ),
    "reversal of an opening item": (f"{FINANCE}/opening-items/<opening kept>/reverse", {}),
}
BEFORE_WHAT_IT_TAKES_BACK = (
    f"{AT}/deliveries/<sale shipped>/returns",
    f"{AT}/deliveries/<sale shipped>/reverse",
    f"{AT}/receipts/<purchase shipped>/returns",
    f"{AT}/receipts/<purchase shipped>/reverse",
    f"{AT}/sales-returns/<sale came back>/reverse",
    f"{AT}/purchase-returns/<purchase came back>/reverse",
    f"{FINANCE}/payments/<advance>/reverse",
    f"{FINANCE}/vouchers/<advance voucher>/reverse",
    f"{FINANCE}/credit-notes/<credited>/reverse",
)
REVERSED_BEFORE = {
    "delivery": f"{AT}/deliveries/<sale reversed>/reverse",
    "receipt": f"{AT}/receipts/<purchase reversed>/reverse",
    "returned delivery": f"{AT}/deliveries/<sale reversed>/returns",
    "returned receipt": f"{AT}/receipts/<purchase reversed>/returns",
    "reversal of a delivery": f"{AT}/sales-returns/<sale undone>/reverse",
    "reversal of a receipt": f"{AT}/purchase-returns/<purchase undone>/reverse",
    "sales return": f"{AT}/sales-returns/<sale returned>/reverse",
    "purchase return": f"{AT}/purchase-returns/<purchase returned>/reverse",
    "reversal of a sales return": f"{AT}/sales-returns/<sale not returned>/reverse",
    "reversal of a purchase return": f"{AT}/purchase-returns/<purchase not returned>/reverse",
    "transfer": f"{AT}/transfers/<transfer>/reverse",
    "reversal of a transfer": f"{AT}/transfers/<transfer back>/reverse",
    "stock count": f"{AT}/stock-counts/<count>/reverse",
    "reversal of a stock count": f"{AT}/stock-counts/<count back>/reverse",
    "payment of a contract": f"{PAYMENTS}/<received twice>/reverse",
    "reversal of a payment of a contract": f"{PAYMENTS}/<taken back>/reverse",
    "payment": f"{FINANCE}/payments/<payment>/reverse",
    "claim": f"{FINANCE}/expense-claims/<claim undone>/reverse",
    "credit note": f"{FINANCE}/credit-notes/<credited twice>/reverse",
    "reversal of a credit note": f"{FINANCE}/credit-notes/<not credited>/reverse",
    "adjustment": f"{FINANCE}/adjustments/<rebate>/reverse",
    "reversal of an adjustment": f"{FINANCE}/adjustments/<rebate back>/reverse",
    "opening item": f"{FINANCE}/opening-items/<opening>/reverse",
    "voucher": f"{FINANCE}/vouchers/<voucher>/reverse",
    "reversal of a voucher": f"{FINANCE}/vouchers/<voucher back>/reverse",
}
SIXTEEN_DIGITS: Mapping[str, tuple[str, Any, str]] = {
    "price": (f"{AT}/sales-orders", {**SOLD, **lines(quantity="1", price=SIXTEEN)}, "lines[0].price"),
    "line": (f"{AT}/sales-orders", {**SOLD, **lines(quantity="9999999", price="999999999.99")}, "lines[0].price"),
    "freight": (f"{AT}/sales-orders", {**SOLD, **lines(quantity="1"), "freight": SIXTEEN}, "freight"),
    "discount": (f"{AT}/sales-orders", {**SOLD, **lines(quantity="1"), "order_discount": SIXTEEN}, "order_discount"),
    "quantity": (f"{AT}/deliveries/<sale shipped>/returns", lines(quantity=SIXTEEN), "lines[0].quantity"),
    "moved": (f"{AT}/transfers", {**MOVED, **lines(quantity=SIXTEEN)}, "lines[0].quantity"),
    "counted": (
        f"{AT}/stock-counts",
        {"warehouse_id": "<warehouse>", **lines(counted="99999999", cost="999999999.99")},
        "lines[0].cost",
    ),
    "contract": ("/api/v1/crm/contracts", {"customer_id": "<customer>", "name": "x", "amount": SIXTEEN}, "amount"),
    "plan": (PLANS, {"contract_id": "<contract>", "amount": SIXTEEN, "due_date": "2030-01-01"}, "amount"),
    "payment of a contract": (PAYMENTS, {"contract_id": "<contract>", "amount": SIXTEEN}, "amount"),
    "payment": (f"{FINANCE}/payments", {**PAID, "amount": SIXTEEN}, "amount"),
    "allocation": (
        f"{FINANCE}/payments",
        {**PAID, "amount": "1.00", "allocations": [{"open_item_id": "<owed>", "amount": SIXTEEN}]},
        "allocations[0].amount",
    ),
    "voucher": (f"{FINANCE}/vouchers", {"kind": "income", "account_id": "<account>", "amount": SIXTEEN}, "amount"),
    "invoice": (f"{FINANCE}/invoices", {**BILLED, "amount": SIXTEEN}, "amount"),
    "credit note": (f"{FINANCE}/invoices/<invoice>/credit-notes", {"amount": SIXTEEN}, "amount"),
    "claim": (
        f"{FINANCE}/expense-claims",
        {**CLAIMED, "lines": [{"day": "2026-11-18", "category": "travel", "amount": SIXTEEN}]},
        "lines[0].amount",
    ),
}


async def refused(chain: Chain, requests: Mapping[str, tuple[str, Any]], code: int) -> dict[str, Any]:
    """The data of the refusals of these requests, after which the books are as before."""
    before = await chain.books()
    sent = requests.items()
    replies = {name: await chain.admin.post(chain.fill(path), chain.fill(body)) for name, (path, body) in sent}
    assert {name: reply.body for name, reply in replies.items() if reply.code != code} == {}
    assert await chain.books() == before
    return {name: reply.data for name, reply in replies.items()}


def named_fields(data: Any) -> set[tuple[str, str]]:
    """The fields and rules of a 40001."""
    return {(error["field"], error["rule"]) for error in data["errors"]}


async def test_no_more_than_there_is(chain: Chain) -> None:
    found = await refused(chain, {what: (path, body) for what, (path, body, _) in TOO_MUCH.items()}, 40901)
    expected = {what: field for what, (_, _, field) in TOO_MUCH.items() if field is not None}
    assert {what: found[what]["field"] for what in expected} == expected


async def test_nothing_in_a_closed_month(chain: Chain) -> None:
    def dated(path: str, body: dict[str, Any]) -> dict[str, Any]:
        return {**body, **({"paid_at": f"{CLOSED}T08:00:00Z"} if path == PAYMENTS else {"day": CLOSED})}

    requests = {what: (path, dated(path, body)) for what, (path, body) in IN_CLOSED_MONTH.items()}
    await refused(chain, requests, 40901)


async def test_nothing_is_taken_back_before_it_was_entered(chain: Chain) -> None:
    requests = {path: (path, {"day": "2014-07-15"}) for path in BEFORE_WHAT_IT_TAKES_BACK}
    found = await refused(chain, requests, 40001)
    assert {path: fields for path in found if (fields := named_fields(found[path])) != {("day", "minimum")}} == {}


async def test_no_cycle_of_reversals(chain: Chain) -> None:
    await refused(chain, {what: (path, {}) for what, path in REVERSED_BEFORE.items()}, 40901)


@pytest.mark.parametrize("as_number", [False, True], ids=["text", "number"])
async def test_no_amount_of_sixteen_digits(as_number: bool, chain: Chain) -> None:
    def written(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: written(one) for name, one in value.items()}
        if isinstance(value, list):
            return [written(one) for one in value]
        return float(SIXTEEN) if as_number and value == SIXTEEN else value

    requests = {what: (path, written(body)) for what, (path, body, _) in SIXTEEN_DIGITS.items()}
    found = {
        what: {field for field, _ in named_fields(data)}
        for what, data in (await refused(chain, requests, 40001)).items()
    }
    assert {what: found[what] for what, (_, _, field) in SIXTEEN_DIGITS.items() if field not in found[what]} == {}


def routes_that_reverse(running: Running) -> Iterator[str]:
    """Every route of these plugins that reverses a document or returns goods."""
    for route in running.catalogue.routes:
        if route.method == "POST" and route.path.endswith(("/{id}/reverse", "/{id}/returns")):
            yield route.path


def test_every_document_that_can_be_reversed_is_tried(chain: Chain) -> None:
    tried = {chain_path(path) for path in REVERSED_BEFORE.values()}
    assert set(routes_that_reverse(chain.running)) - tried == set()


def chain_path(path: str) -> str:
    """The path of the route of a request."""
    before, _, rest = path.partition("<")
    return f"{before}{{id}}{rest.partition('>')[2]}"


async def test_two_lines_of_a_sixteen_digit_sum_are_refused_as_a_whole(chain: Chain, admin: Client) -> None:
    other = (await Goods.fresh(admin)).product_id
    line = {"quantity": "9999", "price": "999999999.99"}
    body = {**SOLD, "lines": [{"product_id": "<product>", **line}, {"product_id": other, **line}]}
    named = {**BILLED, "number": unique("INV")}
    too_much = {**named, "amount": "9999999999999.99", "tax": "9999999999999.99"}
    requests = {"order": (f"{AT}/sales-orders", body), "invoice": (f"{FINANCE}/invoices", too_much)}
    found = await refused(chain, requests, 40001)
    assert named_fields(found["order"]) == {("lines", "maximum")}
    assert {field for field, _ in named_fields(found["invoice"])} <= {"amount", "tax"}
