"""What differs between buying and selling; the handlers of orders are written once for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plugins.api import Collection
from plugins.inventory.documents import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.lines import ENABLED


@dataclass(frozen=True)
class Trade:
    """Purchases or sales.

    `shipped` names the field of a line with the quantity received or delivered, `default_price` the field of a product
    that a line without a price takes. `incoming`: goods come in.
    """

    orders: Collection
    shipments: Collection
    shipped: str
    default_price: str
    order_prefix: str
    shipment_prefix: str
    incoming: bool

    def filter_orderable(self) -> dict[str, Any] | None:
        """Return the filter of products and warehouses to order for: disabled ones are not bought, but still sold."""
        return dict(ENABLED) if self.incoming else None


PURCHASE = Trade(
    orders=PURCHASE_ORDERS,
    shipments=RECEIPTS,
    shipped="received",
    default_price="cost",
    order_prefix="PO",
    shipment_prefix="GR",
    incoming=True,
)
SALE = Trade(
    orders=SALES_ORDERS,
    shipments=DELIVERIES,
    shipped="delivered",
    default_price="price",
    order_prefix="SO",
    shipment_prefix="DN",
    incoming=False,
)
