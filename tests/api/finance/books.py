"""An account, and what people do with it over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plugins.testing import Client, Reply, expect, unique

AT = "/api/v1/finance"


@dataclass
class Books:
    """An account that only this test uses."""

    client: Client
    account_id: str

    @classmethod
    async def fresh(cls, client: Client) -> Books:
        """A new account with a balance of zero."""
        code = unique("ACC")
        made = expect(await client.post(f"{AT}/accounts", {"code": code, "name": code, "type": "bank"}))
        return cls(client, made["id"])

    async def book(self, kind: str, amount: str, **fields: Any) -> Reply:
        """Book a voucher."""
        body = {"kind": kind, "account_id": self.account_id, "amount": amount, **fields}
        return await self.client.post(f"{AT}/vouchers", body)

    async def reverse(self, voucher: dict[str, Any], **fields: Any) -> Reply:
        """Reverse a voucher."""
        return await self.client.post(f"{AT}/vouchers/{voucher['id']}/reverse", fields)

    async def balance(self) -> str:
        """The balance of the account, read over HTTP."""
        return str(expect(await self.client.get(f"{AT}/accounts/{self.account_id}"))["balance"])

    async def vouchers(self) -> list[dict[str, Any]]:
        """Every voucher of the account."""
        query = f"account_id={self.account_id}&page_size=200"
        rows: list[dict[str, Any]] = expect(await self.client.get(f"{AT}/vouchers?{query}"))["items"]
        return rows

    async def claim(self, *actions: str) -> dict[str, Any]:
        """An expense claim that went through these actions."""
        lines = [{"day": "2026-11-18", "category": "travel", "amount": amount} for amount in ("86.50", "13.55")]
        claim: dict[str, Any] = expect(
            await self.client.post(f"{AT}/expense-claims", {"title": "trip", "lines": lines})
        )
        for action in actions:
            claim = expect(await self.client.post(f"{AT}/expense-claims/{claim['id']}/{action}"))
        return claim

    async def pay_claim(self, claim: dict[str, Any]) -> Reply:
        """Pay a claim from the account."""
        return await self.client.post(f"{AT}/expense-claims/{claim['id']}/pay", {"account_id": self.account_id})

    async def invoice(self, direction: str = "out", amount: str = "100.00", tax: str = "13.00") -> dict[str, Any]:
        """A confirmed invoice."""
        body = {"direction": direction, "number": unique("INV"), "counterparty": "c", "amount": amount, "tax": tax}
        draft = expect(await self.client.post(f"{AT}/invoices", body))
        confirmed: dict[str, Any] = expect(await self.client.post(f"{AT}/invoices/{draft['id']}/confirm"))
        return confirmed

    async def pay_invoice(self, invoice: dict[str, Any], amount: str | None = None) -> Reply:
        """Book a payment on an invoice."""
        body = {"account_id": self.account_id, "amount": amount}
        return await self.client.post(f"{AT}/invoices/{invoice['id']}/pay", body)

    async def enter(
        self, direction: str, amount: str, *allocations: tuple[dict[str, Any], str], **fields: Any
    ) -> Reply:
        """Enter a payment with what it allocates to open items."""
        rows = [{"open_item_id": item["id"], "amount": part} for item, part in allocations]
        body = {"direction": direction, "account_id": self.account_id, "amount": amount, "allocations": rows, **fields}
        return await self.client.post(f"{AT}/payments", body)

    async def allocate(self, payment: dict[str, Any], item: dict[str, Any], amount: str, **fields: Any) -> Reply:
        """Allocate a part of an advance to an open item."""
        body = {"allocations": [{"open_item_id": item["id"], "amount": amount}], **fields}
        return await self.client.post(f"{AT}/payments/{payment['id']}/allocations", body)

    async def reverse_payment(self, payment: dict[str, Any], **fields: Any) -> Reply:
        """Reverse a payment."""
        return await self.client.post(f"{AT}/payments/{payment['id']}/reverse", fields)

    async def item(self, record: dict[str, Any]) -> dict[str, Any]:
        """The open item of a record, whatever its state."""
        query = f"resource_id={record['id']}&status=open,partly_paid,paid,void"
        rows = [row for what in ("receivables", "payables") for row in await self._rows(f"{what}?{query}")]
        assert len(rows) == 1
        return rows[0]

    async def _rows(self, path: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = expect(await self.client.get(f"{AT}/{path}"))["items"]
        return rows
