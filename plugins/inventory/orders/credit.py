"""Asks, when a sales order is confirmed, whether the customer has credit for it."""

from __future__ import annotations

from decimal import Decimal

from plugins.api import Record, Step, exact, store_money
from plugins.api.business import Customers
from plugins.inventory.orders.amounts import compute_part
from plugins.inventory.orders.records import SALES_ORDERS
from plugins.inventory.record_types import SalesOrder

_WAITING = {"status": {"$in": ["confirmed", "partly_delivered"]}}


async def confirm(step: Step[SalesOrder]) -> Record:
    """Return the values that the confirmation changes besides the state. Raises 40901 if the customer has no credit."""
    excess = await _find_excess(step, step.record)
    return {"confirmed_at": step.now, "credit_excess": store_money(excess) if excess is not None else None}


async def _find_excess(step: Step[SalesOrder], order: SalesOrder) -> Decimal | None:
    """Return by how much this order, in addition to their other open orders, exceeds the credit of the customer.

    Nothing is asked for an order without a customer, or for one of a contract, which is owed with the contract.
    """
    if order["customer_id"] is None or order.get("contract_id") is not None:
        return None
    others = {"customer_id": order["customer_id"], "contract_id": None, "_id": {"$ne": order["id"]}, **_WAITING}
    waiting = await step.store(SALES_ORDERS).find(others, fields=("lines", "amount", "shipped_amount"))
    requested, ordered = exact(order["amount"]), sum(map(_compute_undelivered, waiting), Decimal(0))
    customers = step.service.part(Customers)
    return await customers.find_credit_excess(order["customer_id"], requested=requested, ordered=ordered)


def _compute_undelivered(order: SalesOrder) -> Decimal:
    """Return the amount of the goods that are still to be delivered of an order."""
    if order["shipped_amount"] is not None:
        return exact(order["amount"]) - exact(order["shipped_amount"])
    # an earlier version stored the order, or nothing was delivered
    delivered = (compute_part(line, exact(line["delivered"])) for line in order["lines"])
    return exact(order["amount"]) - sum(delivered, Decimal(0))
