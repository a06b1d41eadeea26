"""Tables like those of the two sample databases: the same columns, decimals and habits of rounding, with invented content.

AdventureWorks keeps prices, taxes and freight with four decimals and totals of lines with six, and rounds no document to cents.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal

from tests.support.two_companies.source import Tables

FIRST = date(2025, 1, 2)
_MONEY = Decimal("0.0001")
# what a state asks: some taxes are sums of three or four
_RATES = ("0.08", "0.08", "0.07", "0.0875", "0.09975", "0.1425", "0.196", "0.0958647", "0")
_DISCOUNTS = ("0", "0", "0", "0", "0.02", "0.05", "0.1", "0.15", "0.35", "0.4")
_CURRENCIES = {"CAD": "1.0104", "EUR": "0.7386", "GBP": "0.6214", "AUD": "1.0671"}
_CITIES = ("Seattle", "Toronto", "Lyon", "München", "Melbourne", "London")
_STATES = ("Shipped",) * 14 + ("Resolved", "Disputed", "Cancelled", "On Hold", "In Process")


def make_adventureworks(sales: int, purchases: int, seed: int) -> Tables:
    """The tables with so many sales and purchases."""
    chance = random.Random(seed)
    products = [
        {
            "ProductID": str(700 + number),
            "Name": f"Bicycle part {number}",
            "ListPrice": f"{_money(chance, 2, 3578)}",
            "StandardCost": f"{_money(chance, 1, 2171)}",
        }
        for number in range(60)
    ]
    rates = [
        {"CurrencyRateID": str(number + 1), "ToCurrencyCode": code, "AverageRate": rate}
        for number, (code, rate) in enumerate(_CURRENCIES.items())
    ]
    places = [
        {
            "AddressID": str(number + 1),
            "AddressLine1": f"{chance.randint(1, 9999)} Main St.",
            "City": _CITIES[number % len(_CITIES)],
            "PostalCode": str(98000 + number),
        }
        for number in range(80)
    ]
    tables: dict[str, list[dict[str, str]]] = {
        "Product": products,
        "CurrencyRate": rates,
        "Address": places,
        "Customer": [{"CustomerID": str(29500 + number), "Name": f"Bike store {number}"} for number in range(40)],
        "Vendor": [{"VendorID": str(1492 + number), "Name": f"Vendor {number}"} for number in range(12)],
        "SalesOrderHeader": [],
        "SalesOrderDetail": [],
        "PurchaseOrderHeader": [],
        "PurchaseOrderDetail": [],
    }
    for number in range(sales):
        lines = [*_sold(chance, products)]
        customer = chance.randrange(40)
        head = _head(chance, lines, Decimal(_RATES[customer % len(_RATES)]))
        known = {"SalesOrderID": str(43659 + number), "CustomerID": str(29500 + customer)}
        # every customer has two addresses
        place = {"ShipToAddressID": str(1 + 2 * customer + chance.randrange(2))}
        currency = {"CurrencyRateID": chance.choice(("", "", "1", "2", "3", "4"))}
        tables["SalesOrderHeader"].append({**known, **head, **place, **currency})
        tables["SalesOrderDetail"] += [{"SalesOrderID": known["SalesOrderID"], **line} for line in lines]
    for number in range(purchases):
        lines = [*_bought(chance, products)]
        status = chance.choice("444444444123")
        known = {"PurchaseOrderID": str(1 + number), "VendorID": str(1492 + chance.randrange(12)), "Status": status}
        tables["PurchaseOrderHeader"].append({**known, **_head(chance, lines, Decimal("0.08"))})
        tables["PurchaseOrderDetail"] += [{"PurchaseOrderID": known["PurchaseOrderID"], **line} for line in lines]
    return tables


def make_classicmodels(orders: int, seed: int) -> Tables:
    """The tables with so many orders; two of three that were shipped are paid, each by one cheque."""
    chance = random.Random(seed)
    products = [
        {
            "productCode": f"S10_{1000 + number}",
            "productName": f"Model car {number}",
            "buyPrice": f"{_money(chance, 15, 103):.2f}",
            "MSRP": f"{_money(chance, 33, 214):.2f}",
        }
        for number in range(40)
    ]
    customers = [
        {
            "customerNumber": str(103 + number),
            "customerName": f"Gift shop {number}",
            "addressLine1": f"{chance.randint(1, 99)}, rue Royale",
            "city": _CITIES[number % len(_CITIES)],
            "postalCode": str(44000 + number),
            "country": chance.choice(("France", "USA", "Australia")),
        }
        for number in range(25)
    ]
    tables: dict[str, list[dict[str, str]]] = {"products": products, "customers": customers}
    tables |= {"orders": [], "orderdetails": [], "payments": []}
    for number in range(orders):
        ordered, state = FIRST + timedelta(days=chance.randrange(300)), chance.choice(_STATES)
        shipped = state in ("Shipped", "Resolved", "Disputed")
        head = {"orderNumber": str(10100 + number), "customerNumber": chance.choice(customers)["customerNumber"]}
        days = {
            "orderDate": ordered,
            "requiredDate": ordered + timedelta(days=9),
            "shippedDate": ordered + timedelta(days=4),
        }
        dates = {name: day.isoformat() if shipped or name != "shippedDate" else "" for name, day in days.items()}
        tables["orders"].append({**head, **dates, "status": state})
        total = Decimal(0)
        for place, product in enumerate(chance.sample(products, chance.randint(1, 14))):
            quantity = chance.randint(10, 66)
            price = (Decimal(product["MSRP"]) * chance.randint(80, 100) / 100).quantize(Decimal("0.01"))
            line = {"productCode": product["productCode"], "quantityOrdered": str(quantity), "priceEach": str(price)}
            tables["orderdetails"].append(
                {"orderNumber": head["orderNumber"], **line, "orderLineNumber": str(place + 1)}
            )
            total += quantity * price
        if shipped and chance.random() < 0.67:
            day = (ordered + timedelta(days=chance.randint(5, 40))).isoformat()
            cheque = {"checkNumber": f"HQ{300000 + number}", "paymentDate": day, "amount": str(total)}
            tables["payments"].append({"customerNumber": head["customerNumber"], **cheque})
    return tables


def _money(chance: random.Random, least: int, most: int) -> Decimal:
    return Decimal(chance.randint(least * 10_000, most * 10_000)).scaleb(-4)


def _rounded(amount: Decimal) -> Decimal:
    return amount.quantize(_MONEY, ROUND_HALF_UP)


def _sold(chance: random.Random, products: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    for product in chance.sample(products, min(chance.choice((1, 1, 2, 3, 5, 9, 14)), len(products))):
        quantity, off = chance.randint(1, 26), Decimal(chance.choice(_DISCOUNTS))
        price = _rounded(Decimal(product["ListPrice"]) * chance.choice((1, Decimal("0.6"), Decimal("0.5667"))))
        values = {"OrderQty": quantity, "UnitPrice": price, "UnitPriceDiscount": off}
        total = (price * (1 - off) * quantity).quantize(Decimal("0.000001"))
        yield {"ProductID": product["ProductID"], "LineTotal": str(total)} | {k: str(v) for k, v in values.items()}


def _bought(chance: random.Random, products: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    for product in chance.sample(products, chance.choice((1, 1, 2, 3, 5))):
        quantity, price = chance.choice((3, 60, 150, 550)), _rounded(Decimal(product["StandardCost"]) / 7)
        came = quantity - chance.choice((0, 0, 0, 0, 1))
        rejected = chance.choice((0, 0, 0, 0, 1, 2))
        values = {"OrderQty": quantity, "UnitPrice": price, "LineTotal": price * quantity}
        values |= {"ReceivedQty": f"{came}.00", "RejectedQty": f"{rejected}.00"}
        yield {"ProductID": product["ProductID"]} | {name: str(value) for name, value in values.items()}


def _head(chance: random.Random, lines: list[dict[str, str]], rate: Decimal) -> dict[str, str]:
    day = FIRST + timedelta(days=chance.randrange(300))
    net = _rounded(sum((Decimal(line["LineTotal"]) for line in lines), Decimal(0)))
    tax, freight = _rounded(net * rate), _rounded(net * Decimal("0.025"))
    sums = {"SubTotal": net, "TaxAmt": tax, "Freight": freight, "TotalDue": net + tax + freight}
    dates = {"OrderDate": day, "DueDate": day + timedelta(days=12), "ShipDate": day + timedelta(days=7)}
    return {name: str(value) for name, value in {**sums, **dates}.items()}
