"""How the console shows customers, contracts and plans; an amendment of a contract is begun from it."""

from plugins.api import View
from plugins.api.business import FURTHER_TERMS
from plugins.api.records import Makes
from plugins.crm.contract_records import CONTRACTS, PLANS
from plugins.crm.records import CUSTOMERS

_AMEND = Makes("POST /api/v1/crm/contract-amendments", {"contract_id": "${id}"}, fits="status == 'in_force'")
VIEWS = (
    View(CUSTOMERS, folded=FURTHER_TERMS),
    View(PLANS, due="due_date", due_only={"status": "pending,partial,overdue"}),
    View(CONTRACTS, makes=(_AMEND,)),
)
