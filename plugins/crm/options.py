"""Options of crm, which administrators can change while the service runs."""

from __future__ import annotations

from plugins.api import Message, Numbering, Option, choice, integer, text
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
        Message("每人最多持有的领取客户数，0 为不限", "Claimed customers that one person may hold; 0: any number"),
    ),
    Option(
        RETURN_DAYS_KEY,
        integer(minimum=0, maximum=3650, default=0),
        Message(
            "超过多少天未跟进自动退回公海，0 为不退回",
            "Days without follow-up after which a customer returns to the pool; 0: never",
        ),
    ),
    Option(
        REMINDER_DAYS_KEY,
        integer(minimum=0, maximum=365, default=3),
        Message("回款到期前多少天提醒", "Days before a payment is due on which its owner is reminded"),
    ),
    Option(
        PAYMENT_ACCOUNT_KEY,
        text(max_length=64, default=""),
        Message(
            "默认收款账户的编码，空为不入账",
            "Code of the account that payments of contracts come to by default; empty: they are not in the books",
        ),
    ),
    Option(
        CREDIT_LIMIT_KEY,
        choice("warn", "refuse", default="warn", nullable=False),
        Message(
            "确认订单超过客户信用额度时：提醒，或拒绝",
            "Whether an order beyond the credit limit of the customer is confirmed with a warning, or refused",
        ),
    ),
)
