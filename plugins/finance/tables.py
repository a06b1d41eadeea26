"""The tables of finance. Invoices are imported with a row for each line, payments with one for each item they settle.

Their exports have a row for each of them, so that its columns add up.
"""

from __future__ import annotations

from plugins.api import Route, tables
from plugins.finance.claim_records import EXPENSE_CLAIMS
from plugins.finance.exchange_rates import EXCHANGE_RATES
from plugins.finance.opening_items import OPENING_ITEMS
from plugins.finance.payment_records import ADJUSTMENTS, PAYMENTS
from plugins.finance.records import ACCOUNTS, CREDIT_NOTES, INVOICES, VOUCHERS

_EXPORT, _IMPORT = ("export",), ("import",)
ROUTES: tuple[Route, ...] = (
    *tables(ACCOUNTS, at="/api/v1/finance/accounts", resource="finance:account"),
    *tables(VOUCHERS, at="/api/v1/finance/vouchers", resource="finance:voucher", only=_EXPORT),
    *tables(PAYMENTS, at="/api/v1/finance/payments", resource="finance:payment", only=_EXPORT),
    *tables(PAYMENTS, at="/api/v1/finance/payments", resource="finance:payment", only=_IMPORT, lines="allocations"),
    *tables(OPENING_ITEMS, at="/api/v1/finance/opening-items", resource="finance:opening-item"),
    *tables(EXCHANGE_RATES, at="/api/v1/finance/exchange-rates", resource="finance:exchange-rate"),
    *tables(EXPENSE_CLAIMS, at="/api/v1/finance/expense-claims", resource="finance:expense-claim", only=_EXPORT),
    *tables(ADJUSTMENTS, at="/api/v1/finance/adjustments", resource="finance:adjustment", only=_EXPORT),
    *tables(CREDIT_NOTES, at="/api/v1/finance/credit-notes", resource="finance:credit-note", only=_EXPORT),
    *tables(INVOICES, at="/api/v1/finance/invoices", resource="finance:invoice", only=_EXPORT),
    *tables(INVOICES, at="/api/v1/finance/invoices", resource="finance:invoice", only=_IMPORT, lines="lines"),
)
