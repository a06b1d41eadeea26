"""The states of purchase and sales orders, and the actions that lead from one to another."""

from __future__ import annotations

from plugins.api import StateMachine, Transition
from plugins.inventory.messages import (
    CANCELLED,
    CLOSED,
    CONFIRMED,
    DELIVERED,
    DRAFT,
    NOT_IN_STATE,
    ORDERED,
    PARTLY_DELIVERED,
    PARTLY_RECEIVED,
    PENDING,
    RECEIVED,
)

PURCHASE_STATES = StateMachine(
    name="inventory_purchase_order",
    initial="draft",
    states={
        "draft": DRAFT,
        "pending": PENDING,
        "ordered": ORDERED,
        "partly_received": PARTLY_RECEIVED,
        "received": RECEIVED,
        "closed": CLOSED,
        "cancelled": CANCELLED,
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
    },
    refusal=NOT_IN_STATE,
)

SALES_STATES = StateMachine(
    name="inventory_sales_order",
    initial="draft",
    states={
        "draft": DRAFT,
        "confirmed": CONFIRMED,
        "partly_delivered": PARTLY_DELIVERED,
        "delivered": DELIVERED,
        "closed": CLOSED,
        "cancelled": CANCELLED,
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
    },
    refusal=NOT_IN_STATE,
)
