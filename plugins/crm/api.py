"""What plugins that require crm may import: its records, and the events that are not of transitions."""

from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.customer_tables import IMPORTED_EVENT as CUSTOMERS_IMPORTED
from plugins.crm.payments import RECEIVED_EVENT as PAYMENT_RECEIVED, REMOVED_EVENT as PAYMENT_REMOVED
from plugins.crm.pool import RELEASED_EVENT as CUSTOMER_RELEASED
from plugins.crm.records import CONTACTS, CUSTOMERS, FOLLOW_UPS, LEADS, OPPORTUNITIES

__all__ = [
    "CONTACTS",
    "CONTRACTS",
    "CUSTOMERS",
    "CUSTOMERS_IMPORTED",
    "CUSTOMER_RELEASED",
    "FOLLOW_UPS",
    "LEADS",
    "OPPORTUNITIES",
    "PAYMENTS",
    "PAYMENT_RECEIVED",
    "PAYMENT_REMOVED",
    "PLANS",
]
