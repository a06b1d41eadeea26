"""The request and response bodies of crm's actions."""

from __future__ import annotations

from plugins.api import array, choice, day as calendar_day, integer, money, obj, object_id, shape, text
from plugins.api.records import VERSION
from plugins.crm.contract_records import reason_body
from plugins.crm.records import COLLABORATOR, CONTACTS, CUSTOMERS, LEADS, OPPORTUNITIES
from plugins.crm.states import OPEN_STAGES

TRANSFER = shape(
    "TransferBody",
    owner_id=integer(minimum=1, required=True, ref="rbac_users", description="The new owner."),
    version=VERSION,
)
TRANSFER_MANY = shape(
    "TransferManyBody",
    customer_ids=array(object_id(ref="crm_customers"), min_items=1, max_items=100, unique=True, required=True),
    owner_id=integer(minimum=1, required=True, ref="rbac_users", description="The new owner."),
)
TRANSFERRED = shape("Transferred", transferred=integer(minimum=0, nullable=False))
COLLABORATORS = shape(
    "CollaboratorsBody",
    collaborators=array(
        COLLABORATOR,
        max_items=50,
        required=True,
        description="The complete list, which replaces the previous one; [] for none.",
    ),
    version=VERSION,
)
CONVERT = shape(
    "ConvertLeadBody",
    customer_id=object_id(ref="crm_customers", description="An existing customer. If omitted, a new one is created."),
    customer_name=text(
        max_length=200, description="Name of the new customer. Defaults to the lead's company, or else its name."
    ),
    opportunity=obj(
        "ConvertedOpportunity",
        {
            "name": text(max_length=200, description="Defaults to the customer's name."),
            "amount": money(minimum="0"),
            "stage": choice(*OPEN_STAGES),
            "expected_close_date": calendar_day(),
        },
        label=("商机", "Opportunity"),
        description="If `null`, no opportunity is created.",
    ),
)
CONVERTED = shape(
    "ConvertedLead",
    lead=LEADS.read,
    customer=CUSTOMERS.read,
    contact=CONTACTS.read,
    opportunity=OPPORTUNITIES.read.but(nullable=True),
)
ADVANCE = shape(
    "AdvanceBody", stage=choice(*OPEN_STAGES, example="proposal", description="Defaults to the next stage.")
)
WIN = reason_body("WinBody", required=False)
LOSE = reason_body("LoseBody", required=True)
REJECT = reason_body("RejectContractBody", required=False)
TERMINATE = reason_body("TerminateContractBody", required=True)
REVERSE_PAYMENT = shape(
    "ReverseContractPaymentBody",
    version=VERSION,
    day=calendar_day(past=True, description="Defaults to today."),
    reason=text(max_length=500, example="重复登记"),
)
