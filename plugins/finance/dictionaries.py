"""The dictionaries of finance."""

from __future__ import annotations

from plugins.api import dictionary
from plugins.api.business import TERMS_FROM

_ADJUSTMENTS = {
    "rebate": ("折让", "Rebate"),
    "cash_discount": ("现金折扣", "Cash discount"),
    "write_off": ("坏账核销", "Write-off"),
    "charge": ("手续费", "Bank charge"),
    "difference": ("尾差", "Difference"),
}
DICTIONARIES = (
    dictionary(
        "finance_account_type",
        ("账户类型", "Account type"),
        cash=("现金", "Cash"),
        bank=("银行", "Bank"),
        other=("其他", "Other"),
    ),
    dictionary(
        "finance_voucher_kind",
        ("凭证类型", "Voucher type"),
        income=("收入", "Income", "green"),
        expense=("支出", "Expense", "red"),
        transfer=("转账", "Transfer", "blue"),
    ),
    dictionary(
        "finance_category",
        ("收支类别", "Income and expense category"),
        sales=("销售", "Sales"),
        service=("服务", "Services"),
        purchase=("采购", "Purchasing"),
        salary=("工资", "Salaries"),
        rent=("房租", "Rent"),
        office=("办公", "Office"),
        travel=("差旅", "Travel"),
        reimbursement=("报销", "Reimbursement"),
        bank_charge=("银行手续费", "Bank charges"),
        tax=("税费", "Taxes"),
    ),
    dictionary(
        "finance_payment_method",
        ("收付方式", "Payment method"),
        transfer=("银行转账", "Bank transfer"),
        cash=("现金", "Cash"),
        cheque=("支票", "Cheque"),
        acceptance=("承兑汇票", "Acceptance bill"),
        alipay=("支付宝", "Alipay"),
        wechat=("微信支付", "WeChat Pay"),
        other=("其他", "Other"),
    ),
    dictionary(
        "finance_invoice_direction",
        ("发票方向", "Invoice direction"),
        **{"in": ("进项", "Received"), "out": ("销项", "Sent")},
    ),
    dictionary(
        "finance_payment_direction",
        ("收付方向", "Payment direction"),
        **{"in": ("收款", "Received"), "out": ("付款", "Paid")},
    ),
    dictionary(
        "finance_invoice_kind",
        ("开票类型", "Invoice kind"),
        standard=("常规", "Standard"),
        prepayment=("预付款", "Prepayment"),
        part=("分批", "Part"),
        final=("结算", "Final"),
    ),
    dictionary(
        "finance_e_invoice_signature",
        ("电子发票签章", "Signature of an e-invoice"),
        valid=("有效", "Valid", "green"),
        unchecked=("未能确认", "Could not be confirmed", "orange"),
        absent=("文件无签章", "Not signed", "orange"),
    ),
    dictionary(
        "finance_made_out_to_us",
        ("抬头为本公司", "Made out to this company"),
        yes=("是", "Yes", "green"),
        no=("否，购买方不是本公司", "No, to another buyer", "red"),
        unknown=("未核对：未设置本公司税号", "Not compared: the company's tax number is not set"),
    ),
    dictionary(
        "finance_tax_document",
        ("税额单据类型", "Document with tax"),
        invoice=("发票", "Invoice"),
        credit_note=("红字发票", "Credit note"),
    ),
    dictionary(
        "finance_entry_kind",
        ("往来变动类型", "Open item entry type"),
        owed=("发生", "Owed"),
        paid=("结算", "Paid"),
        advance=("预收预付", "Advance"),
        rescheduled=("改期", "Rescheduled"),
        **_ADJUSTMENTS,
    ),
    dictionary("finance_adjustment_kind", ("款项调整类型", "Adjustment type"), **_ADJUSTMENTS),
    dictionary("finance_terms_from", ("账期起算日", "Start of payment terms"), **TERMS_FROM),
    dictionary(
        "finance_side",
        ("往来方向", "Side"),
        receivable=("应收", "Receivable"),
        payable=("应付", "Payable"),
    ),
)
