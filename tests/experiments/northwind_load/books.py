"""The books of the Northwind company: the amounts owed for deliveries, the invoices, and the customers' payments.

Customers owe the amount of a delivery and its freight, due after `TERMS_DAYS`. A delivery of `INVOICED_FROM` or more is
invoiced. The files contain no payments, so customers pay by one of four habits, assigned in turn by their place in the
file. At the end of each month a customer pays, by one transfer,

0. all that is due by then;
1. all that has been due for 30 days;
2. half of each delivery that is due, half a cent up, and never the other half;
3. all that is due, rounded up to full hundreds; the excess is an advance.

What is due after the end of the last full month before the last order stays open.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from typing import NamedTuple

from tests.experiments.northwind_load.client import Client, Record
from tests.experiments.northwind_load.data import Northwind
from tests.experiments.northwind_load.orders import CENT, Order
from tests.experiments.northwind_load.sales import each
from tests.experiments.northwind_load.settling import Tally, settle

TERMS_DAYS = 14
INVOICED_FROM = Decimal(2000)
LATE_DAYS = 30
ACCOUNT = {"code": "NW-BANK", "name": "Northwind bank account", "type": "bank"}
AT = "/finance"
_STATES = ("open", "partly_paid", "paid")
_HUNDRED = Decimal(100)
LATE, HALF, AHEAD = 1, 2, 3  # places of the habits; at the remaining place customers pay all that is due


class Receipt(NamedTuple):
    """The payment of a customer on a day: an amount for each order, and an advance."""

    customer: str
    day: str
    parts: Mapping[str, Decimal]
    advance: Decimal

    @property
    def reference(self) -> str:
        """The reference by which a later run recognises the payment."""
        return f"NW-{self.customer}-{self.day}"


def account_of(admin: Client, tally: Tally) -> str:
    """Return the id of the account to which the customers pay."""
    there = {record["code"]: record for record in admin.every(f"{AT}/accounts")}
    id: str = settle(admin, f"{AT}/accounts", there.get(ACCOUNT["code"]), ACCOUNT, tally)["id"]
    return id


def owed(order: Order) -> Record:
    """Return the terms of an order: its freight, and the days until it is due."""
    return {"freight": f"{order.freight:.2f}", "terms_days": TERMS_DAYS}


def receipts(northwind: Northwind) -> Iterator[Receipt]:
    """Yield all payments of the customers, by the habits described above."""
    delivered: defaultdict[str, list[Order]] = defaultdict(list)
    for order in northwind.orders:
        if order.shipped:
            delivered[order.customer].append(order)
    last = date.fromisoformat(max(order.ordered for order in northwind.orders if order.ordered))
    for place, customer in enumerate(northwind.customers):
        paid_on: defaultdict[date, list[Order]] = defaultdict(list)
        for order in delivered[customer.code]:
            wait = LATE_DAYS if place % 4 == LATE else 0
            paid_on[_month_end(date.fromisoformat(order.shipped or "") + timedelta(days=TERMS_DAYS + wait))].append(
                order
            )
        for day in sorted(day for day in paid_on if day <= last):
            yield _receipt(customer.code, day, paid_on[day], place % 4)


def _receipt(customer: str, day: date, orders: Sequence[Order], habit: int) -> Receipt:
    amounts = {order.number: order.amount + order.freight for order in orders}
    if habit == HALF:
        amounts = {number: (amount / 2).quantize(CENT, ROUND_HALF_UP) for number, amount in amounts.items()}
    whole = sum(amounts.values())
    advance = (whole / _HUNDRED).to_integral_value(ROUND_CEILING) * _HUNDRED - whole if habit == AHEAD else Decimal(0)
    return Receipt(customer, day.isoformat(), amounts, advance)


def _month_end(day: date) -> date:
    """Return the last day of the month of a day."""
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


class Books(NamedTuple):
    """Writes the books: through which client, the customers' ids by code, and the content of the files."""

    admin: Client
    customers: Mapping[str, str]
    northwind: Northwind

    def run(self) -> Tally:
        """Create the invoices and payments that do not exist yet."""
        tally = Tally()
        account = account_of(self.admin, tally)
        items = self._items()
        tally.add(self._invoices(items))
        tally.add(self._payments(items, account))
        return tally

    def _items(self) -> dict[str, Record]:
        """Return the receivables by the number of the order in the files."""
        orders = {
            record["id"]: record["remark"].rpartition(" ")[2]
            for record in self.admin.every("/inventory/sales-orders")
            if (record["remark"] or "").startswith("Northwind order ")
        }
        return {
            orders[item["resource_id"]]: item
            for state in _STATES
            for item in self.admin.every(f"{AT}/receivables", status=state)
            if item["resource_id"] in orders
        }

    def _invoices(self, items: Mapping[str, Record]) -> Tally:
        there = {record["number"] for record in self.admin.every(f"{AT}/invoices")}

        def work(order: Order, tally: Tally) -> None:
            item = items[order.number]
            body = {
                "direction": "out",
                "number": f"NW-{order.number}",
                "counterparty": item["counterparty"],
                "customer_id": item["customer_id"],
                "open_item_id": item["id"],
                "day": order.shipped,
                "due_on": item["due_on"],
                "amount": f"{order.amount + order.freight:.2f}",
            }
            invoice = self.admin.create(f"{AT}/invoices", body)
            self.admin.call("POST", f"{AT}/invoices/{invoice['id']}/confirm")
            tally.created += 1

        large = [order for order in self.northwind.orders if order.amount + order.freight >= INVOICED_FROM]
        wanted = [order for order in large if order.number in items and f"NW-{order.number}" not in there]
        return each(wanted, work, lambda _: None)

    def _payments(self, items: Mapping[str, Record], account: str) -> Tally:
        there = {record["reference"] for record in self.admin.every(f"{AT}/payments")}

        def work(receipt: Receipt, tally: Tally) -> None:
            parts = [
                {"open_item_id": items[number]["id"], "amount": f"{amount:.2f}"}
                for number, amount in receipt.parts.items()
            ]
            body = {
                "direction": "in",
                "account_id": account,
                "customer_id": self.customers[receipt.customer],
                "amount": f"{sum(receipt.parts.values()) + receipt.advance:.2f}",
                "day": receipt.day,
                "method": "transfer",
                "reference": receipt.reference,
                "category": "sales",
                "allocations": parts,
            }
            self.admin.create(f"{AT}/payments", body)
            tally.created += 1

        wanted = [one for one in receipts(self.northwind) if one.reference not in there]
        return each(wanted, work, lambda _: None)
