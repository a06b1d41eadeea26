"""The accounts that contract payments go to, and the events that report these payments.

The events are for the plugin that keeps the books, and are emitted within the transaction of the payment.
"""

from __future__ import annotations

from typing import Any

from plugins.api import Request, invalid
from plugins.api.business import MONEY_MOVED, MONEY_RETURNED
from plugins.crm.contract_records import PAYMENTS
from plugins.crm.options import PAYMENT_ACCOUNT_KEY
from plugins.crm.receivables import BIZ_TYPE
from plugins.crm.record_types import Payment
from plugins.system.api import Configs

SOURCE_TYPE = "CONTRACT_PAYMENT"


async def find_account(req: Request) -> Any:
    """Return the id of the account in the body, or else of the one that the option names; None if there is neither.

    Without finance nothing would be booked, so the result is None, and an account in the body raises 40001. An option
    that names no enabled account raises 40001 too.
    """
    given = req.body.get("account_id")
    accounts = req.service.database.referred.get(PAYMENTS.references["account_id"])
    if accounts is None:
        if given is not None:
            raise invalid("account_id", "reference")
        return None
    if given is not None:
        return given
    code = await req.part(Configs).value(PAYMENT_ACCOUNT_KEY)
    if not code:
        return None
    account = await req.system_store(accounts).find_one({"code": code, "status": "enabled"})
    if account is None:
        raise invalid("account_id", "reference")
    return account["id"]


async def announce_money(req: Request, payment: Payment, counterparty: str, day: str) -> None:
    """Emit the event that the money of a payment came to its account, if it has one."""
    if payment["account_id"] is None:
        return
    await req.emit(
        MONEY_MOVED,
        direction="in",
        account_id=payment["account_id"],
        amount=payment["amount"],
        currency=payment["currency"],
        rate=payment["rate"],
        day=day,
        biz_type=BIZ_TYPE,
        resource_id=str(payment["contract_id"]),
        source_type=SOURCE_TYPE,
        source_id=str(payment["id"]),
        customer_id=payment["customer_id"],
        counterparty=counterparty,
        method=payment["method"],
        reference=payment["reference"],
        remark=payment["remark"],
    )


async def announce_return(req: Request, payment: Payment, day: str, reason: str | None) -> None:
    """Emit the event that the money of a payment was taken back, if it came to an account."""
    if payment["account_id"] is not None:
        await req.emit(MONEY_RETURNED, source_type=SOURCE_TYPE, source_id=str(payment["id"]), day=day, reason=reason)
