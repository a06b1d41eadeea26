"""Accounts that hold money. Their balances change only by vouchers."""

from __future__ import annotations

from decimal import Decimal

from plugins.api import Request, Route, crud, store_money
from plugins.finance.books.records import ACCOUNTS
from plugins.finance.record_types import Account


async def create_account(req: Request) -> Account:
    """Create an account with a balance of zero; opening balances are vouchers."""
    return await req.store(ACCOUNTS).create({**req.body, "balance": store_money(Decimal(0))})


ROUTES: tuple[Route, ...] = crud(
    ACCOUNTS,
    at="/api/v1/finance/accounts",
    resource="finance:account",
    create=create_account,
)
