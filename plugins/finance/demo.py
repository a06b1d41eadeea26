"""Demonstration books: a year of income and expense, a claim in each state, and open invoices."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from plugins.api import Actor, Service, day_of, utc_now
from plugins.api.records import Demonstration
from plugins.finance.claim_records import EXPENSE_CLAIMS
from plugins.finance.records import ACCOUNTS, INVOICES, VOUCHERS
from plugins.rbac.api import people_of_the_demo

_MONTHS = 12
_ACCOUNTS = (("1001", "库存现金", "cash"), ("1002-01", "招商银行基本户", "bank"))
# kind, category, counterparty, amount in the first month, growth by month
_MONTHLY = (
    ("income", "sales", "晨光科技", "86000.00", "3250.50"),
    ("income", "service", "云帆软件", "12500.00", "480.25"),
    ("expense", "purchase", "华东金属", "41800.00", "910.75"),
    ("expense", "rent", "鼎盛地产", "9000.00", "0.00"),
)
_CLAIMS = (("上海出差", "travel", "1286.50"), ("办公用品", "office", "342.80"), ("客户拜访", "travel", "95.00"))
_INVOICES = (("out", "晨光科技", "18000.00", "2340.00"), ("in", "华东金属", "6400.00", "832.00"))


async def load(service: Service) -> None:
    """Book a year as the demonstration users would have."""
    people = await people_of_the_demo(service)
    if people:
        await _Books(service, people["manager"], people["sales"]).run()


class _Books:
    def __init__(self, service: Service, keeper: Actor, claimant: Actor) -> None:
        self.service, self.keeper, self.claimant = service, keeper, claimant
        self.demo, self.now = Demonstration(service), utc_now()

    async def run(self) -> None:
        """Create accounts, vouchers by month, claims and invoices."""
        _, bank = await self.demo.create_all(ACCOUNTS, ("code", "name", "type"), _ACCOUNTS, self.keeper, self.now)
        for month in range(_MONTHS):
            await self._book_month(bank["id"], month, self.now - timedelta(days=30 * (_MONTHS - 1 - month)))
        await self._create_claims(bank["id"])
        for number, (direction, counterparty, amount, tax) in enumerate(_INVOICES):
            await self._create_invoice(direction, counterparty, amount, tax, f"2431200000000000{number:04}")

    async def _book_month(self, bank: Any, month: int, at: datetime) -> None:
        for kind, category, counterparty, amount, growth in _MONTHLY:
            booked = {
                "kind": kind,
                "account_id": bank,
                "category": category,
                "counterparty": counterparty,
                "amount": str(Decimal(amount) + month * Decimal(growth)),
                "day": self._get_day(at),
            }
            await self.demo.create(VOUCHERS, booked, self.keeper)

    async def _create_claims(self, bank: Any) -> None:
        """Create a paid claim, a submitted one and a draft."""
        drafts = []
        for title, category, amount in _CLAIMS:
            line = {"day": self._get_day(self.now), "category": category, "amount": amount}
            drafts.append(await self.demo.create(EXPENSE_CLAIMS, {"title": title, "lines": [line]}, self.claimant))
        # approved without a request, so that no approval is left pending
        approval = {"submitted_at": self.now, "decided_at": self.now, "decided_by": self.keeper.user_id}
        await self.service.database.store(EXPENSE_CLAIMS, self.keeper).update(
            drafts[0]["id"], {**approval, "status": "approved"}
        )
        await self.demo.act(EXPENSE_CLAIMS, "pay", drafts[0], self.keeper, body={"account_id": bank})
        await self.demo.act(EXPENSE_CLAIMS, "submit", drafts[1], self.claimant)

    async def _create_invoice(self, direction: str, counterparty: str, amount: str, tax: str, number: str) -> None:
        body = {
            "direction": direction,
            "number": number,
            "counterparty": counterparty,
            "category": "sales",
            "amount": amount,
            "tax": tax,
            "due_on": self._get_day(self.now + timedelta(days=30)),
        }
        await self.demo.act(INVOICES, "confirm", await self.demo.create(INVOICES, body, self.keeper), self.keeper)

    def _get_day(self, at: datetime) -> str:
        return day_of(at, self.service.settings.zone).isoformat()
