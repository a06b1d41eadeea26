"""The events of other plugins that crm listens to."""

from __future__ import annotations

from plugins.api import Listener
from plugins.api.business import DEBT_ASKED, MONEY_ALLOCATED, OF_CUSTOMERS
from plugins.crm import allocations, receivables
from plugins.crm.payments import ALLOCATION_REFUSALS

LISTENS = (
    Listener(MONEY_ALLOCATED, allocations.apply, ALLOCATION_REFUSALS),
    Listener(DEBT_ASKED, receivables.report),
    *OF_CUSTOMERS,
)
