"""Handlers of purchase and sales orders: drafts, and the actions that take an order from state to state."""

from __future__ import annotations

from plugins.api import Handler, Request, invalid, people_behind, refuse_own
from plugins.inventory import purchase_approval
from plugins.inventory.lines import ENABLED, Record, get_today, price_lines, take_number
from plugins.inventory.messages import NOT_A_DRAFT, NOT_DELETABLE, NOT_IN_STATE
from plugins.inventory.records import SUPPLIERS
from plugins.inventory.states import after, allows
from plugins.inventory.trades import PURCHASE, Trade


def make_create_handler(trade: Trade) -> Handler:
    """Return the handler that creates a draft, with prices and a number."""

    async def create_order(req: Request) -> Record:
        values = {"ordered_on": get_today(req), **_drop_nulls(req.body)}
        await _check_supplier(req, values)
        values |= await price_lines(req, values["lines"], trade.default_price, trade.shipped, trade.filter_orderable())
        values |= {"status": trade.states.initial, "number": await take_number(req, trade.order_prefix)}
        return await req.store(trade.orders).create(values)

    return create_order


def make_update_handler(trade: Trade) -> Handler:
    """Return the handler that changes a draft."""

    async def update_order(req: Request) -> Record:
        values = dict(req.body)
        version = values.pop("version")
        store = req.store(trade.orders)
        await store.get(req.path["id"])
        await _check_supplier(req, values)
        if "ordered_on" in values:
            values["ordered_on"] = values["ordered_on"] or get_today(req)
        if "lines" in values:
            values |= await price_lines(
                req, values["lines"], trade.default_price, trade.shipped, trade.filter_orderable()
            )
        return await store.update(
            req.path["id"], values, version=version, where={"status": "draft"}, reason=NOT_A_DRAFT
        )

    return update_order


def make_delete_handler(trade: Trade) -> Handler:
    """Return the handler that deletes an order for which no goods moved."""

    async def delete_order(req: Request) -> None:
        without_movements = {"status": {"$in": ["draft", "cancelled"]}}
        await req.store(trade.orders).delete(req.path["id"], where=without_movements, reason=NOT_DELETABLE)

    return delete_order


def make_transition_handler(trade: Trade, action: str) -> Handler:
    """Return the handler that takes an order to its next state.

    The actions are `confirm`, `cancel` and `close`, and those of approval: `submit`, `withdraw` and `reject`.
    """

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
            await req.emit(trade.events[action], record=order)
            if action == "submit":
                await purchase_approval.request(req, order)
            elif trade is PURCHASE and action != "close":
                await purchase_approval.cancel(req, order)
            # a listener may have decided at once, in this transaction
            return await store.get(order["id"])

        return await req.transaction(work)

    return step


async def _check_supplier(req: Request, values: Record) -> None:
    """Raise 40001 if the supplier is disabled."""
    supplier_id = values.get("supplier_id")
    if supplier_id is not None and await req.store(SUPPLIERS).find_one({"_id": supplier_id, **ENABLED}) is None:
        raise invalid("supplier_id", "reference")


def _drop_nulls(body: Record) -> Record:
    return {name: value for name, value in body.items() if value is not None}
