"""Revisions of confirmed orders: one puts new lines and terms in force, and keeps what it replaces as a version.

Everything that follows from an order follows at once, in one transaction: what is reserved and owed, credit, what was ordered
of a quotation, and the state. Where a purchase order would become more or something else than was approved, its revision waits
for a decision of its own, by somebody else, and is checked again when that is made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import (
    CONFLICT,
    Action,
    ApiError,
    Approval,
    Field,
    Handler,
    Record,
    Refusal,
    Request,
    Route,
    Service,
    Step,
    conflicts,
    crud,
    day,
    day_of,
    exact,
    money,
    route,
    store_money,
    text,
    transitions,
)
from plugins.api.business import (
    CREDIT_REFUSALS,
    TEXT,
    PaymentTerms,
    date_versions,
    in_base,
    limit_in_base,
    replace_terms,
    value_for_limits,
)
from plugins.api.events import APPROVAL_CANCELLED
from plugins.api.records import ON_HOLD, change_state
from plugins.api.requests import as_json
from plugins.api.values import ReadOnlyRecord
from plugins.inventory.currencies import convert_sums
from plugins.inventory.lines import count_unfinished, number_lines
from plugins.inventory.order_records import ASKED_LINE, PURCHASE_ORDERS, REJECT_BODY, SALES_ORDERS
from plugins.inventory.orders import choose_delivery_address, compute_undelivered, find_excess, name_products
from plugins.inventory.quoted import count_again
from plugins.inventory.record_types import PurchaseOrderRevision
from plugins.inventory.records import SUPPLIERS
from plugins.inventory.revised_lines import Settled, find_settled, name_lines, revise
from plugins.inventory.revision_records import (
    PURCHASE_ORDER_REVISIONS,
    PURCHASE_ORDER_VERSIONS,
    REVISE_PURCHASE_BODY,
    REVISE_SALE_BODY,
    REVISION_CHANGES,
    SALES_ORDER_VERSIONS,
    SUMS,
    TERMS,
    VALUES,
    WAITING,
)
from plugins.inventory.texts import (
    BELOW_BILLED,
    BELOW_SETTLED,
    FREIGHT_SETTLED,
    LINE_SETTLED,
    MORE_THAN_QUOTED,
    NOT_IN_STATE,
    NOT_REVISABLE,
    NOTHING_REVISED,
    REVISION_OUTDATED,
    REVISION_WAITS,
    SETTLED_LINE_DROPPED,
)
from plugins.inventory.trades import PURCHASE, SALE, Trade, book_later, publish

_SUMS = ("order_discount", "freight", *SUMS, "change")
_APPROVED = ("kind", "product_id", "unit")
_APPROVED_TERMS = (*vars(PaymentTerms()), "delivery_address")
_ROUNDING = Decimal("0.02")  # of a line: discount and tax are each shared out to the cent
_SETTLED = (NOT_REVISABLE, LINE_SETTLED, BELOW_SETTLED, SETTLED_LINE_DROPPED, FREIGHT_SETTLED, BELOW_BILLED)


@dataclass(frozen=True)
class Revised:
    """The revision that an action makes, and what changes in its order; nothing yet if it waits for a decision."""

    revision: Record
    changes: Record


@dataclass(frozen=True)
class PutInForce:
    """What a revision of a purchase order keeps when it is confirmed, and the order after it."""

    values: Record
    order: Record


async def propose(trade: Trade, step: Step[Any]) -> None:
    """Keep the revision that a body asks for, in force unless it has to be approved. Raises 40001 and 40901."""
    order = step.record
    if order["net_amount"] is None or any(line.get("line") is None for line in order["lines"]):
        raise ApiError(CONFLICT, NOT_REVISABLE)
    revisions = step.store(trade.revisions)
    earlier = await revisions.find({"order_id": order["id"]})
    if waiting := [one["number"] for one in earlier if one.get("status") in ("draft", "pending")]:
        raise ApiError(CONFLICT, REVISION_WAITS.filled(number=waiting[0]))
    settled = await find_settled(step, trade, order)
    asked = await _ask(step, trade, settled, earlier)
    after = _settle(trade, order, asked, settled)
    if not _compare(step.req, trade.revisions.read, order, after):
        raise ApiError(CONFLICT, NOTHING_REVISED)
    waits = trade.incoming and _is_beyond(order, after)
    changes = {} if waits else await _follow(step, trade, order, after)
    values = {
        "number": f"{order['number']}-{len(earlier) + 1}",
        "order_id": order["id"],
        "reason": step.body["reason"],
        "currency": order["currency"],
        **({"status": "draft" if waits else "in_force"} if trade.incoming else {}),
        **{name: after[name] for name in VALUES},
        **_describe(order, after),
        "revision": changes.get("revision"),
        "day": None if waits else step.today,
    }
    step.keep(Revised(await step.req.store(trade.revisions).create(values), changes))


def _is_beyond(decided: ReadOnlyRecord, after: ReadOnlyRecord) -> bool:
    """Return whether an order becomes more or something else than what was `decided` on, the order or its revision.

    When it is paid and where the goods go was decided too.
    """
    known = {line["line"]: line for line in decided["lines"]}
    lines = [line for line in after["lines"] if line.get("kind") != TEXT]
    terms, agreed = (as_json(PURCHASE_ORDER_REVISIONS.read, one) for one in (after, decided))
    return (
        exact(after["freight"]) > exact(decided["freight"])
        or any(terms[name] != agreed[name] for name in _APPROVED_TERMS)
        or any(line["line"] not in known or _is_line_beyond(known[line["line"]], line) for line in lines)
    )


def _is_line_beyond(before: ReadOnlyRecord, line: ReadOnlyRecord) -> bool:
    """Return whether a line is of something else, of more units or dearer ones, or lets more of them be received."""
    named = (*_APPROVED, *(("description",) if line["product_id"] is None else ()))
    units, was = exact(line["quantity"]), exact(before["quantity"])
    return (
        any(line.get(name) != before.get(name) for name in named)
        or units > was
        or exact(line.get("tolerance")) > exact(before.get("tolerance"))
        or any((exact(line[name]) - _ROUNDING) * was > exact(before[name]) * units for name in ("net", "amount"))
    )


async def _ask(step: Step[Any], trade: Trade, settled: Settled, earlier: Sequence[ReadOnlyRecord]) -> Record:
    """Return lines and terms of the order as the body asks for them, without amounts."""
    order, body = step.record, replace_terms(step.body)
    body |= await choose_delivery_address(step.req, trade, body, order)
    asked = {name: body.get(name, order[name]) for name in TERMS}
    if body.get("lines") is None:
        return {**asked, "lines": order["lines"]}
    # a number that was dropped is not given to another line
    used = [line["line"] for one in (order, *earlier) for line in one["lines"]]
    used += [line["line"] for one in earlier for line in (one["before"] or {}).get("lines", ())]
    lines = await name_lines(step.req, trade, order, body["lines"], settled, max(used) + 1)
    return {**asked, "lines": lines}


def _settle(trade: Trade, order: ReadOnlyRecord, asked: ReadOnlyRecord, settled: Settled) -> Record:
    """Return what the order has after a revision. Raises 40901 for what of it is settled and would change."""
    after = {name: asked[name] for name in TERMS} | revise(trade, order, asked, settled)
    limit_in_base(exact(after["amount"]), order, "lines")
    return after


def _describe(order: ReadOnlyRecord, after: ReadOnlyRecord) -> Record:
    """Return what a revision keeps of the order as it is before."""
    change = exact(after["amount"]) - exact(order["amount"])
    return {"before": {name: order[name] for name in VALUES}, "change": store_money(change)}


async def _follow(step: Step[Any], trade: Trade, order: ReadOnlyRecord, after: Record) -> Record:
    """Return what changes in an order that has this after a revision. Raises 40901 if its customer has no credit for it."""
    changes = {**after, "revision": (order["revision"] or 1) + 1}
    undelivered = compute_undelivered({**order, **after}) if not trade.incoming else None
    if undelivered is not None and undelivered > compute_undelivered(order):
        excess = await find_excess(step, order, undelivered)
        changes["credit_excess"] = store_money(excess) if excess is not None else None
    state = {"status": trade.orders.machine.after(_choose(trade, order, after["lines"]))}
    return changes | await book_later(step.service, trade, {**order}, {**order, **after, **state}, step.today)


def _choose(trade: Trade, order: ReadOnlyRecord, lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the transition of an order that has these lines after a revision: it ends if nothing is left of them."""
    if trade.orders.machine.permits(order, "revise"):
        return "revise"
    return "revise-part" if any(count_unfinished(line, trade.shipped) for line in lines) else "revise-rest"


