"""What plugins that require finance may import: its records, and the events that are not of transitions."""

from plugins.finance.books import REVERSED_EVENT as VOUCHER_REVERSED
from plugins.finance.claim_records import EXPENSE_CLAIMS
from plugins.finance.invoices import CREDITED as INVOICE_CREDITED, NOTE_REVERSED as CREDIT_NOTE_REVERSED
from plugins.finance.payment_records import OPEN_ITEMS, PAYMENTS
from plugins.finance.records import ACCOUNTS, CREDIT_NOTES, INVOICES, VOUCHERS

__all__ = [
    "ACCOUNTS",
    "CREDIT_NOTES",
    "CREDIT_NOTE_REVERSED",
    "EXPENSE_CLAIMS",
    "INVOICES",
    "INVOICE_CREDITED",
    "OPEN_ITEMS",
    "PAYMENTS",
    "VOUCHERS",
    "VOUCHER_REVERSED",
]
