"""The tables of finance. What is booked is never imported: it is entered by requests for which somebody is responsible."""

from __future__ import annotations

from plugins.api import Route, tables
from plugins.finance.payment_records import ADJUSTMENTS, PAYMENTS
from plugins.finance.records import ACCOUNTS, CREDIT_NOTES, EXPENSE_CLAIMS, INVOICES, VOUCHERS

_EXPORT = ("export",)
ROUTES: tuple[Route, ...] = (
    *tables(ACCOUNTS, at="/api/v1/finance/accounts", resource="finance:account"),
    *tables(VOUCHERS, at="/api/v1/finance/vouchers", resource="finance:voucher", only=_EXPORT),
    *tables(PAYMENTS, at="/api/v1/finance/payments", resource="finance:payment", only=_EXPORT),
    *tables(EXPENSE_CLAIMS, at="/api/v1/finance/expense-claims", resource="finance:expense-claim", only=_EXPORT),
    *tables(ADJUSTMENTS, at="/api/v1/finance/adjustments", resource="finance:adjustment", only=_EXPORT),
    *tables(CREDIT_NOTES, at="/api/v1/finance/credit-notes", resource="finance:credit-note", only=_EXPORT),
    *tables(INVOICES, at="/api/v1/finance/invoices", resource="finance:invoice", only=_EXPORT),
)
