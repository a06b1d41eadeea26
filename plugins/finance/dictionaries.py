"""The dictionaries of finance."""

from __future__ import annotations

from plugins.api import Dictionary, Item, Message

DICTIONARIES = (
    Dictionary(
        "finance_account_type",
        Message("账户类型", "Account type"),
        (
            Item("cash", Message("现金", "Cash")),
            Item("bank", Message("银行", "Bank")),
            Item("other", Message("其他", "Other")),
        ),
    ),
    Dictionary(
        "finance_voucher_kind",
        Message("凭证类型", "Voucher kind"),
        (
            Item("income", Message("收入", "Income"), "green"),
            Item("expense", Message("支出", "Expense"), "red"),
            Item("transfer", Message("转账", "Transfer"), "blue"),
        ),
    ),
    Dictionary(
        "finance_category",
        Message("收支类别", "Income and expense category"),
        (
            Item("sales", Message("销售", "Sales")),
            Item("service", Message("服务", "Services")),
            Item("purchase", Message("采购", "Purchasing")),
            Item("salary", Message("工资", "Salaries")),
            Item("rent", Message("房租", "Rent")),
            Item("office", Message("办公", "Office")),
            Item("travel", Message("差旅", "Travel")),
            Item("reimbursement", Message("报销", "Reimbursement")),
        ),
    ),
    Dictionary(
        "finance_invoice_direction",
        Message("发票方向", "Invoice direction"),
        (
            Item("in", Message("进项", "Received")),
            Item("out", Message("销项", "Sent")),
        ),
    ),
)
