"""The menus of finance, and the titles of the actions on them."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Menu, Message, page

MENUS = (
    Menu("finance", Message("财务", "Finance"), path="/finance", icon="lucide:landmark", order=400),
    page("finance:account", ("账户", "Accounts"), "/finance/accounts", "lucide:wallet", 1),
    page("finance:voucher", ("收支凭证", "Vouchers"), "/finance/vouchers", "lucide:book-open", 2),
    page("finance:expense-claim", ("费用报销", "Expense claims"), "/finance/expense-claims", "lucide:receipt-text", 3),
    page("finance:invoice", ("发票", "Invoices"), "/finance/invoices", "lucide:file-text", 4),
    page("finance:period", ("会计期间", "Periods"), "/finance/periods", "lucide:calendar-check", 5),
    page("finance:audit", ("账目核对", "Ledger audit"), "/finance/audit", "lucide:shield-check", 11),
    page("finance:credit-note", ("红字发票", "Credit notes"), "/finance/credit-notes", "lucide:file-minus", 6),
    page("finance:payment", ("收付款", "Payments"), "/finance/payments", "lucide:hand-coins", 7),
    page("finance:adjustment", ("款项调整", "Adjustments"), "/finance/adjustments", "lucide:badge-percent", 12),
    page(
        "finance:statement",
        ("往来对账单", "Statements of account"),
        "/finance/statements",
        "lucide:scroll-text",
        8,
        granted_with="finance:invoice:receivables",
    ),
    page(
        "finance:balance",
        ("往来余额", "Balances of parties"),
        "/finance/balances",
        "lucide:book-open",
        14,
        granted_with="finance:invoice:receivables",
    ),
    page(
        "finance:journal",
        ("账户日记账", "Account journals"),
        "/finance/journals",
        "lucide:book-open",
        18,
        granted_with="finance:voucher:list",
    ),
    page(
        "finance:unbilled",
        ("未开票明细", "Not invoiced"),
        "/finance/unbilled",
        "lucide:calendar-clock",
        15,
        granted_with="finance:invoice:receivables",
    ),
    page(
        "finance:tax",
        ("税额汇总", "Tax by rate"),
        "/finance/taxes",
        "lucide:percent",
        13,
        granted_with="finance:invoice:receivables",
    ),
    page("finance:opening-item", ("期初款项", "Opening items"), "/finance/opening-items", "lucide:history", 16),
    page("finance:exchange-rate", ("汇率", "Exchange rates"), "/finance/exchange-rates", "lucide:banknote", 17),
    page(
        "finance:ageing",
        ("账龄分析", "Ageing"),
        "/finance/ageing",
        "lucide:hourglass",
        9,
        granted_with="finance:invoice:receivables",
    ),
    page(
        "finance:dunning",
        ("催款清单", "Dunning list"),
        "/finance/dunning",
        "lucide:bell-ring",
        10,
        granted_with="finance:invoice:receivables",
    ),
)

PERMISSIONS: Mapping[str, Message] = {
    "finance:voucher:reverse": Message("冲销", "Reverse"),
    "finance:expense-claim:reverse": Message("冲销", "Reverse"),
    "finance:invoice:credit": Message("红冲", "Credit"),
    "finance:credit-note:reverse": Message("冲销", "Reverse"),
    "finance:adjustment:reverse": Message("冲销", "Reverse"),
    "finance:opening-item:reverse": Message("冲销", "Reverse"),
    "finance:audit:run": Message("立即核对", "Run now"),
    "finance:exchange-rate:differences": Message("汇兑损益", "Exchange differences"),
    "finance:period:close": Message("结账", "Close"),
    "finance:invoice:receivables": Message("应收", "Receivables"),
    "finance:invoice:payables": Message("应付", "Payables"),
}
