"""What purchases and sales have in common, what differs, and what is owed for the goods.

The handlers of orders are written once for both. What is owed is sent to the plugin that keeps the books in the
transaction of the change: the amounts of the shipments of an order, less what was returned of them, at the prices of the
order. Each shipment is due by the terms of the order, as they count from its own day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from plugins.api import Actor, Collection, Event, Record, Request, Service, Step, day_of, exact, invalid, store_money
from plugins.api.business import (
    DATED,
    PAYABLE_CHANGED,
    RECEIVABLE_CHANGED,
    SERVICE,
    PaymentTerms,
    compute_part,
    find_booked_on,
    in_base,
    schedule_of,
)
from plugins.api.data import check_keeper
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.records import Announced, Numbering
from plugins.api.values import RecordId, StoredAmount
from plugins.inventory.lines import Line, number_lines
from plugins.inventory.numbers import (
    DELIVERY_NUMBERS,
    PURCHASE_ORDER_NUMBERS,
    PURCHASE_RETURN_NUMBERS,
    RECEIPT_NUMBERS,
    SALES_ORDER_NUMBERS,
    SALES_RETURN_NUMBERS,
)
from plugins.inventory.order_records import (
    DELIVERIES,
    PURCHASE_ORDER_CHANGES,
    PURCHASE_ORDERS,
    RECEIPTS,
    SALES_ORDER_CHANGES,
    SALES_ORDERS,
)
from plugins.inventory.record_types import Product, Warehouse
from plugins.inventory.records import PRODUCTS, SUPPLIERS, WAREHOUSES
from plugins.inventory.return_records import PURCHASE_RETURNS, SALES_RETURNS
from plugins.inventory.revision_records import PURCHASE_ORDER_REVISIONS, SALES_ORDER_REVISIONS

ENABLED: Mapping[str, Any] = {"status": "enabled"}
STOCKED: Mapping[str, Any] = {"kind": {"$ne": SERVICE}}


async def find_products(
    req: Request, lines: Sequence[Line], where: Mapping[str, Any] | None = None, *, once: bool = True
) -> dict[RecordId, Product]:
    """Return the products of the lines by id. `where` restricts them further, for example to enabled products.

    Raises 40001 for each line whose product does not exist or does not match `where`, or, with `once`, that repeats one.
    """
    ids = [line.get("product_id") for line in lines]
    matching = {"_id": {"$in": [id for id in ids if id is not None]}, **(where or {})}
    found = {product["id"]: product for product in await req.store(PRODUCTS).find(matching)}
    seen: set[RecordId] = set()
    faults = []
    for number, id in enumerate(ids):
        if id is not None and id not in found:
            faults.append(FieldError(f"lines[{number}].product_id", "reference"))
        elif id in seen and once:
            faults.append(FieldError(f"lines[{number}].product_id", "duplicate"))
        elif id is not None:
            seen.add(id)
    if faults:
        raise ValidationFailed(faults)
    return found


async def find_warehouse(
    req: Request, id: Any, field: str = "warehouse_id", where: Mapping[str, Any] | None = None
) -> Warehouse:
    """Return the warehouse with this id.

    Raises 40001 for `field` if the id is None, if no warehouse with it matches `where`, or if only others keep the
    warehouse.
    """
    if id is None:
        raise invalid(field, "required")
    found = await req.store(WAREHOUSES).find_one({"_id": id, **(where or {})})
    if found is None:
        raise invalid(field, "reference")
    check_keeper(req.scope, id, field)
    return found


def add_up(lines: Sequence[Line], field: str) -> Any:
    """Return the sum of `field` over all lines, in the form in which amounts are stored."""
    return store_money(sum((exact(line[field]) for line in lines), Decimal(0)))


def get_today(req: Request) -> str:
    """Return the business day of the request."""
    return day_of(req.now, req.service.settings.zone).isoformat()


async def date_movement(req: Request, since: str | None = None) -> str:
    """Return the day on which stock changes: that of the body, or else the later of today and `since`.

    Call it inside the transaction: it emits the event that lets finance refuse a day in a closed month. Raises 40001
    if the body has a `day` before `since`.
    """
    given = (req.body or {}).get("day")
    day: str = given or max(get_today(req), since or "")
    await req.emit(DATED, day=day)
    if since is not None and day < since:
        raise invalid("day", "minimum")
    return day


_RETURN = {"record": dict, "shipment": dict, "goods_return": dict}  # the order, its receipt or delivery, the return


@dataclass(frozen=True, kw_only=True)
class Drafts:
    """Documents that begin as drafts, with lines at the prices of purchases or of sales: orders and quotations.

    `orders` are the documents, `dated` names their day. `shipped` names the field of a line with how much of it was received,
    delivered or ordered, `default_price` the field of a product that a line without a price takes, unless a list of the kind
    `price_list` has one. `incoming`: they are purchases.
    """

    orders: Collection
    order_numbers: Numbering
    dated: str = "ordered_on"
    shipped: str
    default_price: Literal["price", "cost"]
    price_list: Literal["sale", "purchase"]
    incoming: bool

    def filter_orderable(self) -> dict[str, Any] | None:
        """Return the filter on products and warehouses for orders: purchases exclude disabled ones, sales do not."""
        return dict(ENABLED) if self.incoming else None


@dataclass(frozen=True, kw_only=True)
class Trade(Drafts):
    """Either purchases or sales: orders whose goods are shipped.

    `owed` is the event that says what is owed for one of its `orders`. `shipment_id` names the field of a return with the id
    of its delivery or receipt; `return_kind` is the kind of its ledger entries. `changes` has what orders became more or less after their month was closed,
    `revisions` what was changed in them after they were confirmed.
    """

    biz_type: str
    owed: Event
    shipments: Collection
    shipment_numbers: Numbering
    returns: Collection
    shipment_id: str
    return_numbers: Numbering
    return_kind: str
    changes: Collection
    revisions: Collection
    revised: Event
    returned: Event
    reversed: Event
    return_reversed: Event


PURCHASE = Trade(
    biz_type="PURCHASE_ORDER",
    owed=PAYABLE_CHANGED,
    orders=PURCHASE_ORDERS,
    shipments=RECEIPTS,
    shipped="received",
    default_price="cost",
    price_list="purchase",
    order_numbers=PURCHASE_ORDER_NUMBERS,
    shipment_numbers=RECEIPT_NUMBERS,
    incoming=True,
    returns=PURCHASE_RETURNS,
    shipment_id="receipt_id",
    return_numbers=PURCHASE_RETURN_NUMBERS,
    return_kind="purchase_return",
    changes=PURCHASE_ORDER_CHANGES,
    revisions=PURCHASE_ORDER_REVISIONS,
    revised=Event("inventory.purchase_order.revised", record=dict, revision=dict),
    returned=Event("inventory.receipt.returned", **_RETURN),
    reversed=Event("inventory.receipt.reversed", **_RETURN),
    return_reversed=Event("inventory.purchase_return.reversed", **_RETURN, reversal=dict),
)
SALE = Trade(
    biz_type="SALES_ORDER",
    owed=RECEIVABLE_CHANGED,
    orders=SALES_ORDERS,
    shipments=DELIVERIES,
    shipped="delivered",
    default_price="price",
    price_list="sale",
    order_numbers=SALES_ORDER_NUMBERS,
    shipment_numbers=DELIVERY_NUMBERS,
    incoming=False,
    returns=SALES_RETURNS,
    shipment_id="delivery_id",
    return_numbers=SALES_RETURN_NUMBERS,
    return_kind="sales_return",
    changes=SALES_ORDER_CHANGES,
    revisions=SALES_ORDER_REVISIONS,
    revised=Event("inventory.sales_order.revised", record=dict, revision=dict),
    returned=Event("inventory.delivery.returned", **_RETURN),
    reversed=Event("inventory.delivery.reversed", **_RETURN),
    return_reversed=Event("inventory.sales_return.reversed", **_RETURN, reversal=dict),
)


async def publish(
    trade: Trade,
    service: Service,
    request: Request | None,
    order: Record,
    shipments: Sequence[Record],
    day: str,
    *,
    new: bool = False,
) -> None:
    """Emit what is owed for these shipments of an order as of `day`, unless they are owed for its contract.

    `new`: nothing was emitted for the order before.
    """
    if order.get("contract_id") is None:
        origin = {"request": request, "biz_type": trade.biz_type, "day": day, "new": new}
        party = await _describe_party(service, trade, order)
        await service.events.emit(trade.owed, {**origin, **party, **_describe_owed(trade, order, shipments)})


async def _describe_party(service: Service, trade: Trade, order: Record) -> Record:
    if not trade.incoming:
        return {"counterparty": order["customer_name"], "customer_id": order["customer_id"]}
    supplier = await service.database.store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
    return {"counterparty": supplier["name"] if supplier else "", "supplier_id": order["supplier_id"]}


async def announce_confirmed(trade: Trade, step: Step) -> None:
    """Emit that nothing is owed yet after the confirmation of an order, and what may be invoiced."""
    await publish(trade, step.service, step.req, step.record, [], step.today, new=True)


@dataclass(frozen=True)
class Shipped(Announced):
    """The delivery or receipt that an action makes, and the `live` ones before it: those that were not reversed."""

    shipment: Record
    live: Sequence[Record]


async def announce_shipped(trade: Trade, step: Step) -> None:
    """Emit what is owed after a delivery or a receipt."""
    made = step.kept[Shipped]
    await publish(trade, step.service, step.req, step.record, [*made.live, made.shipment], made.shipment["day"])


async def announce_ended(trade: Trade, step: Step) -> None:
    """Emit that no more goods follow after an order was cancelled or closed."""
    if step.record["confirmed_at"] is not None:
        live = await find_live(step.req, trade, step.record)
        await publish(trade, step.service, step.req, step.record, live, step.today)


async def find_live(req: Request, trade: Trade, order: Record) -> list[Record]:
    """Return the deliveries or receipts of an order that were not reversed."""
    if not _has_shipped(trade, order):
        return []
    found = await req.system_store(trade.shipments).find({"order_id": order["id"], "reversed_by_id": None})
    return [{**one, "lines": number_lines(one["lines"], order["lines"])} for one in found]


def _has_shipped(trade: Trade, order: Record) -> bool:
    return any(exact(line[trade.shipped]) for line in order["lines"])


def _describe_owed(trade: Trade, order: Record, shipments: Sequence[Record]) -> Record:
    """Return the payload of receivable and payable events that describes an order with these live shipments.

    It has the number and the creator of the order, the amount that is owed, when it is due, and what is still to come.
    """
    owed = sum(map(_get_owed, shipments), Decimal(0))
    shipped = sum((exact(one["amount"]) for one in shipments), Decimal(0))
    return {
        "resource_id": str(order["id"]),
        "number": order["number"],
        "amount": store_money(owed),
        "currency": order.get("currency"),
        "rate": order.get("rate"),
        **_sum_to_bill(trade, order),
        "undelivered": store_money(count_undelivered(trade, order, shipped)),
        "returned": store_money(shipped - owed),
        **_describe_due(order, shipments),
        "creator_id": order["creator_id"],
        "creator_department_id": order["creator_department_id"],
    }


def count_undelivered(trade: Trade, order: Record, shipped: Decimal) -> Decimal:
    """Return what is still to be shipped of an order, of which `shipped` is; nothing if no more will be."""
    # orders of earlier versions without `net_amount` do not say what may be invoiced
    if not trade.orders.machine.permits(order, "ship") or order["net_amount"] is None:
        return Decimal(0)
    return max(exact(order["amount"]) + exact(order["shipped_difference"]) - shipped, Decimal(0))


def _sum_to_bill(trade: Trade, order: Record) -> Record:
    """Return `net` and `tax` of all that an order may be invoiced for; null in orders of earlier versions."""
    net, tax = order["net_amount"], order["tax_amount"]
    if net is None or order["shipped_difference"] is None:
        return {"net": net, "tax": tax}
    more, more_net = (count_difference(trade, order["lines"], name) for name in ("amount", "net"))
    return {"net": store_money(exact(net) + more_net), "tax": store_money(exact(tax) + more - more_net)}


def _get_owed(shipment: Record) -> Decimal:
    return exact(shipment["amount"]) - exact(shipment["returned_amount"])


def _describe_due(order: Record, shipments: Sequence[Record]) -> Record:
    """Return the terms of the order, `due_on` by them, and a `schedule` if its shipments are due on several days."""
    terms = PaymentTerms.of(order)
    due: defaultdict[str, Decimal] = defaultdict(Decimal)
    for one in shipments:
        for day, part in terms.split(one["day"], _get_owed(one)).items():
            due[day] += part
    return {**vars(terms), "due_on": min(due, default=None), "schedule": schedule_of(due)}


def count_difference(trade: Trade, lines: Sequence[Line], field: str = "amount") -> Decimal:
    """Return by how much more than ordered lines come to of which more was shipped, or less and no more follows.

    `field` names the sum of the lines that is meant.
    """
    whole = [(line, exact(line["quantity"]), exact(line[trade.shipped])) for line in lines]
    ended = [one for one in whole if one[0].get("completed") or one[2] > one[1]]
    parts = (
        compute_part(line, shipped, field) - compute_part(line, ordered, field) for line, ordered, shipped in ended
    )
    return sum(parts, Decimal(0))


def store_difference(trade: Trade, lines: Sequence[Line]) -> StoredAmount | None:
    """Return `shipped_difference` of an order with these lines."""
    difference = count_difference(trade, lines)
    return store_money(difference) if difference else None


UNCOUNTED = ("draft", "pending", "cancelled")


async def book_later(service: Service, trade: Trade, order: Record, after: Record, on: str) -> Record:
    """Enter what an order counts more or less on the day `on`, in the transaction that makes it `after`.

    Returns what else changes in the order; nothing is entered or changed while the month of the order is open.
    """
    ordered_on = order["ordered_on"]
    change = _count(trade, after) - _count(trade, order)
    if not change or ordered_on is None or await find_booked_on(service, ordered_on) == ordered_on:
        return {}
    creator = Actor(user_id=order["creator_id"], department_id=order["creator_department_id"])
    values = {"order_id": order["id"], "order_number": order["number"], "day": on, "amount": store_money(change)}
    await service.database.store(trade.changes, creator).create(values)
    return {"booked_later": store_money(exact(order["booked_later"]) + change)}


def _count(trade: Trade, order: Record) -> Decimal:
    """Return what the figures count of an order as it is: its amount, or what was shipped of a closed one, less returns.

    They count the company's currency.
    """
    if order["status"] in UNCOUNTED:
        return Decimal(0)
    amount = exact(order["amount"]) + exact(order["shipped_difference"])
    if order["status"] == "closed":
        amount = exact(order["shipped_amount"])
        if order["shipped_amount"] is None:  # an earlier version stored the order
            amount = sum((compute_part(line, exact(line[trade.shipped])) for line in order["lines"]), Decimal(0))
    return in_base(amount - exact(order["returned_amount"]), order)


async def find_history(service: Service, trade: Trade, order: Record) -> list[tuple[str, list[Record]]]:
    """Return each day on which goods of an order were shipped or returned, with all shipments as they were then.

    Before them comes the day on which the order was confirmed, with none.
    """
    shipments = await service.database.store(trade.shipments).find({"order_id": order["id"]})
    returns = await service.database.store(trade.returns).find({"order_id": order["id"]})
    days = sorted({one["day"] for one in (*shipments, *returns)})
    confirmed = order["confirmed_at"]
    history = [(day, list(_rewind(trade, shipments, returns, day))) for day in days]
    return history if confirmed is None else [(day_of(confirmed, service.settings.zone).isoformat(), []), *history]


def _rewind(trade: Trade, shipments: Sequence[Record], returns: Sequence[Record], day: str) -> Iterator[Record]:
    for shipment in shipments:
        if shipment["day"] <= day:
            ours = [one for one in returns if one[trade.shipment_id] == shipment["id"] and one["day"] <= day]
            returned = sum((exact(one["amount"]) for one in ours), Decimal(0))
            yield {**shipment, "returned_amount": store_money(returned)}


async def find_order(service: Service, trade: Trade, id: Any) -> Record | None:
    """Return the order with this id, given as text, or None."""
    return await service.database.store(trade.orders).find_one({"_id": trade.orders.parse_id(id)})
