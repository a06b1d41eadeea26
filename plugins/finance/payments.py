"""Payments: entered with what they settle, allocated later, and reversed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    MONEY_ALLOCATED,
    Action,
    ApiError,
    FieldError,
    RecordNames,
    Refusal,
    Request,
    Route,
    Step,
    ValidationFailed,
    conflicts,
    crud,
    exact,
    invalid,
    store_money,
    transitions,
)
from plugins.finance.advances import check_left, repay
from plugins.finance.documents import OPEN_ITEMS
from plugins.finance.entries import enter_advance
from plugins.finance.messages import (
    ALREADY_REVERSED,
    ITEM_VOID,
    MORE_THAN_ADVANCE,
    MORE_THAN_OPEN,
    NO_SOURCE,
    NOT_CASHIER,
    PAID_BACK,
    PERIOD_CLOSED,
)
from plugins.finance.money import Part, describe_reversal, enter, list_allocations, take_back
from plugins.finance.payment_records import ALLOCATE_BODY, MAX_ALLOCATIONS, PAYMENTS, REVERSE_PAYMENT_BODY
from plugins.finance.periods import check_open
from plugins.finance.records import VOUCHERS
from plugins.finance.settlements import settle, settles
from plugins.finance.settling import in_books
from plugins.finance.vouchers import (
    REVERSED_EVENT,
    Record,
    book_in_transaction,
    check_cashier,
    get_day,
    reverse_booked,
)

_PARTY = ("customer_id", "supplier_id", "counterparty")
_SETTLING = (ITEM_VOID, MORE_THAN_OPEN, NO_SOURCE, PAID_BACK)


async def create(req: Request) -> Record:
    """Enter a payment. What it does not allocate is an advance, unless it pays one back."""
    values = {**req.body, "day": get_day(req)}
    if values.get("customer_id") is not None and values.get("supplier_id") is not None:
        raise invalid("supplier_id", "invalid")
    given = values.pop("allocations", None) or []
    amount, parts = exact(values["amount"]), await _find_parts(req, given)
    if _add_up(parts) > amount:
        raise invalid("allocations", "maximum")
    named = any(values.get(name) is not None for name in _PARTY)
    values |= await _choose_party(req, values, parts)
    # the party of an item that the caller sees need not be in their data scope
    store = req.store(PAYMENTS) if named else req.system_store(PAYMENTS)
    if values.get("repays_id") is not None:
        await _check_advance(req, values, parts)

    async def work() -> Record:
        payment, voucher = await enter(req, store, values, parts, {}, () if named else _PARTY)
        await _settle_all(req, payment, voucher, parts, values["day"])
        if values.get("repays_id") is not None:
            await repay(req, values["repays_id"], amount, values["day"])
        return payment

    return await book_in_transaction(req, values["day"], work)


async def _find_parts(req: Request, allocations: Sequence[Mapping[str, Any]]) -> list[Part]:
    """Return the items of allocations with the amounts. Raises 40001 for one that is unknown, or is named twice."""
    ids = [row["open_item_id"] for row in allocations]
    rows = await req.store(OPEN_ITEMS).find({"_id": {"$in": ids}}) if ids else []
    items = {item["id"]: item for item in rows}
    _refuse(
        (number, "reference" if id not in items else "duplicate")
        for number, id in enumerate(ids)
        if id not in items or id in ids[:number]
    )
    return [(items[row["open_item_id"]], exact(row["amount"])) for row in allocations]


def _refuse(faults: Iterable[tuple[int, str]]) -> None:
    errors = [FieldError(f"allocations[{number}].open_item_id", rule) for number, rule in faults]
    if errors:
        raise ValidationFailed(errors)


async def _choose_party(req: Request, values: Mapping[str, Any], parts: Sequence[Part]) -> Record:
    """Return the party of a payment: the given one, else that of what it pays back or of its first item."""
    party = {name: values.get(name) for name in _PARTY}
    if not any(party.values()):
        source = parts[0][0] if parts else None
        if source is None and values.get("repays_id") is not None:
            source = await req.store(PAYMENTS).find_one({"_id": values["repays_id"]})
        party = {name: source[name] if source else None for name in _PARTY}
    elif party["counterparty"] is None:
        party["counterparty"] = await _find_name(req, party)
    _check_items({**values, **party}, parts)
    return party


async def _find_name(req: Request, party: Mapping[str, Any]) -> str | None:
    """Return what the customer or supplier of a payment is called now."""
    field = "customer_id" if party["customer_id"] is not None else "supplier_id"
    target, id = PAYMENTS.references[field], party[field]
    names = await req.part(RecordNames).look_up({target: [id]})
    return names[target].get(id)


def _check_items(payment: Mapping[str, Any], parts: Sequence[Part]) -> None:
    """Raise 40001 for items of another party, or of the other direction unless more was paid than is owed."""
    _refuse(
        (number, "reference")
        for number, (item, _) in enumerate(parts)
        if not _is_of(payment, item) or not (settles(payment, item) or exact(item["paid"]) > exact(item["amount"]))
    )


def _is_of(payment: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Whether a payment has the customer or supplier of an item, or of an advance; without one there, its name."""
    if item["customer_id"] is None and item["supplier_id"] is None:
        return item["counterparty"] is None or bool(payment["counterparty"] == item["counterparty"])
    return all(payment.get(name) == item[name] for name in ("customer_id", "supplier_id"))


