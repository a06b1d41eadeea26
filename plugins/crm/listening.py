"""What crm does on events of other plugins."""

from __future__ import annotations

from plugins.api import CONTACTS_ASKED, CREDIT_ASKED, MONEY_ALLOCATED, Listener, conflicts
from plugins.crm import allocations, contacts, credit
from plugins.crm.messages import OVER_CREDIT_LIMIT
from plugins.crm.payments import OVERPAYMENT

LISTENS = (
    Listener(MONEY_ALLOCATED, allocations.apply, OVERPAYMENT),
    Listener(CREDIT_ASKED, credit.check_limit, conflicts(OVER_CREDIT_LIMIT)),
    Listener(CONTACTS_ASKED, contacts.tell_contacts),
)
