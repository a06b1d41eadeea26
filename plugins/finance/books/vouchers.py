"""Vouchers: append-only and numbered. A voucher and the balances that it changes are written in one transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from plugins.api import (
    FORBIDDEN,
    ApiError,
    Event,
    Record,
    Refusal,
    Request,
    Route,
    conflicts,
    crud,
    day_of,
    exact,
    invalid,
    route,
    store_money,
)
from plugins.api.business import MONEY_ALLOCATED
from plugins.api.data import check_keeper
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import ReadOnlyRecord
from plugins.finance.books.periods import in_period, take_number, take_turn
from plugins.finance.books.records import ACCOUNTS, REVERSE_BODY, VOUCHERS
from plugins.finance.messages import ALREADY_REVERSED, NOT_CASHIER, PERIOD_CLOSED
from plugins.finance.record_types import Voucher

REVERSED_EVENT = Event("finance.voucher.reversed", voucher=dict, reversal=dict)
_ACCOUNTS = ("account_id", "to_account_id")
_COPIED_BY_REVERSALS = (
    "kind",
    "account_id",
    "to_account_id",
    "category",
    "counterparty",
    "invoice_id",
    "claim_id",
    "open_item_id",
    "payment_id",
)

Booked = TypeVar("Booked")


def get_day(req: Request) -> str:
    """Return the `day` of the body, or today."""
    return req.body.get("day") or day_of(req.now, req.service.settings.zone).isoformat()


async def book_in_transaction(req: Request, day: str, work: Callable[[], Awaitable[Booked]]) -> Booked:
    """Run `work`, which books vouchers dated `day`, in one transaction.

    For the first voucher of a month, the document of the month is created and `work` runs again.
    """

    async def work_in_turn() -> Booked:
        await take_turn(req.service, day[:7])
        return await work()

    return await in_period(req, day, lambda: req.transaction(work_in_turn))


async def book(req: Request, values: Record) -> Voucher:
    """Write a voucher and change the balances. Call it inside a transaction.

    Raises 40901 if the month is closed, and 40001 if an account is disabled or has other cashiers; reversals may use
    disabled accounts.
    """
    for field in _ACCOUNTS:
        check_keeper(req.scope, values.get(field), field)
    usable = {} if values.get("reverses_id") else {"status": "enabled"}
    number = await take_number(req, values["day"][:7])
    missing = []
    for account_id, change in compute_balance_changes(values).items():
        # the version stays, so that a voucher does not make an edit of the account fail as stale
        account = await req.system_store(ACCOUNTS).update_unversioned(
            {"_id": account_id, **usable}, {"$inc": {"balance": store_money(change)}}
        )
        if account is None:
            missing.append(_ACCOUNTS[account_id != values["account_id"]])
    if missing:
        raise ValidationFailed([FieldError(field, "reference") for field in missing])
    # the accounts exist, and because they were updated above, deleting one waits for this transaction
    return await req.store(VOUCHERS).create({**values, "number": number}, copied=_ACCOUNTS)


def compute_balance_changes(voucher: ReadOnlyRecord) -> dict[Any, Decimal]:
    """Map each account of the voucher to the amount that is added to its balance."""
    amount = exact(voucher["amount"])
    if voucher["kind"] == "income":
        return {voucher["account_id"]: amount}
    if voucher["kind"] == "expense":
        return {voucher["account_id"]: -amount}
    return {voucher["account_id"]: -amount, voucher["to_account_id"]: amount}


async def create(req: Request) -> Voucher:
    """Book the voucher of the body."""
    values = {**req.body, "day": get_day(req)}
    target = values.get("to_account_id")
    if values["kind"] == "transfer" and target is None:
        raise invalid("to_account_id", "required")
    if target is not None and (values["kind"] != "transfer" or target == values["account_id"]):
        raise invalid("to_account_id", "invalid")
    return await book_in_transaction(req, values["day"], lambda: book(req, values))


async def reverse(req: Request) -> Voucher:
    """Book the opposite of a voucher, dated `day` or today, and link the two. Returns the reversal."""
    found = await req.store(VOUCHERS).get(req.path["id"])
    check_cashier(req, found)
    day = get_day(req)

    async def work() -> Voucher:
        reversal = await reverse_booked(req, found, day, req.body.get("remark"))
        await req.emit(REVERSED_EVENT, voucher=found, reversal=reversal)
        return reversal

    return await book_in_transaction(req, day, work)


def check_cashier(req: Request, booked: Mapping[str, Any]) -> None:
    """Raise 40300 for a voucher or payment on an account that names other cashiers."""
    if not req.scope.withheld.isdisjoint(booked.get(field) for field in _ACCOUNTS):
        raise ApiError(FORBIDDEN, NOT_CASHIER)


async def reverse_booked(req: Request, voucher: Voucher, day: str, remark: str | None) -> Voucher:
    """Book the opposite of a voucher and link the two, in a transaction.

    Raises 40901 if the voucher has been reversed already or is itself a reversal.
    """
    not_reversed = {"reversed_by_id": None, "reverses_id": None}
    reversal = await book(req, _negate(voucher, day, remark))
    await req.system_store(VOUCHERS).update(
        voucher["id"], {"reversed_by_id": reversal["id"]}, where=not_reversed, reason=ALREADY_REVERSED
    )
    return reversal


def _negate(voucher: Voucher, day: str, remark: str | None) -> Record:
    amount = store_money(-exact(voucher["amount"]))
    copied = {name: voucher.get(name) for name in _COPIED_BY_REVERSALS}
    return {**copied, "amount": amount, "day": day, "remark": remark, "reverses_id": voucher["id"]}


ROUTES: tuple[Route, ...] = (
    *crud(
        VOUCHERS,
        at="/api/v1/finance/vouchers",
        resource="finance:voucher",
        only=("list", "read"),
    ),
    route(
        "POST /api/v1/finance/vouchers",
        create,
        summary="Book a voucher",
        access="finance:voucher:create",
        body=VOUCHERS.create,
        record=VOUCHERS,
        refusals=conflicts(PERIOD_CLOSED),
    ),
    route(
        "POST /api/v1/finance/vouchers/{id}/reverse",
        reverse,
        summary="Reverse a voucher by booking its opposite",
        access="finance:voucher:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        record=VOUCHERS,
        refusals=(Refusal(FORBIDDEN, NOT_CASHIER, exempt_super=True), *conflicts(ALREADY_REVERSED, PERIOD_CLOSED)),
        events=(REVERSED_EVENT, MONEY_ALLOCATED),  # the payment of the voucher gives its allocations back
    ),
)
