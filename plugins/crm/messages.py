"""Messages of crm."""

from plugins.api import Message

LIST_IN_USE = Message("仍有客户使用该价目表，不能删除", "Customers have this price list, so it cannot be deleted")
IN_POOL = Message("客户已在公海中", "The customer is already in the public pool")
NOT_IN_POOL = Message("客户不在公海中或已被领取", "The customer is not in the public pool, or was already claimed")
SAME_OWNER = Message("该用户已是负责人", "This user is already the owner")
CLAIM_LIMIT = Message("您领取的客户数已达上限（{limit}）", "You have reached the limit of {limit} claimed customers")
READ_ONLY = Message("您对该记录只有查看权限，不能修改", "You can view this record but not change it")
NO_TRANSFER = Message(
    "没有转移或释放客户的权限，不能更换负责人",
    "You may not transfer or release customers, so you cannot change the owner",
)
HAS_BUSINESS = Message(
    "客户下有商机或合同，不能删除", "The customer has opportunities or contracts, so it cannot be deleted"
)
LEAD_CLOSED = Message("线索已转化或已作废", "The lead is already converted or invalid")
NO_SUCH_STEP = Message("当前状态不能变更为目标状态", "The current status cannot change to the requested one")
OPPORTUNITY_CLOSED = Message("商机已关闭，或已处于该阶段", "The opportunity is closed, or already in this stage")
OPPORTUNITY_FIXED = Message(
    "商机已关闭，金额、概率和预计成交日期不能修改",
    "The opportunity is closed: amount, probability and expected closing date cannot be changed",
)
HAS_CONTRACTS = Message(
    "商机已有合同，不能删除，也不能转到其他客户名下",
    "The opportunity has contracts, so it cannot be deleted or moved to another customer",
)
CONTRACT_FIXED = Message(
    "只有草稿或已驳回的合同可以修改；执行中的合同请提交合同变更或续签",
    "Only a draft or a rejected contract can be changed; one in force is changed by an amendment or a renewal",
)
NOT_AMENDABLE = Message("只有执行中的合同可以变更", "Only a contract in force can be amended")
AMENDED = Message("合同已有变更记录，不能删除", "The contract has amendments and cannot be deleted")
NOT_NOW = Message("合同变更的当前状态不允许该操作", "The status of the amendment does not allow this")
AMENDMENT_FIXED = Message("只有草稿或已驳回的合同变更可以修改", "Only a draft or a rejected amendment can be changed")
TOO_EARLY = Message("生效日期不能早于 {day}", "It cannot take effect before {day}")
BELOW_PLANNED = Message(
    "变更后金额低于已计划的回款 {least}，请先调整回款计划",
    "The amount would be below what is planned, {least}; change the payment plans first",
)
BELOW_RECEIVED = Message("变更后金额低于已回款金额 {least}", "The amount would be below what was received: {least}")
AMENDMENT_BLOCKED = Message(
    "合同变更 {number} 未能生效：{reason}", "Amendment {number} could not take effect: {reason}"
)
CONTRACT_EXPIRES = Message("合同将于 {day} 到期：{contract}", "The contract ends on {day}: {contract}")
CONTRACT_EXPIRED = Message("合同已于 {day} 到期：{contract}", "The contract ended on {day}: {contract}")
AMENDMENTS_JOB = Message("使已批准的合同变更按期生效", "Put approved amendments of contracts into effect on their days")
WRONG_STATE = Message("合同当前状态不允许该操作", "The contract's current status does not allow this action")
OVERPAID = Message("金额超过未收余额：{open}", "The amount exceeds the open balance: {open}")
NOT_PAYABLE = Message(
    "合同未生效或已终止，不能登记回款",
    "The contract is not in force or was terminated, so payments cannot be recorded",
)
PAYMENT_REVERSED = Message("回款已冲销", "The payment has been reversed")
REFUNDED = Message(
    "金额超过合同扣除退款后的已收金额", "The amount exceeds what remains received on the contract after refunds"
)
ENTERED_IN_FINANCE = Message(
    "该回款由财务收付款单登记，请在财务中冲销", "The payment was entered in finance; reverse it there"
)
OVERPLANNED = Message(
    "回款计划金额合计超过合同金额", "The payment plans would add up to more than the amount of the contract"
)
PLAN_PAID = Message("该回款计划已有回款", "The payment plan already has payments")
FOLLOW_UP_DUE = Message("该跟进客户了：{name}", "Time to follow up with {name}")
PAYMENT_DUE = Message("{day} 应回款 {amount}：{contract}", "{amount} is due on {day}: {contract}")
PAYMENT_OVERDUE = Message("回款已逾期，应于 {day} 回款 {amount}：{contract}", "{amount} was due on {day}: {contract}")

# shown only by GET /authorization/explain
NOT_FOR_YOU = Message(
    "公海中没有该客户，您的数据范围内也没有",
    "There is no such customer in the pool or within your data scope",
)

# what the jobs are for
POOL_JOB = Message("将长期未跟进的客户退回公海", "Return neglected customers to the pool")
REMINDERS_JOB = Message("提醒到期回款和跟进", "Send reminders of payments and follow-ups that are due")
IMPORTS_JOB = Message("继续中断的客户导入", "Resume interrupted imports of customers")
LIKE_ROW = Message("与第 {row} 行疑似重复", "Looks the same as row {row}")
LIKE_CUSTOMER = Message("与已有客户疑似重复", "Looks the same as a customer that is there already")
