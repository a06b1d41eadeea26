"""Options of crm, which administrators can change while the service runs."""

from __future__ import annotations

from plugins.api import Message, Option, choice, integer, text
from plugins.api.records import Numbering
from plugins.crm.contract_records import CONTRACTS

CLAIM_LIMIT_KEY = "crm_claim_limit"
RETURN_DAYS_KEY = "crm_pool_return_days"
REMINDER_DAYS_KEY = "crm_payment_reminder_days"
PAYMENT_ACCOUNT_KEY = "crm_payment_account"
CREDIT_LIMIT_KEY = "crm_credit_limit"

CONTRACT_NUMBERS = Numbering(
    "crm_contract_number", CONTRACTS.noun, "HT", CONTRACTS.name, "{prefix}-{yyyy}-{seq:5}", gapless=True
)

OPTIONS = (
    CONTRACT_NUMBERS.option,
    Option(
        CLAIM_LIMIT_KEY,
        integer(minimum=0, maximum=100_000, default=200),
        Message(
            "每人可持有的领取客户数上限（0 表示不限）", "Maximum number of claimed customers per person; 0 for no limit"
        ),
    ),
    Option(
        RETURN_DAYS_KEY,
        integer(minimum=0, maximum=3650, default=0),
        Message(
            "客户超过多少天未跟进自动退回公海（0 表示不退回）",
            "Days without follow-up after which a customer returns to the pool; 0 for never",
        ),
    ),
    Option(
        REMINDER_DAYS_KEY,
        integer(minimum=0, maximum=365, default=3),
        Message("回款到期前多少天提醒", "How many days before a payment is due its owner is reminded"),
    ),
    Option(
        PAYMENT_ACCOUNT_KEY,
        text(max_length=64, default=""),
        Message(
            "默认收款账户编码（留空则不入账）",
            "Code of the default account for contract payments; if empty, they are not entered in the books",
        ),
    ),
    Option(
        CREDIT_LIMIT_KEY,
        choice("warn", "refuse", default="warn", nullable=False),
        Message(
            "订单超过客户信用额度时，确认订单是提醒还是拒绝",
            "Whether an order that exceeds the customer's credit limit is confirmed with a warning, or refused",
        ),
    ),
)
