"""Purchase and sales orders, their states, receipts and deliveries, and what changed in them after their month was closed."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    StateMachine,
    Transition,
    boolean,
    choice,
    day,
    integer,
    money,
    object_id,
    quantity,
    record_name,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.api.business import (
    DELIVERY,
    MAX_PRICE,
    MOST_LINES,
    ROUNDINGS,
    TAX,
    TERMS,
    WITHOUT_TAX,
    address_fields,
    currency,
    currency_fields,
    terms_fields,
)
from plugins.api.records import hold_fields
from plugins.inventory.documents import (
    AMOUNT,
    POSITIVE,
    REMARK,
    WAREHOUSE,
    document_number,
    lines_of,
)
from plugins.inventory.lines import asked_lines, moved_line, order_line
from plugins.inventory.record_types import Delivery, PurchaseOrder, Receipt, SalesOrder
from plugins.inventory.records import SUPPLIERS, WAREHOUSES
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
        "revise": Transition("ordered", "ordered", ("变更", "Revise")),
        "revise-part": Transition("partly_received", "partly_received"),
        "revise-rest": Transition("partly_received", "received"),  # nothing is left to be received
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
        "revise": Transition("confirmed", "confirmed", ("变更", "Revise")),
        "revise-part": Transition("partly_delivered", "partly_delivered"),
        "revise-rest": Transition("partly_delivered", "delivered"),  # nothing is left to be delivered
        # for the reversal of a delivery
        "unship-part": Transition(("partly_delivered", "delivered"), "partly_delivered"),
        "unship": Transition(("partly_delivered", "delivered"), "confirmed"),
    },
    refusal=NOT_IN_STATE,
    done=("delivered", "closed"),
    refused=("cancelled",),
)


_DONE_AMOUNT = {"received": ("已入库金额", "Received amount"), "delivered": ("已出库金额", "Delivered amount")}

ADDRESSES = address_fields(DELIVERY)
DELIVERY_ADDRESS = ADDRESSES["delivery_address"]
CURRENCY = currency().but(
    read_only=True, filter=False, description="Of its amounts, but not of its costs: that of the order."
)
RETURNED_AMOUNT = money(
    label=("已退金额", "Returned amount"), read_only=True, description="What is no longer owed because goods came back."
)


def _order(title: str, states: StateMachine, done: str, own: dict[str, Field]) -> dict[str, Field]:
    return {
        "number": document_number("PO-00000001"),
        **own,
        "warehouse_id": WAREHOUSE.but(
            on_delete="restrict",
            held=IN_USE,
            description="Where goods are received or delivered, unless the action names another warehouse.",
        ),
        "ordered_on": day(label=("下单日期", "Order date"), filter=True, sort=True, description="Today unless given."),
        "expected_on": day(label=("预计交货日期", "Expected on"), filter=True, sort=True),
        **terms_fields(
            days="How many days after its date each delivery or receipt is due; null: no due date. Unless "
            "given, as agreed with the customer or supplier."
        ),
        **currency_fields(),
        "lines": lines_of(f"{title}Line", order_line(done), MOST_LINES),
        "prices_include_tax": boolean(
            label=("单价含税", "Prices include tax"),
            description="Whether prices and the order discount include tax; they do not unless given.",
        ),
        "tax_rounding": choice(
            *ROUNDINGS,
            label=("税额舍入方式", "Rounding of tax"),
            read_only=True,
            description="`document`: of the sum of the lines with the same tax; `line`: of each line. As the setting "
            "`inventory_tax_rounding` said when it was entered; null in orders of earlier versions: `line`.",
        ),
        "order_discount": money(
            minimum="0",
            maximum=MAX_PRICE,
            label=("整单优惠金额", "Order discount"),
            description="Taken off the value of all lines, which share it in proportion.",
            example="0.50",
        ),
        "freight": money(
            minimum="0",
            maximum=MAX_PRICE,
            label=("运费", "Freight"),
            description="Without tax; owed with the first shipment.",
            example="15.00",
        ),
        "net_amount": WITHOUT_TAX,
        "tax_amount": TAX,
        "amount": AMOUNT.but(sort=True, filter=True, description="All that is to be paid: with tax and freight."),
        "shipped_amount": money(
            label=_DONE_AMOUNT[done],
            read_only=True,
            description="The sum of its shipments with freight; reversed ones do not count. Null before the first one, "
            "and in orders of earlier versions.",
        ),
        "shipped_difference": money(
            label=("超短交金额", "Over or under delivery"),
            read_only=True,
            description="By how much lines of which more than ordered was shipped come to more than their amounts, less what "
            "lines that were completed short come to less. Null: nothing.",
        ),
        "returned_amount": RETURNED_AMOUNT,
        "booked_later": money(
            label=("后期入账金额", "Booked later"),
            read_only=True,
            description="How much more or less the order has become since the month of its date was closed: figures "
            "count that on the days of the changes. In the company's currency. Null: nothing.",
        ),
        "status": states.choice(label=("单据状态", "Status"), filter=True, sort=True),
        **hold_fields(),
        "confirmed_at": timestamp(label=("确认时间", "Confirmed at"), read_only=True),
        "revision": integer(
            label=("版次", "Revision"),
            minimum=2,
            read_only=True,
            description="The number of its version, if it was revised after its confirmation; null: it never was.",
        ),
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
    Index("ordered_on", "status", "amount", "shipped_difference", "returned_amount", "booked_later", "rate"),
    Index("lines.product_id", "status"),
    Index("warehouse_id"),
    Index("reference", where={"reference": {"$type": "string"}}),
    Index("on_hold", "-created_at"),
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
            "delivery_address": DELIVERY_ADDRESS.but(description="That of the warehouse unless given."),
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
    dated="ordered_on",
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
            **ADDRESSES,
            "contract_id": object_id(
                label=("合同", "Contract"),
                ref="crm_contracts",
                ref_optional=True,
                filter=True,
                description="If given, deliveries are owed under this contract and not under the order.",
            ),
            "quotation_id": object_id(
                label=("报价单", "Quotation"),
                ref="inventory_quotations",
                read_only=True,
                filter=True,
                description="The quotation that it was made of.",
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
        Index("quotation_id", where={"quotation_id": {"$type": "objectId"}}),
    ),
    states=SALES_STATES,
    dated="ordered_on",
)


_COUNTED = {name: field for name, field in order_line("received").items() if name != "received"}
ASKED_LINE = {name: field for name, field in _COUNTED.items() if not field.read_only}

AMOUNTS_BODY = shape(
    "OrderAmountsBody",
    lines=lines_of("AskedLine", ASKED_LINE, MOST_LINES),
    **{name: PURCHASE_ORDERS.fields[name] for name in (*sorted(TERMS), *currency_fields())},
    supplier_id=PURCHASE_ORDERS.fields["supplier_id"].but(required=False, nullable=True),
    customer_id=SALES_ORDERS.fields["customer_id"],
    contract_id=SALES_ORDERS.fields["contract_id"].but(description="Orders of a contract are in its currency."),
    ordered_on=SALES_ORDERS.fields["ordered_on"].but(
        description="By which day price lists are chosen; today unless given."
    ),
)

AMOUNTS = shape(
    "OrderAmounts",
    lines=lines_of("CountedLine", _COUNTED, MOST_LINES).but(required=False),
    net_amount=WITHOUT_TAX.but(description=None),
    tax_amount=TAX.but(description=None),
    amount=AMOUNT,
    currency=CURRENCY.but(description="In which the amounts are."),
)


def _shipment(title: str, order: Collection, returns: str) -> dict[str, Field]:
    line = moved_line(
        quantity=POSITIVE,
        amount=AMOUNT,
        cost=AMOUNT.but(label=("成本", "Cost"), description="By how much the value of the stock changed."),
        returned=quantity(
            label=("已退数量", "Returned"),
            read_only=True,
            description="How much of the quantity came back; null in documents of earlier versions.",
        ),
        complete=boolean(
            label=("完成该行", "Completes the line"), read_only=True, description="Whether no more of the line follows."
        ),
    )
    return {
        "number": document_number("GR-00000001"),
        **service_fields(
            order_id=object_id(label=("订单", "Order"), filter=True, ref=order.name),
            order_number=text(label=("订单编号", "Order number"), max_length=32, search=True),
            warehouse_id=object_id(label=("仓库", "Warehouse"), filter=True, ref=WAREHOUSES.name),
            day=day(label=("业务日期", "Date"), filter=True, sort=True),
        ),
        "delivery_address": DELIVERY_ADDRESS.but(read_only=True, description="Where the goods went."),
        "currency": CURRENCY,
        "lines": lines_of(f"{title}Line", line, MOST_LINES).but(read_only=True),
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

_COMPLETE = boolean(
    label=("完成该行", "Complete the line"),
    description="Whether no more of the line follows: what is missing then must be within its tolerance.",
)

SHIP_BODY = shape(
    "ShipBody",
    warehouse_id=object_id(ref=WAREHOUSES.name, description="That of the order unless given."),
    day=day(past=True, description="Today unless given."),
    lines=asked_lines("ShipLine", "All that is open unless given.", complete=_COMPLETE),
    delivery_address=DELIVERY_ADDRESS.but(description="That of the order unless given."),
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
                label=("金额", "Amount"),
                description="How much more the order counts, in the company's currency; negative: how much less.",
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
