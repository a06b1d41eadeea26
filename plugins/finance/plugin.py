"""Finance."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from plugins.api import NOT_FOUND, REFUSES_OWN, STALE, Menu, Message, Plugin, Refusal, Service, conflicts, crud, route
from plugins.finance import claims, demo, invoices, open_items, periods, vouchers
from plugins.finance.dashboards import DASHBOARDS
from plugins.finance.dictionaries import DICTIONARIES
from plugins.finance.documents import (
    EXPENSE_CLAIMS,
    INVOICES,
    OPEN_ITEMS,
    PAY_CLAIM_BODY,
    PAY_INVOICE_BODY,
    REJECT_BODY,
)
from plugins.finance.messages import (
    ACCOUNT_USED,
    ALREADY_REVERSED,
    MORE_THAN_OPEN,
    NO_MONTH,
    NOT_DELETABLE,
    NOT_EDITABLE,
    NOT_IN_STATE,
    PAID_ELSEWHERE,
    PERIOD_CLOSED,
    PERIOD_NOT_OVER,
)
from plugins.finance.records import ACCOUNTS, PERIODS, REVERSE_BODY, VOUCHERS
from plugins.finance.states import CLAIM_STATES, INVOICE_STATES

AT = "/api/v1/finance"
_CLAIMS, _INVOICES = f"{AT}/expense-claims", f"{AT}/invoices"
_claim: dict[str, Any] = {"returns": EXPENSE_CLAIMS.read, "tag": "finance", "collection": EXPENSE_CLAIMS.name}
_invoice: dict[str, Any] = {"returns": INVOICES.read, "tag": "finance", "collection": INVOICES.name}
_step: dict[str, Any] = {"refusals": conflicts(NOT_IN_STATE)}
_decision: dict[str, Any] = {"refusals": (*conflicts(NOT_IN_STATE), REFUSES_OWN)}
_drafts = {"update": conflicts(NOT_EDITABLE), "delete": conflicts(NOT_DELETABLE)}
_CLOSED = conflicts(PERIOD_CLOSED)
_PAYING = conflicts(NOT_IN_STATE, PAID_ELSEWHERE, MORE_THAN_OPEN, PERIOD_CLOSED)
_open: dict[str, Any] = {"query": OPEN_ITEMS.list_query, "returns": OPEN_ITEMS.read, "paged": True, "tag": "finance",
                         "collection": OPEN_ITEMS.name}  # fmt: skip


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Hear of approvals that ended, of vouchers that were reversed, and of what is owed."""
    service.events.listen(claims.DECISION_EVENT, partial(claims.after_approval, service))
    service.events.listen(vouchers.REVERSED_EVENT, claims.after_reversal)
    service.events.listen(vouchers.REVERSED_EVENT, invoices.after_reversal)
    service.events.listen(vouchers.REVERSED_EVENT, open_items.after_reversal)
    service.events.listen(periods.DATED_EVENT, partial(periods.check_open, service))
    service.events.listen(open_items.RECEIVABLE_EVENT, partial(open_items.on_changed, "out", service))
    service.events.listen(open_items.PAYABLE_EVENT, partial(open_items.on_changed, "in", service))
    yield


def _page(entity: str, zh: str, en: str, icon: str, order: int) -> Menu:
    return Menu(f"finance.{entity}", Message(zh, en), path=f"/finance/{entity}s", parent="finance",
                resource=f"finance:{entity}", icon=icon, order=order)  # fmt: skip


