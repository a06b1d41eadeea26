"""Accounts, the vouchers that move their balances, and the periods that number vouchers and close.

Vouchers are append-only. A voucher and the balances that it changes are written in one transaction. The last number of
a month and its lock are in one document, so booking a voucher and closing its month conflict with each other.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Literal, TypeVar

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    ApiError,
    Event,
    Record,
    Refusal,
    Request,
    Route,
    Service,
    conflicts,
    crud,
    day_of,
    exact,
    invalid,
    route,
    store_money,
    utc_now,
)
from plugins.api.business import MONEY_ALLOCATED, Rates, complete_currency, in_base, limit_in_base
from plugins.api.data import check_keeper
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.fields import FIRST_DAY, LAST_DAY
from plugins.api.reports import end_of_month
from plugins.api.values import ReadOnlyRecord
from plugins.finance.messages import (
    ALREADY_REVERSED,
    CURRENCY_FIXED,
    NO_MONTH,
    NOT_CASHIER,
    PERIOD_CLOSED,
    PERIOD_NOT_OVER,
)
from plugins.finance.record_types import Account, Period, Voucher
from plugins.finance.records import ACCOUNTS, PERIODS, REVERSE_BODY, VOUCHERS

Result = TypeVar("Result")
# what the listener for DATED may refuse
DATED_REFUSALS = conflicts(PERIOD_CLOSED)
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


async def ensure_period(req: Request, month: str) -> None:
    """Create the document of the month unless it exists."""
    periods = req.system_store(PERIODS)
    if await periods.find_one({"_id": month}):
        return

    async def create() -> None:
        # whoever waited for the lock sees the document that its last holder created
        await req.service.database.lock(PERIODS, month)
        if not await periods.find_one({"_id": month}):
            await periods.create({"closed": False, "last_number": 0}, id=month)

    await req.transaction(create)


async def take_turn(service: Service, month: str) -> None:
    """Make the transactions that book into a month run one after the other: each takes the next number of the month.

    Call it at the start of the transaction.
    """
    await service.database.take_turn(PERIODS, month)


class PeriodMissing(Exception):
    """The month has no document yet: it is created outside the transaction that needs it, which then runs again."""


async def in_period(req: Request, day: str, book: Callable[[], Awaitable[Result]]) -> Result:
    """Return the result of `book`, which takes a number of the month, in a transaction, before it writes anything.

    For the first voucher of a month, the document of the month is created and `book` runs again.
    """
    try:
        return await book()
    except PeriodMissing:
        await ensure_period(req, day[:7])
        return await book()


async def take_number(req: Request, month: str) -> str:
    """Take the next voucher number of the month, in the transaction.

    Raises 40901 if the month is closed, and PeriodMissing if it has no document yet.
    """
    periods = req.system_store(PERIODS)
    period = await periods.update_unversioned({"_id": month, "closed": False}, {"$inc": {"last_number": 1}})
    if period is None:
        if await periods.find_one({"_id": month}) is None:
            raise PeriodMissing
        raise ApiError(CONFLICT, PERIOD_CLOSED.filled(month=month))
    return f"{month}-{period['last_number']:06}"


async def check_open(service: Service, payload: Mapping[str, Any]) -> None:
    """Raise 40901 if the `day` of the payload is in a closed month. A `booked` one first waits for its turn.

    For records that take no voucher number: invoices, payments of contracts. The month stays open until the
    transaction ends: its closing waits. A month that is not over is open, and is not looked up.
    """
    month, current = payload["day"][:7], day_of(utc_now(), service.settings.zone).isoformat()[:7]
    if payload.get("booked"):
        await take_turn(service, month)
    if month >= current:
        return
    await service.database.share(PERIODS, month)
    if await service.database.store(PERIODS).find_one({"_id": month, "closed": True}):
        raise ApiError(CONFLICT, PERIOD_CLOSED.filled(month=month))


async def find_open_day(service: Service, day: str) -> str:
    """Return the day on which the effect of something dated `day` is booked: the first day from then on in an open month.

    For dates that stand beside a booking, such as the signing of a contract; the month stays open as in `check_open`.
    """
    month, current = day[:7], day_of(utc_now(), service.settings.zone).isoformat()[:7]
    if month >= current:
        return day
    later = {"_id": {"$gte": month, "$lt": current}, "closed": True}
    closed = {period["id"] for period in await service.database.store(PERIODS).find(later, fields=("closed",))}
    while day[:7] in closed:
        day = (end_of_month(date.fromisoformat(day)) + timedelta(days=1)).isoformat()
    if day[:7] < current:
        await service.database.share(PERIODS, day[:7])
    return day


def month_asked(req: Request) -> str:
    """Return the month of the path. Raises 40400 for what is none, and 40001 for one out of bounds."""
    month = req.path["month"]
    if not _MONTH.fullmatch(month):
        raise ApiError(NOT_FOUND)
    if not FIRST_DAY[:7] <= month <= LAST_DAY[:7]:
        raise invalid("month", "bounds")
    return month


async def close(req: Request) -> Period:
    """Close a month for good: nothing can be dated into it afterwards, and corrections go into an open month.

    Raises 40001 for a month out of bounds and 40901 for a month that is not over.
    """
    month = month_asked(req)
    if month >= day_of(req.now, req.service.settings.zone).isoformat()[:7]:
        raise ApiError(CONFLICT, PERIOD_NOT_OVER.filled(month=month))
    await ensure_period(req, month)
    closed = {"closed": True, "closed_at": req.now, "closed_by": req.actor.user_id}

    async def work() -> Period:
        await req.service.database.lock_all(PERIODS, month)  # so that what is being dated into it is in it, or refused
        return await req.system_store(PERIODS).update(
            month, closed, where={"closed": False}, reason=PERIOD_CLOSED.filled(month=month)
        )

    return await req.transaction(work)


REVERSED_EVENT = Event("finance.voucher.reversed", voucher=dict, reversal=dict)
_ACCOUNTS = ("account_id", "to_account_id")
_AMOUNTS: tuple[Literal["amount", "to_amount", "base_amount"], ...] = ("amount", "to_amount", "base_amount")
_COPIED_BY_REVERSALS = (
    "kind",
    "account_id",
    "to_account_id",
    "currency",
    "rate",
    "category",
    "counterparty",
    "invoice_id",
    "claim_id",
    "open_item_id",
    "payment_id",
)


def get_day(req: Request) -> str:
    """Return the `day` of the body, or today."""
    return req.body.get("day") or day_of(req.now, req.service.settings.zone).isoformat()


async def book_in_transaction(req: Request, day: str, work: Callable[[], Awaitable[Result]]) -> Result:
    """Run `work`, which books vouchers dated `day`, in one transaction.

    For the first voucher of a month, the document of the month is created and `work` runs again.
    """

    async def work_in_turn() -> Result:
        await take_turn(req.service, day[:7])
        return await work()

    return await in_period(req, day, lambda: req.transaction(work_in_turn))


async def book(req: Request, values: Record) -> Voucher:
    """Write a voucher and change the balances. Call it inside a transaction.

    Raises 40901 if the month is closed, and 40001 if an account is disabled, has other cashiers, or another currency than
    the voucher; reversals may use disabled accounts.
    """
    for field in _ACCOUNTS:
        check_keeper(req.scope, values.get(field), field)
    usable = {} if values.get("reverses_id") else {"status": "enabled"}
    number = await take_number(req, values["day"][:7])
    missing, currencies = [], {}
    for account_id, change in compute_balance_changes(values).items():
        # the version stays, so that a voucher does not make an edit of the account fail as stale
        account = await req.system_store(ACCOUNTS).update_unversioned(
            {"_id": account_id, **usable}, {"$inc": {"balance": store_money(change)}}
        )
        if account is None:
            missing.append(_ACCOUNTS[account_id != values["account_id"]])
        else:
            currencies[account_id] = account["currency"]
    if missing:
        raise ValidationFailed([FieldError(field, "reference") for field in missing])
    if currencies[values["account_id"]] != values.get("currency"):
        raise invalid("account_id", "invalid")
    if (len({*currencies.values()}) > 1) != (values.get("to_amount") is not None):
        raise invalid("to_amount", "invalid" if values.get("to_amount") is not None else "required")
    # the accounts exist, and because they were updated above, deleting one waits for this transaction
    return await req.store(VOUCHERS).create({**values, "number": number}, copied=_ACCOUNTS)


def compute_balance_changes(voucher: ReadOnlyRecord) -> dict[Any, Decimal]:
    """Map each account of the voucher to the amount that is added to its balance."""
    amount = exact(voucher["amount"])
    if voucher["kind"] == "income":
        return {voucher["account_id"]: amount}
    if voucher["kind"] == "expense":
        return {voucher["account_id"]: -amount}
    arrives = voucher.get("to_amount")
    return {voucher["account_id"]: -amount, voucher["to_account_id"]: amount if arrives is None else exact(arrives)}


async def create(req: Request) -> Voucher:
    """Book the voucher of the body."""
    values = {**req.body, "day": get_day(req)}
    target = values.get("to_account_id")
    if values["kind"] == "transfer" and target is None:
        raise invalid("to_account_id", "required")
    if target is not None and (values["kind"] != "transfer" or target == values["account_id"]):
        raise invalid("to_account_id", "invalid")
    values |= await _describe_currency(req, values)
    return await book_in_transaction(req, values["day"], lambda: book(req, values))


async def _describe_currency(req: Request, values: ReadOnlyRecord) -> Record:
    """Return `currency`, `rate` and `base_amount` of a voucher on an account in another currency."""
    account = await req.system_store(ACCOUNTS).find_one({"_id": values["account_id"]})
    code = account["currency"] if account is not None else None
    found = await complete_currency(req, {**values, "currency": code}, values["day"], "account_id")
    limit_in_base(exact(values["amount"]), found)
    return {**found, "base_amount": store_money(in_base(exact(values["amount"]), found)) if code is not None else None}


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
    copied = {name: voucher.get(name) for name in _COPIED_BY_REVERSALS}
    sums = {name: voucher[name] for name in _AMOUNTS}
    amounts: Record = {name: None if one is None else store_money(-exact(one)) for name, one in sums.items()}
    return {**copied, **amounts, "day": day, "remark": remark, "reverses_id": voucher["id"]}


async def create_account(req: Request) -> Account:
    """Create an account with a balance of zero; opening balances are vouchers."""
    values = {**req.body, **await _find_foreign(req)}
    return await req.store(ACCOUNTS).create({**values, "balance": store_money(Decimal(0))})


async def update_account(req: Request) -> Account:
    """Change an account. Raises 40901 for another currency once something is booked on it."""
    values = {**req.body, **await _find_foreign(req)}
    version, id = values.pop("version"), req.path["id"]

    async def work() -> Account:
        before = await req.store(ACCOUNTS).get(id)
        changed = await req.store(ACCOUNTS).update(id, values, version=version)
        booked = {"$or": [{name: before["id"]} for name in _ACCOUNTS]}
        if changed["currency"] != before["currency"] and await req.system_store(VOUCHERS).find(booked, limit=1):
            raise ApiError(CONFLICT, CURRENCY_FIXED)
        return changed

    return await req.transaction(work)


async def _find_foreign(req: Request) -> Record:
    """Return the currency in the body, if it has one: None for the company's own."""
    if "currency" not in req.body:
        return {}
    code = req.body["currency"]
    return {"currency": None if code == await req.part(Rates).find_base() else code}


