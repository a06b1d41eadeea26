"""What differs between purchases and sales. The handlers of orders are written once for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from plugins.api import Collection, Event
from plugins.api.business import PAYABLE_CHANGED, RECEIVABLE_CHANGED
from plugins.api.records import Numbering
from plugins.inventory.numbers import (
    DELIVERY_NUMBERS,
    PURCHASE_ORDER_NUMBERS,
    PURCHASE_RETURN_NUMBERS,
    RECEIPT_NUMBERS,
    SALES_ORDER_NUMBERS,
    SALES_RETURN_NUMBERS,
)
from plugins.inventory.orders.change_records import PURCHASE_ORDER_CHANGES, SALES_ORDER_CHANGES
from plugins.inventory.orders.lines import ENABLED
from plugins.inventory.orders.records import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.returns.records import PURCHASE_RETURNS, SALES_RETURNS

_RETURN = {"record": dict, "shipment": dict, "goods_return": dict}  # the order, its receipt or delivery, the return


@dataclass(frozen=True)
class Trade:
    """Either purchases or sales.

    `owed` is the event that says what is owed for one of its `orders`. `shipped` names the field of a line with the quantity received or delivered, `default_price` the field of a product
    that a line without a price takes. `incoming`: goods come in. `shipment_id` names the field of a return with the id
    of its delivery or receipt; `return_kind` is the kind of its ledger entries. `changes` has what orders became more or less after their month was closed.
    """

    biz_type: str
    owed: Event
    orders: Collection
    shipments: Collection
    shipped: str
    default_price: Literal["price", "cost"]
    order_numbers: Numbering
    shipment_numbers: Numbering
    incoming: bool
    returns: Collection
    shipment_id: str
    return_numbers: Numbering
    return_kind: str
    changes: Collection
    returned: Event
    reversed: Event
    return_reversed: Event

    def filter_orderable(self) -> dict[str, Any] | None:
        """Return the filter on products and warehouses for orders: purchases exclude disabled ones, sales do not."""
        return dict(ENABLED) if self.incoming else None


PURCHASE = Trade(
    biz_type="PURCHASE_ORDER",
    owed=PAYABLE_CHANGED,
    orders=PURCHASE_ORDERS,
    shipments=RECEIPTS,
    shipped="received",
    default_price="cost",
    order_numbers=PURCHASE_ORDER_NUMBERS,
    shipment_numbers=RECEIPT_NUMBERS,
    incoming=True,
    returns=PURCHASE_RETURNS,
    shipment_id="receipt_id",
    return_numbers=PURCHASE_RETURN_NUMBERS,
    return_kind="purchase_return",
    changes=PURCHASE_ORDER_CHANGES,
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
    order_numbers=SALES_ORDER_NUMBERS,
    shipment_numbers=DELIVERY_NUMBERS,
    incoming=False,
    returns=SALES_RETURNS,
    shipment_id="delivery_id",
    return_numbers=SALES_RETURN_NUMBERS,
    return_kind="sales_return",
    changes=SALES_ORDER_CHANGES,
    returned=Event("inventory.delivery.returned", **_RETURN),
    reversed=Event("inventory.delivery.reversed", **_RETURN),
    return_reversed=Event("inventory.sales_return.reversed", **_RETURN, reversal=dict),
)
