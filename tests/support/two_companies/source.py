"""The books of two companies as their tables have them: AdventureWorks, and classicmodels.

`adventureworks` and `classicmodels` read the tables of the sample databases of these names: rows by column, as a CSV export with a
header has them. No figure is computed here but those which a table leaves to its query.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

Row = Mapping[str, str]
Tables = Mapping[str, Sequence[Row]]
CENT, ZERO = Decimal("0.01"), Decimal(0)
HOME = "USD"  # the currency of both companies


def cents(amount: Decimal) -> Decimal:
    """The amount to the cent, half a cent up."""
    return amount.quantize(CENT, ROUND_HALF_UP)


@dataclass(frozen=True)
class Line:
    """A line of an order; of a purchase also what came of it, and how much of that was rejected."""

    product: str
    quantity: Decimal
    price: Decimal
    discount: Decimal
    total: Decimal
    received: Decimal = ZERO
    rejected: Decimal = ZERO


@dataclass(frozen=True)
class Order:
    """A sale or a purchase with its totals as the source has them, of up to six decimals."""

    number: str
    party: str
    ordered: str
    due: str
    moved: str | None  # the day on which the goods went or came
    lines: Sequence[Line]
    net: Decimal
    tax: Decimal
    freight: Decimal
    total: Decimal
    address: str | None = None
    state: str = "done"  # or `open`, `held`, `cancelled`, `draft`
    currency: str | None = None  # None: that of the company
    rate: Decimal = Decimal(1)  # units of the company's currency for one of this

    @property
    def tax_rate(self) -> Decimal:
        """The rate that comes to the tax of the order, with six decimals."""
        return (self.tax / self.net).quantize(Decimal("0.000001"), ROUND_HALF_UP) if self.net else ZERO


@dataclass(frozen=True)
class Payment:
    """What a customer has paid."""

    party: str
    day: str
    amount: Decimal
    reference: str


@dataclass(frozen=True)
class Books:
    """All of a company: products with their price and cost, names of parties, orders, and payments if the source has them."""

    name: str
    products: Mapping[str, tuple[str, Decimal, Decimal]]
    customers: Mapping[str, str]
    suppliers: Mapping[str, str]
    sales: Sequence[Order]
    purchases: Sequence[Order]
    payments: Sequence[Payment] = field(default_factory=tuple)


def read_tables(folder: Path) -> Tables:
    """The CSV files of a folder, by the names of their tables."""
    tables = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            tables[path.stem] = list(csv.DictReader(file))
    return tables


def adventureworks(tables: Tables) -> Books:
    """The company of bicycles: sales with discounts, taxes, freight and currencies; purchases of which parts were rejected."""
    addresses = {row["AddressID"]: _join(row, "AddressLine1", "City", "PostalCode") for row in tables["Address"]}
    sold, bought = (
        _by(tables["SalesOrderDetail"], "SalesOrderID"),
        _by(tables["PurchaseOrderDetail"], "PurchaseOrderID"),
    )
    rates = {row["CurrencyRateID"]: row for row in tables["CurrencyRate"]}
    sales = [
        _order(
            row,
            "SalesOrderID",
            "CustomerID",
            [_sold(line) for line in sold[row["SalesOrderID"]]],
            due=row["DueDate"][:10],
            address=addresses.get(row["ShipToAddressID"]),
            **_in_currency(rates.get(row["CurrencyRateID"])),
        )
        for row in tables["SalesOrderHeader"]
    ]
    states = {"1": "draft", "2": "open", "3": "cancelled"}
    purchases = [
        _order(
            row,
            "PurchaseOrderID",
            "VendorID",
            [_bought(line) for line in bought[row["PurchaseOrderID"]]],
            due=row["ShipDate"][:10],
            state=states.get(row["Status"], "done"),
        )
        for row in tables["PurchaseOrderHeader"]
    ]
    return Books(
        "AdventureWorks",
        {
            row["ProductID"]: (row["Name"], Decimal(row["ListPrice"]), Decimal(row["StandardCost"]))
            for row in tables["Product"]
        },
        {row["CustomerID"]: row["Name"] for row in tables["Customer"]},
        {row["VendorID"]: row["Name"] for row in tables["Vendor"]},
        sales,
        purchases,
    )


def classicmodels(tables: Tables) -> Books:
    """The dealer in model cars: sales to customers of many countries, without tax, and payments by cheque."""
    lines, states = _by(tables["orderdetails"], "orderNumber"), {"Cancelled": "cancelled", "On Hold": "held"}
    where = {
        row["customerNumber"]: _join(row, "addressLine1", "postalCode", "city", "country")
        for row in tables["customers"]
    }
    sales = []
    for row in tables["orders"]:
        ordered = sorted(lines[row["orderNumber"]], key=lambda line: int(line["orderLineNumber"]))
        sold = [_listed(line["productCode"], line["quantityOrdered"], line["priceEach"]) for line in ordered]
        net, shipped = sum((line.total for line in sold), ZERO), row["shippedDate"] or None
        state = states.get(row["status"], "done" if shipped else "open")
        sales.append(
            Order(
                number=row["orderNumber"],
                party=row["customerNumber"],
                ordered=row["orderDate"],
                due=row["requiredDate"],
                moved=shipped if state == "done" else None,
                lines=sold,
                net=net,
                tax=ZERO,
                freight=ZERO,
                total=net,
                address=where[row["customerNumber"]],
                state=state,
            )
        )
    return Books(
        "classicmodels",
        {
            row["productCode"]: (row["productName"], Decimal(row["MSRP"]), Decimal(row["buyPrice"]))
            for row in tables["products"]
        },
        {row["customerNumber"]: row["customerName"] for row in tables["customers"]},
        {},
        sales,
        [],
        [
            Payment(row["customerNumber"], row["paymentDate"], Decimal(row["amount"]), row["checkNumber"])
            for row in tables["payments"]
        ],
    )


def _order(row: Row, number: str, party: str, lines: Sequence[Line], **further: Any) -> Order:
    net, tax, freight, total = (Decimal(row[name]) for name in ("SubTotal", "TaxAmt", "Freight", "TotalDue"))
    return Order(
        number=row[number],
        party=row[party],
        ordered=row["OrderDate"][:10],
        moved=row["ShipDate"][:10] if further.get("state", "done") == "done" else None,
        lines=lines,
        net=net,
        tax=tax,
        freight=freight,
        total=total,
        **further,
    )


def _in_currency(rate: Row | None) -> dict[str, Any]:
    """The currency of an order; rates of the source are units of it for one of the company's."""
    if rate is None or rate["ToCurrencyCode"] == HOME:
        return {}
    worth = (1 / Decimal(rate["AverageRate"])).quantize(Decimal("0.00000001"), ROUND_HALF_UP)
    return {"currency": rate["ToCurrencyCode"], "rate": worth}


