"""Vouchers: append-only, numbered, and one transaction with the balances that they move."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    ApiError,
    Request,
    day_of,
    exact,
    invalid,
    store_money,
)
from plugins.finance.messages import ACCOUNT_USED, ALREADY_REVERSED
from plugins.finance.periods import next_number, opened
from plugins.finance.records import ACCOUNTS, VOUCHERS

Record = dict[str, Any]
REVERSED_EVENT = "finance.voucher.reversed"


def day_in(req: Request) -> str:
    """The day that the body names, else today."""
    return req.body.get("day") or day_of(req.now, req.service.settings.zone).isoformat()


async def booking(req: Request, day: str, work: Callable[[], Awaitable[Record]]) -> Record:
    """Run `work`, which books vouchers of that day, as one transaction; the month has its document before."""
    await opened(req, day[:7])
    return await req.transaction(work)


async def book(req: Request, values: Record) -> Record:
    """Write a voucher and move the balances; inside a transaction. 40901 for a closed month.

    40001 for an account that is disabled; what was booked on it can still be reversed.
    """
    open_to_it = {} if values.get("reverses_id") else {"status": "enabled"}
    number = await next_number(req, values["day"][:7])
    voucher = await req.store(VOUCHERS).create({**values, "number": number})
    for account_id, change in effects(voucher).items():
        # without a new version: who renames an account is not stopped by its vouchers
        moved = await req.system_store(ACCOUNTS).change_quietly(
            {"_id": account_id, **open_to_it}, {"$inc": {"balance": store_money(change)}}
        )
        if moved is None:
            raise invalid("account_id" if account_id == voucher["account_id"] else "to_account_id", "reference")
    return voucher


def effects(voucher: Mapping[str, Any]) -> dict[Any, Decimal]:
    """Account → by what the voucher changes its balance."""
    amount = exact(voucher["amount"])
    if voucher["kind"] == "income":
        return {voucher["account_id"]: amount}
    if voucher["kind"] == "expense":
        return {voucher["account_id"]: -amount}
    return {voucher["account_id"]: -amount, voucher["to_account_id"]: amount}


async def create(req: Request) -> Record:
    """Book what the body says."""
    values = {**req.body, "day": day_in(req)}
    target = values.get("to_account_id")
    if values["kind"] == "transfer" and target is None:
        raise invalid("to_account_id", "required")
    if target is not None and (values["kind"] != "transfer" or target == values["account_id"]):
        raise invalid("to_account_id", "invalid")
    return await booking(req, values["day"], lambda: book(req, values))


async def reverse(req: Request) -> Record:
    """Book the opposite, dated today or as the body says, and mark the voucher; answers the reversal."""
    found = await req.store(VOUCHERS).get(req.path["id"])
    day = day_in(req)

    async def work() -> Record:
        untouched = {"reversed_by_id": None, "reverses_id": None}
        reversal = await book(req, _opposite(found, day, req.body.get("remark")))
        await req.store(VOUCHERS).update(
            found["id"], {"reversed_by_id": reversal["id"]}, where=untouched, reason=ALREADY_REVERSED
        )
        await req.emit(REVERSED_EVENT, voucher=found, reversal=reversal)
        return reversal

    return await booking(req, day, work)


def _opposite(voucher: Record, day: str, remark: str | None) -> Record:
    kept = ("kind", "account_id", "to_account_id", "category", "counterparty", "invoice_id", "claim_id",
            "open_item_id")  # fmt: skip
    amount = store_money(-exact(voucher["amount"]))
    same = {name: voucher[name] for name in kept}
    return {**same, "amount": amount, "day": day, "remark": remark, "reverses_id": voucher["id"]}


async def create_account(req: Request) -> Record:
    """An account with nothing on it; opening balances are vouchers."""
    return await req.store(ACCOUNTS).create({**req.body, "balance": store_money(Decimal(0))})


async def delete_account(req: Request) -> None:
    """Delete an account that no voucher names."""

    async def work() -> None:
        account = await req.store(ACCOUNTS).get(req.path["id"])
        either = [{"account_id": account["id"]}, {"to_account_id": account["id"]}]
        if await req.system_store(VOUCHERS).find_one({"$or": either}):
            raise ApiError(CONFLICT, ACCOUNT_USED)
        await req.store(ACCOUNTS).delete(account["id"])

    await req.transaction(work)
