"""What the service says of a company that was entered, against the totals of its source.

The service rounds each line to the cent, and the tax of a document; AdventureWorks rounds neither. So a total of the source can be
met, and its parts only up to what rounding explains: for each figure `_bounds` says how much that is, and why.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.support.random_company.office import FINANCE, INVENTORY, Person, Record
from tests.support.two_companies.loading import LIVE, Loaded
from tests.support.two_companies.source import CENT, ZERO, Books, Order, cents

_HALF = CENT / 2
_ROUNDED_RATE = Decimal("0.0000005")  # of the tax, in the sixth decimal


@dataclass
class Comparison:
    """How many figures of each kind are equal to the source's, how many differ by what rounding explains, and which by more."""

    equal: Counter[str] = field(default_factory=Counter)
    rounded: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def judge(self, figure: str, about: str, found: Any, source: Any, bound: Decimal = ZERO) -> None:
        """Count a figure; amounts may differ by up to `bound`."""
        if isinstance(source, Decimal):
            found, exactly, source = Decimal(found or 0), source, cents(source)
            if found != source and abs(found - exactly) <= bound:
                self.rounded[figure] += 1
                return
        if found == source:
            self.equal[figure] += 1
        else:
            self.wrong.append(f"{figure} of {about}: {found}, the source says {source}")

    def summarise(self) -> Mapping[str, str]:
        """How many of each figure are equal, and how many of them are so but for rounding."""
        names = sorted({*self.equal, *self.rounded})
        return {one: f"{self.equal[one]} equal, {self.rounded[one]} but for rounding" for one in names}


def _bounds(order: Order) -> dict[str, Decimal]:
    """By how much the parts of an order may differ from those of the source, which are not rounded."""
    net = _HALF * len(order.lines)  # half a cent a line
    tax = _HALF + net * order.tax_rate + order.net * _ROUNDED_RATE  # its own rounding, that of the net, and of the rate
    return {"net": net, "tax": tax, "freight": net + tax + _HALF}  # what keeps the total that of the source


async def compare(person: Person, books: Books, loaded: Loaded) -> Comparison:
    """Compare every figure that the source has."""
    found = Comparison()
    items = {
        row["resource_id"]: row
        for what in ("receivables", "payables")
        for row in await person.every(f"{FINANCE}/{what}?{LIVE}")
    }
    invoices = {row["open_item_id"]: row for row in await person.every(f"{FINANCE}/invoices")}
    for orders, ids, shipped in (
        (books.sales, loaded.sales, "deliveries"),
        (books.purchases, loaded.purchases, "receipts"),
    ):
        at = "sales-orders" if shipped == "deliveries" else "purchase-orders"
        rows = {row["id"]: row for row in await person.every(f"{INVENTORY}/{at}")}
        moved = {row["order_id"]: row for row in await person.every(f"{INVENTORY}/{shipped}")}
        for order in orders:
            row = rows[ids[order.number]]
            _compare_order(found, order, row)
            if order.state == "done":
                _compare_moved(found, order, row, moved.get(row["id"]))
                _compare_owed(found, order, row, items, invoices, loaded.paid[row["id"]])
    await _compare_parties(person, found, books, loaded)
    await _compare_gains(person, found, loaded, items)
    await _compare_stock(person, found, books, loaded)
    return found


def _compare_order(found: Comparison, order: Order, row: Record) -> None:
    bounds, freight = _bounds(order), Decimal(row["freight"] or 0)
    about = f"{order.number} ({row['number']})"
    found.judge("total of an order", about, row["amount"], order.total)
    found.judge("net of an order", about, Decimal(row["net_amount"]) - freight, order.net, bounds["net"])
    found.judge("tax of an order", about, row["tax_amount"], order.tax, bounds["tax"])
    found.judge("freight of an order", about, freight, order.freight, bounds["freight"])
    for line, stored in zip(order.lines, row["lines"], strict=True):
        found.judge("net of a line", about, stored["net"], line.total)
        found.judge("price of a line", about, Decimal(stored["price"]) == line.price, True)
    found.judge("currency of an order", about, row["currency"], order.currency)
    if order.address:
        found.judge("address of an order", about, row["delivery_address"], order.address)


