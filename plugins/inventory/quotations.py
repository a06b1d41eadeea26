"""Quotations: drafts, what customers say to them, and the orders and contracts that are made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from plugins.api import (
    CONFLICT,
    Action,
    ApiError,
    Page,
    Record,
    Request,
    Route,
    Step,
    conflicts,
    crud,
    exact,
    invalid,
    transitions,
)
from plugins.api.business import BY_DOCUMENT, Contracts, Rates, compute_amounts, limit_in_base
from plugins.api.values import ReadOnlyRecord, RecordId
from plugins.inventory.currencies import find_rate_of
from plugins.inventory.numbers import QUOTATION_NUMBERS
from plugins.inventory.order_records import SALES_ORDERS
from plugins.inventory.orders import amounts_route, make_create_handler, make_update_handler
from plugins.inventory.quotation_records import (
    CONTRACT_BODY,
    ORDER_BODY,
    QUOTATION_AMOUNTS_BODY,
    QUOTATIONS,
    REJECT_BODY,
    RENEW_BODY,
)
from plugins.inventory.quoted import choose_quantities, choose_state, count_lines, draft_order, find_orders
from plugins.inventory.record_types import Quotation, SalesOrder
from plugins.inventory.texts import (
    EXPIRED,
    HAS_CONTRACT,
    MORE_THAN_QUOTED,
    NO_CONTRACTS,
    NOT_A_DRAFT,
    QUOTATION_NOT_DELETABLE,
)
from plugins.inventory.trades import SALE, Drafts, get_today

_SETTLED = ("ordered", "rejected")
QUOTE = Drafts(
    orders=QUOTATIONS,
    order_numbers=QUOTATION_NUMBERS,
    dated="quoted_on",
    shipped="ordered_quantity",
    default_price="price",
    price_list="sale",
    incoming=False,
)


def _is_expired(quotation: ReadOnlyRecord, today: str) -> bool:
    until = quotation["valid_until"]
    return until is not None and until < today and quotation["status"] not in _SETTLED


def _say_expired(quotation: ReadOnlyRecord, today: str) -> Record:
    return {**quotation, "expired": _is_expired(quotation, today)}


async def list_quotations(req: Request) -> Page:
    """List the quotations, which say whether they have expired."""
    page: Page[Any] = await req.store(QUOTATIONS).page(req.query)
    today = get_today(req)
    return replace(page, items=[_say_expired(one, today) for one in page.items])


def _saying(one: Route) -> Route:
    """Return a route of `crud`; if it responds with a quotation, that says whether it has expired."""

    async def say(req: Request) -> Record:
        made: Any = await one.handler(req)
        return _say_expired(made, get_today(req))

    return replace(one, handler=say) if one.returns is QUOTATIONS.read and not one.paged else one


async def delete_quotation(req: Request) -> None:
    """Delete a draft, or a quotation that was rejected."""
    deletable = {"status": {"$in": ["draft", "rejected"]}}
    await req.store(QUOTATIONS).delete(req.path["id"], where=deletable, reason=QUOTATION_NOT_DELETABLE)


async def show_expired(step: Step[Any]) -> None:
    """Let the response say whether the quotation has expired."""
    step.record = _say_expired(step.record, step.today)


async def refuse_expired(step: Step[Quotation]) -> None:
    """Raise 40901 for a quotation that has expired."""
    if _is_expired(step.record, step.today):
        raise ApiError(CONFLICT, EXPIRED.filled(day=step.record["valid_until"]))


async def check_renewal(step: Step[Quotation]) -> None:
    """Raise 40001 for a day that has passed."""
    if step.body["valid_until"] < step.today:
        raise invalid("valid_until", "minimum")


def _choose_renewal(step: Step[Quotation]) -> str:
    return {"sent": "renew", "accepted": "renew-accepted"}.get(step.record["status"], "renew-part")


@dataclass(frozen=True)
class Ordered:
    """The order that was made, and the lines of the quotation after it."""

    order: SalesOrder
    lines: list[Record]


async def make_order(step: Step[Quotation]) -> None:
    """Create a draft order of the lines in the body, or of all that is left, at the prices and terms of the quotation."""
    await refuse_expired(step)
    req, quotation = step.req, step.record
    orders = await find_orders(req, quotation["id"])
    lines, values = draft_order(quotation, orders, choose_quantities(quotation, step.body.get("lines")))
    values |= compute_amounts(lines, values, quotation["tax_rounding"] or BY_DOCUMENT)
    values |= {"ordered_on": step.today, "rate": await find_rate_of(req, quotation, step.today)}
    limit_in_base(exact(values["amount"]), values, "rate")
    order = await SALE.order_numbers.create(
        req, lambda number: req.store(SALES_ORDERS).create({**values, "number": number})
    )
    step.keep(Ordered(order, count_lines(quotation, [*orders, order])))


def _choose_ordering(step: Step[Quotation]) -> str:
    return "order" if choose_state(step.kept[Ordered].lines) == "ordered" else "order-part"


@dataclass(frozen=True)
class Contracted:
    """The contract that was made."""

    contract_id: RecordId


async def make_contract(step: Step[Quotation]) -> None:
    """Have the plugin that keeps contracts draft one over the amount of the quotation, for its customer."""
    await refuse_expired(step)
    req, quotation = step.req, step.record
    if quotation["contract_id"] is not None:
        raise ApiError(CONFLICT, HAS_CONTRACT)
    if quotation["customer_id"] is None:
        raise invalid("customer_id", "required")
    name = step.body.get("name") or f"{quotation['number']} {quotation['customer_name']}"
    values = {"name": name[:200], "reference": quotation["number"]}
    values |= {one: quotation[one] for one in ("customer_id", "opportunity_id", "amount")}
    # the company's own by its code, for the customer may have another one
    values["currency"] = quotation["currency"] or await req.part(Rates).find_base()
    values["rate"] = await find_rate_of(req, quotation, step.today)
    made = await req.part(Contracts).draft(req, values)
    if made is None:
        raise ApiError(CONFLICT, NO_CONTRACTS)
    step.keep(Contracted(made))


ROUTES: tuple[Route, ...] = (
    *map(
        _saying,
        crud(
            QUOTATIONS,
            at="/api/v1/inventory/quotations",
            resource="inventory:quotation",
            always=("reference", "remark"),
            list=list_quotations,
            create=make_create_handler(QUOTE),
            update=make_update_handler(QUOTE),
            delete=delete_quotation,
            refusals_of={"update": conflicts(NOT_A_DRAFT), "delete": conflicts(QUOTATION_NOT_DELETABLE)},
        ),
    ),
    amounts_route(
        "POST /api/v1/inventory/quotations/amounts", QUOTE, "inventory:quotation:create", QUOTATION_AMOUNTS_BODY
    ),
    *transitions(
        QUOTATIONS,
        Action(
            "POST /api/v1/inventory/quotations/{id}/send",
            access="inventory:quotation:send",
            before=refuse_expired,
            values=lambda step: {"sent_at": step.now, "reason": None},
            refusals=conflicts(EXPIRED),
        ),
        Action(
            "POST /api/v1/inventory/quotations/{id}/accept",
            access="inventory:quotation:accept",
            before=refuse_expired,
            values=lambda step: {"accepted_at": step.now},
            refusals=conflicts(EXPIRED),
        ),
        Action(
            "POST /api/v1/inventory/quotations/{id}/reject",
            access="inventory:quotation:reject",
            body=REJECT_BODY,
            values=lambda step: {"reason": step.reason},
        ),
        Action(
            "POST /api/v1/inventory/quotations/{id}/revise",
            access="inventory:quotation:revise",
            summary="Make a quotation a draft again, so that it can be changed",
            values=lambda step: dict.fromkeys(("sent_at", "accepted_at", "contract_id")),
        ),
        Action(
            "POST /api/v1/inventory/quotations/{id}/renew",
            access="inventory:quotation:renew",
            does=("renew", "renew-accepted", "renew-part"),
            body=RENEW_BODY,
            before=check_renewal,
            choose=_choose_renewal,
            values=lambda step: {"valid_until": step.body["valid_until"]},
        ),
        Action(
            "POST /api/v1/inventory/quotations/{id}/contract",
            access="inventory:quotation:contract",
            summary="Make a draft contract of a quotation",
            body=CONTRACT_BODY,
            before=make_contract,
            values=lambda step: {
                "contract_id": step.kept[Contracted].contract_id,
                "accepted_at": step.record["accepted_at"] or step.now,
            },
            refusals=conflicts(EXPIRED, HAS_CONTRACT, NO_CONTRACTS),
        ),
        Action(
            "POST /api/v1/inventory/quotations/{id}/order",
            access="inventory:quotation:order",
            does=("order", "order-part"),
            summary="Make a draft sales order of a quotation, or of a part of it",
            body=ORDER_BODY,
            before=make_order,
            choose=_choose_ordering,
            # with `$set`, so that no product is looked up
            values=lambda step: {
                "$set": {
                    "lines": step.kept[Ordered].lines,
                    "accepted_at": step.record["accepted_at"] or step.now,
                }
            },
            respond=lambda step: step.kept[Ordered].order,
            returns=SALES_ORDERS.read,
            refusals=conflicts(EXPIRED, MORE_THAN_QUOTED),
        ),
        after=show_expired,
    ),
)
