"""The events of other plugins that crm listens to."""

from __future__ import annotations

from plugins.api import Listener, conflicts
from plugins.api.events import CONTACTS_ASKED, CREDIT_ASKED, DEBT_ASKED, MONEY_ALLOCATED, TERMS_ASKED
from plugins.crm import allocations, contacts, credit, receivables
from plugins.crm.messages import OVER_CREDIT_LIMIT
from plugins.crm.payments import ALLOCATION_REFUSALS

LISTENS = (
    Listener(MONEY_ALLOCATED, allocations.apply, ALLOCATION_REFUSALS),
    Listener(TERMS_ASKED, credit.tell_terms),
    Listener(DEBT_ASKED, receivables.report),
    Listener(CREDIT_ASKED, credit.check_limit, conflicts(OVER_CREDIT_LIMIT)),
    Listener(CONTACTS_ASKED, contacts.tell_contacts),
)
