"""Customer relations: from the first lead to the last payment."""

from __future__ import annotations

from plugins.api import Job, Message, Plugin, routes_of
from plugins.api.business import Contracts, Customers
from plugins.crm import (
    allocations,
    amendments,
    contacts,
    contracts,
    credit,
    customer_tables,
    customers,
    demo,
    duplicates,
    follow_ups,
    leads,
    messages,
    nearby,
    opportunities,
    payment_plans,
    payments,
    pool,
    reminders,
    tables,
)
from plugins.crm.amendment_records import AMENDMENTS
from plugins.crm.audits import AUDITS, DEBTS
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.customer_tables import IMPORT_ROWS, IMPORTS
from plugins.crm.dashboards import DASHBOARDS
from plugins.crm.handover import HOLDINGS
from plugins.crm.migrations import MIGRATIONS
from plugins.crm.options import OPTIONS, CrmSettings
from plugins.crm.payment_accounts import SOURCE_TYPE
from plugins.crm.receivables import BIZ_TYPE
from plugins.crm.records import AROUND_CUSTOMERS, CUSTOMERS
from plugins.crm.texts import DICTIONARIES, MENUS, PERMISSIONS
from plugins.crm.views import VIEWS

plugin = Plugin(
    name="crm",
    title=Message("客户管理", "CRM"),
    requires=("rbac", "system"),
    settings=CrmSettings,
    provides=(Customers, Contracts),
    start=credit.start,
    emits=(pool.RELEASED_EVENT, payments.RECEIVED_EVENT, payments.REMOVED_EVENT, customer_tables.IMPORTED_EVENT),
    listens=allocations.LISTENS,
    jobs=(
        Job("crm.pool", "crm_pool_seconds", pool.return_neglected, messages.POOL_JOB),
        Job("crm.reminders", "crm_reminder_seconds", reminders.remind, messages.REMINDERS_JOB),
        Job("crm.amendments", "crm_reminder_seconds", amendments.put_in_force, messages.AMENDMENTS_JOB),
        Job("crm.imports", "crm_import_resume_seconds", customer_tables.resume, messages.IMPORTS_JOB),
    ),
    demo=demo.load,
    collections=(*AROUND_CUSTOMERS, CONTRACTS, AMENDMENTS, PLANS, PAYMENTS, IMPORTS, IMPORT_ROWS),
    biz_types={"CUSTOMER": CUSTOMERS, BIZ_TYPE: CONTRACTS, amendments.BIZ_TYPE: AMENDMENTS, SOURCE_TYPE: PAYMENTS},
    holdings=HOLDINGS,
    views=VIEWS,
    prints=contracts.PRINTS,
    migrations=MIGRATIONS,
    audits=AUDITS,
    debts=DEBTS,
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=(
        *routes_of(pool, duplicates, customers, nearby, customer_tables, contacts, leads, opportunities, follow_ups),
        *routes_of(contracts, amendments, payment_plans, payments, tables),
    ),
    menus=MENUS,
    permissions=PERMISSIONS,
    options=OPTIONS,
)
