"""What sales earned in a period by product, customer or seller, and the lines of the orders behind each figure.

Of each line of a sales order: what its units come to without tax that were delivered in the period, less what came back, and
what these goods cost when they left. Rebates, credit notes of amounts and differences of counts are no part of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from plugins.api import (
    Collection,
    Field,
    Message,
    Page,
    Record,
    Request,
    Route,
    choice,
    day,
    exact,
    integer,
    invalid,
    money,
    object_id,
    quantity,
    service_fields,
    store_money,
    text,
)
from plugins.api.business import LINE_DESCRIPTION, in_base
from plugins.api.data import page_of_rows, query_of_rows
from plugins.api.reports import end_of_month, report_list
from plugins.api.values import ReadOnlyRecord, store_quantity
from plugins.inventory.billing import list_lines
from plugins.inventory.documents import PRODUCT
from plugins.inventory.lines import Line, key_of
from plugins.inventory.order_records import SALES_ORDERS
from plugins.inventory.shipped import Movement, compute_net, read_movements
from plugins.inventory.trades import SALE

_ORDERS_AT_ONCE = 500
_MOST_DAYS = 366
_ZERO = Decimal(0)
_SUMS = ("net", "cost", "margin")
_KEYS = {"product": "product_id", "customer": "customer_id", "salesperson": "salesperson_id"}

_PRODUCT = PRODUCT.but(required=False, nullable=True, read_only=True, description="Null: freight and free lines.")
_CUSTOMER: Mapping[str, Field] = {
    "customer_id": object_id(label=("客户", "Customer"), ref="crm_customers", ref_optional=True, read_only=True),
    "customer_name": text(label=("客户名称", "Customer name"), max_length=200, read_only=True),
}
_SELLER = integer(label=("销售员", "Salesperson"), minimum=1, ref="rbac_users", read_only=True)
_AMOUNTS: Mapping[str, Field] = service_fields(
    quantity=quantity(label=("数量", "Quantity"), description="In the product's own unit."),
    net=money(label=("不含税收入", "Net sales"), sort=True),
    cost=money(label=("成本", "Cost"), sort=True),
    margin=money(label=("毛利", "Margin"), sort=True, description="`net` less `cost`."),
)
# rows as responses and tables have them; nothing is stored in these shapes
MARGINS = Collection(
    name=SALES_ORDERS.name,
    title="Margin",
    noun=Message("毛利", "margin"),
    plain=True,
    ids="text",
    default_sort="id",
    fields={
        "product_id": _PRODUCT,
        **_CUSTOMER,
        "salesperson_id": _SELLER,
        **_AMOUNTS,
        "rate": quantity(
            label=("毛利率（%）", "Rate (%)"),
            read_only=True,
            description="`margin` in percent of `net`; null without it.",
        ),
    },
)
LINES = Collection(
    name=SALES_ORDERS.name,
    title="MarginLine",
    noun=Message("毛利明细", "line of margins"),
    plain=True,
    ids="text",
    default_sort="id",
    fields={
        "order_id": object_id(label=("销售订单", "Sales order"), ref=SALES_ORDERS.name, read_only=True, nullable=False),
        "line": integer(label=("行号", "Line"), minimum=0, read_only=True, description="Of the order; 0: the freight."),
        "product_id": _PRODUCT,
        **_CUSTOMER,
        **_AMOUNTS,
        "salesperson_id": _SELLER,
        "description": LINE_DESCRIPTION.but(read_only=True, description=None),
    },
)
_FILTERS: Mapping[str, Field] = {
    "from": day(label=("开始日期", "From"), nullable=False, description="The first day of this month unless given."),
    "to": day(
        label=("结束日期", "To"),
        nullable=False,
        description="The last day of the month of `from` unless given; a year at most.",
    ),
    **{
        name: MARGINS.fields[name].but(read_only=False, nullable=False, description="Only this one.")
        for name in _KEYS.values()
    },
}
_BY = choice(*_KEYS, label=("汇总方式", "By"), default="product", nullable=False)
_QUERY = {**query_of_rows(MARGINS), "by": _BY, **_FILTERS}
_LINE_QUERY = {**query_of_rows(LINES), **_FILTERS}


async def list_margins(req: Request) -> Page:
    """Return a page of the products, customers or sellers, the highest margins first."""
    by = _KEYS[req.query["by"]]
    groups: dict[str, Record] = {}
    async for row in _read_lines(req):
        name = row["customer_name"] if by == "customer_id" else None
        key = str(row[by] or name or "")
        group = groups.setdefault(
            key, {**dict.fromkeys([*_KEYS.values()]), "id": key, by: row[by], "customer_name": name}
        )
        for each in ("quantity", *_SUMS):
            group[each] = group.get(each, _ZERO) + row[each]
    rows = sorted(groups.values(), key=lambda one: (-one["margin"], one["id"]))
    return page_of_rows(req.query, [_shown({**one, "rate": _rate(one)}) for one in rows])


def _rate(row: Record) -> Decimal | None:
    return (100 * row["margin"] / row["net"]).quantize(Decimal("0.01")) if row["net"] else None


async def list_margin_lines(req: Request) -> Page:
    """Return a page of the lines of orders behind the margins, by the numbers of the orders."""
    rows = sorted([row async for row in _read_lines(req)], key=lambda one: (one["number"], one["line"] or _ZERO))
    return page_of_rows(req.query, [_shown(row) for row in rows])


def _shown(row: Record) -> Record:
    amounts = {name: store_money(row[name]) for name in _SUMS}
    rate = {"rate": store_quantity(row["rate"])} if row.get("rate") is not None else {}
    return {**row, **amounts, **rate, "quantity": store_quantity(row["quantity"])}


async def _read_lines(req: Request) -> AsyncIterator[Record]:
    """Yield the lines of the visible orders of which something was delivered or came back in the period. Raises 40001."""
    since, until = _period(req)
    within, ids = {"day": {"$gte": since, "$lte": until}}, set[Any]()
    for moved in (SALE.shipments, SALE.returns):
        found = await req.system_store(moved).aggregate([{"$match": within}, {"$group": {"_id": "$order_id"}}])
        ids |= {row["_id"] for row in found}
    wanted = {name: req.query[name] for name in ("customer_id", "salesperson_id") if req.query.get(name) is not None}
    product_id, sorted_ids = req.query.get("product_id"), sorted(ids)
    if product_id is not None:
        wanted["lines.product_id"] = product_id
    for start in range(0, len(sorted_ids), _ORDERS_AT_ONCE):
        of_chunk = {"_id": {"$in": sorted_ids[start : start + _ORDERS_AT_ONCE]}, **wanted}
        orders = await req.store(SALES_ORDERS).find(of_chunk)
        movements = await read_movements(req, SALE, orders, until)
        for order in orders:
            for line in list_lines(req, order):
                if product_id in (None, line["product_id"]):
                    amounts = _count(order, line, movements.get((order["id"], key_of(line)), ()), since)
                    if any(amounts.values()):
                        yield _describe(order, line, amounts)


def _count(order: ReadOnlyRecord, line: Line, moved: Sequence[Movement], since: str) -> Record:
    """Return what a line of an order earned from a day on, in the company's currency.

    That is net of what is owed by the last day, less that by the day before.
    """
    before = sum((one.owed for one in moved if one.day < since), _ZERO)
    after = sum((one.owed for one in moved), _ZERO)
    net = in_base(compute_net(line, after), order) - in_base(compute_net(line, before), order)
    cost = sum((one.cost for one in moved if one.day >= since), _ZERO)
    factor = line.get("unit_factor")
    units = (after - before) * (1 if factor is None else exact(factor))
    return {"quantity": units, "net": net, "cost": cost, "margin": net - cost}


def _describe(order: ReadOnlyRecord, line: Line, amounts: Record) -> Record:
    return {
        "id": f"{order['id']}-{key_of(line)}",
        "order_id": order["id"],
        "number": order["number"],
        **{name: order[name] for name in ("customer_id", "customer_name", "salesperson_id")},
        **{name: line.get(name) for name in ("line", "product_id", "description")},
        **amounts,
    }


def _period(req: Request) -> tuple[str, str]:
    """Return the first and the last day. Raises 40001 for a period that ends before it begins, or is too long."""
    since = req.query.get("from") or f"{req.now.astimezone(req.service.settings.zone):%Y-%m}-01"
    until = req.query.get("to") or end_of_month(date.fromisoformat(since)).isoformat()
    if until < since:
        raise invalid("to", "minimum")
    if date.fromisoformat(until) - date.fromisoformat(since) > timedelta(days=_MOST_DAYS):
        raise invalid("to", "maximum")
    return since, until


ROUTES: tuple[Route, ...] = (
    *report_list(
        MARGINS,
        list_margins,
        at="/api/v1/inventory/margins",
        resource="inventory:margin",
        summary="List margins by product, customer or seller",
        title=("毛利汇总", "Margins"),
        query=_QUERY,
        collection=SALES_ORDERS.name,
    ),
    *report_list(
        LINES,
        list_margin_lines,
        at="/api/v1/inventory/margins/lines",
        resource="inventory:margin",
        summary="List the lines of orders behind the margins",
        title=("毛利明细", "Margin by line"),
        query=_LINE_QUERY,
        collection=SALES_ORDERS.name,
    ),
)
