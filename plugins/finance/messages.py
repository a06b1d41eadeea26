"""The messages of finance."""

from collections.abc import Mapping

from plugins.api import Message

PERIOD_CLOSED = Message("会计期间 {month} 已结账", "The accounting period {month} is closed")
PERIOD_NOT_OVER = Message(
    "会计期间 {month} 尚未结束，不能结账", "The accounting period {month} has not ended yet, so it cannot be closed"
)
ALREADY_REVERSED = Message(
    "凭证已冲销，或本身是冲销凭证", "The voucher has already been reversed, or is itself a reversal"
)
ACCOUNT_USED = Message("账户已有凭证，不能删除", "The account has vouchers and cannot be deleted")
STILL_CASHIER = Message(
    "该用户仍是账户的出纳，不能删除", "This person is still a cashier of an account and cannot be deleted"
)
NOT_CASHIER = Message("只有该账户的出纳可以冲销", "Only the cashiers of the account may reverse this")
NOT_EDITABLE = Message("单据当前状态不允许修改", "The record cannot be changed in its current state")
NOT_DELETABLE = Message("单据当前状态不允许删除", "The record cannot be deleted in its current state")
NOT_IN_STATE = Message("当前状态不允许该操作", "The current state does not allow this")
PAID_ELSEWHERE = Message(
    "请在来源单据（合同、订单、发票或报销单）中登记收付款",
    "Enter the payment at the source: the contract, order, invoice or expense claim",
)
MORE_THAN_OPEN = Message("金额超过未结金额：{open}", "The amount exceeds the open amount: {open}")
MORE_UNITS_THAN_OPEN = Message(
    "第 {line} 行的数量超过可开票数量：{open}", "Line {line}: the quantity exceeds what can still be invoiced: {open}"
)
MORE_UNITS_THAN_BILLED = Message(
    "第 {line} 行的数量超过可红冲数量：{open}", "Line {line}: the quantity exceeds what can still be credited: {open}"
)
MORE_PREPAID = Message(
    "待抵扣的预付款超过本发票明细金额 {open}，请先红冲预付款发票",
    "More is prepaid than these lines come to: {open}. Credit the prepayment invoice first",
)
PREPAYMENT_TAKEN_OFF = Message(
    "该预付款已在结算发票中抵扣，请先红冲或作废结算发票",
    "A final invoice takes this prepayment off: credit or void that one first",
)
PREPAYMENTS_CHANGED = Message(
    "预付款发票已变化，请重新生成明细后再确认",
    "The prepayment invoices have changed: make the lines of this draft anew",
)
NOTHING_TO_BILL = Message("没有可开票的明细", "Nothing is left to be invoiced")
MORE_THAN_ADVANCE = Message("金额超过未核销金额：{open}", "The amount exceeds the unallocated amount: {open}")
MORE_THAN_ALLOCATED = Message(
    "金额超过该款项的已核销金额：{open}", "The amount exceeds what is allocated to the item: {open}"
)
NOTHING_ALLOCATED = Message("该收付款未核销该款项", "The payment settles nothing of this item")
MORE_THAN_EXCESS = Message(
    "金额超过该款项可转出的多收或多付金额：{open}",
    "The amount exceeds the overpayment that can be moved from this item: {open}",
)
WRONG_SIDE = Message(
    "应收款项不能按应付款项处理，反之亦然", "A receivable cannot be handled as a payable, or the other way round"
)
ENTERED_ELSEWHERE = Message(
    "该收付款随来源单据登记，请在来源单据中冲销", "This payment was entered with another record: reverse it there"
)
ITEM_VOID = Message("{number} 的款项已作废，无需再收付", "Nothing is owed for {number} any more: its open item is void")
PAYMENT_REVERSED = Message("收付款单已冲销", "The payment has been reversed")
OPENING_REVERSED = Message("期初款项已冲销", "The opening item has been reversed")
OPENING_SETTLED = Message(
    "期初款项已有收付款或调整，请先冲销这些单据",
    "Something of the opening item has been paid or adjusted: reverse that first",
)
PAID_BACK = Message("款项已退回，请先冲销退款", "The money has been paid back: reverse the refund first")
STILL_PAID = Message(
    "报销单已付款或部分付款，请先冲销付款", "The claim has been paid, at least in part: reverse the payments first"
)
NO_SOURCE = Message(
    "{number} 所属的模块未启用，不能核销",
    "Nothing can be allocated to {number}: the plugin that it belongs to is not loaded",
)
CREDITED_IN_PART = Message(
    "该发票已部分红冲，不能作废，请红冲余额",
    "A credit note has taken off a part of the invoice: credit the rest instead of declaring it void",
)
NOTE_REVERSED_ALREADY = Message(
    "红字发票已冲销，或本身是冲销单据", "The credit note has already been reversed, or is itself a reversal"
)
ADJUSTMENT_REVERSED = Message(
    "调整已冲销，或本身是冲销单据", "The adjustment has already been reversed, or is itself a reversal"
)
CURRENCY_FIXED = Message("账户已有凭证，不能更改币种", "The account has vouchers, so its currency cannot be changed")
BASE_FIXED = Message(
    "已录入过汇率，不能更改本位币", "Exchange rates were entered: the company's own currency cannot be changed any more"
)
LEDGERS_DIFFER = Message("账目核对发现 {count} 处差异", "The ledger audit found {count} {count:difference|differences}")
CHECK_FAILED = Message("核对项 {check} 未能完成：{place}", "The check {check} could not be completed: {place}")

FILE_UNSEEN = Message("文件不存在，或您无权查看", "There is no such file, or you may not see it")
E_INVOICE_UNREADABLE = Message(
    "不是可读取的电子发票：须为数电票 XML 或 OFD 文件；PDF 请向开票方索取 XML 或 OFD",
    "This is no readable e-invoice: it must be the XML or OFD of a Chinese e-invoice. For a PDF, ask the issuer for one of them",
)
E_INVOICE_TOO_LARGE = Message("文件内容超过一张电子发票的规模", "The file contains more than an e-invoice does")
INVALID_SIGNATURE = Message(
    "文件在签章之后被修改过，不能据此登记", "The file was altered after it was signed, so it cannot be entered"
)
NOT_ABOVE_ZERO = Message(
    "红字发票请在原发票上登记红冲", "This is a credit note: enter it at the invoice that it credits"
)
SIGNATURES: Mapping[str, Message] = {
    "trusted": Message("文件未被修改，签章证书受信任", "The file is as it was signed, and the certificate is trusted"),
    "none": Message("文件没有签章", "The file is not signed"),
    "unsupported": Message("签章的形式无法在此校验", "A signature of this form cannot be checked here"),
    "not_covered": Message("签章未覆盖发票数据", "The signature does not cover the data of the invoice"),
    "altered": Message("文件在签章之后被修改过", "The file was altered after it was signed"),
    "forged": Message("签章与其证书不符", "The signature is not one of its certificate"),
    "untrusted": Message(
        "文件与签章一致，但签章证书不在受信任之列，无法确认签章人",
        "The file is as it was signed, but who signed it is not known: the certificate is not among those that are trusted",
    ),
    "not_in_force": Message(
        "文件与签章一致，但签章时证书不在有效期内",
        "The file is as it was signed, but the certificate was not in force on that day",
    ),
}

# shown by GET /authorization/explain
NO_MONTH = Message("月份格式不正确，示例：2026-10", "Not a valid month; write it like 2026-10")