def choose(trade: Trade, step: Step[Any]) -> str:
    """Return the transition of the order of the step."""
    return _choose(trade, step.record, step.kept[Revised].changes.get("lines") or step.record["lines"])


def change_order(step: Step[Any]) -> Record:
    """Return the update of the order of the step."""
    return _update(step.kept[Revised].changes)


def _update(changes: Record) -> Record:
    """Return the update for these changes: lines with `$set`, so that no product is looked up again."""
    values = {name: value for name, value in changes.items() if name != "lines"}
    return {**values, **({"$set": {"lines": changes["lines"]}} if "lines" in changes else {})}


async def announce(trade: Trade, step: Step[Any]) -> None:
    """Emit what is owed and still to come of the order of the step after its revision."""
    made = step.kept[Revised]
    if made.changes:
        await _announce(step, trade, step.record, made.revision)


async def _announce(step: Step[Any], trade: Trade, order: Record, revision: ReadOnlyRecord) -> None:
    live = await step.store(trade.shipments).find({"order_id": order["id"], "reversed_by_id": None})
    shipments = [{**one, "lines": number_lines(one["lines"], order["lines"])} for one in live]
    await publish(trade, step.service, step.request, order, shipments, step.today)
    if not trade.incoming:
        await count_again(step.req, order)
    await step.emit(trade.revised, record=order, revision=revision)


