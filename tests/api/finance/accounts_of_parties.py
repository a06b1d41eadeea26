"""Statements, ageing and the dunning list, read over HTTP, and what fills them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from plugins.testing import Client, expect, unique
from tests.api.crm.sales import customer
from tests.api.finance.books import AT, Books

Record = dict[str, Any]
BUCKETS = ("current", "days_1_30", "days_31_60", "days_61_90", "over_90")


async def billed(client: Client, party: Record, amount: str, day: str, due_on: str | None) -> Record:
    """A confirmed invoice without tax; `party` is `{"customer_id": …}`, `{"supplier_id": …}` or neither."""
    direction = "in" if "supplier_id" in party else "out"
    body = {"direction": direction, "number": unique("INV"), "counterparty": "晨光科技", "amount": amount, **party}
    draft = expect(await client.post(f"{AT}/invoices", {**body, "day": day, "due_on": due_on}))
    made: Record = expect(await client.post(f"{AT}/invoices/{draft['id']}/confirm"))
    return made


async def paid(books: Books, invoice: Record, amount: str, day: str) -> Record:
    """Book a payment on an invoice, on a day."""
    body = {"account_id": books.account_id, "amount": amount, "day": day}
    made: Record = expect(await books.client.post(f"{AT}/invoices/{invoice['id']}/pay", body))
    return made


async def new_customer(client: Client) -> Record:
    """The party of a customer that only this test uses."""
    return {"customer_id": (await customer(client))["id"]}


async def statement(client: Client, party: Record, **query: Any) -> Record:
    """The statement of a party."""
    found: Record = expect(await client.get(f"{AT}/statements?{urlencode({**party, **query})}"))
    return found


async def ageing(client: Client, party: Record, day: str, kind: str = "receivable") -> Record | None:
    """The row of a party in the ageing of a day, or None."""
    rows = expect(await client.get(f"{AT}/ageing?{urlencode({'kind': kind, 'day': day, **party})}"))["items"]
    assert len(rows) <= 1
    return rows[0] if rows else None


async def aged(client: Client, party: Record, day: str, kind: str = "receivable") -> tuple[str, ...]:
    """The buckets of a party on a day."""
    row = await ageing(client, party, day, kind)
    return tuple(row[name] for name in BUCKETS) if row else ("0.00",) * len(BUCKETS)


async def dunned(client: Client, party: Record, day: str) -> Record | None:
    """The row of a customer in the dunning list of a day, or None."""
    rows = expect(await client.get(f"{AT}/dunning?{urlencode({'day': day, **party})}"))["items"]
    return rows[0] if rows else None
