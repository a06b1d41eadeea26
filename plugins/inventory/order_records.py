"""Purchase and sales orders, their states, receipts and deliveries, and what changed in them after their month was closed."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    StateMachine,
    Transition,
    array,
    boolean,
    day,
    integer,
    money,
    obj,
    object_id,
    quantity,
    record_name,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.api.business import payment_terms
from plugins.api.records import hold_fields
from plugins.inventory.amounts import TERMS
from plugins.inventory.documents import (
    AMOUNT,
    MAX_LINES,
    POSITIVE,
    PRODUCT,
    REMARK,
    WAREHOUSE,
    document_number,
    lines_of,
)
from plugins.inventory.record_types import Delivery, PurchaseOrder, Receipt, SalesOrder
from plugins.inventory.records import SUPPLIERS, WAREHOUSES, price
from plugins.inventory.texts import IN_USE, NOT_IN_STATE

PURCHASE_STATES = StateMachine(
    name="inventory_purchase_order",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "pending": ("审批中", "Pending approval"),
        "ordered": ("已下单", "Ordered"),
        "partly_received": ("部分入库", "Partly received"),
        "received": ("已入库", "Received"),
        "closed": ("已关闭", "Closed"),
        "cancelled": ("已取消", "Cancelled"),
    },
    transitions={
        "submit": Transition("draft", "pending", ("提交审批", "Submit"), event="inventory.purchase_order.submitted"),
        "withdraw": Transition("pending", "draft", ("撤回", "Withdraw"), event="inventory.purchase_order.withdrawn"),
        "reject": Transition(
            "pending", "draft", ("驳回", "Reject"), event="inventory.purchase_order.rejected", decides=True
        ),
        "confirm": Transition(
            ("draft", "pending"),
            "ordered",
            ("确认", "Confirm"),
            event="inventory.purchase_order.ordered",
            decides=True,
        ),
        "ship-part": Transition(
            ("ordered", "partly_received"),
            "partly_received",
            ("入库", "Receive"),
            event="inventory.purchase_order.shipped",
        ),
        "ship": Transition(
            ("ordered", "partly_received"),
            "received",
            ("入库", "Receive"),
            event="inventory.purchase_order.shipped",
        ),
        "cancel": Transition(
            ("draft", "pending", "ordered"),
            "cancelled",
            ("取消", "Cancel"),
            event="inventory.purchase_order.cancelled",
        ),
        "close": Transition("partly_received", "closed", ("关闭", "Close"), event="inventory.purchase_order.closed"),
        # for the reversal of a receipt
        "unship-part": Transition(("partly_received", "received"), "partly_received"),
        "unship": Transition(("partly_received", "received"), "ordered"),
    },
    refusal=NOT_IN_STATE,
    done=("received", "closed"),
    refused=("cancelled",),
)

SALES_STATES = StateMachine(
    name="inventory_sales_order",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "confirmed": ("已确认", "Confirmed"),
        "partly_delivered": ("部分出库", "Partly delivered"),
        "delivered": ("已出库", "Delivered"),
        "closed": ("已关闭", "Closed"),
        "cancelled": ("已取消", "Cancelled"),
    },
    transitions={
        "confirm": Transition("draft", "confirmed", ("确认", "Confirm"), event="inventory.sales_order.confirmed"),
        "ship-part": Transition(
            ("confirmed", "partly_delivered"),
            "partly_delivered",
            ("出库", "Deliver"),
            event="inventory.sales_order.shipped",
        ),
        "ship": Transition(
            ("confirmed", "partly_delivered"),
            "delivered",
            ("出库", "Deliver"),
            event="inventory.sales_order.shipped",
        ),
        "cancel": Transition(
            ("draft", "confirmed"), "cancelled", ("取消", "Cancel"), event="inventory.sales_order.cancelled"
        ),
        "close": Transition("partly_delivered", "closed", ("关闭", "Close"), event="inventory.sales_order.closed"),
        # for the reversal of a delivery
        "unship-part": Transition(("partly_delivered", "delivered"), "partly_delivered"),
        "unship": Transition(("partly_delivered", "delivered"), "confirmed"),
    },
    refusal=NOT_IN_STATE,
    done=("delivered", "closed"),
    refused=("cancelled",),
)


_DONE = {"received": ("已入库数量", "Received"), "delivered": ("已出库数量", "Delivered")}

_DONE_AMOUNT = {"received": ("已入库金额", "Received amount"), "delivered": ("已出库金额", "Delivered amount")}

_ORDERED_PRODUCT, _ORDERED_WAREHOUSE = (one.but(on_delete="restrict", held=IN_USE) for one in (PRODUCT, WAREHOUSE))

_OLDER = "Null in orders of earlier versions, which had no tax."

_WITHOUT_TAX = money(label=("不含税金额", "Net amount"), read_only=True, description=_OLDER)

_TAX = money(label=("税额", "Tax"), read_only=True, description=_OLDER)

RETURNED_AMOUNT = money(
    label=("已退金额", "Returned amount"), read_only=True, description="What is no longer owed because goods came back."
)


def _order_line(done: str) -> dict[str, Field]:
    return {
        "product_id": _ORDERED_PRODUCT,
        "quantity": POSITIVE,
        "price": price(label=("单价", "Unit price"), description="Per unit; that of the product unless given."),
        "discount": quantity(
            label=("折扣率", "Discount"),
            minimum="0",
            maximum="1",
            description="Taken off the price, as a fraction.",
            example="0.05",
        ),
        "tax_rate": quantity(
            label=("税率", "Tax rate"),
            minimum="0",
            maximum="1",
            description="As a fraction; zero unless given.",
            example="0.13",
        ),
        "net": _WITHOUT_TAX,
        "tax": _TAX,
        "amount": AMOUNT.but(description="With tax, less its share of the order's discount."),
        done: quantity(label=_DONE[done], read_only=True, nullable=False),
    }


def _order(title: str, states: StateMachine, done: str, own: dict[str, Field]) -> dict[str, Field]:
    return {
        "number": document_number("PO-00000001"),
        **own,
        "warehouse_id": _ORDERED_WAREHOUSE.but(
            description="Where goods are received or delivered, unless the action names another warehouse."
        ),
        "ordered_on": day(label=("下单日期", "Order date"), filter=True, sort=True, description="Today unless given."),
        "expected_on": day(label=("预计交货日期", "Expected on"), filter=True, sort=True),
        "terms_days": payment_terms(
            description="How many days after its date each delivery or receipt is due; null: no due date. Unless "
            "given, as agreed with the customer or supplier."
        ),
        "lines": lines_of(f"{title}Line", _order_line(done)),
        "prices_include_tax": boolean(
            label=("单价含税", "Prices include tax"),
            description="Whether prices and the order discount include tax; they do not unless given.",
        ),
        "order_discount": price(
            label=("整单优惠金额", "Order discount"),
            description="Taken off the value of all lines, which share it in proportion.",
            example="0.50",
        ),
        "freight": price(
            label=("运费", "Freight"), description="Without tax; owed with the first shipment.", example="15.00"
        ),
        "net_amount": _WITHOUT_TAX,
        "tax_amount": _TAX,
        "amount": AMOUNT.but(sort=True, filter=True, description="All that is to be paid: with tax and freight."),
        "shipped_amount": money(
            label=_DONE_AMOUNT[done],
            read_only=True,
            description="The sum of its shipments with freight; reversed ones do not count. Null before the first one, "
            "and in orders of earlier versions.",
        ),
        "returned_amount": RETURNED_AMOUNT,
        "booked_later": money(
            label=("后期入账金额", "Booked later"),
            read_only=True,
            description="How much more or less the order has become since the month of its date was closed: figures "
            "count that on the days of the changes. Null: nothing.",
        ),
        "status": states.choice(label=("单据状态", "Status"), filter=True, sort=True),
        **hold_fields(),
        "confirmed_at": timestamp(label=("确认时间", "Confirmed at"), read_only=True),
        "reference": text(
            label=("对方单号", "Reference"),
            max_length=100,
            filter=True,
            search=True,
            description="The number that the other party has given the order.",
        ),
        "remark": REMARK.but(search=True),
    }


_ORDER_INDEXES = (
    Index("number", unique=True),
    Index("status", "-created_at"),
    # covers the figures over a range of days
    Index("ordered_on", "status", "amount", "returned_amount", "booked_later"),
    Index("lines.product_id"),
    Index("warehouse_id"),
    Index("reference", where={"reference": {"$type": "string"}}),
    Index("on_hold", "-created_at"),
)

_COUNTED = {name: field for name, field in _order_line("received").items() if name != "received"}
_ASKED = {name: field for name, field in _COUNTED.items() if not field.read_only}

AMOUNTS_BODY = shape(
    "OrderAmountsBody",
    lines=lines_of("AskedLine", {**_ASKED, "quantity": POSITIVE.but(required=False, description="Zero unless given.")}),
    **{name: _order("", PURCHASE_STATES, "received", {})[name] for name in sorted(TERMS)},
)

AMOUNTS = shape(
    "OrderAmounts",
    lines=array(obj("CountedLine", _COUNTED), label=("商品明细", "Lines"), nullable=False),
    net_amount=_WITHOUT_TAX.but(description=None),
    tax_amount=_TAX.but(description=None),
    amount=AMOUNT,
)

PURCHASE_ORDERS: Collection[PurchaseOrder] = Collection(
    name="inventory_purchase_orders",
    title="PurchaseOrder",
    noun=Message("采购订单", "purchase order"),
    scoped=True,
    fields=_order(
        "PurchaseOrder",
        PURCHASE_STATES,
        "received",
        {
            "supplier_id": object_id(
                label=("供应商", "Supplier"), required=True, ref=SUPPLIERS.name, held=IN_USE, filter=True
            ),
            "submitted_by": integer(label=("提交人", "Submitted by"), read_only=True, ref="users"),
            "reason": text(
                label=("驳回原因", "Reason"),
                max_length=1000,
                read_only=True,
                description="Why it was rejected or withdrawn.",
            ),
        },
    ),
    indexes=(*_ORDER_INDEXES, Index("supplier_id", "-created_at")),
    states=PURCHASE_STATES,
)

SALES_ORDERS: Collection[SalesOrder] = Collection(
    name="inventory_sales_orders",
    title="SalesOrder",
    noun=Message("销售订单", "sales order"),
    scoped=True,
    fields=_order(
        "SalesOrder",
        SALES_STATES,
        "delivered",
        {
            "customer_id": object_id(
                label=("客户", "Customer"),
                ref="crm_customers",
                ref_optional=True,
                filter=True,
                description="Must exist if the plugin `crm` is loaded.",
            ),
            "customer_name": record_name(
                label=("客户名称", "Customer name"),
                required=False,
                nullable=False,
                example="晨光科技",
                description="That of the customer unless given. Required without one.",
            ),
            "contract_id": object_id(
                label=("合同", "Contract"),
                ref="crm_contracts",
                ref_optional=True,
                filter=True,
                description="If given, deliveries are owed under this contract and not under the order.",
            ),
            "salesperson_id": integer(
                label=("销售员", "Salesperson"), minimum=1, ref="rbac_users", on_delete="keep", filter=True
            ),
            "credit_excess": money(
                label=("超出信用额度", "Over the credit limit"),
                read_only=True,
                description="By how much its confirmation exceeded the credit limit of the customer; null: not at all.",
            ),
        },
    ),
    indexes=(
        *_ORDER_INDEXES,
        Index("customer_id", "-created_at"),
        Index("salesperson_id", "-created_at"),
        Index("contract_id", where={"contract_id": {"$type": "objectId"}}),
    ),
    states=SALES_STATES,
)


def _shipment(title: str, order: Collection, returns: str) -> dict[str, Field]:
    line = {
        "product_id": PRODUCT,
        "quantity": POSITIVE,
        "amount": AMOUNT,
        "cost": AMOUNT.but(label=("成本", "Cost")),
        "returned": quantity(
            label=("已退数量", "Returned"),
            read_only=True,
            description="How much of the quantity came back; null in documents of earlier versions.",
        ),
    }
    return {
        "number": document_number("GR-00000001"),
        **service_fields(
            order_id=object_id(label=("订单", "Order"), filter=True, ref=order.name),
            order_number=text(label=("订单编号", "Order number"), max_length=32, search=True),
            warehouse_id=object_id(label=("仓库", "Warehouse"), filter=True, ref=WAREHOUSES.name),
            day=day(label=("业务日期", "Date"), filter=True, sort=True),
        ),
        "lines": lines_of(f"{title}Line", line).but(read_only=True),
        "freight": money(
            label=("运费", "Freight"), read_only=True, description="That of the order, on its first shipment."
        ),
        "amount": AMOUNT.but(sort=True, description="What is to be paid for it, at the prices of the order."),
        "cost": AMOUNT.but(label=("成本", "Cost"), description="By how much the value of the stock changed."),
        "returned_amount": RETURNED_AMOUNT,
        "reversed_by_id": object_id(
            label=("冲销单据", "Reversed by"),
            read_only=True,
            ref=returns,
            description="The return that reversed it, if it was entered by mistake.",
        ),
        "remark": REMARK.but(read_only=True),
    }


RECEIPTS: Collection[Receipt] = Collection(
    name="inventory_receipts",
    title="Receipt",
    noun=Message("入库单", "receipt"),
    scoped=True,
    fields=_shipment("Receipt", PURCHASE_ORDERS, "inventory_purchase_returns"),
    indexes=(Index("number", unique=True), Index("order_id"), Index("day")),
)

DELIVERIES: Collection[Delivery] = Collection(
    name="inventory_deliveries",
    title="Delivery",
    noun=Message("出库单", "delivery"),
    scoped=True,
    fields=_shipment("Delivery", SALES_ORDERS, "inventory_sales_returns"),
    indexes=(Index("number", unique=True), Index("order_id"), Index("day")),
)

REJECT_BODY = shape("RejectOrderBody", reason=text(max_length=1000, example="超出预算"))

SHIP_BODY = shape(
    "ShipBody",
    warehouse_id=object_id(ref=WAREHOUSES.name, description="That of the order unless given."),
    day=day(past=True, description="Today unless given."),
    lines=array(
        obj("ShipLine", {"product_id": PRODUCT, "quantity": POSITIVE}),
        min_items=1,
        max_items=MAX_LINES,
        description="All that is open unless given.",
    ),
    remark=REMARK,
)


def _changes(orders: Collection, name: str, title: str, noun: Message) -> Collection:
    return Collection(
        name=name,
        title=title,
        noun=noun,
        scoped=True,
        fields=service_fields(
            order_id=object_id(label=("订单", "Order"), filter=True, ref=orders.name),
            order_number=text(label=("订单编号", "Order number"), max_length=32, search=True),
            day=day(label=("业务日期", "Date"), filter=True, sort=True),
            amount=money(
                label=("金额", "Amount"), description="How much more the order counts; negative: how much less."
            ),
        ),
        indexes=(Index("day", "amount"), Index("order_id")),
    )


SALES_ORDER_CHANGES = _changes(
    SALES_ORDERS, "inventory_sales_order_changes", "SalesOrderChange", Message("销售订单变动", "sales order change")
)
PURCHASE_ORDER_CHANGES = _changes(
    PURCHASE_ORDERS,
    "inventory_purchase_order_changes",
    "PurchaseOrderChange",
    Message("采购订单变动", "purchase order change"),
)
