"""Opening items: what customers owe, and is owed to suppliers, when the books begin, one by one as the old books have it.

Each is an open item of its own: dated, due, paid and dunned as others are. It is no income and no expense and has no tax:
it was invoiced in the old books. A mistake is reversed, and entered again.
"""

from __future__ import annotations

from decimal import Decimal

from plugins.api import (
    CONFLICT,
    Action,
    ApiError,
    Collection,
    Index,
    Message,
    Record,
    Request,
    Route,
    Service,
    Step,
    choice,
    conflicts,
    crud,
    day,
    exact,
    invalid,
    money,
    shape,
    store_money,
    text,
    timestamp,
    transitions,
)
from plugins.api.business import complete_currency, currency_fields, limit_in_base
from plugins.finance import open_items
from plugins.finance.ageing import DIRECTIONS
from plugins.finance.books import check_open, get_day
from plugins.finance.counterparties import choose_counterparty, refuse_other_party
from plugins.finance.entries import PARTY_FIELDS
from plugins.finance.messages import OPENING_SETTLED, PERIOD_CLOSED
from plugins.finance.record_types import OpeningItem
from plugins.finance.records import COUNTERPARTY, CUSTOMER, MAX_AMOUNT, REMARK, SUPPLIER
from plugins.finance.states import OPENING_STATES

_REASON = text(label=("冲销原因", "Reason"), max_length=500, example="金额录错")

OPENING_ITEMS: Collection[OpeningItem] = Collection(
    name="finance_opening_items",
    title="OpeningItem",
    noun=Message("期初款项", "opening item"),
    scoped=True,
    fields={
        "kind": choice(
            *DIRECTIONS,
            label=("往来方向", "Side"),
            required=True,
            filter=True,
            description="`receivable`: a customer owes it; `payable`: it is owed to a supplier.",
        ),
        "number": text(
            label=("单据编号", "Document number"),
            required=True,
            min_length=1,
            max_length=64,
            sort=True,
            filter=True,
            search=True,
            example="2025-0178",
            description="Of the invoice in the old books. Of one customer or supplier it is entered once, until it is reversed.",
        ),
        "counterparty": COUNTERPARTY.but(
            nullable=False,
            rules={**COUNTERPARTY.rules, "minLength": 1},
            description="The name of the customer or supplier unless given. Required without one of them.",
        ),
        "customer_id": CUSTOMER.but(description="Only of what a customer owes."),
        "supplier_id": SUPPLIER.but(description="Only of what is owed to a supplier."),
        "day": day(
            label=("入账日期", "Date"),
            past=True,
            filter=True,
            sort=True,
            description="From which day on it counts here, such as the first day of the books. Today unless given.",
        ),
        "due_on": day(label=("到期日", "Due date"), filter=True, sort=True, description="Null: not agreed."),
        "amount": money(
            label=("未结金额", "Open amount"),
            minimum="0.01",
            maximum=MAX_AMOUNT,
            required=True,
            nullable=False,
            sort=True,
            filter=True,
            example="1200.00",
            description="What is still open of it, with tax.",
        ),
        **currency_fields(),
        "status": OPENING_STATES.choice(label=("单据状态", "Status"), filter=True),
        "reversed_on": day(label=("冲销日期", "Reversed on"), read_only=True),
        "reversed_at": timestamp(label=("冲销时间", "Reversed at"), read_only=True),
        "reason": _REASON.but(read_only=True),
        "remark": REMARK,
    },
    indexes=(
        # the last field is the one that the error for a duplicate names
        Index("kind", *PARTY_FIELDS, "reversed_at", "number", unique=True),
        Index("number"),
        Index("day"),
    ),
    states=OPENING_STATES,
)

REVERSE_BODY = shape(
    "ReverseOpeningItemBody",
    day=day(past=True, description="Today unless given; not before the day of the item."),
    reason=_REASON,
)


async def create(req: Request) -> OpeningItem:
    """Enter an opening item, which is owed from its day on. Raises 40901 for a day in a closed month."""
    values = {**req.body, "day": get_day(req)}
    refuse_other_party(DIRECTIONS[values["kind"]], values)
    values["counterparty"] = await choose_counterparty(req, values)
    values |= await complete_currency(req, values, values["day"])
    limit_in_base(exact(values["amount"]), values)

    async def work() -> OpeningItem:
        await check_open(req.service, values)
        made = await req.store(OPENING_ITEMS).create(values)
        await _owe(req.service, made, made["amount"], values["day"], new=True)
        return made

    return await req.transaction(work)


async def _owe(service: Service, opening: OpeningItem, amount: object, on: str, *, new: bool = False) -> None:
    """Write the open item of an opening item, of which `amount` is owed from the day `on`; the same people may see it."""
    copied: Record = {
        name: opening.get(name)
        for name in ("number", "due_on", "currency", "rate", *PARTY_FIELDS, "creator_id", "creator_department_id")
    }
    about = {"biz_type": open_items.OPENING, "resource_id": str(opening["id"]), "amount": amount, "day": on}
    await open_items.update_from_event(DIRECTIONS[str(opening["kind"])], service, {**copied, **about, "new": new})


async def _check_unsettled(step: Step[OpeningItem]) -> None:
    """Refuse to reverse an item in a closed month, before its day, and while something of it is paid or adjusted."""
    on = get_day(step.req)
    await check_open(step.service, {"day": on})
    if on < (step.record["day"] or on):
        raise invalid("day", "minimum")
    item = await open_items.find_item(step.req, open_items.OPENING, step.record["id"])
    if item is not None and (exact(item["paid"]) or exact(item["adjusted"])):
        raise ApiError(CONFLICT, OPENING_SETTLED)


async def _owe_nothing(step: Step[OpeningItem]) -> None:
    await _owe(step.service, step.record, store_money(Decimal(0)), get_day(step.req))


ROUTES: tuple[Route, ...] = (
    *crud(
        OPENING_ITEMS,
        at="/api/v1/finance/opening-items",
        resource="finance:opening-item",
        only=("list", "read", "create"),
        always=("remark",),
        create=create,
        refusals_of={"create": conflicts(PERIOD_CLOSED)},
    ),
    *transitions(
        OPENING_ITEMS,
        Action(
            "POST /api/v1/finance/opening-items/{id}/reverse",
            access="finance:opening-item:reverse",
            summary="Reverse an opening item that was entered by mistake",
            body=REVERSE_BODY,
            before=_check_unsettled,
            values=lambda step: {"reason": step.reason, "reversed_on": get_day(step.req), "reversed_at": step.now},
            after=_owe_nothing,
            refusals=conflicts(OPENING_SETTLED, PERIOD_CLOSED),
        ),
    ),
)