# -- the approval of a purchase order that becomes more, or something else


async def put_in_force(step: Step[PurchaseOrderRevision]) -> None:
    """Revise the order of a revision that is confirmed. Raises 40901 if the order does not allow it any more."""
    revision, orders = step.record, step.store(PURCHASE_ORDERS)
    order: Record = {**await orders.get(revision["order_id"])}
    if not any(PURCHASE_ORDERS.machine.permits(order, name) for name in ("revise", "revise-part")):
        raise PURCHASE_ORDERS.machine.refuse("revise")
    Step(step.service, PURCHASE_ORDERS, "revise", order, step.now).refuse_barred({}, waits=True)
    asked = {**revision, "lines": _take_up(order, revision)}
    after = _settle(PURCHASE, order, asked, await find_settled(step, PURCHASE, order))
    if _is_beyond(revision, after):
        raise ApiError(CONFLICT, REVISION_OUTDATED)
    changes = await _follow(step, PURCHASE, order, after)
    action = _choose(PURCHASE, order, after["lines"])
    changed: Record = {**await change_state(orders, order["id"], action, _update(changes), version=order["version"])}
    kept = {name: after[name] for name in VALUES} | _describe(order, after)
    step.keep(PutInForce({**kept, "revision": changes["revision"], "day": step.today}, changed))


def _take_up(order: ReadOnlyRecord, revision: PurchaseOrderRevision) -> list[Record]:
    """Return the lines that a revision asked for: settled ones have the discount of their whole quantity again."""
    known = {line["line"]: line for line in order["lines"]}
    return [
        {**line, "discount_amount": known[line["line"]]["discount_amount"]} if line.get("agreed") else {**line}
        for line in revision["lines"]
    ]


async def announce_in_force(step: Step[PurchaseOrderRevision]) -> None:
    """Emit what is to come of the order after its revision was confirmed."""
    await _announce(step, PURCHASE, step.kept[PutInForce].order, step.record)


async def cancel_waiting(service: Service, payload: Mapping[str, Any]) -> None:
    """Cancel the revision that waits of a purchase order which was cancelled or closed, and end its approval."""
    req: Request = payload["request"]
    revisions = req.system_store(PURCHASE_ORDER_REVISIONS)
    for one in await revisions.find({"order_id": payload["record"]["id"], **WAITING}):
        step = Step(service, PURCHASE_ORDER_REVISIONS, "cancel", one, req.now, request=req)
        about = {"biz_type": "PURCHASE_ORDER_REVISION", "resource_id": str(one["id"])}
        changed = await change_state(revisions, one["id"], step.action)
        await step.emit("inventory.purchase_order_revision.cancelled", record=changed, **about)
        if one["status"] == "pending":
            await step.emit(APPROVAL_CANCELLED, reason=None, **about)


