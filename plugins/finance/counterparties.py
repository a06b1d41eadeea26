"""Whom a document is about: a customer, a supplier, or somebody who is only named."""

from __future__ import annotations

from plugins.api import Request, invalid
from plugins.api.data import RecordNames
from plugins.api.values import ReadOnlyRecord
from plugins.finance.payment_records import OPEN_ITEMS


async def find_party_name(req: Request, party: ReadOnlyRecord) -> str | None:
    """Return what the customer or the supplier of a document is called now, or None if it has none that exists."""
    field = "customer_id" if party.get("customer_id") is not None else "supplier_id"
    return await req.part(RecordNames).name_of(OPEN_ITEMS.references[field], party.get(field))


async def choose_counterparty(req: Request, values: ReadOnlyRecord) -> str:
    """Return the given counterparty, or what the customer or supplier is called. Raises 40001 where there is none."""
    name = values.get("counterparty") or await find_party_name(req, values)
    if name is None:
        given = next((name for name in ("customer_id", "supplier_id") if values.get(name) is not None), None)
        raise invalid(given, "reference") if given else invalid("counterparty", "required")
    return str(name)


def refuse_other_party(direction: str, values: ReadOnlyRecord) -> None:
    """Raise 40001 for a supplier who owes something (`out`), and a customer to whom something is owed (`in`)."""
    other = "supplier_id" if direction == "out" else "customer_id"
    if values.get(other) is not None:
        raise invalid(other, "invalid")
