"""The currency of contracts, and what they and their payments are worth in the company's own."""

from __future__ import annotations

from plugins.api import Record, Request, day_of, exact, invalid, store_money
from plugins.api.business import choose_currency, in_base, limit_in_base
from plugins.api.values import ReadOnlyRecord, StoredAmount


async def choose_contract_currency(
    req: Request, values: ReadOnlyRecord, before: ReadOnlyRecord | None = None
) -> Record:
    """Return the currency and rate of a draft as `choose_currency` does: the rate is that of its signing, or else of today.

    Raises 40001 also for another currency without another amount or beside payment plans, which would mean something else,
    and for a rate by which the contract is worth too much.
    """
    contract = {**(before or {}), **values}
    today = day_of(req.now, req.service.settings.zone).isoformat()
    chosen = await choose_currency(req, values, contract.get("signed_date") or today, before, dated="signed_date")
    if before is not None and chosen["currency"] != before["currency"]:
        if exact(before["planned_amount"]):
            raise invalid("currency", "invalid")
        if "amount" not in values:
            raise invalid("amount", "required")
    limit_worth(contract["amount"], chosen, "rate")
    return chosen


def limit_worth(amount: StoredAmount, record: ReadOnlyRecord, field: str) -> None:
    """Raise 40001 for `field` if an amount in another currency than the company's is worth too much in that."""
    if record["rate"] is not None:
        limit_in_base(exact(amount), record, field)


def find_worth(amount: StoredAmount, record: ReadOnlyRecord) -> StoredAmount | None:
    """Return what an amount of a record is worth in the company's currency; None if it is in that already."""
    return store_money(in_base(exact(amount), record)) if record["rate"] is not None else None
