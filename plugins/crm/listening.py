"""What crm does on events of other plugins."""

from __future__ import annotations

from plugins.api import CONTACTS_ASKED, CREDIT_ASKED, Listener, conflicts
from plugins.crm import contacts, credit
from plugins.crm.messages import OVER_CREDIT_LIMIT

LISTENS = (
    Listener(CREDIT_ASKED, credit.check_limit, conflicts(OVER_CREDIT_LIMIT)),
    Listener(CONTACTS_ASKED, contacts.tell_contacts),
)
