"""Settings of crm, and its options, which administrators can change while the service runs."""

from __future__ import annotations

from pydantic import Field

from plugins.api import EnvironmentSettings, Message, Option, choice, integer, text
from plugins.api.records import Numbering
from plugins.crm.contract_records import CONTRACTS


class CrmSettings(EnvironmentSettings):
    """Intervals of the pool and of reminders, and limits of imports."""

    crm_pool_seconds: float = Field(
        3600, gt=0, description="How often customers that were not followed up are returned to the pool, in seconds."
    )
    crm_reminder_seconds: float = Field(
        60, gt=0, description="How often reminders of follow-ups and payments are sent, in seconds."
    )
    crm_import_bytes: int = Field(100 << 20, ge=1024, le=1 << 30, description="Largest file of an import, in bytes.")
    crm_import_waits_rows: int = Field(
        1000,
        ge=0,
        description="Imports of up to this many rows finish before the response; larger ones run in the background.",
    )
    crm_import_resume_seconds: float = Field(
        30, gt=0, description="How often to look for imports that another instance left unfinished, in seconds."
    )


CLAIM_LIMIT_KEY = "crm_claim_limit"
RETURN_DAYS_KEY = "crm_pool_return_days"
REMINDER_DAYS_KEY = "crm_payment_reminder_days"
CONTRACT_DAYS_KEY = "crm_contract_reminder_days"
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
        CONTRACT_DAYS_KEY,
        integer(minimum=0, maximum=365, default=30),
        Message("合同到期前多少天提醒", "How many days before a contract ends its owner is reminded"),
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
            "确认超过客户信用额度的订单时的处理",
            "What happens when an order that exceeds the customer's credit limit is confirmed",
        ),
    ),
)
