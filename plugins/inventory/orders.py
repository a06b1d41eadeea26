"""Purchase orders and sales orders: drafts, credit, routes, and what changes in figures whose month is closed.

`sales-vs-purchase` counts an order by its date. If goods come back, or an order is cancelled or closed, while that month
is open, the order counts less there. Later the order keeps what it counted, and the difference is entered on a day of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import (
    Action,
    Approval,
    Field,
    Handler,
    Message,
    Option,
    Page,
    Record,
    Request,
    Route,
    Step,
    choice,
    conflicts,
    crud,
    exact,
    invalid,
    route,
    store_money,
    text,
    transitions,
)
from plugins.api.business import (
    BY_DOCUMENT,
    BY_LINE,
    CREDIT_REFUSALS,
    DATED,
    DELIVERY,
    ROUNDINGS,
    TERMS,
    TEXT,
    Customers,
    Party,
    PaymentTerms,
    choose_address,
    compute_amounts,
    compute_part,
    copy_terms,
    currency_amount,
    in_base,
    limit_in_base,
    replace_currency,
    replace_terms,
    value_all_for_limits,
    value_for_limits,
)
from plugins.api.data import RecordNames, restore
from plugins.api.ports import OptionValues
from plugins.api.records import holds
from plugins.api.requests import as_json
from plugins.api.values import ReadOnlyRecord, store_quantity
from plugins.inventory.currencies import choose_order_currency, convert_sums
from plugins.inventory.order_records import (
    AMOUNTS,
    AMOUNTS_BODY,
    PURCHASE_ORDER_CHANGES,
    PURCHASE_ORDERS,
    REJECT_BODY,
    SALES_ORDER_CHANGES,
    SALES_ORDERS,
    SHIP_BODY,
)
from plugins.inventory.pricing import complete_lines
from plugins.inventory.quoted import count_again, keep_quoted
from plugins.inventory.record_types import PurchaseOrder, SalesOrder
from plugins.inventory.records import PRODUCTS, SUPPLIERS, WAREHOUSES
from plugins.inventory.reservations import add_available, read_sales_order
from plugins.inventory.shipping import SHIP_REFUSALS, add_shipment, choose_shipping, ship_with
from plugins.inventory.texts import (
    MORE_THAN_QUOTED,
    NOT_A_DRAFT,
    NOT_DELETABLE,
    NOT_ENOUGH,
    NOT_ENOUGH_THEN,
    QUOTATION_NOT_IN_STATE,
    WAREHOUSE_GONE,
)
from plugins.inventory.trades import (
    ENABLED,
    PURCHASE,
    SALE,
    Drafts,
    Trade,
    announce_confirmed,
    announce_ended,
    announce_shipped,
    book_later,
    get_today,
)

_PARTIES = ("supplier_id", "customer_id")
_NO_QUANTITY, _NO_PRICE = store_quantity(Decimal(0)), store_money(Decimal(0))
TAX_ROUNDING = Option(
    "inventory_tax_rounding",
    choice(*ROUNDINGS, default=BY_DOCUMENT, nullable=False),
    Message(
        "订单税额的舍入方式：按整单同税种合计舍入，或逐行舍入",
        "How the tax of orders is rounded: of the sum of all lines with the same tax, or of each line",
    ),
)


def make_create_handler(trade: Drafts) -> Handler:
    """Return the handler that creates a draft, with prices and a number."""

    async def create_order(req: Request) -> Record:
        values = {trade.dated: get_today(req), **_drop_nulls(req.body)}
        if not trade.incoming and "customer_name" not in values:
            values["customer_name"] = await _find_customer_name(req, values)
        values |= copy_terms(await _find_terms(req, values), values)
        values |= await choose_delivery_address(req, trade, values)
        values["tax_rounding"] = await find_rounding(req)
        values |= await choose_order_currency(req, trade, values)
        lines = await complete_lines(req, trade, values["lines"], values)
        values |= compute_amounts(lines, values, values["tax_rounding"])
        limit_in_base(exact(values["amount"]), values, "rate")
        return await trade.order_numbers.create(
            req, lambda number: req.store(trade.orders).create({**values, "number": number})
        )

    return create_order


def make_update_handler(trade: Drafts) -> Handler:
    """Return the handler that changes a draft."""

    async def update_order(req: Request) -> Record:
        values = replace_currency(replace_terms(req.body))
        version = values.pop("version")
        store = req.store(trade.orders)
        before = await store.get(req.path["id"])
        terms = await _find_terms(req, values)
        if values.get("customer_id") not in (None, before.get("customer_id")) and "customer_name" not in values:
            values["customer_name"] = await _find_customer_name(req, values)
        if any(values.get(party, before.get(party)) != before.get(party) for party in _PARTIES):
            values |= copy_terms(terms, values)
        values |= await choose_delivery_address(req, trade, values, before)
        if trade.dated in values:
            values[trade.dated] = values[trade.dated] or get_today(req)
        values |= await choose_order_currency(req, trade, values, before)
        after, lines = {**before, **values}, before["lines"]
        if "lines" in values:
            lines = await complete_lines(req, trade, values["lines"], after, before=before["lines"])
            lines = keep_quoted(lines, before["lines"]) if before.get("quotation_id") is not None else lines
        if "lines" in values or not TERMS.isdisjoint(values):
            values |= compute_amounts(lines, after, before["tax_rounding"] or BY_LINE)
        after |= values
        limit_in_base(exact(after["amount"]), after, "rate")

        async def work() -> Record:
            changed: Record = await store.update(
                req.path["id"], values, version=version, where={"status": "draft"}, reason=NOT_A_DRAFT
            )
            await count_again(req, changed)
            return changed

        return await (req.transaction(work) if before.get("quotation_id") is not None else work())

    return update_order


def make_delete_handler(trade: Trade) -> Handler:
    """Return the handler that deletes a draft or a cancelled order, for which no goods moved."""

    async def delete_order(req: Request) -> None:
        # a closed month still counts what was cancelled later
        without_movements = {"status": {"$in": ["draft", "cancelled"]}, "booked_later": None}
        store = req.store(trade.orders)

        async def work() -> None:
            order = await store.get(req.path["id"])
            await store.delete(order["id"], where=without_movements, reason=NOT_DELETABLE)
            await count_again(req, order)

        await req.transaction(work)

    return delete_order


async def restore_sale(req: Request) -> Record:
    """Restore a sales order. Raises 40901 if what it orders of a quotation was ordered otherwise meanwhile."""

    async def work() -> Record:
        order: Record = await restore(req.service.database, req.store(SALE.orders), req.path["id"])
        await count_again(req, order)
        return order

    return await req.transaction(work)


def amounts_route(endpoint: str, trade: Drafts, access: str, body: Field = AMOUNTS_BODY) -> Route:
    """Return the route that counts an order which is not kept, as the creation of one would."""

    async def count(req: Request) -> Record:
        terms = {**req.body, **await choose_order_currency(req, trade, req.body)}
        lines = await complete_lines(req, trade, [_fill(line) for line in req.body["lines"]], terms, entering=True)
        return {**compute_amounts(lines, terms, await find_rounding(req)), "currency": terms["currency"]}

    return route(
        endpoint,
        count,
        summary="Compute the prices and amounts of an order that is not kept",
        access=access,
        body=body,
        returns=AMOUNTS,
    )


def _fill(line: Record) -> Record:
    """Return a line that is not entered completely with zero for what is still missing."""
    given = _drop_nulls(line)
    if "product_id" in given:
        return {"quantity": _NO_QUANTITY, **given}
    if given.get("kind") == TEXT or given.keys().isdisjoint({"quantity", "price", "unit_price"}):
        return given
    return {"quantity": _NO_QUANTITY, **({} if "unit_price" in given else {"price": _NO_PRICE}), **given}


async def find_rounding(req: Request) -> str:
    """Return the rule by which the tax of a new document is rounded."""
    values = req.service.parts.get(OptionValues)
    return str(await values.value(TAX_ROUNDING.key) if values is not None else TAX_ROUNDING.default)


async def _find_terms(req: Request, values: Record) -> PaymentTerms:
    """Return when the supplier is paid or the customer pays.

    Raises 40001 if the supplier does not exist or is disabled.
    """
    if values.get("supplier_id") is not None:
        supplier = await req.store(SUPPLIERS).find_one({"_id": values["supplier_id"], **ENABLED})
        if supplier is None:
            raise invalid("supplier_id", "reference")
        return PaymentTerms.of(supplier)
    if values.get("customer_id") is not None:
        return await req.part(Customers).find_payment_terms(values["customer_id"])
    return PaymentTerms()


async def choose_delivery_address(req: Request, trade: Drafts, values: Record, before: Record | None = None) -> Record:
    """Return where the goods of an order go unless it says so, and drop from `values` what chooses an address.

    That is an address of the customer, or of the warehouse that buys; an order keeps its own until it has another of
    these. Raises 40001 for an address that the customer does not have.
    """
    order, at = {**(before or {}), **values}, "warehouse_id" if trade.incoming else "customer_id"
    named = values.pop("delivery_address_name", None) is not None
    moved = before is None or order.get(at) != before.get(at)
    if not named and (not moved or "delivery_address" in values):
        return {}
    if trade.incoming:
        warehouse = await req.store(WAREHOUSES).find_one({"_id": order.get(at)})
        return {"delivery_address": warehouse["address"] if warehouse is not None else None}
    party = await req.part(Customers).find_party(req, order[at]) if order.get(at) is not None else Party()
    given = {**order, "delivery_address": values.get("delivery_address")}
    return {"delivery_address": choose_address(party, given, DELIVERY)}


async def _find_customer_name(req: Request, values: Record) -> str:
    """Return what the customer of an order is called. Raises 40001 if none is given, or it does not exist."""
    id = values.get("customer_id")
    if id is None:
        raise invalid("customer_name", "required")
    name = await req.part(RecordNames).name_of(SALES_ORDERS.references["customer_id"], id)
    if name is None:
        raise invalid("customer_id", "reference")
    return name


def _drop_nulls(body: Record) -> Record:
    return {name: value for name, value in body.items() if value is not None}


async def refuse_closed_month(step: Step[Any]) -> None:
    """Let the plugin that keeps the books refuse an order that figures would count in a closed month."""
    await step.emit(DATED, day=step.record["ordered_on"] or step.today)


async def end(trade: Trade, step: Step) -> Record:
    """Return what else changes in an order that is cancelled or closed."""
    after = {**step.record, "status": trade.orders.machine.after(step.action)}
    return await book_later(step.service, trade, step.record, after, step.today)


async def list_sales(req: Request) -> Page:
    """List the changes of sales orders."""
    return await req.store(SALES_ORDER_CHANGES).page(req.query)


async def list_purchases(req: Request) -> Page:
    """List the changes of purchase orders."""
    return await req.store(PURCHASE_ORDER_CHANGES).page(req.query)


async def end_sale(step: Step[Any]) -> None:
    """Emit that no more goods follow, and give back to its quotation what a cancelled order had of it."""
    await announce_ended(SALE, step)
    await count_again(step.req, step.record)


_OF_CREDIT = ("lines", "amount", "shipped_amount", "shipped_difference", "currency", "rate")
_WAITING = {"status": {"$in": ["confirmed", "partly_delivered"]}}


async def confirm(step: Step[SalesOrder]) -> Record:
    """Return the values that the confirmation changes besides the state. Raises 40901 if the customer has no credit."""
    excess = await find_excess(step, step.record, exact(step.record["amount"]))
    return {"confirmed_at": step.now, "credit_excess": store_money(excess) if excess is not None else None}


async def announce_sale(step: Step[Any]) -> None:
    """Emit what may be invoiced of a confirmed sales order, and let the response say what is there for its lines."""
    await announce_confirmed(SALE, step)
    step.record = await add_available(step.req, step.record)


async def find_excess(step: Step[Any], order: ReadOnlyRecord, requested: Decimal) -> Decimal | None:
    """Return by how much this order, in addition to their other open orders, exceeds the credit of the customer.

    `requested` is what is to be delivered of it. Nothing is asked for an order without a customer, or for one of a contract,
    which is owed with the contract.
    """
    if order["customer_id"] is None or order.get("contract_id") is not None:
        return None
    besides = {"customer_id": order["customer_id"], "contract_id": None, "_id": {"$ne": order["id"]}, **_WAITING}
    waiting = await step.store(SALES_ORDERS).find(besides, fields=_OF_CREDIT)
    valued, *others = await value_all_for_limits(step.service, [order, *waiting], step.today)
    requested = in_base(requested, valued)
    ordered = sum((in_base(compute_undelivered(one), one) for one in others), Decimal(0))
    customers = step.service.part(Customers)
    return await customers.find_credit_excess(order["customer_id"], requested=requested, ordered=ordered)


def compute_undelivered(order: ReadOnlyRecord) -> Decimal:
    """Return the amount of the goods that are still to be delivered of an order."""
    if order["shipped_amount"] is not None:
        return exact(order["amount"]) + exact(order["shipped_difference"]) - exact(order["shipped_amount"])
    # an earlier version stored the order, or nothing was delivered
    delivered = (compute_part(line, exact(line["delivered"])) for line in order["lines"])
    return exact(order["amount"]) - sum(delivered, Decimal(0))


_SUMS = ("order_discount", "freight", "net_amount", "tax_amount", "amount")


async def describe(step: Step[PurchaseOrder]) -> Record:
    """Return the names of the supplier and the products, which the approvers may not be allowed to look up.

    The sums, which conditions compare, are in the company's currency; `currency_amount` is that of an order in another one.
    """
    order = step.record
    worth = await value_for_limits(step.service, order, step.today)
    supplier = await step.store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
    shown = as_json(PURCHASE_ORDERS.read, convert_sums(order, worth, _SUMS))
    own = {"currency_amount": as_json(PURCHASE_ORDERS.read, order)["amount"]} if order["currency"] is not None else {}
    return {
        **{name: shown[name] for name in _SUMS},
        **own,
        "supplier": supplier and supplier["name"],
        "lines": await name_products(step, shown["lines"]),
    }


async def name_products(step: Step[Any], lines: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Return lines, as responses have them, with the name of their `product`."""
    ids = [PRODUCTS.parse_id(line["product_id"]) for line in lines if line["product_id"] is not None]
    found = await step.store(PRODUCTS).find({"_id": {"$in": ids}}, fields=["name"])
    products = {str(one["id"]): one["name"] for one in found}
    return [{**line, "product": products.get(line["product_id"])} for line in lines]