plugin = Plugin(
    name="finance",
    title=Message("财务", "Finance"),
    requires=("rbac",),
    start=start,
    demo=demo.load,
    answers={periods.DATED_EVENT: _CLOSED},
    collections=(ACCOUNTS, VOUCHERS, PERIODS, EXPENSE_CLAIMS, INVOICES, OPEN_ITEMS),
    biz_types={claims.BIZ_TYPE: EXPENSE_CLAIMS, "VOUCHER": VOUCHERS, "INVOICE": INVOICES},
    state_machines=(CLAIM_STATES, INVOICE_STATES),
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=(
        *crud(ACCOUNTS, at=f"{AT}/accounts", resource="finance:account", noun="account",
              create=vouchers.create_account, delete=vouchers.delete_account,
              refusals_of={"delete": conflicts(ACCOUNT_USED)}),
        *crud(VOUCHERS, at=f"{AT}/vouchers", resource="finance:voucher", noun="voucher", only=("list", "read")),
        route(f"POST {AT}/vouchers", vouchers.create, summary="Book a voucher", access="finance:voucher:create",
              body=VOUCHERS.create, returns=VOUCHERS.read, refusals=_CLOSED, tag="finance", collection=VOUCHERS.name),
        route(f"POST {AT}/vouchers/{{id}}/reverse", vouchers.reverse, summary="Reverse a voucher by another one",
              access="finance:voucher:reverse", body=REVERSE_BODY, returns=VOUCHERS.read,
              refusals=conflicts(ALREADY_REVERSED, PERIOD_CLOSED), tag="finance", collection=VOUCHERS.name),
        *crud(PERIODS, at=f"{AT}/periods", resource="finance:period", noun="period", only=("list",)),
        route(f"POST {AT}/periods/{{month}}/close", periods.close, summary="Close a month, such as 2026-10",
              access="finance:period:close", returns=PERIODS.read,
              refusals=(Refusal(NOT_FOUND, when=NO_MONTH), *conflicts(PERIOD_CLOSED, PERIOD_NOT_OVER)), tag="finance"),
        *crud(EXPENSE_CLAIMS, at=_CLAIMS, resource="finance:expense-claim", noun="expense claim",
              create=claims.create, update=claims.update, delete=claims.delete, refusals_of=_drafts),
        route(f"POST {_CLAIMS}/{{id}}/submit", claims.submit, summary="Submit an expense claim",
              access="finance:expense-claim:submit", asks=(claims.REQUESTED_EVENT,), **_step, **_claim),
        route(f"POST {_CLAIMS}/{{id}}/withdraw", claims.decider("withdraw"), summary="Take an expense claim back",
              access="finance:expense-claim:submit", **_step, **_claim),
        route(f"POST {_CLAIMS}/{{id}}/approve", claims.decider("approve"), summary="Approve an expense claim",
              access="finance:expense-claim:approve", **_decision, **_claim),
        route(f"POST {_CLAIMS}/{{id}}/reject", claims.decider("reject"), summary="Reject an expense claim",
              access="finance:expense-claim:approve", body=REJECT_BODY, **_decision, **_claim),
        route(f"POST {_CLAIMS}/{{id}}/pay", claims.pay, summary="Pay an expense claim",
              access="finance:expense-claim:pay", body=PAY_CLAIM_BODY, errors=(STALE,),
              refusals=conflicts(NOT_IN_STATE, PERIOD_CLOSED), **_claim),
        *crud(INVOICES, at=_INVOICES, resource="finance:invoice", noun="invoice", create=invoices.create,
              update=invoices.update, delete=invoices.delete, refusals_of=_drafts),
        route(f"POST {_INVOICES}/{{id}}/confirm", invoices.stepper("confirm"), summary="Confirm an invoice",
              access="finance:invoice:confirm", refusals=conflicts(NOT_IN_STATE, PERIOD_CLOSED), **_invoice),
        route(f"POST {_INVOICES}/{{id}}/void", invoices.stepper("void"), summary="Declare an invoice void",
              access="finance:invoice:void", refusals=conflicts(NOT_IN_STATE, PERIOD_CLOSED), **_invoice),
        route(f"POST {_INVOICES}/{{id}}/pay", invoices.pay, summary="Book a payment on an invoice",
              access="finance:invoice:pay", body=PAY_INVOICE_BODY, errors=(STALE,), refusals=_PAYING, **_invoice),
        route(f"GET {AT}/receivables", open_items.lister("out"), summary="List what is to be received",
              access="finance:invoice:receivables", **_open),
        route(f"GET {AT}/payables", open_items.lister("in"), summary="List what is to be paid",
              access="finance:invoice:payables", **_open),
        route(f"POST {AT}/payables/{{id}}/pay", open_items.pay, summary="Pay a payable", access="finance:invoice:pay",
              body=PAY_INVOICE_BODY, returns=OPEN_ITEMS.read, errors=(STALE,), refusals=_PAYING, tag="finance",
              collection=OPEN_ITEMS.name),
    ),
    menus=(
        Menu("finance", Message("财务", "Finance"), path="/finance", icon="lucide:landmark", order=400),
        _page("account", "账户", "Accounts", "lucide:wallet", 1),
        _page("voucher", "收支凭证", "Vouchers", "lucide:book-open", 2),
        _page("expense-claim", "费用报销", "Expense claims", "lucide:receipt-text", 3),
        _page("invoice", "发票", "Invoices", "lucide:file-text", 4),
        _page("period", "会计期间", "Periods", "lucide:calendar-check", 5),
    ),
    permissions={
        "finance:voucher:reverse": Message("冲销", "Reverse"),
        "finance:period:close": Message("结账", "Close"),
        "finance:expense-claim:submit": Message("提交", "Submit"),
        "finance:expense-claim:approve": Message("审批", "Approve"),
        "finance:expense-claim:pay": Message("付款", "Pay"),
        "finance:invoice:confirm": Message("确认", "Confirm"),
        "finance:invoice:void": Message("作废", "Void"),
        "finance:invoice:pay": Message("收付款", "Pay"),
        "finance:invoice:receivables": Message("应收", "Receivables"),
        "finance:invoice:payables": Message("应付", "Payables"),
    },
)  # fmt: skip