ROUTES: tuple[Route, ...] = (
    *crud(
        ACCOUNTS,
        at="/api/v1/finance/accounts",
        resource="finance:account",
        create=create_account,
        update=update_account,
        refusals_of={"update": conflicts(CURRENCY_FIXED)},
    ),
    *crud(PERIODS, at="/api/v1/finance/periods", resource="finance:period", only=("list",)),
    route(
        "POST /api/v1/finance/periods/{month}/close",
        close,
        summary="Close a month, such as 2026-10",
        effect=(
            "结账后不能再在该月记账，且无法撤销。",
            "Nothing can be booked in the month any more. This cannot be undone.",
        ),
        access="finance:period:close",
        returns=PERIODS.read,
        refusals=(Refusal(NOT_FOUND, hint=NO_MONTH), *conflicts(PERIOD_CLOSED, PERIOD_NOT_OVER)),
    ),
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
        effect=("将生成一张金额相反的凭证，原凭证保留。", "Its opposite is booked; the voucher itself is kept."),
        access="finance:voucher:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        record=VOUCHERS,
        refusals=(Refusal(FORBIDDEN, NOT_CASHIER, exempt_super=True), *conflicts(ALREADY_REVERSED, PERIOD_CLOSED)),
        events=(REVERSED_EVENT, MONEY_ALLOCATED),  # the payment of the voucher gives its allocations back
    ),
)