def _sold(row: Row) -> Line:
    quantity, price, total = (Decimal(row[name]) for name in ("OrderQty", "UnitPrice", "LineTotal"))
    off = row.get("UnitPriceDiscount")  # some exports leave it out
    discount = Decimal(off) if off else (1 - total / (quantity * price)).quantize(Decimal("0.0001"), ROUND_HALF_UP)
    return Line(row["ProductID"], quantity, price, discount, total)


def _bought(row: Row) -> Line:
    line = _listed(row["ProductID"], row["OrderQty"], row["UnitPrice"])
    total, came, rejected = (Decimal(row[name]) for name in ("LineTotal", "ReceivedQty", "RejectedQty"))
    return Line(line.product, line.quantity, line.price, ZERO, total, came, rejected)


def _listed(product: str, quantity: str, price: str) -> Line:
    units, each = Decimal(quantity), Decimal(price)
    return Line(product, units, each, ZERO, units * each, units)


def _by(rows: Sequence[Row], name: str) -> Mapping[str, list[Row]]:
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[name]].append(row)
    return groups


def _join(row: Row, *names: str) -> str:
    return ", ".join(row[name] for name in names if row[name])


READERS: Mapping[str, Callable[[Tables], Books]] = {"adventureworks": adventureworks, "classicmodels": classicmodels}
