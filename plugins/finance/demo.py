"""Demonstration books: a year of income and expense, a claim in each state, and open invoices."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from plugins.api import ALL_ROWS, Actor, Request, Service, day_of, perform, store_money, utc_now
from plugins.finance import accounts, claims, invoices, vouchers
from plugins.finance.documents import EXPENSE_CLAIMS
from plugins.rbac.api import Directory

Record = dict[str, Any]
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
    directory = service.part(Directory)
    keeper, claimant = await directory.by_username("manager"), await directory.by_username("sales")
    if keeper and claimant:
        await _Books(service, _make_actor(keeper), _make_actor(claimant)).run()


class _Books:
    def __init__(self, service: Service, keeper: Actor, claimant: Actor) -> None:
        self.service, self.keeper, self.claimant = service, keeper, claimant
        self.now = utc_now()

    async def run(self) -> None:
        """Create accounts, vouchers by month, claims and invoices."""
        created = [
            await accounts.create_account(self._make_request(self.keeper, {"code": code, "name": name, "type": type}))
            for code, name, type in _ACCOUNTS
        ]
        bank = created[1]["id"]
        for month in range(_MONTHS):
            await self._book_month(bank, month, self.now - timedelta(days=30 * (_MONTHS - 1 - month)))
        await self._create_claims(bank)
        for number, (direction, counterparty, amount, tax) in enumerate(_INVOICES):
            await self._create_invoice(direction, counterparty, amount, tax, f"2431200000000000{number:04}")

    async def _book_month(self, bank: Any, month: int, at: datetime) -> None:
        for kind, category, counterparty, amount, growth in _MONTHLY:
            await vouchers.create(
                self._make_request(
                    self.keeper,
                    {
                        "kind": kind,
                        "account_id": bank,
                        "category": category,
                        "counterparty": counterparty,
                        "amount": store_money(Decimal(amount) + month * Decimal(growth)),
                        "day": self._get_day(at),
                    },
                )
            )

    async def _create_claims(self, bank: Any) -> None:
        """Create a paid claim, a submitted one and a draft."""
        drafts = []
        for title, category, amount in _CLAIMS:
            line = {"day": self._get_day(self.now), "category": category, "amount": store_money(Decimal(amount))}
            drafts.append(await claims.create(self._make_request(self.claimant, {"title": title, "lines": [line]})))
        # approved without a request, so that no approval is left pending
        approval = {"submitted_at": self.now, "decided_at": self.now, "decided_by": self.keeper.user_id}
        await self.service.database.store(EXPENSE_CLAIMS, self.keeper).update(
            drafts[0]["id"], {**approval, "status": "approved"}
        )
        await perform(claims.ROUTES, "pay", self._make_request(self.keeper, {"account_id": bank}, drafts[0]))
        await perform(claims.ROUTES, "submit", self._make_request(self.claimant, {}, drafts[1]))

    async def _create_invoice(self, direction: str, counterparty: str, amount: str, tax: str, number: str) -> None:
        body = {
            "direction": direction,
            "number": number,
            "counterparty": counterparty,
            "category": "sales",
            "amount": store_money(Decimal(amount)),
            "tax": store_money(Decimal(tax)),
            "due_on": self._get_day(self.now + timedelta(days=30)),
        }
        invoice = await invoices.create(self._make_request(self.keeper, body))
        await perform(invoices.ROUTES, "confirm", self._make_request(self.keeper, {}, invoice))

    def _get_day(self, at: datetime) -> str:
        return day_of(at, self.service.settings.zone).isoformat()

    def _make_request(self, actor: Actor, body: Record, record: Record | None = None) -> Request:
        return Request(
            service=self.service,
            method="POST",
            target="",
            id="demo",
            headers={},
            remote_ip="",
            now=self.now,
            path={"id": str(record["id"])} if record else {},
            body=body,
            actor=actor,
            scope=ALL_ROWS,
        )


def _make_actor(user: Record) -> Actor:
    return Actor(user_id=user["id"], username=user["username"], department_id=user["department_id"])
