"""What the audit of finance compares payments with: their vouchers, and the records that they were entered with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from functools import partial

from plugins.api import Collection, Message, exact
from plugins.api.records import Catalogue
from plugins.api.reports import Audit, Difference, Piece, compare, difference
from plugins.api.values import ReadOnlyRecord
from plugins.finance.audit.documents import find_existing_documents
from plugins.finance.books.records import ACCOUNTS, VOUCHERS
from plugins.finance.payments.records import PAYMENTS
from plugins.finance.record_types import Voucher

_VOUCHER = Message(
    "{noun} {number}：凭证与其账户或金额不符",
    "{noun} {number} ({id}): its voucher does not book its amount on its account",
)
_NO_SOURCE = Message("{noun} {number}：来源单据不存在", "{noun} {number} ({id}): its source record does not exist")
_NO_PAYMENT = Message(
    "{noun} {number}：已填账户，但没有收付款单",
    "{noun} {number} ({id}): it names an account, but there is no payment",
)
_PAYMENT = Message(
    "{noun} {number}：金额为 {found}，收付款单 {payment} 为 {expected}",
    "{noun} {number} ({id}): the amount is {found}, but that of its payment {payment} is {expected}",
)


async def check_payments(piece: Piece) -> AsyncIterator[Difference]:
    """Check that a payment is booked by its voucher, and that all of it is allocated, paid back or an advance."""
    ids = {"_id": {"$in": [payment["voucher_id"] for payment in piece.records]}}
    vouchers = {one["id"]: one for one in await piece.store(VOUCHERS).find(ids)}
    existing = await find_existing_documents(piece)
    for payment in piece.records:
        about = (payment["biz_type"], payment["resource_id"])
        if payment["status"] == "booked" and payment["biz_type"] is not None and about not in existing:
            yield difference(PAYMENTS, payment, "resource_id", _NO_SOURCE)
        if not _is_booked_by(payment, vouchers.get(payment["voucher_id"])):
            yield difference(PAYMENTS, payment, "voucher_id", _VOUCHER)
        left = exact(payment["amount"]) - exact(payment["allocated"]) - exact(payment["repaid"])
        settled = payment["status"] == "reversed" or payment["repays_id"] is not None
        for found in compare(PAYMENTS, payment, {"unallocated": Decimal(0) if settled else left}):
            yield found


def _is_booked_by(payment: ReadOnlyRecord, voucher: Voucher | None) -> bool:
    return (
        voucher is not None
        and voucher["payment_id"] == payment["id"]
        and voucher["account_id"] == payment["account_id"]
        and voucher["kind"] == {"in": "income", "out": "expense"}[payment["direction"]]
        and exact(voucher["amount"]) == exact(payment["amount"])
        and voucher["reversed_by_id"] == payment["reversal_voucher_id"]
    )


async def check_source(biz_type: str, collection: Collection, piece: Piece) -> AsyncIterator[Difference]:
    """Check that a record that names an account has a payment of the same amount, or comes from a payment in finance.

    The payment is reversed if the record is. Records that reverse others need no payment.
    """
    named = [one for one in piece.records if one.get("account_id") is not None and one.get("reverses_id") is None]
    theirs = {"biz_type": biz_type, "resource_id": {"$in": [str(one["id"]) for one in named]}}
    entered = {one["resource_id"]: one for one in await piece.store(PAYMENTS).find(theirs)}
    ids = {"_id": {"$in": [one["finance_payment_id"] for one in named if one.get("finance_payment_id") is not None]}}
    allocated = {one["id"] for one in await piece.store(PAYMENTS).find(ids, fields=["number"])}
    for one in named:
        payment = entered.get(str(one["id"]))
        if payment is not None:
            for found in _compare_source(collection, one, payment):
                yield found
        elif one.get("finance_payment_id") not in allocated:
            yield difference(collection, one, "account_id", _NO_PAYMENT)


def _compare_source(collection: Collection, source: ReadOnlyRecord, payment: ReadOnlyRecord) -> Iterator[Difference]:
    amounts = [exact(one["amount"]) if one.get("reversed_at") is None else Decimal(0) for one in (source, payment)]
    if amounts[0] != amounts[1]:
        values = {"found": f"{amounts[0]:f}", "expected": f"{amounts[1]:f}", "payment": payment["number"]}
        yield difference(collection, source, "payment", _PAYMENT, **values)


AUDITS = (Audit("finance-payments", Message("收付款单与凭证", "Payments against vouchers"), PAYMENTS, check_payments),)


def audits_of_sources(catalogue: Catalogue) -> Iterator[Audit]:
    """Yield an audit for each business type whose records name an account if finance is loaded."""
    for biz_type, collection in catalogue.biz_types.items():
        account = collection.fields.get("account_id")
        if account is not None and account.ref == ACCOUNTS.name and account.ref_optional:
            title = Message(
                f"{collection.noun.zh}与收付款单", f"{collection.noun.en.capitalize()}s against finance payments"
            )
            name = f"payments-{biz_type.lower().replace('_', '-')}"
            yield Audit(name, title, collection, partial(check_source, biz_type, collection))
