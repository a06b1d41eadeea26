"""The menus of finance, and the titles of the actions on them."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Menu, Message

MENUS = (
    Menu("finance", Message("财务", "Finance"), path="/finance", icon="lucide:landmark", order=400),
    Menu(
        "finance.account",
        Message("账户", "Accounts"),
        path="/finance/accounts",
        parent="finance",
        resource="finance:account",
        icon="lucide:wallet",
        order=1,
    ),
    Menu(
        "finance.voucher",
        Message("收支凭证", "Vouchers"),
        path="/finance/vouchers",
        parent="finance",
        resource="finance:voucher",
        icon="lucide:book-open",
        order=2,
    ),
    Menu(
        "finance.expense-claim",
        Message("费用报销", "Expense claims"),
        path="/finance/expense-claims",
        parent="finance",
        resource="finance:expense-claim",
        icon="lucide:receipt-text",
        order=3,
    ),
    Menu(
        "finance.invoice",
        Message("发票", "Invoices"),
        path="/finance/invoices",
        parent="finance",
        resource="finance:invoice",
        icon="lucide:file-text",
        order=4,
    ),
    Menu(
        "finance.period",
        Message("会计期间", "Periods"),
        path="/finance/periods",
        parent="finance",
        resource="finance:period",
        icon="lucide:calendar-check",
        order=5,
    ),
)

PERMISSIONS: Mapping[str, Message] = {
    "finance:voucher:reverse": Message("冲销", "Reverse"),
    "finance:period:close": Message("结账", "Close"),
    "finance:invoice:receivables": Message("应收", "Receivables"),
    "finance:invoice:payables": Message("应付", "Payables"),
}
