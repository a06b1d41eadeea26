"""The messages of finance."""

from plugins.api import Message

PERIOD_CLOSED = Message("会计期间 {month} 已结账", "The period {month} is closed")
PERIOD_NOT_OVER = Message("会计期间 {month} 尚未结束", "The period {month} is not over")
ALREADY_REVERSED = Message(
    "凭证已冲销，或本身是冲销凭证", "The voucher has already been reversed, or is itself a reversal"
)
ACCOUNT_USED = Message("账户已有凭证，不能删除", "The account has vouchers and cannot be deleted")
STILL_CASHIER = Message("仍是账户的出纳，不能删除", "The person is still cashier of accounts and cannot be deleted")
NOT_CASHIER = Message("只有该账户的出纳可以冲销", "Only the cashiers of the account may reverse this")
NOT_EDITABLE = Message("当前状态不能修改", "It cannot be changed in this state")
NOT_DELETABLE = Message("当前状态不能删除", "It cannot be deleted in this state")
NOT_IN_STATE = Message("当前状态不允许该操作", "Its state does not allow this")
PAID_ELSEWHERE = Message(
    "请在来源单据中登记付款", "Payments are entered at the source: the contract, order, invoice or expense claim"
)
MORE_THAN_OPEN = Message("金额超过未结金额：{open}", "More than the open amount: {open}")
MORE_THAN_ADVANCE = Message("金额超过未核销金额：{open}", "More than what is not allocated: {open}")
MORE_THAN_ALLOCATED = Message("金额超过对该款项的核销金额：{open}", "More than is allocated to the item: {open}")
MORE_THAN_EXCESS = Message(
    "金额超过该款项可转出的多付金额：{open}", "More than was paid too much of the item by payments: {open}"
)
WRONG_SIDE = Message("应收与应付不能混用", "It is a payable and no receivable, or the other way round")
ENTERED_ELSEWHERE = Message(
    "收付款随来源单据登记，请在来源单据中冲销", "The payment was entered with another record: reverse it there"
)
ITEM_VOID = Message("款项已作废：{number}", "Nothing is owed for {number} any more")
PAYMENT_REVERSED = Message("收付款单已冲销", "The payment has been reversed")
PAID_BACK = Message("款项已退回，请先冲销退款", "It has been paid back: reverse what paid it back first")
STILL_PAID = Message("已有付款，请先冲销付款", "It has been paid, or a part of it: reverse the payments first")
NO_SOURCE = Message(
    "来源模块未启用，不能核销：{number}", "The module of {number} is not running, so nothing can be allocated to it"
)
NOTE_REVERSED_ALREADY = Message(
    "红字发票已冲销，或本身是冲销单", "The credit note has already been reversed, or is itself a reversal"
)
LEDGERS_DIFFER = Message("账目核对发现 {count} 处差异", "The audit of the ledgers has found {count} differences")
CHECK_FAILED = Message("检查 {check} 未能完成：{place}", "The check {check} could not be completed: {place}")

# shown by GET /authorization/explain
NO_MONTH = Message("月份格式不正确，应如 2026-10", "Not a month; write it as 2026-10")
