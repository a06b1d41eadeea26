"""The sales of the Northwind company as records of a running service: contacts, contracts and payments.

Each order is a contract. The person to whom its customer belongs creates and submits it, the person who took the order
owns it, and the vice president approves it, or the administrator if it is the vice president's own. It is paid in full
to the bank account on the day of the shipment; a contract that was not shipped is open. How an order is priced:
`tests/experiments/northwind_load/orders.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import NamedTuple, TypeVar

from tests.experiments.northwind_load.client import Client, Record, ServiceError
from tests.experiments.northwind_load.data import Customer
from tests.experiments.northwind_load.orders import Order
from tests.experiments.northwind_load.settling import Tally, settle

CONTACTS, CONTRACTS, PAYMENTS = "/crm/contacts", "/crm/contracts", "/crm/payments"
AT_ONCE = 4
PAID_AT = "T12:00:00Z"  # noon in Greenwich is the same day nearly everywhere
ZERO = Decimal(0)
Thing = TypeVar("Thing")


class Totals(NamedTuple):
    """How many contracts there are, their total amount, and how much of it was received."""

    contracts: int
    amount: Decimal
    received: Decimal

    def __str__(self) -> str:
        return f"{self.contracts} contracts, {self.amount} in all, {self.received} received"


class Sales(NamedTuple):
    """The people who act, and the ids that they need.

    `sellers` are by employee number. The `chief` approves all contracts but the chief's own, which `admin` approves.
    `customers` are ids by code; `account` is the id of the account that receives the payments.
    """

    sellers: Mapping[int, Client]
    chief: Client
    admin: Client
    customers: Mapping[str, str]
    account: str

    def contacts(self, customers: Sequence[Customer], told: Callable[[str], None]) -> Tally:
        """Create or correct the contact of each customer for whom the files name one."""
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
        """Bring a contract into force for each order that costs something, with its payment if it was shipped."""
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
        """Return an order as a contract, in the form that the service accepts."""
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
        """Submit and approve the contract, as far as still necessary; it may have been approved automatically."""
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
        """Return what the service holds of these orders."""
        ours = {number_of(order) for order in orders}
        found = [record for record in self.chief.every(CONTRACTS) if record["number"] in ours]
        return Totals(
            len(found),
            sum((Decimal(record["amount"]) for record in found), ZERO),
            sum((Decimal(record["received_amount"]) for record in found), ZERO),
        )


def number_of(order: Order) -> str:
    """Return the number of an order's contract."""
    return f"NW-{order.number}"


def payment(order: Order, contract: Record, account: str) -> Record:
    """Return the payment of an order that was shipped."""
    return {
        "contract_id": contract["id"],
        "account_id": account,
        "amount": str(order.amount),
        "paid_at": f"{order.shipped}{PAID_AT}",
        "method": "transfer",
    }


def each(things: Sequence[Thing], work: Callable[[Thing, Tally], None], told: Callable[[int], None]) -> Tally:
    """Do `work` for each thing, a few at once; a refusal by the service is a problem of that thing only."""

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
    """Return the totals according to the files."""
    billed = [order for order in orders if order.amount]
    return Totals(
        len(billed),
        sum((order.amount for order in billed), ZERO),
        sum((order.amount for order in billed if order.shipped), ZERO),
    )
