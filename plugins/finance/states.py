"""The states of expense claims, invoices, payments, opening items and open items, and the actions that lead from one to another."""

from __future__ import annotations

from plugins.api import StateMachine, Transition
from plugins.finance.messages import NOT_IN_STATE, OPENING_REVERSED, PAYMENT_REVERSED

_DECIDED = "finance.expense.decided"
CLAIM_STATES = StateMachine(
    name="finance_expense_claim",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "submitted": ("审批中", "Pending approval"),
        "approved": ("已批准", "Approved"),
        "rejected": ("已驳回", "Rejected"),
        "paid": ("已付清", "Paid"),
        "reversed": ("已冲销", "Reversed"),
    },
    transitions={
        "submit": Transition(("draft", "rejected"), "submitted", ("提交", "Submit"), event="finance.expense.submitted"),
        "withdraw": Transition("submitted", "draft", ("撤回", "Withdraw"), event=_DECIDED),
        "approve": Transition("submitted", "approved", ("批准", "Approve"), event=_DECIDED, decides=True),
        "reject": Transition("submitted", "rejected", ("驳回", "Reject"), event=_DECIDED, decides=True),
        "pay": Transition("approved", "paid", ("付款", "Pay"), event="finance.expense.paid"),
        "unpay": Transition("paid", "approved", ("撤销付款", "Undo the payment")),
        "reverse": Transition("approved", "reversed", ("冲销", "Reverse"), event="finance.expense.reversed"),
    },
    record="claim",
    refusal=NOT_IN_STATE,
    done=("approved", "paid"),
    refused=("rejected", "reversed"),
)

_PAY = ("收付款", "Enter payment")
INVOICE_STATES = StateMachine(
    name="finance_invoice",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "confirmed": ("已确认", "Confirmed"),
        "partly_paid": ("部分结清", "Partly paid"),
        "paid": ("已结清", "Paid"),
        "void": ("已作废", "Void"),
        "credited": ("已红冲", "Credited"),
    },
    transitions={
        "confirm": Transition("draft", "confirmed", ("确认", "Confirm")),
        "pay-part": Transition(("confirmed", "partly_paid"), "partly_paid", _PAY, event="finance.invoice.paid"),
        "pay": Transition(("confirmed", "partly_paid"), "paid", _PAY, event="finance.invoice.paid"),
        "void": Transition(("draft", "confirmed"), "void", ("作废", "Void")),
        # from `credited`: a credit note was reversed, so the invoice is owed again
        "unpay": Transition(("partly_paid", "paid", "credited"), "confirmed"),
        "unpay-part": Transition(("partly_paid", "paid"), "partly_paid"),
        # by a credit note, a payment or the reversal of a repayment; from `credited` only by the last of these
        "settle": Transition(("partly_paid", "credited"), "paid"),
        "credit": Transition(("confirmed", "partly_paid", "paid"), "credited"),
    },
    record="invoice",
    refusal=NOT_IN_STATE,
    done=("paid",),
    refused=("void", "credited"),
)

PAYMENT_STATES = StateMachine(
    name="finance_payment",
    initial="booked",
    states={"booked": ("已入账", "Booked"), "reversed": ("已冲销", "Reversed")},
    transitions={
        "allocate": Transition("booked", "booked", ("核销", "Allocate"), event="finance.payment.allocated"),
        "take-back": Transition(
            "booked", "booked", ("撤销核销", "Undo allocation"), event="finance.payment.taken_back"
        ),
        "reverse": Transition("booked", "reversed", ("冲销", "Reverse"), event="finance.payment.reversed"),
    },
    record="payment",
    refusal=PAYMENT_REVERSED,
    done=("booked",),
    refused=("reversed",),
)

OPENING_STATES = StateMachine(
    name="finance_opening_item",
    initial="booked",
    states={"booked": ("已入账", "Booked"), "reversed": ("已冲销", "Reversed")},
    transitions={
        "reverse": Transition("booked", "reversed", ("冲销", "Reverse"), event="finance.opening_item.reversed"),
    },
    record="opening_item",
    refusal=OPENING_REVERSED,
    done=("booked",),
    refused=("reversed",),
)

PLANNED = "planned"

# the state follows from what is owed and how much of it is paid
OPEN_ITEM_STATES = StateMachine(
    name="finance_open_item",
    initial=PLANNED,
    states={
        PLANNED: ("待发生", "Planned"),  # an order of which nothing is delivered or invoiced
        "open": ("未结清", "Open"),
        "partly_paid": ("部分结清", "Partly paid"),
        "paid": ("已结清", "Paid"),
        "void": ("已作废", "Void"),
    },
    transitions={
        "pay-part": Transition(("open", "partly_paid"), "partly_paid", _PAY, event="finance.payable.paid"),
        "pay": Transition(("open", "partly_paid"), "paid", _PAY, event="finance.payable.paid"),
        # the record that the item comes from has changed, or a payment was reversed
        "reopen": Transition((PLANNED, "partly_paid", "paid", "void"), "open"),
        "reopen-part": Transition(("paid", "void"), "partly_paid"),
        "settle": Transition("void", "paid"),
        "void": Transition((PLANNED, "open", "partly_paid", "paid"), "void"),
    },
    record="item",
    refusal=NOT_IN_STATE,
    done=("paid",),
    refused=("void",),
)