def _worth(order: Order, name: str) -> Decimal:
    """What so many units of each line come to, with tax."""
    units = sum((getattr(line, name) * line.price * (1 - line.discount) for line in order.lines), ZERO)
    return units * (1 + order.tax_rate)


def _compare_moved(found: Comparison, order: Order, row: Record, shipment: Record | None) -> None:
    bound = sum(_bounds(order).values(), CENT * len(order.lines))
    if "customer_id" in row:
        found.judge("amount of a delivery", order.number, shipment and shipment["amount"], order.total)
    elif shipment is not None:
        came, went = _worth(order, "received") + order.freight, _worth(order, "rejected")
        found.judge("amount of a receipt", order.number, shipment["amount"], came, bound)
        found.judge("returned of a receipt", order.number, shipment["returned_amount"], went, bound)


def _compare_owed(
    found: Comparison,
    order: Order,
    row: Record,
    items: Mapping[str, Record],
    invoices: Mapping[Any, Record],
    paid: Decimal,
) -> None:
    item = items.get(row["id"])
    if item is None or not Decimal(item["amount"]):
        found.judge("owed for what never came", order.number, any(line.received for line in order.lines), False)
        return
    invoice, bound = invoices[item["id"]], ZERO
    if "customer_id" in row:
        owed = order.total
        found.judge("address of an invoice", order.number, invoice["billing_address"], order.address)
    else:
        owed = _worth(order, "received") + order.freight - _worth(order, "rejected")
        bound = sum(_bounds(order).values(), CENT * 2 * len(order.lines))
    found.judge("owed for an order", order.number, item["amount"], owed, bound)
    found.judge("paid of an order", order.number, item["paid"], paid)
    if order.currency:
        worth = cents(order.total) * order.rate
        found.judge("owed in the company's currency", order.number, item["base_amount"], worth)
        found.judge("paid in the company's currency", order.number, item["base_paid"], paid * order.rate, CENT)
    found.judge("invoice of what is owed", order.number, invoice["total"], Decimal(item["amount"]))
    found.judge("paid of an invoice", order.number, invoice["paid"], paid)


async def _compare_parties(person: Person, found: Comparison, books: Books, loaded: Loaded) -> None:
    """The statement of each customer: what the source has delivered to it, less what it has paid, in the company's currency."""
    owed, bounds = defaultdict[str, Decimal](Decimal), defaultdict[str, Decimal](Decimal)
    for order in books.sales:
        if order.state == "done":
            total, paid = cents(order.total), ZERO if books.payments else loaded.paid[loaded.sales[order.number]]
            owed[order.party] += cents(total * order.rate) - cents(paid * order.rate)
            # a part of what is owed is converted as a part of the whole
            bounds[order.party] += CENT if order.currency and paid not in (ZERO, total) else ZERO
    for payment in books.payments:
        owed[payment.party] -= payment.amount
    for key, id in loaded.customers.items():
        said = await person.get(f"{FINANCE}/statements?customer_id={id}&to=2199-12-31&page_size=1")
        found.judge("balance of a customer", key, said["closing_balance"], owed[key], bounds[key])


async def _compare_gains(person: Person, found: Comparison, loaded: Loaded, items: Mapping[str, Record]) -> None:
    """What each payment gained by its rate over that of what it paid."""
    said: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in await person.every(f"{FINANCE}/exchange-differences"):
        said[row["open_item_id"]] += Decimal(row["difference"])
    for id, gained in loaded.gained.items():
        found.judge("realised difference", id, said[items[id]["id"]], gained, CENT)


async def _compare_stock(person: Person, found: Comparison, books: Books, loaded: Loaded) -> None:
    """The goods on hand: all that is sold was there, so what is left are orders still to deliver, and what was bought."""
    held: defaultdict[str, Decimal] = defaultdict(Decimal)
    for order in books.sales:
        for line in order.lines:
            held[line.product] += ZERO if order.state == "done" else line.quantity
    for order in books.purchases:
        for line in order.lines:
            held[line.product] += line.received - line.rejected if order.state == "done" else ZERO
    rows = await person.every(f"{INVENTORY}/stock?warehouse_id={loaded.warehouse}")
    said = {row["product_id"]: Decimal(row["quantity"]) for row in rows}
    for key, id in loaded.products.items():
        found.judge("stock of a product", key, said.get(id, ZERO), held[key])