async def describe(step: Step[PurchaseOrderRevision]) -> Record:
    """Return the supplier and the sums, in the company's currency, which approvers may not be allowed to look up."""
    revision = step.record
    order = await step.store(PURCHASE_ORDERS).get(revision["order_id"])
    supplier = await step.store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
    worth = await value_for_limits(step.service, order, step.today)
    before = exact(revision["before"]["amount"] if revision["before"] is not None else None)
    shown = as_json(PURCHASE_ORDER_REVISIONS.read, convert_sums(revision, worth, _SUMS))
    return {
        **{name: shown[name] for name in _SUMS},
        "lines": await name_products(step, shown["lines"]),
        "supplier": supplier and supplier["name"],
        "amount_before": f"{in_base(before, worth):.2f}",
    }


# -- versions

_OF_LINE = (*(name for name in ASKED_LINE if name not in ("unit_price", "kind", "product_id")), "amount")


def make_versions_handler(trade: Trade, shown: Field) -> Handler:
    """Return the handler that lists the versions of an order, as `shown`, with the days on which they are in force."""

    async def list_versions(req: Request) -> Record:
        order = await req.store(trade.orders).get(req.path["id"])
        if order["confirmed_at"] is None:
            return {"items": [], "changes": []}
        of_order = {"order_id": order["id"], "revision": {"$ne": None}}
        made = sorted(await req.system_store(trade.revisions).find(of_order), key=lambda one: one["revision"])
        contents = [*(one["before"] or {} for one in made), {name: order[name] for name in VALUES}]
        first = {"from": day_of(order["confirmed_at"], req.service.settings.zone).isoformat()}
        origins = [first, *map(_describe_origin, made)]
        items: list[Record] = []
        changes: list[Record] = []
        for number, (origin, content) in enumerate(zip(origins, contents, strict=True)):
            if items:
                changes += _compare(req, shown, contents[number - 1], content, number + 1)
            items.append({"revision": number + 1, **origin, **content})
        kept = date_versions(items, req.query.get("day"))
        numbers = {one["revision"] for one in kept}
        return {"items": kept, "changes": [one for one in changes if one["revision"] in numbers]}

    return list_versions


def _describe_origin(revision: ReadOnlyRecord) -> Record:
    """Return when, why and by whom a version was made."""
    made = {"revision_id": revision["id"], "reason": revision["reason"], "revised_by": revision["creator_id"]}
    return {"from": revision["day"], **made}


async def list_changes(req: Request) -> Record:
    """List what a revision of a purchase order changes."""
    revision = await req.store(PURCHASE_ORDER_REVISIONS).get(req.path["id"])
    shown, number = PURCHASE_ORDER_REVISIONS.read, revision["revision"]
    return {"changes": _compare(req, shown, revision["before"] or {}, revision, number)}


def _compare(
    req: Request, shown: Field, before: ReadOnlyRecord, after: ReadOnlyRecord, number: int | None = None
) -> list[Record]:
    """Return in what a version differs from the one before: values of the order, and of its lines by their numbers."""
    fields = shown.fields or {}
    of_line = fields["lines"].items.fields if fields["lines"].items is not None else None
    old, new = as_json(shown, before), as_json(shown, after)
    changes = [{"revision": number, **one} for one in _list_changes(req, fields, (*TERMS, *SUMS), old, new)]
    lines = [{line["line"]: line for line in one["lines"]} for one in (old, new)]
    for at in dict.fromkeys((*lines[0], *lines[1])):
        one, other = (of.get(at, {}) for of in lines)
        about = {"revision": number, "line": at, "product_id": (other or one)["product_id"]}
        changes += [{**about, **change} for change in _list_changes(req, of_line or {}, _OF_LINE, one, other)]
    return changes


def _list_changes(
    req: Request, fields: Mapping[str, Field], names: Sequence[str], old: ReadOnlyRecord, new: ReadOnlyRecord
) -> list[Record]:
    changed = [name for name in names if old.get(name) != new.get(name)]
    labels = {name: label.text(req.language) for name in changed if (label := fields[name].label) is not None}
    return [
        {
            "field": name,
            "label": labels.get(name, name),
            "before": _write(old.get(name)),
            "after": _write(new.get(name)),
        }
        for name in changed
    ]


