"""What invoices are made of: lines with products and taxes, and what may be billed of an order, line by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import Message, Record, Request, exact, store_money
from plugins.api.business import SERVICE, BillableOrder, PricedLines, ShippedLine, compute_amounts, compute_part
from plugins.api.values import ReadOnlyRecord, store_quantity
from plugins.inventory.lines import Line, count_unfinished, key_of, number_lines
from plugins.inventory.orders import find_rounding
from plugins.inventory.pricing import complete_lines
from plugins.inventory.records import PRODUCTS, TAXES
from plugins.inventory.shipped import FREIGHT, Movements, compute_net, read_movements
from plugins.inventory.trades import PURCHASE, SALE, Trade, find_live, find_order

_FREIGHT = Message("运费", "Freight")
_ZERO = Decimal(0)
_COUNTED = ("confirmed_at", "net_amount")  # an order without these is a draft, or of an earlier version


class LinesOfProducts(PricedLines):
    """Lines of the products and orders that inventory keeps."""

    async def compute(self, req: Request, direction: str, lines: Sequence[Record], terms: Mapping[str, Any]) -> Record:
        """Return lines completed as those of a new order are, and their amounts."""
        trade = SALE if direction == "out" else PURCHASE
        completed = await complete_lines(req, trade, lines, terms)
        for line in completed:
            del line[trade.shipped], line["tolerance"]
        return compute_amounts(completed, terms, await find_rounding(req))

    async def find_billable(self, req: Request, biz_type: str, resource_id: str) -> BillableOrder | None:
        """Return what may be billed of an order, or None for one of an earlier version."""
        trade = next((one for one in (PURCHASE, SALE) if one.biz_type == biz_type), None)
        order = await find_order(req.service, trade, resource_id) if trade is not None else None
        if trade is None or order is None or any(order[name] is None for name in _COUNTED):
            return None
        lines = list(list_lines(req, order))
        if any(line.get("line") is None for line in lines):
            return None
        shipments = await find_live(req, trade, order)
        shipped = {one["id"]: _count_units(one) for one in shipments}
        returned: defaultdict[int, Decimal] = defaultdict(Decimal)
        for line in (line for one in shipments for line in one["lines"]):
            returned[line["line"]] += exact(line.get("returned"))
        units = {line["line"]: _count(trade, order, line) - returned[line["line"]] for line in lines}
        refunded = await _sum_refunds(req, trade, order, shipments) if any(returned.values()) else {}
        left = {
            line["line"]: compute_part(line, units[line["line"]] + back) - amount
            for line in lines
            for back, amount in [refunded.get(line["line"], (_ZERO, _ZERO))]
            if back
        }
        return BillableOrder(lines, units, shipped, left)

    async def find_shipped(
        self, req: Request, biz_type: str, resource_ids: Sequence[str], until: str
    ) -> Mapping[str, Sequence[ShippedLine]]:
        """Return what was shipped of the lines of these orders until a day, less what came back."""
        trade = next((one for one in (PURCHASE, SALE) if one.biz_type == biz_type), None)
        if trade is None:
            return {}
        ids = [trade.orders.parse_id(id) for id in resource_ids]
        orders = await req.system_store(trade.orders).find({"_id": {"$in": ids}})
        moved = await read_movements(req, trade, orders, until)
        return {str(order["id"]): [*_list_shipped(req, order, moved)] for order in orders}

    async def state(self, req: Request, lines: Sequence[Record]) -> Sequence[Record]:
        """Return lines with the units of their products unless they have others, and with why no tax is charged."""
        ids = {
            name: [one for line in lines if (one := line.get(name)) is not None] for name in ("product_id", "tax_id")
        }
        products = await req.system_store(PRODUCTS).find({"_id": {"$in": ids["product_id"]}}, fields=("unit",))
        units: dict[Any, str] = {product["id"]: product["unit"] for product in products}
        untaxed = {"_id": {"$in": ids["tax_id"]}, "treatment": {"$nin": [None, "taxed"]}}
        taxes = await req.system_store(TAXES).find(untaxed)
        told: dict[Any, Record] = {
            tax["id"]: {name: tax.get(name) for name in ("treatment", "reason")} for tax in taxes
        }
        return [
            {**line, "unit": line.get("unit") or units.get(line.get("product_id")), **told.get(line.get("tax_id"), {})}
            for line in lines
        ]


def list_lines(req: Request, order: ReadOnlyRecord) -> Iterator[Line]:
    """Yield the lines of an order, each saying whether its price includes tax, and one for the freight."""
    for line in order["lines"]:
        own = line.get("tax_included")
        yield {**line, "tax_included": bool(order["prices_include_tax"]) if own is None else own}
    if exact(order["freight"]):
        freight = {"price": order["freight"], "net": order["freight"], "amount": order["freight"]}
        words = {"kind": SERVICE, "product_id": None, "description": _FREIGHT.text(req.language)}
        yield {**words, "line": FREIGHT, "quantity": store_quantity(Decimal(1)), "tax": store_money(_ZERO), **freight}


async def _sum_refunds(
    req: Request, trade: Trade, order: Record, shipments: Sequence[Record]
) -> Mapping[int, tuple[Decimal, Decimal]]:
    """Return how many units of each line came back with a refund from these shipments, and what was refunded for them."""
    sums: defaultdict[int, tuple[Decimal, Decimal]] = defaultdict(lambda: (_ZERO, _ZERO))
    of = {trade.shipment_id: {"$in": [one["id"] for one in shipments]}, "refund": {"$ne": False}}
    for one in await req.system_store(trade.returns).find(of):
        for line in number_lines(one["lines"], order["lines"]):
            units, amount = sums[line["line"]]
            sums[line["line"]] = (units + exact(line["quantity"]), amount + exact(line["amount"]))
    return sums


def _list_shipped(req: Request, order: Record, moved: Movements) -> Iterator[ShippedLine]:
    for line in list_lines(req, order):
        units = sum((one.units for one in moved.get((order["id"], key_of(line)), ())), _ZERO)
        if units:
            yield ShippedLine(line, units, compute_net(line, units))


def _count(trade: Trade, order: Record, line: Line) -> Decimal:
    """Return how many units of a line are ordered, or were shipped if these are more, or no more will be."""
    if line.get("line") == 0:
        return exact(line["quantity"])
    shipped = exact(line[trade.shipped])
    return shipped + (count_unfinished(line, trade.shipped) if trade.orders.machine.permits(order, "ship") else 0)


def _count_units(shipment: Record) -> Mapping[int, Decimal]:
    """Return how many units of each line are left of a shipment; the freight is one of the shipment that it is owed with."""
    freight = {FREIGHT: Decimal(1)} if exact(shipment["freight"]) else {}
    return freight | {line["line"]: exact(line["quantity"]) - exact(line.get("returned")) for line in shipment["lines"]}
