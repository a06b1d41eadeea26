"""The types of the records of Inventory. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class Tax(TypedDict):
    """A record of `inventory_taxes`."""

    id: StoredId
    code: str
    name: str
    rate: StoredAmount
    included: bool | None
    treatment: Literal["taxed", "exempt", "reverse_charge"]
    reason: str | None
    status: Literal["enabled", "disabled"]
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ProductUnit(TypedDict):
    """An object within `Product`."""

    unit: str
    factor: StoredAmount


class Product(TypedDict):
    """A record of `inventory_products`."""

    id: StoredId
    sku: str
    name: str
    unit: str
    units: list[ProductUnit] | None
    kind: Literal["product", "service"] | None
    category: str | None
    price: StoredAmount | None
    cost: StoredAmount | None
    tolerance: StoredAmount | None
    on_hand: StoredAmount | None
    reserved: StoredAmount | None
    available: StoredAmount | None
    tax_id: StoredId | None
    status: Literal["enabled", "disabled"]
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class PriceList(TypedDict):
    """A record of `inventory_price_lists`."""

    id: StoredId
    code: str
    name: str
    kind: Literal["sale", "purchase"]
    for_all: bool
    currency: str | None
    valid_from: str | None
    valid_to: str | None
    status: Literal["enabled", "disabled"]
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ListedPrice(TypedDict):
    """A record of `inventory_prices`."""

    id: StoredId
    price_list_id: StoredId
    product_id: StoredId
    min_quantity: StoredAmount
    price: StoredAmount
    price_per: StoredAmount | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Warehouse(TypedDict):
    """A record of `inventory_warehouses`."""

    id: StoredId
    code: str
    name: str
    address: str | None
    manager_id: int | None
    keeper_ids: list[int] | None
    status: Literal["enabled", "disabled"]
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class PartyAddress(TypedDict):
    """An object within `Supplier`."""

    name: str
    address: str
    contact: NotRequired[str | None]
    phone: NotRequired[str | None]
    billing: NotRequired[bool | None]
    delivery: NotRequired[bool | None]


class Instalment(TypedDict):
    """An object within `Supplier`."""

    percent: StoredAmount
    days: int


class Supplier(TypedDict):
    """A record of `inventory_suppliers`."""

    id: StoredId
    code: str
    name: str
    contact: str | None
    phone: str | None
    email: str | None
    address: str | None
    vat_number: str | None
    addresses: list[PartyAddress] | None
    terms_days: int | None
    terms_from: Literal["document", "month_end"] | None
    instalments: list[Instalment] | None
    discount_percent: StoredAmount | None
    discount_days: int | None
    currency: str | None
    tax_id: StoredId | None
    price_list_ids: list[StoredId] | None
    status: Literal["enabled", "disabled"]
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ReorderLevel(TypedDict):
    """A record of `inventory_reorder_levels`."""

    id: StoredId
    product_id: StoredId
    warehouse_id: StoredId
    level: StoredAmount
    target: StoredAmount | None
    lot: StoredAmount | None
    status: Literal["enabled", "disabled"]
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class QuotationLine(TypedDict):
    """An object within `Quotation`."""

    product_id: NotRequired[StoredId | None]
    quantity: StoredAmount
    price: NotRequired[StoredAmount | None]
    discount: NotRequired[StoredAmount | None]
    tax_rate: NotRequired[StoredAmount | None]
    tax_id: NotRequired[StoredId | None]
    kind: NotRequired[Literal["product", "service", "text"] | None]
    description: NotRequired[str | None]
    price_per: NotRequired[StoredAmount | None]
    discount_amount: NotRequired[StoredAmount | None]
    unit: NotRequired[str | None]
    unit_factor: NotRequired[StoredAmount | None]
    reference: NotRequired[str | None]
    unit_price: NotRequired[StoredAmount | None]
    line: NotRequired[int | None]
    tax_included: NotRequired[bool | None]
    net: NotRequired[StoredAmount | None]
    tax: NotRequired[StoredAmount | None]
    amount: StoredAmount
    proposed_price: NotRequired[StoredAmount | None]
    price_list_id: NotRequired[StoredId | None]
    priced_by: NotRequired[int | None]
    tolerance: NotRequired[StoredAmount | None]
    ordered_quantity: StoredAmount


class Quotation(TypedDict):
    """A record of `inventory_quotations`."""

    id: StoredId
    number: str
    customer_id: StoredId | None
    customer_name: str
    delivery_address: str | None
    delivery_address_name: NotRequired[str | None]
    lead_id: StoredId | None
    opportunity_id: StoredId | None
    salesperson_id: int | None
    warehouse_id: StoredId | None
    quoted_on: str | None
    valid_until: str | None
    expired: bool | None
    expected_on: str | None
    terms_days: int | None
    terms_from: Literal["document", "month_end"] | None
    instalments: list[Instalment] | None
    discount_percent: StoredAmount | None
    discount_days: int | None
    currency: str | None
    rate: StoredAmount | None
    lines: list[QuotationLine]
    prices_include_tax: bool | None
    tax_rounding: Literal["document", "line"] | None
    order_discount: StoredAmount | None
    freight: StoredAmount | None
    net_amount: StoredAmount | None
    tax_amount: StoredAmount | None
    amount: StoredAmount
    status: Literal["draft", "sent", "accepted", "partly_ordered", "ordered", "rejected"]
    sent_at: datetime | None
    accepted_at: datetime | None
    reason: str | None
    contract_id: StoredId | None
    reference: str | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class AgreedLine(TypedDict):
    """An object within `PurchaseOrder`."""

    quantity: NotRequired[StoredAmount | None]
    discount_amount: NotRequired[StoredAmount | None]
    net: NotRequired[StoredAmount | None]
    tax: NotRequired[StoredAmount | None]
    amount: NotRequired[StoredAmount | None]


class PurchaseOrderLine(TypedDict):
    """An object within `PurchaseOrder`."""

    product_id: NotRequired[StoredId | None]
    quantity: StoredAmount
    price: NotRequired[StoredAmount | None]
    discount: NotRequired[StoredAmount | None]
    tax_rate: NotRequired[StoredAmount | None]
    tax_id: NotRequired[StoredId | None]
    kind: NotRequired[Literal["product", "service", "text"] | None]
    description: NotRequired[str | None]
    price_per: NotRequired[StoredAmount | None]
    discount_amount: NotRequired[StoredAmount | None]
    unit: NotRequired[str | None]
    unit_factor: NotRequired[StoredAmount | None]
    reference: NotRequired[str | None]
    unit_price: NotRequired[StoredAmount | None]
    line: NotRequired[int | None]
    tax_included: NotRequired[bool | None]
    net: NotRequired[StoredAmount | None]
    tax: NotRequired[StoredAmount | None]
    amount: StoredAmount
    proposed_price: NotRequired[StoredAmount | None]
    price_list_id: NotRequired[StoredId | None]
    priced_by: NotRequired[int | None]
    tolerance: NotRequired[StoredAmount | None]
    received: StoredAmount
    completed: NotRequired[bool | None]
    agreed: NotRequired[AgreedLine | None]


class PurchaseOrder(TypedDict):
    """A record of `inventory_purchase_orders`."""

    id: StoredId
    number: str
    supplier_id: StoredId
    delivery_address: str | None
    submitted_by: int | None
    reason: str | None
    warehouse_id: StoredId | None
    ordered_on: str | None
    expected_on: str | None
    terms_days: int | None
    terms_from: Literal["document", "month_end"] | None
    instalments: list[Instalment] | None
    discount_percent: StoredAmount | None
    discount_days: int | None
    currency: str | None
    rate: StoredAmount | None
    lines: list[PurchaseOrderLine]
    prices_include_tax: bool | None
    tax_rounding: Literal["document", "line"] | None
    order_discount: StoredAmount | None
    freight: StoredAmount | None
    net_amount: StoredAmount | None
    tax_amount: StoredAmount | None
    amount: StoredAmount
    shipped_amount: StoredAmount | None
    shipped_difference: StoredAmount | None
    returned_amount: StoredAmount | None
    booked_later: StoredAmount | None
    status: Literal["draft", "pending", "ordered", "partly_received", "received", "closed", "cancelled"]
    on_hold: bool | None
    hold_reason: str | None
    disputed: bool | None
    held_at: datetime | None
    held_by: int | None
    confirmed_at: datetime | None
    revision: int | None
    reference: str | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class SalesOrderLine(TypedDict):
    """An object within `SalesOrder`."""

    product_id: NotRequired[StoredId | None]
    quantity: StoredAmount
    price: NotRequired[StoredAmount | None]
    discount: NotRequired[StoredAmount | None]
    tax_rate: NotRequired[StoredAmount | None]
    tax_id: NotRequired[StoredId | None]
    kind: NotRequired[Literal["product", "service", "text"] | None]
    description: NotRequired[str | None]
    price_per: NotRequired[StoredAmount | None]
    discount_amount: NotRequired[StoredAmount | None]
    unit: NotRequired[str | None]
    unit_factor: NotRequired[StoredAmount | None]
    reference: NotRequired[str | None]
    unit_price: NotRequired[StoredAmount | None]
    line: NotRequired[int | None]
    tax_included: NotRequired[bool | None]
    net: NotRequired[StoredAmount | None]
    tax: NotRequired[StoredAmount | None]
    amount: StoredAmount
    proposed_price: NotRequired[StoredAmount | None]
    price_list_id: NotRequired[StoredId | None]
    priced_by: NotRequired[int | None]
    tolerance: NotRequired[StoredAmount | None]
    delivered: StoredAmount
    completed: NotRequired[bool | None]
    agreed: NotRequired[AgreedLine | None]
    available: NotRequired[StoredAmount | None]
    backordered: NotRequired[StoredAmount | None]
    quotation_line: NotRequired[int | None]


class SalesOrder(TypedDict):
    """A record of `inventory_sales_orders`."""

    id: StoredId
    number: str
    customer_id: StoredId | None
    customer_name: str
    delivery_address: str | None
    delivery_address_name: NotRequired[str | None]
    contract_id: StoredId | None
    quotation_id: StoredId | None
    salesperson_id: int | None
    credit_excess: StoredAmount | None
    warehouse_id: StoredId | None
    ordered_on: str | None
    expected_on: str | None
    terms_days: int | None
    terms_from: Literal["document", "month_end"] | None
    instalments: list[Instalment] | None
    discount_percent: StoredAmount | None
    discount_days: int | None
    currency: str | None
    rate: StoredAmount | None
    lines: list[SalesOrderLine]
    prices_include_tax: bool | None
    tax_rounding: Literal["document", "line"] | None
    order_discount: StoredAmount | None
    freight: StoredAmount | None
    net_amount: StoredAmount | None
    tax_amount: StoredAmount | None
    amount: StoredAmount
    shipped_amount: StoredAmount | None
    shipped_difference: StoredAmount | None
    returned_amount: StoredAmount | None
    booked_later: StoredAmount | None
    status: Literal["draft", "confirmed", "partly_delivered", "delivered", "closed", "cancelled"]
    on_hold: bool | None
    hold_reason: str | None
    disputed: bool | None
    held_at: datetime | None
    held_by: int | None
    confirmed_at: datetime | None
    revision: int | None
    reference: str | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ReceiptLine(TypedDict):
    """An object within `Receipt`."""

    line: NotRequired[int | None]
    product_id: NotRequired[StoredId | None]
    kind: NotRequired[Literal["product", "service", "text"] | None]
    description: NotRequired[str | None]
    unit: NotRequired[str | None]
    unit_factor: NotRequired[StoredAmount | None]
    quantity: StoredAmount
    amount: StoredAmount
    cost: StoredAmount
    returned: NotRequired[StoredAmount | None]
    complete: NotRequired[bool | None]


class Receipt(TypedDict):
    """A record of `inventory_receipts`."""

    id: StoredId
    number: str
    order_id: StoredId
    order_number: str
    warehouse_id: StoredId
    day: str
    delivery_address: str | None
    currency: str | None
    lines: list[ReceiptLine]
    freight: StoredAmount | None
    amount: StoredAmount
    cost: StoredAmount
    returned_amount: StoredAmount | None
    reversed_by_id: StoredId | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class DeliveryLine(TypedDict):
    """An object within `Delivery`."""

    line: NotRequired[int | None]
    product_id: NotRequired[StoredId | None]
    kind: NotRequired[Literal["product", "service", "text"] | None]
    description: NotRequired[str | None]
    unit: NotRequired[str | None]
    unit_factor: NotRequired[StoredAmount | None]
    quantity: StoredAmount
    amount: StoredAmount
    cost: StoredAmount
    returned: NotRequired[StoredAmount | None]
    complete: NotRequired[bool | None]


class Delivery(TypedDict):
    """A record of `inventory_deliveries`."""

    id: StoredId
    number: str
    order_id: StoredId
    order_number: str
    warehouse_id: StoredId
    day: str
    delivery_address: str | None
    currency: str | None
    lines: list[DeliveryLine]
    freight: StoredAmount | None
    amount: StoredAmount
    cost: StoredAmount
    returned_amount: StoredAmount | None
    reversed_by_id: StoredId | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class TransferLine(TypedDict):
    """An object within `Transfer`."""

    product_id: StoredId
    quantity: StoredAmount
    cost: StoredAmount


class Transfer(TypedDict):
    """A record of `inventory_transfers`."""

    id: StoredId
    number: str
    from_warehouse_id: StoredId
    to_warehouse_id: StoredId
    day: str | None
    lines: list[TransferLine]
    cost: StoredAmount
    reverses_id: StoredId | None
    reversed_by_id: StoredId | None
    reason: str | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class StockCountLine(TypedDict):
    """An object within `StockCount`."""

    product_id: StoredId
    counted: StoredAmount
    cost: NotRequired[StoredAmount | None]
    expected: StoredAmount
    difference: StoredAmount
    value: StoredAmount


class StockCount(TypedDict):
    """A record of `inventory_stock_counts`."""

    id: StoredId
    number: str
    warehouse_id: StoredId
    day: str | None
    lines: list[StockCountLine]
    value: StoredAmount
    reverses_id: StoredId | None
    reversed_by_id: StoredId | None
    reason: str | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class PurchaseReturnLine(TypedDict):
    """An object within `PurchaseReturn`."""

    line: NotRequired[int | None]
    product_id: NotRequired[StoredId | None]
    kind: NotRequired[Literal["product", "service", "text"] | None]
    description: NotRequired[str | None]
    unit: NotRequired[str | None]
    unit_factor: NotRequired[StoredAmount | None]
    quantity: NotRequired[StoredAmount | None]
    amount: StoredAmount
    cost: StoredAmount
    difference: NotRequired[StoredAmount | None]


class PurchaseReturn(TypedDict):
    """A record of `inventory_purchase_returns`."""

    id: StoredId
    number: str
    receipt_id: StoredId
    order_id: StoredId
    order_number: str
    warehouse_id: StoredId
    day: str
    refund: bool
    currency: str | None
    lines: list[PurchaseReturnLine]
    amount: StoredAmount
    cost: StoredAmount
    difference: StoredAmount | None
    reason: str | None
    reverses_id: StoredId | None
    reverses_return_id: StoredId | None
    reversed_by_id: StoredId | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    shares: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class SalesReturnLine(TypedDict):
    """An object within `SalesReturn`."""

    line: NotRequired[int | None]
    product_id: NotRequired[StoredId | None]
    kind: NotRequired[Literal["product", "service", "text"] | None]
    description: NotRequired[str | None]
    unit: NotRequired[str | None]
    unit_factor: NotRequired[StoredAmount | None]
    quantity: NotRequired[StoredAmount | None]
    amount: StoredAmount
    cost: StoredAmount


class SalesReturn(TypedDict):
    """A record of `inventory_sales_returns`."""

    id: StoredId
    number: str
    delivery_id: StoredId
    order_id: StoredId
    order_number: str
    warehouse_id: StoredId
    day: str
    refund: bool
    currency: str | None
    lines: list[SalesReturnLine]
    amount: StoredAmount
    cost: StoredAmount
    reason: str | None
    reverses_id: StoredId | None
    reverses_return_id: StoredId | None
    reversed_by_id: StoredId | None
    restock: bool
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    shares: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class PurchaseOrderChange(TypedDict):
    """A record of `inventory_purchase_order_changes`."""

    id: StoredId
    order_id: StoredId
    order_number: str
    day: str
    amount: StoredAmount
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class SalesOrderChange(TypedDict):
    """A record of `inventory_sales_order_changes`."""

    id: StoredId
    order_id: StoredId
    order_number: str
    day: str
    amount: StoredAmount
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class PurchaseOrderRevisionBefore(TypedDict):
    """An object within `PurchaseOrderRevision`."""

    lines: list[PurchaseOrderLine]
    expected_on: NotRequired[str | None]
    terms_days: NotRequired[int | None]
    terms_from: NotRequired[Literal["document", "month_end"] | None]
    instalments: NotRequired[list[Instalment] | None]
    discount_percent: NotRequired[StoredAmount | None]
    discount_days: NotRequired[int | None]
    delivery_address: NotRequired[str | None]
    order_discount: NotRequired[StoredAmount | None]
    freight: NotRequired[StoredAmount | None]
    reference: NotRequired[str | None]
    remark: NotRequired[str | None]
    net_amount: NotRequired[StoredAmount | None]
    tax_amount: NotRequired[StoredAmount | None]
    amount: StoredAmount


class PurchaseOrderRevision(TypedDict):
    """A record of `inventory_purchase_order_revisions`."""

    id: StoredId
    number: str | None
    order_id: StoredId | None
    reason: str
    revision: int | None
    day: str | None
    lines: list[PurchaseOrderLine]
    expected_on: str | None
    terms_days: int | None
    terms_from: Literal["document", "month_end"] | None
    instalments: list[Instalment] | None
    discount_percent: StoredAmount | None
    discount_days: int | None
    delivery_address: str | None
    order_discount: StoredAmount | None
    freight: StoredAmount | None
    reference: str | None
    remark: str | None
    net_amount: StoredAmount | None
    tax_amount: StoredAmount | None
    amount: StoredAmount
    currency: str | None
    before: PurchaseOrderRevisionBefore | None
    change: StoredAmount | None
    status: Literal["draft", "pending", "in_force", "cancelled"]
    submitted_by: int | None
    refusal: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class SalesOrderRevisionBefore(TypedDict):
    """An object within `SalesOrderRevision`."""

    lines: list[SalesOrderLine]
    expected_on: NotRequired[str | None]
    terms_days: NotRequired[int | None]
    terms_from: NotRequired[Literal["document", "month_end"] | None]
    instalments: NotRequired[list[Instalment] | None]
    discount_percent: NotRequired[StoredAmount | None]
    discount_days: NotRequired[int | None]
    delivery_address: NotRequired[str | None]
    order_discount: NotRequired[StoredAmount | None]
    freight: NotRequired[StoredAmount | None]
    reference: NotRequired[str | None]
    remark: NotRequired[str | None]
    net_amount: NotRequired[StoredAmount | None]
    tax_amount: NotRequired[StoredAmount | None]
    amount: StoredAmount


class SalesOrderRevision(TypedDict):
    """A record of `inventory_sales_order_revisions`."""

    id: StoredId
    number: str | None
    order_id: StoredId | None
    reason: str
    revision: int | None
    day: str | None
    lines: list[SalesOrderLine]
    expected_on: str | None
    terms_days: int | None
    terms_from: Literal["document", "month_end"] | None
    instalments: list[Instalment] | None
    discount_percent: StoredAmount | None
    discount_days: int | None
    delivery_address: str | None
    order_discount: StoredAmount | None
    freight: StoredAmount | None
    reference: str | None
    remark: str | None
    net_amount: StoredAmount | None
    tax_amount: StoredAmount | None
    amount: StoredAmount
    currency: str | None
    before: SalesOrderRevisionBefore | None
    change: StoredAmount | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Stock(TypedDict):
    """A record of `inventory_stock`."""

    id: StoredId
    product_id: StoredId
    warehouse_id: StoredId
    quantity: StoredAmount
    value: StoredAmount
    average_cost: StoredAmount
    reserved: StoredAmount | None
    available: StoredAmount | None
    moved_on: str | None
    warehouse_creator_id: int
    warehouse_department_id: int | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class StockEntry(TypedDict):
    """A record of `inventory_stock_entries`."""

    id: StoredId
    product_id: StoredId
    warehouse_id: StoredId
    kind: Literal["receipt", "delivery", "transfer_in", "transfer_out", "count", "purchase_return", "sales_return"]
    day: str
    quantity: StoredAmount
    value: StoredAmount
    quantity_after: StoredAmount
    value_after: StoredAmount
    document_id: StoredId
    document_number: str
    difference: StoredAmount | None
    warehouse_creator_id: int
    warehouse_department_id: int | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
