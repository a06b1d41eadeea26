"""Figures from what a person can list, and nothing else: what dashboards and ageing must show to this person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from tests.support.random_company.arithmetic import ZERO
from tests.support.random_company.comparing import list_items
from tests.support.random_company.office import CRM, FINANCE, Person

Rows = Sequence[Mapping[str, Any]]
_DASHBOARDS = "/api/dashboard"
_SIDES = {"receivable": "out", "payable": "in"}


class Change(NamedTuple):
    """By how much more was owed on an open item of a direction, or was paid of it, on a day."""

    side: str
    day: str
    owed: Decimal
    paid: Decimal


@dataclass(frozen=True)
class Listed:
    """All that somebody can list."""

    person: Person
    vouchers: Rows
    payments: Rows
    receipts: Rows
    contracts: Rows
    items: Rows
    changes: Sequence[Change]

    @classmethod
    async def read(cls, person: Person) -> Listed:
        lists = [f"{FINANCE}/vouchers", f"{FINANCE}/payments", f"{CRM}/payments", f"{CRM}/contracts"]
        items = await list_items(person)
        changes = [change for item in items for change in await _read_changes(person, item)]
        return cls(person, *[await person.every(path) for path in lists], items=items, changes=changes)

    async def compare_money(self, first: str, last: str) -> None:
        """The summary and the trend of these days, and the overview, are the sums of the rows."""
        sums: dict[str, Decimal] = defaultdict(Decimal)
        for row in self.vouchers:
            if row["kind"] != "transfer" and first <= row["day"] <= last:
                sums[row["kind"]] += Decimal(row["amount"])
        outside = [row for row in self.receipts if row["account_id"] is None and first <= day_of(row) <= last]
        sums["income"] += add_up(outside)
        said = await self.person.get(f"{_DASHBOARDS}/finance-summary?date_from={first}&date_to={last}")
        assert {kind: Decimal(said[kind]) for kind in ("income", "expense")} == {"expense": ZERO, **sums}
        said = await self.person.get(f"{_DASHBOARDS}/overview")
        agreed = [row for row in self.contracts if row["status"] in ("in_force", "completed")]
        assert Decimal(said["received_amount"]) == add_up(self.receipts)
        assert Decimal(said["contract_amount"]) == add_up(agreed)
        days: dict[str, Decimal] = defaultdict(Decimal)
        for row in self.receipts:
            days[day_of(row)] += Decimal(row["amount"])
        trend = (await self.person.get(f"{_DASHBOARDS}/sales-trend?days=120"))["items"]
        assert {row["date"]: Decimal(row["amount"]) for row in trend if Decimal(row["amount"])} == {
            day: amount for day, amount in days.items() if amount
        }

    async def compare_open(self, day: str) -> None:
        """What is open on a day is what was due by then less what was allocated by then."""
        for kind, side in _SIDES.items():
            said = await self.person.get(f"{FINANCE}/ageing?kind={kind}&day={day}")
            due, paid = self.due(side, day), self.paid(side, day)
            assert Decimal(said["totals"]["total"]) == due - paid
            buckets = ("current", "days_1_30", "days_31_60", "days_61_90", "over_90")
            assert sum(Decimal(said["totals"][name]) for name in buckets) == due - paid

    def allocated(self, side: str, day: str) -> Decimal:
        """What payments that this person can list had allocated to items of a direction by a day."""
        sides = {row["id"]: row["direction"] for row in self.items}
        total = ZERO
        for payment in self.payments:
            for part in (*(payment["allocations"] or ()), *(payment["taken_back"] or ())):
                if sides[part["open_item_id"]] != side:
                    continue
                sign, until = 1 if payment["direction"] != side else -1, part.get("taken_back_on")
                total += sign * _between(Decimal(part["amount"]), part["day"], until or payment["reversed_on"], day)
        outside = [row for row in self.receipts if row["account_id"] is None and side == "out"]
        return total + add_up([row for row in outside if day_of(row) <= day])

    def due(self, side: str, day: str) -> Decimal:
        """What was owed on open items by a day, paid or not."""
        return sum((one.owed for one in self.changes if one.side == side and one.day <= day), ZERO)

    def paid(self, side: str, day: str) -> Decimal:
        """What open items say was paid of them by a day."""
        return sum((one.paid for one in self.changes if one.side == side and one.day <= day), ZERO)

    async def compare_statement(self, party: str, id: str, day: str) -> None:
        """The balance of a statement is what ageing shows of the party, less advances; the other side is set off."""
        said = await self.person.get(f"{FINANCE}/statements?{party}={id}&to={day}&page_size=1")
        balance = ZERO
        for kind in _SIDES:
            rows = (await self.person.get(f"{FINANCE}/ageing?kind={kind}&day={day}&{party}={id}"))["items"]
            open_of_it = sum((Decimal(row["total"]) - Decimal(row["advances"]) for row in rows), ZERO)
            balance += open_of_it if (kind == "receivable") == (party == "customer_id") else -open_of_it
        assert Decimal(said["closing_balance"]) == balance


async def _read_changes(person: Person, item: Mapping[str, Any]) -> list[Change]:
    """The lines of the statement of an item, which add up to its amount and to what is paid of it."""
    lines = (await person.get(f"{FINANCE}/statements?open_item_id={item['id']}&page_size=1000"))["items"]
    sign = 1 if item["direction"] == "out" else -1
    more = [(line["day"], line["kind"], sign * (Decimal(line["debit"]) - Decimal(line["credit"]))) for line in lines]
    changes = [
        Change(item["direction"], day, amount if kind != "paid" else ZERO, -amount if kind == "paid" else ZERO)
        for day, kind, amount in more
    ]
    sums = (sum((one.owed for one in changes), ZERO), sum((one.paid for one in changes), ZERO))
    assert sums == (Decimal(item["amount"]), Decimal(item["paid"])), item
    return changes


def _between(amount: Decimal, since: str, until: str | None, day: str) -> Decimal:
    return amount if since <= day and (until is None or day < until) else ZERO


def add_up(rows: Rows) -> Decimal:
    return sum((Decimal(row["amount"]) for row in rows), ZERO)


def day_of(receipt: Mapping[str, Any]) -> str:
    """The business day of a payment of a contract."""
    return datetime.fromisoformat(receipt["paid_at"]).astimezone(ZoneInfo("Asia/Shanghai")).date().isoformat()
