"""What the ways to settle open items have in common: finding the items of a request, their parties, and refusals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Request, exact
from plugins.api.errors import FieldError, ValidationFailed
from plugins.finance.open_items.records import OPEN_ITEMS
from plugins.finance.open_items.settlements import settle
from plugins.finance.payments.entering import Part
from plugins.finance.record_types import FinancePayment, Voucher


async def find_parts(req: Request, allocations: Sequence[Mapping[str, Any]]) -> list[Part]:
    """Return the items of allocations with their amounts. Raises 40001 for an item that is unknown or named twice."""
    ids = [row["open_item_id"] for row in allocations]
    rows = await req.store(OPEN_ITEMS).find({"_id": {"$in": ids}}) if ids else []
    items = {item["id"]: item for item in rows}
    refuse(
        (number, "reference" if id not in items else "duplicate")
        for number, id in enumerate(ids)
        if id not in items or id in ids[:number]
    )
    return [(items[row["open_item_id"]], exact(row["amount"])) for row in allocations]


def refuse(faults: Iterable[tuple[int, str]]) -> None:
    """Raise 40001 if there are faults; each is the number of an allocation and the rule that its item breaks."""
    errors = [FieldError(f"allocations[{number}].open_item_id", rule) for number, rule in faults]
    if errors:
        raise ValidationFailed(errors)


def is_of(payment: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Return whether a payment has the customer and supplier of an item or an advance.

    If that has neither, the counterparties are compared; one without a counterparty fits every payment.
    """
    if item["customer_id"] is None and item["supplier_id"] is None:
        return item["counterparty"] is None or bool(payment["counterparty"] == item["counterparty"])
    return all(payment.get(name) == item[name] for name in ("customer_id", "supplier_id"))


async def settle_all(req: Request, payment: FinancePayment, voucher: Voucher, parts: Sequence[Part], day: str) -> None:
    """Settle each item with its part of a payment. A 40901 names the allocation in `data.field`."""
    for number, (item, amount) in enumerate(parts):
        try:
            await settle(req, payment, voucher, item["id"], amount, day)
        except ApiError as error:
            # what is open may have changed since it was read, so the refusal comes from the item itself
            if error.kind is CONFLICT:
                known = error.data if isinstance(error.data, dict) else {}
                error.data = {**known, "field": f"allocations[{number}].amount"}
            raise


def add_up(parts: Sequence[Part]) -> Decimal:
    """Return the sum of the amounts."""
    return sum((amount for _, amount in parts), Decimal(0))
