"""Tables of crm, except those of customers."""

from __future__ import annotations

from plugins.api import Route, tables
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.payment_plans import LIST_QUERY, list_plans
from plugins.crm.records import CONTACTS, FOLLOW_UPS, LEADS, OPPORTUNITIES

ROUTES: tuple[Route, ...] = (
    *tables(CONTACTS, at="/api/v1/crm/contacts", resource="crm:contact"),
    *tables(LEADS, at="/api/v1/crm/leads", resource="crm:lead"),
    *tables(OPPORTUNITIES, at="/api/v1/crm/opportunities", resource="crm:opportunity"),
    *tables(FOLLOW_UPS, at="/api/v1/crm/follow-ups", resource="crm:follow-up"),
    *tables(CONTRACTS, at="/api/v1/crm/contracts", resource="crm:contract"),
    *tables(
        PLANS,
        at="/api/v1/crm/payment-plans",
        resource="crm:payment-plan",
        lister=list_plans,
        query=LIST_QUERY,
    ),
    *tables(PAYMENTS, at="/api/v1/crm/payments", resource="crm:payment", only=("export",)),
)
