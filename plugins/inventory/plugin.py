"""Purchase, sales and stock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from plugins.api import REFUSES_OWN, STALE, Menu, Message, Plugin, Route, Service, conflicts, crud, route
from plugins.inventory import demo, ledger, master_data, orders, purchase_approval, shipments
from plugins.inventory.dashboards import DASHBOARDS
from plugins.inventory.dictionaries import DICTIONARIES
from plugins.inventory.documents import (
    DELIVERIES,
    PURCHASE_ORDERS,
    RECEIPTS,
    REJECT_BODY,
    SALES_ORDERS,
    SHIP_BODY,
    STOCK_COUNTS,
    TRANSFERS,
)
from plugins.inventory.lines import DATED_EVENT
from plugins.inventory.messages import (
    IN_USE,
    MORE_THAN_OPEN,
    NOT_A_DRAFT,
    NOT_DELETABLE,
    NOT_ENOUGH,
    NOT_IN_STATE,
    NOTHING_OPEN,
    STOCK_LEFT,
    WAREHOUSE_GONE,
)
from plugins.inventory.records import PRODUCTS, STOCK, STOCK_ENTRIES, SUPPLIERS, WAREHOUSES
from plugins.inventory.states import PURCHASE_STATES, SALES_STATES

AT = "/api/v1/inventory"
_READ = ("list", "read")
_ONCE = (*_READ, "create")
_held = {"delete": conflicts(IN_USE, STOCK_LEFT)}
_drafts = {"update": conflicts(NOT_A_DRAFT), "delete": conflicts(NOT_DELETABLE)}
_STEP = conflicts(NOT_IN_STATE)
_SHIPPING = (NOT_IN_STATE, NOTHING_OPEN, MORE_THAN_OPEN)


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Hear how approvals end."""
    service.events.listen(purchase_approval.DECISION_EVENT, partial(purchase_approval.after_approval, service))
    yield


def _order_routes(trade: orders.Trade, at: str, entity: str, noun: str, ship: str) -> tuple[Route, ...]:
    """CRUD of drafts, and the actions on an order."""
    shared: dict[str, Any] = {
        "returns": trade.orders.read,
        "errors": (STALE,),
        "tag": "inventory",
        "collection": trade.orders.name,
    }
    decided = (REFUSES_OWN,) if trade is orders.PURCHASE else ()
    steps = tuple(
        route(
            f"POST {at}/{{id}}/{action}",
            orders.stepper(trade, action),
            summary=f"{action.title()} a {noun}",
            access=f"inventory:{entity}:{action}",
            refusals=(*_STEP, *(decided if action == "confirm" else ())),
            **shared,
        )
        for action in ("confirm", "cancel", "close")
    )
    return (
        *crud(
            trade.orders,
            at=at,
            resource=f"inventory:{entity}",
            noun=noun,
            create=orders.creator(trade),
            update=orders.updater(trade),
            delete=orders.deleter(trade),
            refusals_of=_drafts,
        ),
        *steps,
        route(
            f"POST {at}/{{id}}/{ship}",
            orders.shipper(trade),
            summary=f"{ship.title()} goods of a {noun}",
            access=f"inventory:{entity}:{ship}",
            body=SHIP_BODY,
            asks=(DATED_EVENT,),
            refusals=conflicts(*_SHIPPING, WAREHOUSE_GONE if trade.incoming else NOT_ENOUGH),
            **shared,
        ),
    )


def _approval_routes() -> tuple[Route, ...]:
    """What asks for the approval of a purchase order, takes it back, and refuses it at the order itself."""
    at, entity = f"{AT}/purchase-orders/{{id}}", "inventory:purchase-order"
    shared: dict[str, Any] = {"returns": PURCHASE_ORDERS.read, "tag": "inventory", "collection": PURCHASE_ORDERS.name}
    return (
        route(
            f"POST {at}/submit",
            orders.stepper(orders.PURCHASE, "submit"),
            summary="Ask for approval of a purchase order",
            access=f"{entity}:submit",
            refusals=_STEP,
            asks=(purchase_approval.REQUESTED_EVENT,),
            **shared,
        ),
        route(
            f"POST {at}/withdraw",
            orders.stepper(orders.PURCHASE, "withdraw"),
            summary="Take a purchase order back from approval",
            access=f"{entity}:submit",
            refusals=_STEP,
            **shared,
        ),
        route(
            f"POST {at}/reject",
            orders.stepper(orders.PURCHASE, "reject"),
            summary="Reject a purchase order",
            access=f"{entity}:confirm",
            body=REJECT_BODY,
            refusals=(*_STEP, REFUSES_OWN),
            **shared,
        ),
    )


def _page(entity: str, zh: str, en: str, icon: str, order: int) -> Menu:
    return Menu(
        f"inventory.{entity}",
        Message(zh, en),
        path=f"/inventory/{entity}s",
        parent="inventory",
        resource=f"inventory:{entity}",
        icon=icon,
        order=order,
    )


