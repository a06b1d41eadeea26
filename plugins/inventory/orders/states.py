"""The states of purchase and sales orders, and the actions that lead from one to another."""

from __future__ import annotations

from plugins.api import StateMachine, Transition
from plugins.inventory.messages import (
    NOT_IN_STATE,
)

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