ROUTES: tuple[Route, ...] = (
    *crud(
        PURCHASE_ORDERS,
        at="/api/v1/inventory/purchase-orders",
        resource="inventory:purchase-order",
        always=("reference", "remark"),
        create=make_create_handler(PURCHASE),
        update=make_update_handler(PURCHASE),
        delete=make_delete_handler(PURCHASE),
        refusals_of={"update": conflicts(NOT_A_DRAFT), "delete": conflicts(NOT_DELETABLE)},
    ),
    amounts_route("POST /api/v1/inventory/purchase-orders/amounts", PURCHASE, "inventory:purchase-order:create"),
    *transitions(
        PURCHASE_ORDERS,
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/submit",
            access="inventory:purchase-order:submit",
            summary="Submit a purchase order for approval",
            before=refuse_closed_month,
            values=lambda step: {"submitted_by": step.by, "reason": None},
            events=(DATED,),
            waits=True,
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/withdraw",
            access="inventory:purchase-order:submit",
            summary="Withdraw a purchase order from approval",
            values=lambda step: {"reason": step.reason},
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/reject",
            access="inventory:purchase-order:confirm",
            body=REJECT_BODY,
            values=lambda step: {"reason": step.reason},
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/confirm",
            access="inventory:purchase-order:confirm",
            before=refuse_closed_month,
            values=lambda step: {"confirmed_at": step.now},
            after=partial(announce_confirmed, PURCHASE),
            events=(DATED,),
            waits=True,
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/cancel",
            access="inventory:purchase-order:cancel",
            values=partial(end, PURCHASE),
            after=partial(announce_ended, PURCHASE),
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/close",
            access="inventory:purchase-order:close",
            values=partial(end, PURCHASE),
            after=partial(announce_ended, PURCHASE),
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/receive",
            access="inventory:purchase-order:receive",
            does=("ship", "ship-part"),
            summary="Receive goods of a purchase order",
            body=SHIP_BODY,
            waits=True,
            before=ship_with(PURCHASE),
            choose=partial(choose_shipping, PURCHASE),
            values=partial(add_shipment, PURCHASE),
            after=partial(announce_shipped, PURCHASE),
            events=(DATED,),
            refusals=conflicts(*SHIP_REFUSALS, WAREHOUSE_GONE),
        ),
        approval=Approval(
            done="confirm", record=describe, fields={"supplier": text(), "currency_amount": currency_amount()}
        ),
    ),
    *holds(
        PURCHASE_ORDERS,
        hold="POST /api/v1/inventory/purchase-orders/{id}/hold",
        release="POST /api/v1/inventory/purchase-orders/{id}/release",
        access="inventory:purchase-order:hold",
    ),
    *crud(
        SALES_ORDERS,
        at="/api/v1/inventory/sales-orders",
        resource="inventory:sales-order",
        always=("reference", "remark"),
        read=read_sales_order,
        create=make_create_handler(SALE),
        update=make_update_handler(SALE),
        delete=make_delete_handler(SALE),
        restore=restore_sale,
        refusals_of={
            "update": conflicts(NOT_A_DRAFT, MORE_THAN_QUOTED),
            "delete": conflicts(NOT_DELETABLE),
            "restore": conflicts(MORE_THAN_QUOTED, QUOTATION_NOT_IN_STATE),
        },
    ),
    amounts_route("POST /api/v1/inventory/sales-orders/amounts", SALE, "inventory:sales-order:create"),
    *transitions(
        SALES_ORDERS,
        Action(
            "POST /api/v1/inventory/sales-orders/{id}/confirm",
            access="inventory:sales-order:confirm",
            before=refuse_closed_month,
            values=confirm,
            after=announce_sale,
            events=(DATED,),
            refusals=CREDIT_REFUSALS,
            waits=True,
        ),
        Action(
            "POST /api/v1/inventory/sales-orders/{id}/cancel",
            access="inventory:sales-order:cancel",
            values=partial(end, SALE),
            after=end_sale,
        ),
        Action(
            "POST /api/v1/inventory/sales-orders/{id}/close",
            access="inventory:sales-order:close",
            values=partial(end, SALE),
            after=partial(announce_ended, SALE),
        ),
        Action(
            "POST /api/v1/inventory/sales-orders/{id}/deliver",
            access="inventory:sales-order:deliver",
            does=("ship", "ship-part"),
            summary="Deliver goods of a sales order",
            body=SHIP_BODY,
            waits=True,
            before=ship_with(SALE),
            choose=partial(choose_shipping, SALE),
            values=partial(add_shipment, SALE),
            after=partial(announce_shipped, SALE),
            events=(DATED,),
            refusals=conflicts(*SHIP_REFUSALS, NOT_ENOUGH, NOT_ENOUGH_THEN),
        ),
    ),
    *holds(
        SALES_ORDERS,
        hold="POST /api/v1/inventory/sales-orders/{id}/hold",
        release="POST /api/v1/inventory/sales-orders/{id}/release",
        access="inventory:sales-order:hold",
    ),
    route(
        "GET /api/v1/inventory/sales-order-changes",
        list_sales,
        summary="List what sales orders became more or less after their month was closed",
        title=("关账后变动", "Changes after closing"),
        access="inventory:sales-order:list",
        paged=True,
        query=SALES_ORDER_CHANGES.list_query,
        record=SALES_ORDER_CHANGES,
    ),
    route(
        "GET /api/v1/inventory/purchase-order-changes",
        list_purchases,
        summary="List what purchase orders became more or less after their month was closed",
        title=("关账后变动", "Changes after closing"),
        access="inventory:purchase-order:list",
        paged=True,
        query=PURCHASE_ORDER_CHANGES.list_query,
        record=PURCHASE_ORDER_CHANGES,
    ),
)
