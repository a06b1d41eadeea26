"""Accounts: what money is on. Balances change by vouchers only."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Request, Route, conflicts, crud, store_money
from plugins.finance.messages import ACCOUNT_USED
from plugins.finance.records import ACCOUNTS, VOUCHERS

Record = dict[str, Any]


async def create_account(req: Request) -> Record:
    """Create an account with a balance of zero; opening balances are vouchers."""
    return await req.store(ACCOUNTS).create({**req.body, "balance": store_money(Decimal(0))})


async def delete_account(req: Request) -> None:
    """Delete an account that no voucher refers to."""

    async def work() -> None:
        account = await req.store(ACCOUNTS).get(req.path["id"])
        either = [{"account_id": account["id"]}, {"to_account_id": account["id"]}]
        if await req.system_store(VOUCHERS).find_one({"$or": either}):
            raise ApiError(CONFLICT, ACCOUNT_USED)
        await req.store(ACCOUNTS).delete(account["id"])

    await req.transaction(work)


ROUTES: tuple[Route, ...] = crud(
    ACCOUNTS,
    at="/api/v1/finance/accounts",
    resource="finance:account",
    noun="account",
    create=create_account,
    delete=delete_account,
    refusals_of={"delete": conflicts(ACCOUNT_USED)},
)