def _write(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _revising(endpoint: str, access: str, trade: Trade, body: Field, refusals: tuple[Refusal, ...]) -> Action:
    """Return the action that revises an order of a trade."""
    return Action(
        endpoint,
        access=access,
        does=("revise", "revise-part", "revise-rest"),
        body=body,
        before=partial(propose, trade),
        choose=partial(choose, trade),
        values=change_order,
        after=partial(announce, trade),
        respond=lambda step: step.kept[Revised].revision,
        returns=trade.revisions.read,
        events=(trade.revised,),
        refusals=(*conflicts(*_SETTLED, NOTHING_REVISED), *refusals),
        waits=True,
    )


def _versions(endpoint: str, access: str, trade: Trade, returns: Field) -> Route:
    """Return the route that lists the versions of an order of a trade."""
    version = (returns.fields or {})["items"].items
    return route(
        endpoint,
        make_versions_handler(trade, version if version is not None else returns),
        summary=f"List the versions of a {trade.orders.noun.en}",
        title=("订单版本", "Versions"),
        access=access,
        query={"day": day(description="Only the version in force on this day.")},
        returns=returns,
        collection=trade.orders.name,
    )


_REVISION = "inventory:purchase-order-revision"
ROUTES: tuple[Route, ...] = (
    *transitions(
        SALES_ORDERS,
        _revising(
            "POST /api/v1/inventory/sales-orders/{id}/revise",
            "inventory:sales-order:revise",
            SALE,
            REVISE_SALE_BODY,
            (*CREDIT_REFUSALS, *conflicts(MORE_THAN_QUOTED)),
        ),
    ),
    _versions(
        "GET /api/v1/inventory/sales-orders/{id}/versions", "inventory:sales-order:read", SALE, SALES_ORDER_VERSIONS
    ),
    *transitions(
        PURCHASE_ORDERS,
        _revising(
            "POST /api/v1/inventory/purchase-orders/{id}/revise",
            "inventory:purchase-order:revise",
            PURCHASE,
            REVISE_PURCHASE_BODY,
            conflicts(REVISION_WAITS),
        ),
    ),
    _versions(
        "GET /api/v1/inventory/purchase-orders/{id}/versions",
        "inventory:purchase-order:read",
        PURCHASE,
        PURCHASE_ORDER_VERSIONS,
    ),
    *crud(
        PURCHASE_ORDER_REVISIONS,
        at="/api/v1/inventory/purchase-order-revisions",
        resource=_REVISION,
        only=("list", "read"),
    ),
    *transitions(
        PURCHASE_ORDER_REVISIONS,
        Action(
            "POST /api/v1/inventory/purchase-order-revisions/{id}/submit",
            access=f"{_REVISION}:submit",
            summary="Submit a purchase order revision for approval",
            values=lambda step: {"submitted_by": step.by, "refusal": None},
        ),
        Action(
            "POST /api/v1/inventory/purchase-order-revisions/{id}/withdraw",
            access=f"{_REVISION}:submit",
            summary="Withdraw a purchase order revision from approval",
            values=lambda step: {"refusal": step.reason},
        ),
        Action(
            "POST /api/v1/inventory/purchase-order-revisions/{id}/reject",
            access=f"{_REVISION}:confirm",
            body=REJECT_BODY,
            values=lambda step: {"refusal": step.reason},
        ),
        Action(
            "POST /api/v1/inventory/purchase-order-revisions/{id}/confirm",
            access=f"{_REVISION}:confirm",
            before=put_in_force,
            values=lambda step: step.kept[PutInForce].values,
            after=announce_in_force,
            events=(PURCHASE.revised,),
            refusals=conflicts(*_SETTLED, NOT_IN_STATE, ON_HOLD, REVISION_OUTDATED),
        ),
        Action(
            "POST /api/v1/inventory/purchase-order-revisions/{id}/cancel",
            access=f"{_REVISION}:submit",
            values=lambda step: {"refusal": step.reason},
        ),
        approval=Approval(done="confirm", record=describe, fields={"supplier": text(), "amount_before": money()}),
    ),
    route(
        "GET /api/v1/inventory/purchase-order-revisions/{id}/changes",
        list_changes,
        summary="List what a purchase order revision changes",
        title=("变更内容", "Changes"),
        access=f"{_REVISION}:read",
        returns=REVISION_CHANGES,
        collection=PURCHASE_ORDER_REVISIONS.name,
    ),
)
