"""What the Northwind company sold, as records of a running service: contacts, contracts and payments.

Each order is a contract: made and submitted by the person its customer belongs to, owned by the person who took the
order, approved by the vice president, or by the administrator where it is the vice president's own. It is paid in full
to the bank account on the day its goods left the house; what was not shipped is open. How an order is priced:
`scripts/northwind_load/orders.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import NamedTuple, TypeVar

from scripts.northwind_load.client import Client, Record, ServiceError
from scripts.northwind_load.data import Customer
from scripts.northwind_load.orders import Order
from scripts.northwind_load.settling import Tally, settle

CONTACTS, CONTRACTS, PAYMENTS = "/crm/contacts", "/crm/contracts", "/crm/payments"
AT_ONCE = 4
PAID_AT = "T12:00:00Z"  # noon in Greenwich is the same day nearly everywhere
ZERO = Decimal(0)
Thing = TypeVar("Thing")


class Totals(NamedTuple):
    """How many contracts there are, what they come to, and what was received of that."""

    contracts: int
    amount: Decimal
    received: Decimal

    def __str__(self) -> str:
        return f"{self.contracts} contracts, {self.amount} in all, {self.received} received"


class Sales(NamedTuple):
    """Who acts: `sellers` by employee number and the `chief` who approves, but what is the chief's own, which the `admin`
    approves; `customers` are ids by code, `account` is the id of the one that is paid to.
    """

    sellers: Mapping[int, Client]
    chief: Client
    admin: Client
    customers: Mapping[str, str]
    account: str

    def contacts(self, customers: Sequence[Customer], told: Callable[[str], None]) -> Tally:
        """The contact of each customer that the files name one for."""
        there = {(record["customer_id"], record["name"]): record for record in self.chief.every(CONTACTS)}

        def work(customer: Customer, tally: Tally) -> None:
            wanted = {
                "customer_id": self.customers[customer.code],
                "name": customer.contact,
                "title": customer.contact_title or None,
            }
            known = there.get((wanted["customer_id"], customer.contact))
            settle(self.sellers[customer.employee], CONTACTS, known, wanted, tally, {"is_primary": True})

        named = [customer for customer in customers if customer.contact and customer.code in self.customers]
        return each(named, work, lambda done: told(f"{done} of {len(named)} contacts"))

    def contracts(self, orders: Sequence[Order], customers: Sequence[Customer], told: Callable[[str], None]) -> Tally:
        """A contract in force for each order that costs something, with its payment if it was shipped."""
        there = {record["number"]: record for record in self.chief.every(CONTRACTS)}
        paid = {record["contract_id"] for record in self.chief.every(PAYMENTS)}
        makers = {customer.code: self.sellers[customer.employee] for customer in customers}

        def work(order: Order, tally: Tally) -> None:
            maker = makers[order.customer]
            contract = settle(maker, CONTRACTS, there.get(number_of(order)), self.fields(order), tally)
            contract = self.bring_into_force(contract, maker, tally)
            if order.shipped and contract["id"] not in paid:
                maker.create(PAYMENTS, payment(order, contract, self.account))
                tally.created += 1

        billed = [order for order in orders if order.amount and order.customer in self.customers]
        return each(billed, work, lambda done: told(f"{done} of {len(billed)} contracts"))

    def fields(self, order: Order) -> Record:
        """An order as a contract, as the service takes it."""
        return {
            "number": number_of(order),
            "customer_id": self.customers[order.customer],
            "owner_id": self.sellers[order.employee].user["userId"],
            "name": f"Order {order.number}",
            "amount": str(order.amount),
            "signed_date": order.ordered,
            "start_date": order.ordered,
            "end_date": order.required,
        }

    def bring_into_force(self, contract: Record, maker: Client, tally: Tally) -> Record:
        """Submit and approve, whichever is still to be done; an approval that is automatic needs no other."""
        if contract["status"] == "draft":
            contract = maker.call("POST", f"{CONTRACTS}/{contract['id']}/submit")
            tally.changed += 1
        if contract["status"] == "pending":
            chief_id = self.chief.user["userId"]
            own = chief_id in (maker.user["userId"], contract["owner_id"])
            approver = self.admin if own else self.chief
            contract = approver.call("POST", f"{CONTRACTS}/{contract['id']}/approve")
            tally.changed += 1
        return contract

    def totals(self, orders: Iterable[Order]) -> Totals:
        """What the service holds of these orders."""
        ours = {number_of(order) for order in orders}
        found = [record for record in self.chief.every(CONTRACTS) if record["number"] in ours]
        return Totals(
            len(found),
            sum((Decimal(record["amount"]) for record in found), ZERO),
            sum((Decimal(record["received_amount"]) for record in found), ZERO),
        )


def number_of(order: Order) -> str:
    """The number of an order's contract."""
    return f"NW-{order.number}"


def payment(order: Order, contract: Record, account: str) -> Record:
    """The payment of an order that was shipped."""
    return {
        "contract_id": contract["id"],
        "account_id": account,
        "amount": str(order.amount),
        "paid_at": f"{order.shipped}{PAID_AT}",
        "method": "transfer",
    }


def each(things: Sequence[Thing], work: Callable[[Thing, Tally], None], told: Callable[[int], None]) -> Tally:
    """Do `work` for every one, a few at once; what the service refuses is a problem of that one alone."""

    def one(thing: Thing) -> Tally:
        tally = Tally()
        try:
            work(thing, tally)
        except ServiceError as error:
            tally.problems.append(str(error))
        return tally

    whole = Tally()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done, tally in enumerate(pool.map(one, things)):
            told(done)
            whole.add(tally)
    return whole


def totals_of(orders: Iterable[Order]) -> Totals:
    """What the files say."""
    billed = [order for order in orders if order.amount]
    return Totals(
        len(billed),
        sum((order.amount for order in billed), ZERO),
        sum((order.amount for order in billed if order.shipped), ZERO),
    )
