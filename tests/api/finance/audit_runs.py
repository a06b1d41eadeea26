"""Runs of the audit over HTTP, and damage that somebody does to the database behind the service's back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bson import Decimal128, ObjectId

from config.database import Driver
from plugins.testing import Client, eventually, expect, unique
from tests.api.crm.sales import PAYMENTS, PLANS, in_force
from tests.api.finance.books import AT, Books
from tests.api.inventory.goods import Goods
from tests.api.inventory.test_returns import received, send_back

AUDIT = f"{AT}/audit"
CENT = Decimal128("0.01")
Found = tuple[str, str, str]


async def audited(client: Client, seconds: float = 20) -> dict[str, Any]:
    """The result of a run that begins now."""
    before = expect(await client.post(f"{AUDIT}/run"))["checked_at"]

    async def ended() -> dict[str, Any] | None:
        result: dict[str, Any] = expect(await client.get(AUDIT))
        return result if not result["running"] and result["checked_at"] != before else None

    result: dict[str, Any] = await eventually(ended, seconds=seconds, every=0.1)
    return result


def found_in(result: Mapping[str, Any]) -> set[Found]:
    """What a result has found: check, record, and what differs."""
    return {(one["check"], one["resource_id"], one["about"]) for one in result["differences"]}


@dataclass(frozen=True)
class Damage:
    """A stored value that was changed by hand, and the differences that the audit must find."""

    collection: str
    id: Any
    change: Mapping[str, Any]
    found: frozenset[Found]

    async def do(self, driver: Driver) -> dict[str, Any]:
        """Change the stored value; return the record as it was before."""
        before = await driver.find_one(self.collection, {"_id": self.id})
        assert before is not None
        await driver.update_one(self.collection, {"_id": self.id}, self.change)
        return before


async def undo(driver: Driver, collection: str, before: dict[str, Any]) -> None:
    """Store the record as it was before."""
    await driver.update_one(collection, {"_id": before["_id"]}, {"$set": before})


async def every_damage(admin: Client) -> dict[str, Damage]:
    """One of each kind, each about records of its own that were booked over HTTP."""
    kinds = (
        _of_inventory,
        _of_returns,
        _of_finance,
        _of_open_items,
        _of_payments,
        _of_currencies,
        _of_crm,
        _of_amounts,
    )
    return {name: damage for kind in kinds for name, damage in (await kind(admin)).items()}


def _more(collection: str, id: str, field: str, *found: Found, by: Any = CENT) -> Damage:
    return Damage(collection, ObjectId(id), {"$inc": {field: by}}, frozenset(found))


def _entries_of(item: Mapping[str, Any]) -> Found:
    """That the entries of an open item add up to something else."""
    return "finance-open-items", item["id"], "entries"


async def _of_inventory(admin: Client) -> dict[str, Damage]:
    async def stocked() -> tuple[str, str]:
        goods = await Goods.stocked(admin, 3)
        row = expect(await admin.get(f"/api/v1/inventory/stock?product_id={goods.product_id}"))["items"][0]
        (entry,) = await goods.ledger()
        return row["id"], entry["id"]

    rows = [await stocked() for _ in range(4)]
    goods = await Goods.stocked(admin, 5)
    purchase, sale = await goods.purchase(3, "4.00"), await goods.sale(2)
    expect(await goods.receive(purchase, 1))
    expect(await goods.deliver(sale, 1))
    revised = [await goods.sale(2) for _ in "ab"]
    for one in revised:
        body = {"version": one["version"], "reason": "less", "lines": [{"line": 1, "quantity": "1"}]}
        expect(await admin.post(f"/api/v1/inventory/sales-orders/{one['id']}/revise", body))
    (version,) = expect(await admin.get(f"/api/v1/inventory/sales-orders/{revised[1]['id']}/versions"))["items"][1:]
    bare = await Goods.stocked(admin, 5)
    received = expect(await bare.receive(await bare.purchase(2)))
    receipts = expect(await admin.get(f"/api/v1/inventory/receipts?order_id={received['id']}"))["items"]
    lost = await Goods.stocked(admin, 1)
    (lost_entry,) = await lost.ledger()
    lost_row = expect(await admin.get(f"/api/v1/inventory/stock?product_id={lost.product_id}"))["items"][0]
    return {
        "quantity of stock": _more(
            "inventory_stock", rows[0][0], "quantity", ("inventory-stock", rows[0][0], "quantity")
        ),
        "value of stock": _more("inventory_stock", rows[1][0], "value", ("inventory-stock", rows[1][0], "value")),
        "chain of entries": _more(
            "inventory_stock_entries", rows[2][1], "quantity_after", ("inventory-stock", rows[2][0], "entries")
        ),
        "chain of values": _more(
            "inventory_stock_entries", rows[3][1], "value_after", ("inventory-stock", rows[3][0], "entries")
        ),
        "stock row of another product": Damage(
            "inventory_stock",
            ObjectId(lost_row["id"]),
            {"$set": {"product_id": ObjectId()}},
            frozenset(
                {
                    ("inventory-entries", lost_entry["id"], "product_id"),
                    ("inventory-stock", lost_row["id"], "quantity"),
                    ("inventory-stock", lost_row["id"], "value"),
                }
            ),
        ),
        "received of a purchase order": _more(
            "inventory_purchase_orders",
            purchase["id"],
            "lines.0.received",
            ("inventory-purchase-orders", purchase["id"], "received 1"),
        ),
        "delivered of a sales order": _more(
            "inventory_sales_orders",
            sale["id"],
            "lines.0.delivered",
            ("inventory-sales-orders", sale["id"], "delivered 1"),
        ),
        "revision of a sales order": _more(
            "inventory_sales_orders",
            revised[0]["id"],
            "revision",
            ("inventory-sales-revisions", revised[0]["id"], "revision"),
            by=1,
        ),
        "amount of a revision": _more(
            "inventory_sales_order_revisions",
            version["revision_id"],
            "amount",
            ("inventory-sales-revisions", revised[1]["id"], "amount 2"),
        ),
        "cost of a receipt": _more(
            "inventory_receipts", receipts[0]["id"], "cost", ("inventory-receipts", receipts[0]["id"], "value")
        ),
    }


async def _of_returns(admin: Client) -> dict[str, Damage]:
    goods, books = await Goods.stocked(admin, 9), await Books.fresh(admin)
    returned = []
    for _ in range(3):
        sale = expect(await goods.deliver(await goods.sale(2)))
        (delivery,) = expect(await admin.get(f"/api/v1/inventory/deliveries?order_id={sale['id']}"))["items"]
        lines = [{"product_id": goods.product_id, "quantity": "1"}]
        made = expect(await admin.post(f"/api/v1/inventory/deliveries/{delivery['id']}/returns", {"lines": lines}))
        returned.append((sale["id"], delivery["id"], made["id"]))
    invoice = await books.invoice()
    expect(await admin.post(f"{AT}/invoices/{invoice['id']}/credit-notes", {"amount": "20.00"}))
    item = expect(await admin.get(f"{AT}/receivables?resource_id={returned[2][0]}"))["items"][0]
    return {
        "returned of a delivery": _more(
            "inventory_deliveries",
            returned[0][1],
            "lines.0.returned",
            ("inventory-returned-deliveries", returned[0][1], "returned 1"),
        ),
        "cost of a return": _more(
            "inventory_sales_returns", returned[1][2], "cost", ("inventory-sales-returns", returned[1][2], "value")
        ),
        "amount owed after a return": _more(
            "finance_open_items",
            item["id"],
            "amount",
            ("open-items-sales-order", returned[2][0], "open_item.amount"),
            _entries_of(item),
        ),
        "credited of an invoice": _more(
            "finance_invoices", invoice["id"], "credited", ("finance-invoices", invoice["id"], "credited")
        ),
    }


async def _of_finance(admin: Client) -> dict[str, Damage]:
    books, other, third = await Books.fresh(admin), await Books.fresh(admin), await Books.fresh(admin)
    expect(await books.book("income", "5.00", day="2013-01-05"))
    paid, unpaid = [await books.invoice() for _ in range(2)]
    expect(await books.pay_invoice(paid, "13.00"))
    voucher = expect(await other.book("income", "7.00", day="2013-02-05"))
    reversed_one = expect(await third.book("income", "8.00", day="2013-03-05"))
    reversal = expect(await third.reverse(reversed_one, day="2013-03-06"))
    claim = await books.claim("submit", "approve")
    expect(await books.pay_claim(claim))
    return {
        "balance of an account": _more(
            "finance_accounts", books.account_id, "balance", ("finance-accounts", books.account_id, "balance")
        ),
        "amount of a voucher": _more(
            "finance_vouchers", voucher["id"], "amount", ("finance-accounts", other.account_id, "balance")
        ),
        "link of a reversal": Damage(
            "finance_vouchers",
            ObjectId(reversed_one["id"]),
            {"$set": {"reversed_by_id": None}},
            frozenset({("finance-vouchers", reversal["id"], "reverses_id")}),
        ),
        "last number of a month": Damage(
            "finance_periods",
            "2013-01",
            {"$inc": {"last_number": 1}},
            frozenset({("finance-periods", "2013-01", "last_number")}),
        ),
        "paid of an invoice": _more(
            "finance_invoices", unpaid["id"], "paid", ("finance-invoices", unpaid["id"], "paid")
        ),
        "voucher of a claim": Damage(
            "finance_expense_claims",
            ObjectId(claim["id"]),
            {"$set": {"voucher_id": None}},
            frozenset({("finance-claims", claim["id"], "voucher_id")}),
        ),
    }


async def _of_currencies(admin: Client) -> dict[str, Damage]:
    """Damages of what is owed in a currency, and paid at another rate."""
    books, foreign = await Books.fresh(admin), {"currency": "EUR", "rate": "7.50"}
    body = {"kind": "receivable", "counterparty": "c", "amount": "100.00", **foreign}
    opened = [expect(await admin.post(f"{AT}/opening-items", {**body, "number": unique("OLD")})) for _ in range(3)]
    items = [await books.item(one) for one in opened]
    paid = expect(await books.enter("in", "100.00", (items[0], "100.00"), rate="7.60"))
    (row,) = expect(await admin.get(f"{AT}/exchange-differences?payment_id={paid['id']}"))["items"]
    (entry,) = expect(await admin.get(f"{AT}/statements?open_item_id={items[2]['id']}"))["items"]
    account = {"code": unique("ACC"), "name": "euros", "type": "bank", "currency": "EUR"}
    euros = Books(admin, expect(await admin.post(f"{AT}/accounts", account))["id"])
    voucher = expect(await euros.book("income", "5.00", rate="7.50", day="2013-04-05"))
    return {
        "exchange difference": _more(
            "finance_exchange_differences",
            row["id"],
            "difference",
            ("finance-payments", paid["id"], "exchange_differences"),
            by=Decimal128("1.00"),
        ),
        "worth of an open item": _more(
            "finance_open_items", items[1]["id"], "base_amount", ("finance-open-items", items[1]["id"], "base_amount")
        ),
        "entry in a currency": _more(
            "finance_open_item_entries",
            entry["id"],
            "currency_amount",
            ("finance-open-items", items[2]["id"], "currency_entries"),
        ),
        "worth of a voucher": _more(
            "finance_vouchers", voucher["id"], "base_amount", ("finance-vouchers", voucher["id"], "base_amount")
        ),
    }


async def _of_open_items(admin: Client) -> dict[str, Damage]:
    owing = await (await Books.fresh(admin)).invoice()
    goods = await Goods.fresh(admin)
    orders = [expect(await goods.receive(await goods.purchase(3))) for _ in range(4)]
    items = [expect(await admin.get(f"{AT}/payables?resource_id={one['id']}"))["items"][0] for one in orders]
    item_of = "finance_open_items"
    billed = expect(await admin.get(f"{AT}/receivables?resource_id={owing['id']}"))["items"][0]
    bills = await _of_bills(admin, items[3])
    return bills | {
        "paid of an open item": Damage(
            item_of,
            ObjectId(items[0]["id"]),
            {"$inc": {"paid": CENT}, "$set": {"status": "partly_paid"}},
            frozenset({("finance-open-items", items[0]["id"], "paid")}),
        ),
        "status of an open item": Damage(
            item_of,
            ObjectId(items[1]["id"]),
            {"$set": {"status": "paid"}},
            frozenset({("finance-open-items", items[1]["id"], "status")}),
        ),
        "amount owed for an order": _more(
            item_of,
            items[2]["id"],
            "amount",
            ("open-items-purchase-order", orders[2]["id"], "open_item.amount"),
            _entries_of(items[2]),
        ),
        "document of an open item": Damage(
            item_of,
            ObjectId(billed["id"]),
            {"$set": {"resource_id": "f" * 24}},
            frozenset(
                {
                    ("finance-open-items", billed["id"], "resource_id"),
                    ("open-items-invoice", owing["id"], "open_item"),
                }
            ),
        ),
    }


async def _of_bills(admin: Client, order_item: dict[str, Any]) -> dict[str, Damage]:
    """Damages of invoices; `order_item` is that of a purchase order without an invoice."""
    stocked = await Goods.stocked(admin, 3)
    sale = expect(await stocked.deliver(await stocked.sale(3, "10.00")))
    sold = expect(await admin.get(f"{AT}/receivables?resource_id={sale['id']}"))["items"][0]
    body = {"direction": "out", "counterparty": "s", "open_item_id": sold["id"], "amount": "10.00"}
    bills = [expect(await admin.post(f"{AT}/invoices", {**body, "number": unique("INV")})) for _ in "ab"]
    for one in bills:
        expect(await admin.post(f"{AT}/invoices/{one['id']}/confirm"))
    alone = {"direction": "in", "number": unique("INV"), "counterparty": "s", "amount": order_item["amount"]}
    twice = expect(await admin.post(f"{AT}/invoices", {**alone, "supplier_id": await stocked.supplier()}))
    expect(await admin.post(f"{AT}/invoices/{twice['id']}/confirm"))
    two = [await stocked.sale(1, "10.00") for _ in "ab"]
    items = [
        expect(await admin.get(f"{AT}/receivables?resource_id={one['id']}&status=planned"))["items"] for one in two
    ]
    joint = {"direction": "out", "open_item_ids": [one["id"] for (one,) in items]}
    shared = expect(await admin.post(f"{AT}/invoices", joint))
    expect(await admin.post(f"{AT}/invoices/{shared['id']}/confirm"))
    return {
        "paid of a share": _more(
            "finance_invoices", shared["id"], "billed_items.0.paid", ("finance-invoices", shared["id"], "paid")
        ),
        "lines of a share": _more(
            "finance_invoices", shared["id"], "lines.0.net", ("finance-invoices", shared["id"], "billed_items")
        ),
        "invoices beyond what an order comes to": Damage(
            "finance_open_items",
            ObjectId(sold["id"]),
            {"$set": {"net": CENT}},
            frozenset({("finance-bills", sold["id"], "invoiced")}),
        ),
        "an invoice for another party": Damage(
            "finance_invoices",
            ObjectId(bills[0]["id"]),
            {"$set": {"counterparty": "Somebody else"}},
            frozenset({("finance-bills", sold["id"], "counterparty")}),
        ),
        "an invoice of what an order owes too": Damage(
            "finance_invoices",
            ObjectId(twice["id"]),
            {"$set": {"supplier_id": ObjectId(order_item["supplier_id"])}},
            frozenset({("finance-bills", order_item["id"], "invoiced")}),
        ),
    }


async def _pay_back(books: Books, goods: Goods) -> None:
    """A supplier pays back what was paid for a piece that went back: the other direction counts against the item."""
    order, receipt = await received(goods, 3)
    item = await books.item(order)
    expect(await books.enter("out", "12.00", (item, "12.00")))
    expect(await send_back(goods, receipt, 1))
    expect(await books.enter("in", "4.00", (item, "4.00")))


async def _of_payments(admin: Client) -> dict[str, Damage]:
    books, goods = await Books.fresh(admin), await Goods.fresh(admin)
    advances = [expect(await books.enter("in", "9.00")) for _ in range(2)]
    item = await books.item(expect(await goods.receive(await goods.purchase(3, "4.00"))))
    paid = expect(await books.enter("out", "12.00", (item, "12.00")))
    await _pay_back(books, goods)
    contracts = [await in_force(admin) for _ in range(2)]
    made = [{"contract_id": one["id"], "amount": "1.00", "account_id": books.account_id} for one in contracts]
    of_contracts = [expect(await admin.post(PAYMENTS, one)) for one in made]
    rows = expect(await admin.get(f"{AT}/payments?resource_id={of_contracts[0]['id']}"))["items"]
    payments, theirs = "finance_payments", "payments-contract-payment"
    return {
        "amount of a payment": _more(
            payments,
            advances[0]["id"],
            "amount",
            ("finance-payments", advances[0]["id"], "voucher_id"),
            ("finance-payments", advances[0]["id"], "unallocated"),
        ),
        "advance of a payment": _more(
            payments, advances[1]["id"], "unallocated", ("finance-payments", advances[1]["id"], "unallocated")
        ),
        "allocation of a payment": _more(
            payments, paid["id"], "allocations.0.amount", ("finance-open-items", item["id"], "paid")
        ),
        "source of a payment": Damage(
            payments,
            ObjectId(rows[0]["id"]),
            {"$set": {"resource_id": "f" * 24}},
            frozenset(
                {("finance-payments", rows[0]["id"], "resource_id"), (theirs, of_contracts[0]["id"], "account_id")}
            ),
        ),
        "amount of a payment of a contract": _more(
            "crm_payments",
            of_contracts[1]["id"],
            "amount",
            (theirs, of_contracts[1]["id"], "payment"),
            ("crm-contracts", contracts[1]["id"], "received_amount"),
            ("open-items-contract", contracts[1]["id"], "open_item.paid"),
        ),
    }


async def _of_crm(admin: Client) -> dict[str, Damage]:
    contracts = [await in_force(admin) for _ in range(4)]
    plan = expect(
        await admin.post(PLANS, {"contract_id": contracts[0]["id"], "amount": "2.00", "due_date": "2031-01-31"})
    )
    expect(await admin.post(PAYMENTS, {"contract_id": contracts[0]["id"], "plan_id": plan["id"], "amount": "1.00"}))
    item = expect(await admin.get(f"{AT}/receivables?resource_id={contracts[3]['id']}"))["items"][0]
    return {
        "received of a contract": _more(
            "crm_contracts",
            contracts[1]["id"],
            "received_amount",
            ("crm-contracts", contracts[1]["id"], "received_amount"),
        ),
        "planned of a contract": _more(
            "crm_contracts",
            contracts[2]["id"],
            "planned_amount",
            ("crm-contracts", contracts[2]["id"], "planned_amount"),
        ),
        "paid of a plan": _more(
            "crm_payment_plans", plan["id"], "paid_amount", ("crm-payment-plans", plan["id"], "paid_amount")
        ),
        "paid of a contract's item": Damage(
            "finance_open_items",
            ObjectId(item["id"]),
            {"$inc": {"paid": CENT}, "$set": {"status": "partly_paid"}},
            frozenset({("open-items-contract", contracts[3]["id"], "open_item.paid"), _entries_of(item)}),
        ),
    }


async def _of_amounts(admin: Client) -> dict[str, Damage]:
    """Amounts that documents of other plugins, or lines, state a second time."""
    goods, books = await Goods.stocked(admin, 9), await Books.fresh(admin)
    counts = expect(await admin.get(f"/api/v1/inventory/stock-counts?warehouse_id={goods.warehouse_id}"))["items"]
    sales = [await goods.sale(2, "10.00") for _ in range(3)]
    items = []
    for sale in sales:
        expect(await goods.deliver(sale, 1))
        items += expect(await admin.get(f"{AT}/receivables?resource_id={sale['id']}"))["items"]
    given = {"kind": "rebate", "amount": "1.00"}
    adjusted = expect(await admin.post(f"{AT}/open-items/{items[0]['id']}/adjustments", given))
    _, receipt = await received(goods, 3)
    expect(await send_back(goods, receipt, 1))
    invoice = await books.invoice()
    note = expect(await admin.post(f"{AT}/invoices/{invoice['id']}/credit-notes", {"amount": "20.00"}))
    opening = {"kind": "receivable", "number": unique("OLD"), "counterparty": "c", "amount": "9.00"}
    opened = expect(await admin.post(f"{AT}/opening-items", opening))
    voucher = expect(await books.book("income", "5.00"))
    return {
        "value of a count": _more(
            "inventory_stock_counts", counts[0]["id"], "value", ("inventory-counts", counts[0]["id"], "value")
        ),
        "amount of a line": _more(
            "inventory_sales_orders",
            sales[1]["id"],
            "lines.0.amount",
            ("inventory-sales-orders", sales[1]["id"], "amount"),
        ),
        "what is still to come of an order": _more(
            "finance_open_items",
            items[2]["id"],
            "undelivered",
            ("open-items-sales-order", sales[2]["id"], "open_item.undelivered"),
        ),
        "amount of an adjustment": _more(
            "finance_adjustments", adjusted["id"], "amount", ("finance-open-items", items[0]["id"], "adjusted")
        ),
        "returned of a receipt": _more(
            "inventory_receipts",
            receipt["id"],
            "returned_amount",
            ("inventory-returned-receipts", receipt["id"], "returned_amount"),
        ),
        "total of a credit note": _more(
            "finance_credit_notes",
            note["id"],
            "total",
            ("finance-invoices", invoice["id"], "credited"),
            ("open-items-invoice", invoice["id"], "open_item.amount"),
        ),
        "amount of an opening item": _more(
            "finance_opening_items", opened["id"], "amount", ("open-items-opening", opened["id"], "open_item.amount")
        ),
        "account of a voucher": Damage(
            "finance_vouchers",
            ObjectId(voucher["id"]),
            {"$set": {"account_id": ObjectId()}},
            frozenset(
                {("finance-vouchers", voucher["id"], "account_id"), ("finance-accounts", books.account_id, "balance")}
            ),
        ),
    }
