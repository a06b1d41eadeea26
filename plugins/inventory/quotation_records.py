"""Quotations and their states. What is agreed in one is what sales orders have, field by field, so that orders copy it."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    StateMachine,
    Transition,
    boolean,
    day,
    object_id,
    shape,
    text,
    timestamp,
)
from plugins.api.business import MOST_LINES, TERMS, currency_fields
from plugins.api.records import hold_fields
from plugins.inventory.documents import document_number, lines_of
from plugins.inventory.lines import asked_lines, order_line
from plugins.inventory.order_records import AMOUNTS_BODY, SALES_ORDERS
from plugins.inventory.record_types import Quotation
from plugins.inventory.texts import QUOTATION_NOT_IN_STATE

QUOTATION_STATES = StateMachine(
    name="inventory_quotation",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "sent": ("已发出", "Sent"),
        "accepted": ("已接受", "Accepted"),
        "partly_ordered": ("部分下单", "Partly ordered"),
        "ordered": ("已下单", "Ordered"),
        "rejected": ("已拒绝", "Rejected"),
    },
    transitions={
        "send": Transition("draft", "sent", ("发出", "Send"), event="inventory.quotation.sent"),
        "accept": Transition("sent", "accepted", ("客户接受", "Accept"), event="inventory.quotation.accepted"),
        "reject": Transition(
            ("sent", "accepted"), "rejected", ("客户拒绝", "Reject"), event="inventory.quotation.rejected"
        ),
        "revise": Transition(("sent", "accepted", "rejected"), "draft", ("退回修改", "Revise")),
        "renew": Transition("sent", "sent", ("延长有效期", "Renew")),
        "renew-accepted": Transition("accepted", "accepted"),
        "renew-part": Transition("partly_ordered", "partly_ordered"),
        "contract": Transition(("sent", "accepted"), "accepted", ("转合同", "Make a contract")),
        "order": Transition(("sent", "accepted", "partly_ordered"), "ordered", ("转订单", "Order")),
        "order-part": Transition(("sent", "accepted", "partly_ordered"), "partly_ordered"),
        # for orders that are changed, cancelled or deleted
        "unorder-part": Transition(("partly_ordered", "ordered"), "partly_ordered"),
        "unorder": Transition(("partly_ordered", "ordered"), "accepted"),
    },
    refusal=QUOTATION_NOT_IN_STATE,
    done=("ordered",),
    refused=("rejected",),
)

_OF_CRM = {
    "lead_id": object_id(
        label=("线索", "Lead"),
        ref="crm_leads",
        ref_optional=True,
        filter=True,
        on_delete="keep",
        description="If it is made for somebody who is no customer yet.",
    ),
    "opportunity_id": object_id(
        label=("商机", "Opportunity"), ref="crm_opportunities", ref_optional=True, filter=True, on_delete="keep"
    ),
}
_DAYS = {
    "quoted_on": day(label=("报价日期", "Quoted on"), filter=True, sort=True, description="Today unless given."),
    "valid_until": day(
        label=("有效期至", "Valid until"),
        filter=True,
        sort=True,
        description="The last day on which it holds; null: no end.",
    ),
    "expired": boolean(
        label=("已过期", "Expired"),
        read_only=True,
        history=False,
        description="Whether `valid_until` has passed before everything was ordered: it has to be renewed first.",
    ),
}
_STATE = {
    "status": QUOTATION_STATES.choice(label=("单据状态", "Status"), filter=True, sort=True),
    "sent_at": timestamp(label=("发出时间", "Sent at"), read_only=True),
    "accepted_at": timestamp(label=("接受时间", "Accepted at"), read_only=True, description="Or ordered first."),
    "reason": text(
        label=("拒绝原因", "Reason"), max_length=1000, read_only=True, description="Why the customer rejected it."
    ),
    "contract_id": object_id(
        label=("合同", "Contract"),
        ref="crm_contracts",
        ref_optional=True,
        read_only=True,
        filter=True,
        description="The contract that was made of it; its orders are then owed under that contract.",
    ),
}
# what a quotation has in the place of fields of an order; it has all others, and its orders copy them
_INSTEAD: Mapping[str, Mapping[str, Field]] = {
    "number": {"number": document_number("QT-00000001")},
    "contract_id": _OF_CRM,
    "ordered_on": _DAYS,
    "lines": {"lines": lines_of("QuotationLine", order_line("ordered_quantity"), MOST_LINES)},
    "status": _STATE,
    **{name: {} for name in ("quotation_id", "credit_excess", "confirmed_at", "revision", *hold_fields())},
    **{name: {} for name in ("shipped_amount", "shipped_difference", "returned_amount", "booked_later")},
}
AGREED = tuple(name for name, field in SALES_ORDERS.fields.items() if name not in _INSTEAD and not field.write_only)

QUOTATIONS: Collection[Quotation] = Collection(
    name="inventory_quotations",
    title="Quotation",
    noun=Message("报价单", "quotation"),
    scoped=True,
    fields={
        name: field
        for of_order, own in SALES_ORDERS.fields.items()
        for name, field in _INSTEAD.get(of_order, {of_order: own}).items()
    },
    indexes=(
        Index("number", unique=True),
        Index("status", "-created_at"),
        Index("customer_id", "-created_at"),
        Index("salesperson_id", "-created_at"),
        Index("valid_until"),
        Index("quoted_on"),
        Index("lines.product_id", "status"),
        Index("warehouse_id"),
        *(
            Index(name, where={name: {"$type": kind}})
            for name, kind in (
                ("reference", "string"),
                ("lead_id", "objectId"),
                ("opportunity_id", "objectId"),
                ("contract_id", "objectId"),
            )
        ),
    ),
    states=QUOTATION_STATES,
)

REJECT_BODY = shape("RejectQuotationBody", reason=text(max_length=1000, example="价格偏高"))
RENEW_BODY = shape(
    "RenewQuotationBody", valid_until=QUOTATIONS.fields["valid_until"].but(required=True, nullable=False)
)
ORDER_BODY = shape(
    "OrderQuotationBody", lines=asked_lines("QuotationLineToOrder", "All that is not ordered yet unless given.")
)
CONTRACT_BODY = shape(
    "QuotationContractBody",
    name=text(
        label=("合同名称", "Contract name"), max_length=200, description="The number and the customer unless given."
    ),
)
QUOTATION_AMOUNTS_BODY = shape(
    "QuotationAmountsBody",
    **{
        name: (AMOUNTS_BODY.fields or {})[name] for name in ("lines", *sorted(TERMS), *currency_fields(), "customer_id")
    },
    quoted_on=QUOTATIONS.fields["quoted_on"].but(
        description="By which day price lists are chosen; today unless given."
    ),
)
