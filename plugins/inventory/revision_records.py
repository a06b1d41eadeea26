"""Revisions of confirmed orders, the versions that they make, and the states of those of purchase orders."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    StateMachine,
    Transition,
    array,
    day,
    integer,
    money,
    obj,
    object_id,
    shape,
    text,
)
from plugins.api.business import LINE_NUMBER, MOST_LINES, PaymentTerms, version_days
from plugins.inventory.documents import PRODUCT, lines_of
from plugins.inventory.lines import order_line
from plugins.inventory.order_records import ADDRESSES, ASKED_LINE, PURCHASE_ORDERS, SALES_ORDERS
from plugins.inventory.record_types import PurchaseOrderRevision, SalesOrderRevision
from plugins.inventory.texts import REVISION_NOT_IN_STATE

TERMS = ("expected_on", *vars(PaymentTerms()), "delivery_address", "order_discount", "freight", "reference", "remark")
SUMS = ("net_amount", "tax_amount", "amount")
VALUES = ("lines", *TERMS, *SUMS)  # what a version of an order has

PURCHASE_REVISION_STATES = StateMachine(
    name="inventory_purchase_order_revision",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "pending": ("审批中", "Pending approval"),
        "in_force": ("已生效", "In force"),
        "cancelled": ("已取消", "Cancelled"),
    },
    transitions={
        "submit": Transition(
            "draft", "pending", ("提交审批", "Submit"), event="inventory.purchase_order_revision.submitted"
        ),
        "withdraw": Transition(
            "pending", "draft", ("撤回", "Withdraw"), event="inventory.purchase_order_revision.withdrawn"
        ),
        "reject": Transition(
            "pending", "draft", ("驳回", "Reject"), event="inventory.purchase_order_revision.rejected", decides=True
        ),
        "confirm": Transition(
            ("draft", "pending"),
            "in_force",
            ("确认", "Confirm"),
            event="inventory.purchase_order_revision.confirmed",
            decides=True,
        ),
        "cancel": Transition(
            ("draft", "pending"), "cancelled", ("取消", "Cancel"), event="inventory.purchase_order_revision.cancelled"
        ),
    },
    refusal=REVISION_NOT_IN_STATE,
    done=("in_force",),
    refused=("cancelled",),
)
WAITING: Mapping[str, object] = PURCHASE_REVISION_STATES.allows("confirm")

_REASON = text(label=("变更原因", "Reason"), max_length=1000, required=True, nullable=False, example="客户追加两台")
_NUMBER = integer(label=("版次", "Revision"), minimum=2, read_only=True)


def _values(orders: Collection, done: str) -> dict[str, Field]:
    """Return the fields of a version of these orders, with lines as theirs."""
    line = order_line(done)
    kept = {name: line[name].but(on_delete="keep", held=None) for name in ("product_id", "tax_id")}
    own = {name: orders.fields[name] for name in (*TERMS, *SUMS)}
    plain = {name: one.but(read_only=True, filter=False, sort=False, search=False) for name, one in own.items()}
    return {
        "lines": lines_of(f"{orders.title}Line", {**line, **kept}, MOST_LINES).but(required=False, read_only=True),
        **plain,
    }


def _revision(orders: Collection, title: str, done: str) -> dict[str, Field]:
    values = _values(orders, done)
    return {
        "number": text(
            label=("变更编号", "Number"),
            max_length=80,
            read_only=True,
            search=True,
            description="That of the order, with a sequence.",
        ),
        "order_id": object_id(label=("订单", "Order"), read_only=True, ref=orders.name, filter=True),
        "reason": _REASON.but(read_only=True),
        "revision": _NUMBER.but(description="Which version of the order it made; null until it is in force."),
        "day": day(label=("生效日期", "In force from"), read_only=True, description="Null until it is in force."),
        **values,
        "currency": orders.fields["currency"].but(read_only=True, filter=False, description="That of the order."),
        "before": obj(f"{title}Before", values, label=("变更前", "Before"), read_only=True),
        "change": money(
            label=("金额增减", "Change of the amount"),
            read_only=True,
            description="By how much more the order comes to; below zero: less.",
        ),
    }


SALES_ORDER_REVISIONS: Collection[SalesOrderRevision] = Collection(
    name="inventory_sales_order_revisions",
    title="SalesOrderRevision",
    noun=Message("销售订单变更", "sales order revision"),
    scoped=True,
    fields=_revision(SALES_ORDERS, "SalesOrderRevision", "delivered"),
    indexes=(Index("order_id", "revision"), Index("number", unique=True)),
)
PURCHASE_ORDER_REVISIONS: Collection[PurchaseOrderRevision] = Collection(
    name="inventory_purchase_order_revisions",
    title="PurchaseOrderRevision",
    noun=Message("采购订单变更", "purchase order revision"),
    scoped=True,
    fields={
        **_revision(PURCHASE_ORDERS, "PurchaseOrderRevision", "received"),
        "status": PURCHASE_REVISION_STATES.choice(label=("变更状态", "Status"), filter=True, sort=True),
        "submitted_by": integer(label=("提交人", "Submitted by"), read_only=True, ref="users"),
        "refusal": text(
            label=("驳回原因", "Reason of the refusal"),
            max_length=1000,
            read_only=True,
            description="Why it was rejected, withdrawn or cancelled.",
        ),
    },
    indexes=(Index("order_id", "revision"), Index("number", unique=True), Index("status", "-created_at")),
    states=PURCHASE_REVISION_STATES,
)

_LINE = {
    "line": LINE_NUMBER.but(description="Of the order; left out for a new line. Lines that are not named are dropped."),
    **ASKED_LINE,
}


def _body(title: str, orders: Collection, **own: Field) -> Field:
    """Return the body of a revision; what it does not mention stays as it is."""
    fields = {name: orders.fields[name].but(search=False, filter=False, sort=False) for name in TERMS}
    return shape(
        title,
        version=integer(
            minimum=1, required=True, nullable=False, description="The version of the order that was read."
        ),
        reason=_REASON,
        lines=lines_of("RevisedLine", _LINE, MOST_LINES).but(
            required=False,
            description="All lines of the order from now on. A line that is named keeps what it does not mention.",
        ),
        **fields,
        **own,
    )


REVISE_SALE_BODY = _body("ReviseSalesOrderBody", SALES_ORDERS, delivery_address_name=ADDRESSES["delivery_address_name"])
REVISE_PURCHASE_BODY = _body("RevisePurchaseOrderBody", PURCHASE_ORDERS)


CHANGES = array(
    obj(
        "OrderVersionChange",
        {
            "revision": _NUMBER.but(description="The version that it made; null until it is in force."),
            "line": LINE_NUMBER.but(description="Null: a value of the order itself."),
            "product_id": PRODUCT.but(required=False, nullable=True),
            "field": text(label=("字段", "Field"), max_length=64, nullable=False, named_by="label"),
            "label": text(label=("变更项", "What"), max_length=100, nullable=False),
            "before": text(label=("变更前", "Before"), description="As responses have it."),
            "after": text(label=("变更后", "After")),
        },
        nullable=False,
    ),
    label=("变更内容", "Changes"),
    max_items=100 * MOST_LINES,
    nullable=False,
)
REVISION_CHANGES = shape("OrderRevisionChanges", changes=CHANGES)


def _versions(orders: Collection, revisions: Collection, title: str, done: str) -> Field:
    """Return the shape of all versions of an order, and of what each of them changed."""
    version = {
        "revision": _NUMBER.but(nullable=False, rules={"minimum": 1}, description="The first one is 1."),
        **version_days(first="the day of confirmation"),
        "revision_id": object_id(label=("订单变更", "Made by"), ref=revisions.name),
        "reason": _REASON.but(required=False, nullable=True),
        "revised_by": integer(label=("变更人", "Revised by"), ref="users"),
        **_values(orders, done),
    }
    versions = array(obj(title, version, nullable=False), label=("订单版本", "Versions"), nullable=False)
    return shape(f"{title}s", items=versions, changes=CHANGES)


SALES_ORDER_VERSIONS = _versions(SALES_ORDERS, SALES_ORDER_REVISIONS, "SalesOrderVersion", "delivered")
PURCHASE_ORDER_VERSIONS = _versions(PURCHASE_ORDERS, PURCHASE_ORDER_REVISIONS, "PurchaseOrderVersion", "received")