async def _check_advance(req: Request, values: Mapping[str, Any], parts: Sequence[Part]) -> None:
    """Raise 40001 unless `repays_id` is an earlier payment of the other direction and the same party.

    The payment itself allocates nothing then.
    """
    if parts:
        raise invalid("allocations", "invalid")
    advance = await req.store(PAYMENTS).find_one({"_id": values["repays_id"]})
    if advance is None or advance["direction"] == values["direction"]:
        raise invalid("repays_id", "reference")
    if not _is_of(values, advance):
        raise invalid("repays_id", "reference")
    if values["day"] < advance["day"]:
        raise invalid("day", "minimum")


async def _settle_all(
    req: Request, payment: Record, voucher: Mapping[str, Any], parts: Sequence[Part], day: str
) -> None:
    for number, (item, amount) in enumerate(parts):
        try:
            await settle(req, payment, voucher, item["id"], amount, day)
        except ApiError as error:
            # what is open may have changed since it was read, so the refusal comes from the item itself
            if error.kind is CONFLICT:
                known = error.data if isinstance(error.data, dict) else {}
                error.data = {**known, "field": f"allocations[{number}].amount"}
            raise


# -- actions


async def _allocate(step: Step) -> None:
    """Settle the items of the body with an advance, or with a part of it."""
    req, payment, day = step.req, step.record, get_day(step.req)
    parts = await _find_parts(req, step.body["allocations"])
    _check_items(payment, parts)
    if day < payment["day"]:
        raise invalid("day", "minimum")
    if len(payment["allocations"] or ()) + len(parts) > MAX_ALLOCATIONS:
        raise invalid("allocations", "maxItems")
    await check_left(req, payment, _add_up(parts), day)
    await check_open(step.service, {"day": day})
    voucher = await req.system_store(VOUCHERS).get(payment["voucher_id"])
    await _settle_all(req, payment, voucher, parts, day)
    step.payload["parts"] = parts


def _get_allocated(step: Step) -> Record:
    parts, before = step.payload["parts"], step.record
    added = _add_up(parts)
    return {
        "allocations": [*(before["allocations"] or ()), *list_allocations(parts, get_day(step.req))],
        "allocated": store_money(exact(before["allocated"]) + added),
        "unallocated": store_money(exact(before["unallocated"]) - added),
    }


async def _enter_allocated(step: Step) -> None:
    await enter_advance(step.service, step.record, -_add_up(step.payload["parts"]), get_day(step.req))


def _add_up(parts: Sequence[Part]) -> Decimal:
    return sum((amount for _, amount in parts), Decimal(0))


async def _reverse(step: Step) -> None:
    """Book the opposite voucher, and take the allocations back."""
    req, payment = step.req, step.record
    check_cashier(req, payment)
    voucher = await req.system_store(VOUCHERS).get(payment["voucher_id"])
    reversal = await reverse_booked(req, voucher, get_day(req), step.reason)
    step.payload |= {"voucher": voucher, "reversal": reversal}
    await take_back(req, payment, voucher, reversal["day"])


async def _announce_reversal(step: Step) -> None:
    await step.emit(REVERSED_EVENT, voucher=step.payload["voucher"], reversal=step.payload["reversal"])


ROUTES: tuple[Route, ...] = (
    *crud(
        PAYMENTS,
        at="/api/v1/finance/payments",
        resource="finance:payment",
        only=("list", "read", "create"),
        always=("reference", "remark"),
        create=create,
        events=(MONEY_ALLOCATED,),
        refusals_of={"create": conflicts(PERIOD_CLOSED, MORE_THAN_ADVANCE, *_SETTLING)},
    ),
    *transitions(
        PAYMENTS,
        Action(
            "POST /api/v1/finance/payments/{id}/allocations",
            access="finance:payment:allocate",
            does=("allocate",),
            summary="Allocate an advance to open items",
            body=ALLOCATE_BODY,
            before=_allocate,
            values=_get_allocated,
            after=_enter_allocated,
            events=(MONEY_ALLOCATED,),
            refusals=conflicts(PERIOD_CLOSED, MORE_THAN_ADVANCE, *_SETTLING),
        ),
        Action(
            "POST /api/v1/finance/payments/{id}/reverse",
            access="finance:payment:reverse",
            body=REVERSE_PAYMENT_BODY,
            before=_reverse,
            values=lambda step: describe_reversal(step.req, step.payload["reversal"]),
            after=_announce_reversal,
            within=in_books,
            events=(REVERSED_EVENT, MONEY_ALLOCATED),
            refusals=(
                Refusal(FORBIDDEN, NOT_CASHIER, exempt_super=True),
                *conflicts(ALREADY_REVERSED, PERIOD_CLOSED, PAID_BACK),
            ),
        ),
    ),
)
