"""Purchase and sales orders: the same life, the goods going the other way."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    STALE,
    ApiError,
    Collection,
    Handler,
    Request,
    StateMachine,
    exact,
    invalid,
    people_behind,
    refuse_own,
    store_quantity,
)
from plugins.inventory import payables, purchase_approval
from plugins.inventory.documents import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.lines import (
    ENABLED,
    Record,
    cost_of,
    moved_on,
    numbered,
    priced,
    products_of,
    today,
    warehouse_of,
)
from plugins.inventory.messages import MORE_THAN_OPEN, NOT_A_DRAFT, NOT_DELETABLE, NOT_IN_STATE, NOTHING_OPEN
from plugins.inventory.records import SUPPLIERS
from plugins.inventory.shipments import ship_lines
from plugins.inventory.states import PURCHASE_STATES, SALES_STATES, after, allows


@dataclass(frozen=True)
class Trade:
    """What differs between buying and selling."""

    noun: str
    orders: Collection
    states: StateMachine
    shipments: Collection
    done: str
    default_price: str
    order_prefix: str
    shipment_prefix: str
    incoming: bool


PURCHASE = Trade(
    "purchase_order", PURCHASE_ORDERS, PURCHASE_STATES, RECEIPTS, "received", "cost", "PO", "GR", incoming=True
)
SALE = Trade("sales_order", SALES_ORDERS, SALES_STATES, DELIVERIES, "delivered", "price", "SO", "DN", incoming=False)


def creator(trade: Trade) -> Handler:
    """A handler that writes a draft, priced, with a number."""

    async def create_order(req: Request) -> Record:
        values = {"ordered_on": today(req), **_given(req.body)}
        await _check_supplier(req, values)
        values |= await priced(req, values["lines"], trade.default_price, trade.done, _orderable(trade))
        values |= {"status": trade.states.initial, "number": await numbered(req, trade.order_prefix)}
        return await req.store(trade.orders).create(values)

    return create_order


def updater(trade: Trade) -> Handler:
    """A handler that changes a draft."""

    async def update_order(req: Request) -> Record:
        values = dict(req.body)
        version = values.pop("version")
        store = req.store(trade.orders)
        await store.get(req.path["id"])
        await _check_supplier(req, values)
        if "ordered_on" in values:
            values["ordered_on"] = values["ordered_on"] or today(req)
        if "lines" in values:
            values |= await priced(req, values["lines"], trade.default_price, trade.done, _orderable(trade))
        return await store.update(
            req.path["id"], values, version=version, where={"status": "draft"}, reason=NOT_A_DRAFT
        )

    return update_order


def deleter(trade: Trade) -> Handler:
    """A handler that deletes an order which moved nothing."""

    async def delete_order(req: Request) -> None:
        harmless = {"status": {"$in": ["draft", "cancelled"]}}
        await req.store(trade.orders).delete(req.path["id"], where=harmless, reason=NOT_DELETABLE)

    return delete_order


def stepper(trade: Trade, action: str) -> Handler:
    """A handler that leads an order to its next state: `confirm`, `cancel`, `close`; `submit`, `withdraw`, `reject`."""

    async def step(req: Request) -> Record:
        values: Record = {"status": after(trade.states, action)}
        if action == "confirm":
            values["confirmed_at"] = req.now
        if action in ("submit", "reject"):
            values["reason"] = (req.body or {}).get("reason")
        if action == "submit":
            values["submitted_by"] = req.actor.user_id

        async def work() -> Record:
            store = req.store(trade.orders)
            if trade is PURCHASE and action in ("confirm", "reject"):
                await refuse_own(req, people_behind(await store.get(req.path["id"])))
            order = await store.update(req.path["id"], values, where=allows(trade.states, action), reason=NOT_IN_STATE)
            await req.emit(f"inventory.{trade.noun}.{_done(action, order)}", record=order)
            if action == "submit":
                await purchase_approval.request(req, order)
            elif trade is PURCHASE and action != "close":
                await purchase_approval.cancel(req, order)
            # a listener may have decided at once, as part of it
            return await store.get(order["id"])

        return await req.transaction(work)

    return step


def _done(action: str, order: Record) -> str:
    return {"submit": "submitted", "withdraw": "withdrawn", "reject": "rejected"}.get(action, str(order["status"]))


def shipper(trade: Trade) -> Handler:
    """A handler that receives or delivers goods of an order: stock, ledger, document and order change together."""

    async def ship(req: Request) -> Record:
        async def work() -> Record:
            return await _shipped(req, trade, await store.get(req.path["id"]))

        store = req.store(trade.orders)
        await store.get(req.path["id"])
        return await req.transaction(work)

    return ship


async def _shipped(req: Request, trade: Trade, order: Record) -> Record:
    _check(req, trade, order)
    # nothing comes into a warehouse that is disabled; what is there may leave
    warehouse_id = req.body.get("warehouse_id") or order["warehouse_id"]
    warehouse = await warehouse_of(req, warehouse_id, where=_orderable(trade))
    wanted = await _wanted(req, trade, order)
    shipment = {
        "number": await numbered(req, trade.shipment_prefix),
        "order_id": order["id"],
        "order_number": order["number"],
        "warehouse_id": warehouse["id"],
        "day": await moved_on(req),
        "remark": req.body.get("remark"),
    }
    shipment |= await ship_lines(req, warehouse, shipment, _priced_parts(trade, order, wanted), trade.incoming)
    made = await req.store(trade.shipments).create(shipment, id=shipment.pop("_id"))
    changed = await _carried_forward(req, trade, order, wanted)
    await req.emit(f"inventory.{trade.noun}.shipped", record=changed, shipment=made)
    if trade is PURCHASE:
        await payables.tell(req, changed)
    return changed


def _check(req: Request, trade: Trade, order: Record) -> None:
    version = req.body.get("version")
    if version is not None and version != order["version"]:
        raise ApiError(STALE)
    if order["status"] not in trade.states.transitions["ship"][0]:
        raise ApiError(CONFLICT, NOT_IN_STATE)


async def _wanted(req: Request, trade: Trade, order: Record) -> dict[Any, Decimal]:
    """Product → quantity that goes now; 40901 for more than is open."""
    unfinished = {line["product_id"]: exact(line["quantity"]) - exact(line[trade.done]) for line in order["lines"]}
    given = req.body.get("lines")
    if given is None:
        return {id: quantity for id, quantity in unfinished.items() if quantity > 0}
    await products_of(req, given)
    wanted = {line["product_id"]: exact(line["quantity"]) for line in given}
    for id, quantity in wanted.items():
        if not unfinished.get(id):
            raise ApiError(CONFLICT, NOTHING_OPEN)
        if quantity > unfinished[id]:
            shown = format(store_quantity(unfinished[id]).to_decimal(), "f")
            raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=shown), data={"open": shown})
    return wanted


def _priced_parts(trade: Trade, order: Record, wanted: dict[Any, Decimal]) -> list[tuple[Any, Decimal, Decimal]]:
    """Product, quantity and amount of each part; the parts of a line add up to the line's amount, to the cent."""
    parts = []
    for line in order["lines"]:
        quantity = wanted.get(line["product_id"])
        if quantity is not None:
            before = exact(line[trade.done])
            amount = cost_of(line, before + quantity) - cost_of(line, before)
            parts.append((line["product_id"], quantity, amount))
    return parts


async def _carried_forward(req: Request, trade: Trade, order: Record, wanted: dict[Any, Decimal]) -> Record:
    zero = Decimal(0)
    lines = [
        {**line, trade.done: store_quantity(exact(line[trade.done]) + wanted.get(line["product_id"], zero))}
        for line in order["lines"]
    ]
    finished = all(exact(line[trade.done]) == exact(line["quantity"]) for line in lines)
    values = {"lines": lines, "status": after(trade.states, "ship" if finished else "ship-part")}
    return await req.store(trade.orders).update(order["id"], values, version=order["version"])


def _orderable(trade: Trade) -> Record | None:
    """Which products may be ordered: of what is disabled the stock is sold, but nothing is bought."""
    return dict(ENABLED) if trade.incoming else None


async def _check_supplier(req: Request, values: Record) -> None:
    """Nothing is ordered from a supplier who is disabled."""
    supplier_id = values.get("supplier_id")
    if supplier_id is not None and await req.store(SUPPLIERS).find_one({"_id": supplier_id, **ENABLED}) is None:
        raise invalid("supplier_id", "reference")


def _given(body: Record) -> Record:
    return {name: value for name, value in body.items() if value is not None}
