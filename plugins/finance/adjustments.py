"""Adjustments: what is not owed any more though nobody paid it, such as a rebate, a cash discount or a write-off.

Each is a document of its kind, dated and reversible, and an entry of that kind of what is open; no money moves.
"""

from __future__ import annotations

from decimal import Decimal

from plugins.api import CONFLICT, ApiError, Request, Route, conflicts, crud, exact, invalid, route, store_money
from plugins.api.records import Numbering
from plugins.finance import open_items
from plugins.finance.books import check_open, get_day
from plugins.finance.entries import PARTY_FIELDS
from plugins.finance.messages import ADJUSTMENT_REVERSED, MORE_THAN_OPEN, NOT_IN_STATE, PERIOD_CLOSED
from plugins.finance.payment_records import ADJUST_BODY, ADJUSTMENTS, OPEN_ITEMS, REVERSE_ADJUSTMENT_BODY
from plugins.finance.record_types import Adjustment, OpenItem

NUMBERS = Numbering("finance_adjustment_number", ADJUSTMENTS.noun, "AJ", ADJUSTMENTS.name)
_ADJUSTABLE = ("open", "partly_paid")


async def adjust(req: Request) -> Adjustment:
    """Lower what is open of an item by the amount of the body.

    Raises 40901 for more than is open, for an expense claim, for an item of which nothing is open, and for a closed month;
    40001 for a day before the item was owed.
    """
    day = get_day(req)

    async def work() -> Adjustment:
        item = await req.lock(OPEN_ITEMS, req.path["id"])
        if item["status"] not in _ADJUSTABLE or item["biz_type"] == open_items.CLAIM:
            raise ApiError(CONFLICT, NOT_IN_STATE)
        await check_open(req.service, {"day": day})
        _check_day(day, item["booked_on"] or item["day"])
        amount, left = exact(req.body["amount"]), exact(item["amount"]) - exact(item["paid"])
        if amount > left:
            data = {"open": f"{left:.2f}", "field": "amount"}
            raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=data["open"]), data=data)
        return await _enter(req, item, req.body["kind"], amount, day)

    return await req.transaction(work)


async def reverse(req: Request) -> Adjustment:
    """Reverse an adjustment by another one with an amount below zero, so that the item is owed again."""
    day = get_day(req)

    async def work() -> Adjustment:
        made = await req.lock(ADJUSTMENTS, req.path["id"])
        if made["reverses_id"] is not None or made["reversed_by_id"] is not None:
            raise ApiError(CONFLICT, ADJUSTMENT_REVERSED)
        await check_open(req.service, {"day": day})
        _check_day(day, made["day"])
        await req.service.database.lock(OPEN_ITEMS, made["open_item_id"])
        item = await req.system_store(OPEN_ITEMS).get(made["open_item_id"])
        reversal = await _enter(req, item, made["kind"], -exact(made["amount"]), day, made)
        await req.system_store(ADJUSTMENTS).update(made["id"], {"reversed_by_id": reversal["id"]})
        return reversal

    return await req.transaction(work)


def _check_day(day: str, since: str | None) -> None:
    if since is not None and day < since:
        raise invalid("day", "minimum")


async def _enter(
    req: Request, item: OpenItem, kind: str | None, amount: Decimal, day: str, reversed: Adjustment | None = None
) -> Adjustment:
    """Write an adjustment, and change the item by it on `day`."""
    made = await req.store(ADJUSTMENTS).create(
        {
            **{name: item.get(name) for name in ("direction", "currency", "rate", *PARTY_FIELDS)},
            "number": await NUMBERS.take(req),
            "open_item_id": item["id"],
            "document_number": item["number"],
            "kind": kind,
            "day": day,
            "amount": store_money(amount),
            "reason": req.body.get("reason"),
            "reverses_id": reversed["id"] if reversed is not None else None,
        }
    )
    await open_items.add_adjustment(req, item, amount, day, str(kind))
    return made


ROUTES: tuple[Route, ...] = (
    *crud(ADJUSTMENTS, at="/api/v1/finance/adjustments", resource="finance:adjustment", only=("list", "read")),
    route(
        "POST /api/v1/finance/open-items/{id}/adjustments",
        adjust,
        summary="Enter a rebate, cash discount, write-off, bank charge or small difference of an open item",
        access="finance:adjustment:create",
        body=ADJUST_BODY,
        returns=ADJUSTMENTS.read,
        collection=OPEN_ITEMS.name,
        refusals=conflicts(MORE_THAN_OPEN, NOT_IN_STATE, PERIOD_CLOSED),
    ),
    route(
        "POST /api/v1/finance/adjustments/{id}/reverse",
        reverse,
        summary="Reverse an adjustment",
        effect=(
            "将生成一笔金额相反的调整，款项恢复待结算。",
            "An adjustment below zero is made, and the item is owed again.",
        ),
        access="finance:adjustment:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_ADJUSTMENT_BODY,
        record=ADJUSTMENTS,
        refusals=conflicts(ADJUSTMENT_REVERSED, PERIOD_CLOSED),
    ),
)