plugin = Plugin(
    name="inventory",
    title=Message("进销存", "Inventory"),
    requires=("rbac",),
    start=start,
    demo=demo.load,
    collections=(
        PRODUCTS,
        WAREHOUSES,
        SUPPLIERS,
        PURCHASE_ORDERS,
        SALES_ORDERS,
        RECEIPTS,
        DELIVERIES,
        TRANSFERS,
        STOCK_COUNTS,
        STOCK,
        STOCK_ENTRIES,
    ),
    biz_types={
        "PRODUCT": PRODUCTS,
        "SUPPLIER": SUPPLIERS,
        purchase_approval.BIZ_TYPE: PURCHASE_ORDERS,
        "SALES_ORDER": SALES_ORDERS,
    },
    state_machines=(PURCHASE_STATES, SALES_STATES),
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=(
        *crud(
            PRODUCTS,
            at=f"{AT}/products",
            resource="inventory:product",
            noun="product",
            delete=master_data.deleter(PRODUCTS),
            refusals_of=_held,
        ),
        *crud(
            WAREHOUSES,
            at=f"{AT}/warehouses",
            resource="inventory:warehouse",
            noun="warehouse",
            delete=master_data.deleter(WAREHOUSES),
            refusals_of=_held,
        ),
        *crud(
            SUPPLIERS,
            at=f"{AT}/suppliers",
            resource="inventory:supplier",
            noun="supplier",
            delete=master_data.deleter(SUPPLIERS),
            refusals_of={"delete": conflicts(IN_USE)},
        ),
        *_order_routes(orders.PURCHASE, f"{AT}/purchase-orders", "purchase-order", "purchase order", "receive"),
        *_approval_routes(),
        *_order_routes(orders.SALE, f"{AT}/sales-orders", "sales-order", "sales order", "deliver"),
        *crud(RECEIPTS, at=f"{AT}/receipts", resource="inventory:receipt", noun="receipt", only=_READ),
        *crud(
            DELIVERIES,
            at=f"{AT}/deliveries",
            resource="inventory:delivery",
            noun="delivery",
            plural="deliveries",
            only=_READ,
        ),
        *crud(
            TRANSFERS,
            at=f"{AT}/transfers",
            resource="inventory:transfer",
            noun="transfer",
            only=_ONCE,
            create=shipments.transfer,
            asks=(DATED_EVENT,),
            refusals_of={"create": conflicts(NOT_ENOUGH, WAREHOUSE_GONE)},
        ),
        *crud(
            STOCK_COUNTS,
            at=f"{AT}/stock-counts",
            resource="inventory:stock-count",
            noun="stock count",
            only=_ONCE,
            create=shipments.count,
            asks=(DATED_EVENT,),
            refusals_of={"create": conflicts(WAREHOUSE_GONE)},
        ),
        *crud(STOCK, at=f"{AT}/stock", resource="inventory:stock", noun="stock row", only=("list",)),
        route(
            f"GET {AT}/stock/ledger",
            ledger.list_entries,
            summary="List the stock ledger: every movement",
            access="inventory:stock:ledger",
            paged=True,
            query=STOCK_ENTRIES.list_query,
            returns=STOCK_ENTRIES.read,
            collection=STOCK_ENTRIES.name,
            tag="inventory",
        ),
    ),
    menus=(
        Menu("inventory", Message("进销存", "Inventory"), path="/inventory", icon="lucide:warehouse", order=300),
        _page("product", "商品", "Products", "lucide:package", 1),
        _page("warehouse", "仓库", "Warehouses", "lucide:warehouse", 2),
        _page("supplier", "供应商", "Suppliers", "lucide:truck", 3),
        _page("purchase-order", "采购订单", "Purchase orders", "lucide:shopping-cart", 4),
        _page("receipt", "入库单", "Receipts", "lucide:package-plus", 5),
        _page("sales-order", "销售订单", "Sales orders", "lucide:receipt", 6),
        Menu(
            "inventory.delivery",
            Message("出库单", "Deliveries"),
            path="/inventory/deliveries",
            parent="inventory",
            resource="inventory:delivery",
            icon="lucide:package-minus",
            order=7,
        ),
        _page("transfer", "调拨", "Transfers", "lucide:arrow-left-right", 8),
        _page("stock-count", "盘点", "Stock counts", "lucide:clipboard-check", 9),
        Menu(
            "inventory.stock",
            Message("库存", "Stock"),
            path="/inventory/stock",
            parent="inventory",
            resource="inventory:stock",
            icon="lucide:boxes",
            order=10,
        ),
    ),
    permissions={
        **{
            f"inventory:{entity}:{action}": title
            for entity in ("purchase-order", "sales-order")
            for action, title in (
                ("confirm", Message("确认", "Confirm")),
                ("cancel", Message("取消", "Cancel")),
                ("close", Message("关闭", "Close")),
            )
        },
        "inventory:purchase-order:submit": Message("提交审批", "Submit"),
        "inventory:purchase-order:receive": Message("入库", "Receive"),
        "inventory:sales-order:deliver": Message("出库", "Deliver"),
        "inventory:stock:ledger": Message("库存流水", "Ledger"),
    },
)
