"""Enters the books of a company through the API, as whoever moves to the service does: masters, orders, goods, invoices, money."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeVar

from plugins.testing import expect, unique
from tests.support.random_company.office import CRM, FINANCE, INVENTORY, Person, Record
from tests.support.two_companies.source import HOME, ZERO, Books, Order, Payment, cents

AT_ONCE = 4
LONG_AGO = "2000-01-01"
_LATER = Decimal("1.02")  # how much more a currency is worth when it is paid
MOST_COUNTED = 200  # lines of one stock count
LIVE = "status=planned,open,partly_paid,paid,void"
_Work = TypeVar("_Work")


@dataclass
class Loaded:
    """What was entered: the ids of records by the numbers of the source, and how many documents of each kind."""

    customers: dict[str, str] = field(default_factory=dict)
    suppliers: dict[str, str] = field(default_factory=dict)
    products: dict[str, str] = field(default_factory=dict)
    warehouse: str = ""
    accounts: dict[str | None, str] = field(default_factory=dict)  # by their currency
    sales: dict[str, str] = field(default_factory=dict)
    purchases: dict[str, str] = field(default_factory=dict)
    paid: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))  # by the id of an order
    gained: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))  # by the id of an order, by rates
    made: Counter[str] = field(default_factory=Counter)


async def load(person: Person, books: Books) -> Loaded:
    """Enter everything; what the service refuses fails with its response."""
    loader = _Loader(person, books, Loaded())
    await loader.enter_masters()
    await _each(books.sales, loader.sell)
    await _each(books.purchases, loader.buy)
    await loader.invoice_all()
    await loader.pay_all()
    return loader.loaded


async def _each(all_of: Iterable[_Work], work: Callable[[_Work], Awaitable[None]]) -> None:
    """Do all, `AT_ONCE` at a time."""
    waiting = iter(list(all_of))

    async def next_ones() -> None:
        for one in waiting:
            await work(one)

    await asyncio.gather(*(next_ones() for _ in range(AT_ONCE)))


@dataclass
class _Loader:
    person: Person
    books: Books
    loaded: Loaded
    items: dict[str, Record] = field(default_factory=dict)  # open items, by the ids of their orders

    async def _post(self, kind: str, path: str, body: Any = None) -> Record:
        made: Record = expect(await self.person.post(path, body))
        self.loaded.made[kind] += 1
        return made

    async def enter_masters(self) -> None:
        """Enter products, parties with their addresses, a warehouse with all that will be sold, and an account."""
        loaded, name = self.loaded, unique(self.books.name)
        coded = {"code": name, "name": name}
        loaded.warehouse = (await self._post("warehouse", f"{INVENTORY}/warehouses", coded))["id"]
        await self._open_accounts(name)

        async def enter_product(key: str) -> None:
            called, price, cost = self.books.products[key]
            body = {"sku": f"{name}-{key}", "name": called, "price": str(price), "cost": str(cents(cost))}
            loaded.products[key] = (await self._post("product", f"{INVENTORY}/products", body))["id"]

        async def enter_customer(key: str) -> None:
            own = dict.fromkeys(one.address for one in self.books.sales if one.party == key and one.address)
            addresses = [{"name": f"{place}", "address": one} for place, one in enumerate(own)]
            body = {"name": self.books.customers[key], "code": f"{name}-{key}", "addresses": addresses}
            loaded.customers[key] = (await self._post("customer", f"{CRM}/customers", body))["id"]

        async def enter_supplier(key: str) -> None:
            body = {"code": f"{name}-{key}", "name": self.books.suppliers[key]}
            loaded.suppliers[key] = (await self._post("supplier", f"{INVENTORY}/suppliers", body))["id"]

        await _each(self.books.products, enter_product)
        await _each(self.books.customers, enter_customer)
        await _each(self.books.suppliers, enter_supplier)
        await self._open_stock()

    async def _open_accounts(self, name: str) -> None:
        """Enter an account for the company's own currency, and one for each other with a rate of it."""
        worth = {one.currency: one.rate for one in self.books.sales if one.currency}
        if worth:
            configs = {"values": {"finance_currency": HOME}}
            expect(await self.person.client.patch("/api/v1/system/configs", configs))
        for currency in (None, *worth):
            coded = {"code": f"{name}-{currency or HOME}", "name": f"{currency or HOME}", "type": "bank"}
            body = {**coded, "currency": currency} if worth else coded
            self.loaded.accounts[currency] = (await self._post("account", f"{FINANCE}/accounts", body))["id"]
        for currency, rate in worth.items():
            body = {"currency": currency, "day": LONG_AGO, "rate": f"{rate:f}"}
            await self._post("exchange rate", f"{FINANCE}/exchange-rates", body)

    async def _open_stock(self) -> None:
        sold: Counter[str] = Counter()
        for order in self.books.sales:
            for line in order.lines:
                sold[line.product] += int(line.quantity)
        lines = [
            {
                "product_id": self.loaded.products[key],
                "counted": str(count),
                "cost": str(cents(self.books.products[key][2])),
            }
            for key, count in sold.items()
        ]
        for first in range(0, len(lines), MOST_COUNTED):
            part = lines[first : first + MOST_COUNTED]
            body = {"warehouse_id": self.loaded.warehouse, "day": LONG_AGO, "lines": part}
            await self._post("stock count", f"{INVENTORY}/stock-counts", body)

    async def _order(self, kind: str, at: str, order: Order, party: Record) -> Record:
        """Draft an order. Its total is that of the source: cents that rounding of lines and tax leaves go into the freight."""
        rate, freight = order.tax_rate, cents(order.freight)
        body = {
            **party,
            "warehouse_id": self.loaded.warehouse,
            "ordered_on": order.ordered,
            "expected_on": order.due,
            "reference": order.number,
            "freight": str(freight),
            **_in_currency(order.currency, order.rate),
            "lines": [
                {
                    "product_id": self.loaded.products[line.product],
                    "quantity": f"{line.quantity:f}",
                    "price": f"{line.price:f}",
                    "discount": f"{line.discount:f}",
                    "tax_rate": f"{rate:f}",
                }
                for line in order.lines
            ],
        }
        made = await self._post(kind, at, body)
        if missing := cents(order.total) - Decimal(made["amount"]):
            change = {"version": made["version"], "freight": str(freight + missing)}
            made = expect(await self.person.patch(f"{at}/{made['id']}", change))
        return made

    async def sell(self, order: Order) -> None:
        """Enter a sale, and what has become of it."""
        at = f"{INVENTORY}/sales-orders"
        party = {"customer_id": self.loaded.customers[order.party], "delivery_address": order.address}
        id = self.loaded.sales[order.number] = (await self._order("sales order", at, order, party))["id"]
        await self._act(at, id, "confirm")
        if order.state == "held":
            expect(await self.person.post(f"{at}/{id}/hold", {"reason": "credit limit"}))
        elif order.state == "cancelled":
            await self._act(at, id, "cancel")
        elif order.state == "done":
            await self._post("delivery", f"{at}/{id}/deliver", {"day": order.moved})

    async def buy(self, order: Order) -> None:
        """Enter a purchase, what was received of it, and what of that went back."""
        at = f"{INVENTORY}/purchase-orders"
        party = {"supplier_id": self.loaded.suppliers[order.party]}
        id = self.loaded.purchases[order.number] = (await self._order("purchase order", at, order, party))["id"]
        if order.state == "draft":
            return
        await self._act(at, id, "cancel" if order.state == "cancelled" else "confirm")
        came, went = ([getattr(line, name) for line in order.lines] for name in ("received", "rejected"))
        if order.state != "done" or not any(came):
            return
        await self._post("receipt", f"{at}/{id}/receive", {"day": order.moved, "lines": _lines(came)})
        if any(went):
            (receipt,) = await self.person.every(f"{INVENTORY}/receipts?order_id={id}")
            body = {"day": order.moved, "lines": _lines(went), "reason": "rejected"}
            await self._post("purchase return", f"{INVENTORY}/receipts/{receipt['id']}/returns", body)
        if any(line.received < line.quantity for line in order.lines):
            await self._act(at, id, "close")

    async def _act(self, at: str, id: str, action: str) -> None:
        expect(await self.person.post(f"{at}/{id}/{action}"))

    async def invoice_all(self) -> None:
        """Invoice each order of which something moved, on that day."""
        for what in ("receivables", "payables"):
            for item in await self.person.every(f"{FINANCE}/{what}?{LIVE}"):
                self.items[item["resource_id"]] = item

        async def invoice(order: Order, direction: str, id: str) -> None:
            item = self.items.get(id)
            if item is None or not Decimal(item["amount"]):
                return
            body = {
                "direction": direction,
                "open_item_id": item["id"],
                "day": order.moved,
                "billing_address": order.address,
            }
            body |= {"number": f"{order.number}"} if direction == "in" else {}
            draft = await self._post("invoice", f"{FINANCE}/invoices", body)
            await self._act(f"{FINANCE}/invoices", draft["id"], "confirm")

        await _each(self.books.sales, lambda one: invoice(one, "out", self.loaded.sales[one.number]))
        await _each(self.books.purchases, lambda one: invoice(one, "in", self.loaded.purchases[one.number]))

    async def pay_all(self) -> None:
        """Enter the payments of the source; where it has none, most orders are paid when they are due, some half, some not."""
        if self.books.payments:
            parties: defaultdict[str, list[Payment]] = defaultdict(list)
            for payment in sorted(self.books.payments, key=lambda one: one.day):
                parties[payment.party].append(payment)
            await _each(parties.values(), self._pay_cheques)
            return

        async def pay(order: Order, direction: str, id: str) -> None:
            owed = Decimal(self.items[id]["amount"]) if id in self.items else ZERO
            share = (1, Decimal("0.5"), 1, 0, 1)[int(order.number) % 5]
            if amount := cents(owed * share):
                party = {"customer_id": self.loaded.customers[order.party]} if direction == "in" else {}
                party = party or {"supplier_id": self.loaded.suppliers[order.party]}
                rate = (order.rate * _LATER).quantize(order.rate) if order.currency else order.rate
                parts = [(id, amount)]
                await self._pay(direction, party, amount, order.due, order.number, parts, order.currency, rate)
                self.loaded.gained[id] = amount * (rate - order.rate)

        await _each(self.books.sales, lambda one: pay(one, "in", self.loaded.sales[one.number]))
        await _each(self.books.purchases, lambda one: pay(one, "out", self.loaded.purchases[one.number]))

    async def _pay_cheques(self, payments: Sequence[Payment]) -> None:
        """Allocate each payment of a customer to the order of its amount, or to the oldest; what is left is an advance."""
        mine = [one for one in self.books.sales if one.party == payments[0].party and one.state == "done"]
        ids = [self.loaded.sales[one.number] for one in sorted(mine, key=lambda one: one.moved or "")]
        left = {id: Decimal(self.items[id]["amount"]) for id in ids}
        for payment in payments:
            rest, parts = payment.amount, []
            fitting = [id for id in ids if left[id] == payment.amount][:1]
            for id in fitting or ids:
                if part := min(rest, left[id]):
                    parts.append((id, part))
                    left[id] -= part
                    rest -= part
            party = {"customer_id": self.loaded.customers[payment.party]}
            await self._pay("in", party, payment.amount, payment.day, payment.reference, parts)

    async def _pay(
        self,
        direction: str,
        party: Record,
        amount: Decimal,
        day: str,
        reference: str,
        parts: Sequence[tuple[str, Decimal]],
        currency: str | None = None,
        rate: Decimal = ZERO,
    ) -> None:
        allocations = [{"open_item_id": self.items[id]["id"], "amount": str(part)} for id, part in parts]
        body = {**party, "direction": direction, "account_id": self.loaded.accounts[currency], "amount": str(amount)}
        body |= {"day": day, **_in_currency(currency, rate)}
        await self._post("payment", f"{FINANCE}/payments", {**body, "reference": reference, "allocations": allocations})
        for id, part in parts:
            self.loaded.paid[id] += part


def _in_currency(currency: str | None, rate: Decimal) -> Record:
    return {"currency": currency, "rate": f"{rate:f}"} if currency else {}


def _lines(quantities: Sequence[Decimal]) -> list[Record]:
    return [{"line": place + 1, "quantity": f"{one:f}"} for place, one in enumerate(quantities) if one]
