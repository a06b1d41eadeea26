"""What differs between buying and selling; the handlers of orders are written once for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plugins.api import Collection, StateMachine
from plugins.inventory.documents import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.lines import ENABLED
from plugins.inventory.states import PURCHASE_STATES, SALES_STATES


@dataclass(frozen=True)
class Trade:
    """Purchases or sales.

    `shipped` names the field of a line with the quantity received or delivered, `default_price` the field of a product
    that a line without a price takes. `events` has the event of each action. `incoming`: goods come in.
    """

    orders: Collection
    states: StateMachine
    shipments: Collection
    shipped: str
    default_price: str
    order_prefix: str
    shipment_prefix: str
    events: Mapping[str, str]
    incoming: bool

    def filter_orderable(self) -> dict[str, Any] | None:
        """Return the filter of products and warehouses to order for: disabled ones are not bought, but still sold."""
        return dict(ENABLED) if self.incoming else None


PURCHASE = Trade(
    orders=PURCHASE_ORDERS,
    states=PURCHASE_STATES,
    shipments=RECEIPTS,
    shipped="received",
    default_price="cost",
    order_prefix="PO",
    shipment_prefix="GR",
    events={
        "submit": "inventory.purchase_order.submitted",
        "withdraw": "inventory.purchase_order.withdrawn",
        "reject": "inventory.purchase_order.rejected",
        "confirm": "inventory.purchase_order.ordered",
        "cancel": "inventory.purchase_order.cancelled",
        "close": "inventory.purchase_order.closed",
        "ship": "inventory.purchase_order.shipped",
    },
    incoming=True,
)
SALE = Trade(
    orders=SALES_ORDERS,
    states=SALES_STATES,
    shipments=DELIVERIES,
    shipped="delivered",
    default_price="price",
    order_prefix="SO",
    shipment_prefix="DN",
    events={
        "confirm": "inventory.sales_order.confirmed",
        "cancel": "inventory.sales_order.cancelled",
        "close": "inventory.sales_order.closed",
        "ship": "inventory.sales_order.shipped",
    },
    incoming=False,
)
