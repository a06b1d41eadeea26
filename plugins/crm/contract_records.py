"""Collections of crm about money: contracts, payment plans and payments."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    day,
    integer,
    money,
    object_id,
    record_name,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.api.business import base_amount, currency, currency_fields, rate
from plugins.api.records import VERSION, hold_fields
from plugins.crm.messages import PLAN_PAID
from plugins.crm.record_types import Contract, Payment, PaymentPlan
from plugins.crm.records import CUSTOMER_ID, EDITORS, FOLLOWS_CUSTOMER, OPPORTUNITY_ID, OWNER_BELOW
from plugins.crm.states import CONTRACT_STATES, PLAN_STATES

_CONTRACT_ID = object_id(label=("合同", "Contract"), required=True, ref="crm_contracts", filter=True)
OF_CONTRACT = object_id(
    label=("客户", "Customer"), read_only=True, filter=True, description="The contract's customer.", ref="crm_customers"
)
OF_CURRENCY = currency().but(read_only=True, filter=False, description="That of the contract; null: the company's own.")
_REFERENCE = text(
    label=("参考号", "Reference"), max_length=100, filter=True, description="A number or text of your own."
)
SALESPERSON = integer(
    label=("销售员", "Salesperson"),
    read_only=True,
    ref="users",
)
_REFERENCE_INDEX = Index("reference", where={"reference": {"$type": "string"}})

CONTRACTS: Collection[Contract] = Collection(
    name="crm_contracts",
    title="Contract",
    noun=Message("合同", "contract"),
    scoped=True,
    shared=True,
    owner="owner_id",
    fields={
        "number": text(
            label=("合同编号", "Contract number"),
            min_length=1,
            max_length=64,
            sort=True,
            filter=True,
            search=True,
            example="A-2026-17",
            description="Generated if omitted, by default as HT-<year>-<sequence>.",
        ),
        "customer_id": CUSTOMER_ID,
        "opportunity_id": OPPORTUNITY_ID,
        "name": record_name(label=("合同名称", "Contract name"), example="年度采购合同"),
        "amount": money(
            label=("合同金额", "Contract amount"),
            minimum="0",
            required=True,
            sort=True,
            filter=True,
            example="120000.00",
        ),
        **currency_fields(),
        "signed_date": day(
            label=("签订日期", "Signed on"), sort=True, filter=True, description="Defaults to the day of approval."
        ),
        "booked_on": day(
            label=("入账日期", "Booked on"),
            read_only=True,
            description="By which day figures count it: `signed_date`, or the first open day after it if its month was "
            "closed when the contract was approved.",
        ),
        "taken_off_on": day(
            label=("冲减日期", "Taken off on"),
            read_only=True,
            description="By which day figures count a terminated contract as less; null if it was terminated before the "
            "month of `booked_on` was closed, and so is in no figure.",
        ),
        "start_date": day(label=("开始日期", "Start date"), sort=True, filter=True),
        "end_date": day(label=("结束日期", "End date"), sort=True, filter=True),
        "reference": _REFERENCE,
        "remark": text(label=("备注", "Remarks"), max_length=2000),
        "owner_id": OWNER_BELOW,
        "salesperson_id": SALESPERSON.but(
            description="The owner when it came into force; it is theirs in sales rankings, whoever owns it later."
        ),
        "status": CONTRACT_STATES.choice(label=("合同状态", "Status"), filter=True, sort=True),
        **service_fields(
            received_amount=money(label=("已回款金额", "Amount received")),
            planned_amount=money(label=("计划回款金额", "Planned amount"), description="The sum of its payment plans."),
        ),
        "amended_amount": money(
            label=("变更金额", "Changed by amendments"),
            read_only=True,
            description="How much of `amount` its amendments have added; figures count that on their days. Null: none.",
        ),
        **hold_fields(),
        "submitted_at": timestamp(label=("提交时间", "Submitted at"), read_only=True),
        "submitted_by": integer(label=("提交人", "Submitted by"), read_only=True, ref="users"),
        "decided_at": timestamp(
            label=("审批时间", "Decided at"), read_only=True, description="When it was approved or rejected."
        ),
        "ended_at": timestamp(label=("完结时间", "Ended at"), read_only=True),
        "reason": text(
            label=("驳回或终止原因", "Reason"), read_only=True, description="Why it was rejected or terminated."
        ),
    },
    indexes=(
        Index("number", unique=True, where={"number": {"$type": "string"}}),
        Index("customer_id", "-created_at"),
        Index("owner_id", "-created_at"),
        # these cover the queries of the dashboards by day
        Index("status", "-booked_on", "amount", "amended_amount", "rate", "salesperson_id", "owner_id"),
        Index("status", "-signed_date", "booked_on", "amount", "amended_amount", "rate", "salesperson_id", "owner_id"),
        Index("taken_off_on", where={"taken_off_on": {"$type": "string"}}),
        Index("opportunity_id"),
        Index("on_hold", "-created_at"),
        Index("status", "end_date"),
        _REFERENCE_INDEX,
    ),
    internal=(EDITORS, "amendments", "reminded"),
    states=CONTRACT_STATES,
    dated="signed_date",
)

PLANS: Collection[PaymentPlan] = Collection(
    name="crm_payment_plans",
    title="PaymentPlan",
    noun=Message("回款计划", "payment plan"),
    label="sequence",
    scoped=True,
    shared=True,
    owner="owner_id",
    fields={
        "contract_id": _CONTRACT_ID.but(on_delete="cascade"),
        "customer_id": OF_CONTRACT,
        "sequence": integer(
            label=("期次", "Instalment"),
            minimum=1,
            maximum=1000,
            sort=True,
            description="Defaults to the next number of the contract.",
        ),
        "amount": money(
            label=("计划金额", "Planned amount"), minimum="0.01", required=True, sort=True, example="40000.00"
        ),
        "currency": OF_CURRENCY,
        "due_date": day(
            label=("计划回款日期", "Due date"), required=True, sort=True, filter=True, example="2027-01-31"
        ),
        "remark": text(label=("备注", "Remarks"), max_length=2000, search=True),
        "status": PLAN_STATES.choice(
            label=("回款状态", "Status"), description="Computed from what was paid and from today's date.", default=None
        ),
        "paid_amount": money(label=("已回款金额", "Paid amount"), read_only=True, nullable=False),
        "owner_id": FOLLOWS_CUSTOMER.but(description="The contract's owner."),
    },
    indexes=(
        Index("contract_id", "sequence"),
        Index("customer_id", "-created_at"),
        Index("owner_id", "-created_at"),
        Index("settled", "due_date"),
    ),
    internal=("settled", "reminded", EDITORS),
    states=PLAN_STATES,
)

PAYMENTS: Collection[Payment] = Collection(
    name="crm_payments",
    title="Payment",
    noun=Message("回款", "payment"),
    label="reference",
    scoped=True,
    shared=True,
    owner="owner_id",
    fields={
        "contract_id": _CONTRACT_ID,
        "customer_id": OF_CONTRACT,
        "plan_id": object_id(label=("回款计划", "Payment plan"), ref="crm_payment_plans", held=PLAN_PAID, filter=True),
        "amount": money(
            label=("回款金额", "Amount"),
            minimum="0.01",
            required=True,
            sort=True,
            filter=True,
            example="40000.00",
            description="Above zero; negative in refunds and reversals.",
        ),
        "currency": OF_CURRENCY,
        "rate": rate(),
        "base_amount": base_amount(),
        "paid_at": timestamp(
            label=("回款时间", "Paid at"), past=True, sort=True, filter=True, description="Defaults to now."
        ),
        "method": text(
            dictionary="crm_payment_method",
            label=("回款方式", "Payment method"),
            max_length=32,
            filter=True,
            example="transfer",
        ),
        "reference": _REFERENCE,
        "account_id": object_id(
            label=("收款账户", "Account"),
            ref="finance_accounts",
            ref_optional=True,
            filter=True,
            description="The finance account that received the money. Defaults to the account of the option "
            "`crm_payment_account`; without an account, the payment is not entered in the books.",
        ),
        "remark": text(label=("备注", "Remarks"), max_length=2000, search=True),
        "owner_id": FOLLOWS_CUSTOMER.but(description="The contract's owner."),
        "salesperson_id": SALESPERSON.but(
            description="The contract's owner when it was entered; it is theirs in sales rankings, whoever owns it "
            "later. A reversal has that of the payment that it cancels."
        ),
        "finance_payment_id": object_id(
            label=("收付款单", "Finance payment"),
            ref="finance_payments",
            ref_optional=True,
            read_only=True,
            description="The finance payment whose amount was allocated to the contract; null if entered here.",
        ),
        "reverses_id": object_id(
            label=("被冲销回款", "Reverses"),
            read_only=True,
            filter=True,
            ref="crm_payments",
            description="Only in a reversal: the payment that it cancels.",
        ),
        "reversed_by_id": object_id(label=("冲销记录", "Reversed by"), read_only=True, ref="crm_payments"),
        "reversed_at": timestamp(
            label=("冲销时间", "Reversed at"),
            read_only=True,
            description="Set on a payment that was reversed and on its reversal, which cancel each other out.",
        ),
        "reversed_on": day(label=("冲销日期", "Reversed on"), read_only=True),
        "reason": text(label=("冲销原因", "Reason"), max_length=500, read_only=True),
    },
    indexes=(
        Index("contract_id", "-paid_at"),
        _REFERENCE_INDEX,
        Index("customer_id", "-created_at"),
        Index("owner_id", "-paid_at"),
        Index("-paid_at"),
        # covers the queries of the dashboards by day
        Index("-paid_at", "amount", "base_amount", "salesperson_id", "owner_id", "account_id"),
        Index("account_id", "-paid_at", where={"account_id": {"$type": "objectId"}}),
        Index("reverses_id", where={"reverses_id": {"$type": "objectId"}}),
    ),
    internal=(EDITORS,),
)

VERSION_BODY = shape("CrmVersionBody", version=VERSION)


def reason_body(name: str, *, required: bool) -> Field:
    """Return the shape of a body with a `reason`."""
    return shape(name, reason=text(required=required, max_length=500, example="预算取消"))
