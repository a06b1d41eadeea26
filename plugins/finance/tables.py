"""The tables of finance. What is booked is never imported: it is entered by requests for which somebody is responsible."""

from __future__ import annotations

from plugins.api import Route, tables
from plugins.finance.payment_records import ADJUSTMENTS, PAYMENTS
from plugins.finance.records import ACCOUNTS, CREDIT_NOTES, EXPENSE_CLAIMS, INVOICES, VOUCHERS

_AT = "/api/v1/finance"
_EXPORTED = (
    (VOUCHERS, "voucher"),
    (PAYMENTS, "payment"),
    (EXPENSE_CLAIMS, "expense-claim"),
    (ADJUSTMENTS, "adjustment"),
    (CREDIT_NOTES, "credit-note"),
    (INVOICES, "invoice"),
)

ROUTES: tuple[Route, ...] = (
    *tables(ACCOUNTS, at=f"{_AT}/accounts", resource="finance:account"),
    *(
        route
        for collection, noun in _EXPORTED
        for route in tables(collection, at=f"{_AT}/{noun}s", resource=f"finance:{noun}", only=("export",))
    ),
)
