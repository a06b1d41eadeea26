"""Collections of crm: customers, contacts, leads, opportunities and follow-ups. contract_records.py has the others."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    array,
    boolean,
    choice,
    day,
    integer,
    link,
    money,
    number,
    obj,
    object_id,
    text,
    timestamp,
)
from plugins.crm.states import LEAD_STATES, OPPORTUNITY_STAGES

POSITION = obj(
    "Position",
    {
        "lng": number(minimum=-180, maximum=180, required=True, example=121.47),
        "lat": number(minimum=-90, maximum=90, required=True, example=31.23),
    },
)
COLLABORATOR = obj(
    "Collaborator",
    {
        "user_id": integer(minimum=1, required=True, ref="rbac_users"),
        "access": choice("read", "write", required=True, description="`write` changes the customer and all below it."),
    },
)
# `editors` may change a record that is shared with them; the others in `shared_with` only read it
EDITORS = "editors"
OWNER = integer(minimum=1, ref="rbac_users", filter=True, description="Who is responsible; the caller by default.")
FOLLOWS_CUSTOMER = OWNER.but(read_only=True, description="Who is responsible; follows the customer's owner.")
CUSTOMER_ID = object_id(required=True, ref="crm_customers", filter=True)
OPPORTUNITY_ID = object_id(ref="crm_opportunities", filter=True)

CUSTOMERS = Collection(
    name="crm_customers",
    title="Customer",
    scoped=True,
    shared=True,
    fields={
        "name": text(required=True, max_length=200, sort="folded", search=True, example="晨光科技"),
        "code": text(max_length=64, min_length=1, sort=True, filter=True, search=True, example="C-0001"),
        "industry": text(max_length=64, filter=True, sort=True, example="manufacturing"),
        "level": text(max_length=32, filter=True, sort=True, example="A"),
        "source": text(max_length=64, filter=True, example="referral"),
        "phone": text(max_length=50, search=True, example="021-5555 0100"),
        "email": text(max_length=200, format="email", example="office@example.com"),
        "website": link(own=False, bare=True, max_length=300, example="https://example.com"),
        "address": text(max_length=500),
        "location": POSITION,
        "owner_id": integer(minimum=1, ref="rbac_users", filter=True, description="Null: in the public pool."),
        "status": text(max_length=32, min_length=1, filter=True, default="active", example="active"),
        "tags": array(text(max_length=50, min_length=1), unique=True, max_items=50, default=[], filter=True),
        "remark": text(max_length=2000),
        "last_follow_at": timestamp(past=True, sort=True, filter=True),
        "next_follow_at": timestamp(sort=True, filter=True),
        "collaborators": array(COLLABORATOR, max_items=50, read_only=True, default=[], nullable=False),
    },
    indexes=(
        Index("code", unique=True, where={"code": {"$type": "string"}}),
        Index("owner_id", "-created_at"),
        Index("name_key"),
        Index("phone_key"),
        Index("owned_since"),
        Index("next_follow_at"),
        Index("2dsphere:point"),
    ),
    internal=(
        "pool_left_at",
        "owned_since",
        "name_key",
        "phone_key",
        "point",
        "reminded_for",
        "children_created",
        EDITORS,
    ),
)

CONTACTS = Collection(
    name="crm_contacts",
    title="Contact",
    scoped=True,
    shared=True,
    fields={
        "customer_id": CUSTOMER_ID,
        "name": text(required=True, max_length=100, sort="folded", search=True, example="王芳"),
        "title": text(max_length=100, example="采购经理"),
        "phone": text(max_length=50, search=True, example="021-5555 0101"),
        "mobile": text(max_length=50, search=True, example="13800000000"),
        "email": text(max_length=200, format="email", search=True, example="wang@example.com"),
        "is_primary": boolean(default=False, filter=True, description="The one to ask first; one for each customer."),
        "remark": text(max_length=2000),
        "owner_id": FOLLOWS_CUSTOMER,
    },
    indexes=(Index("customer_id", "-created_at"), Index("owner_id", "-created_at")),
    internal=(EDITORS,),
)

LEADS = Collection(
    name="crm_leads",
    title="Lead",
    scoped=True,
    shared=True,
    fields={
        "name": text(required=True, max_length=100, sort="folded", search=True, example="刘洋"),
        "company": text(max_length=200, sort="folded", search=True, example="晨光科技"),
        "phone": text(max_length=50, search=True, example="13900000000"),
        "email": text(max_length=200, format="email", example="liu@example.com"),
        "source": text(max_length=64, filter=True, example="website"),
        "status": choice(*LEAD_STATES.states, default=LEAD_STATES.initial, filter=True, sort=True),
        "owner_id": OWNER,
        "remark": text(max_length=2000),
        "converted_at": timestamp(read_only=True),
        "customer_id": object_id(read_only=True, filter=True),
        "contact_id": object_id(read_only=True),
        "opportunity_id": object_id(read_only=True),
    },
    indexes=(Index("owner_id", "-created_at"), Index("status", "-created_at"), Index("source")),
    internal=(EDITORS,),
)

STAGE = choice(*OPPORTUNITY_STAGES.states)
STAGE_CHANGE = obj(
    "StageChange",
    {
        "from_stage": STAGE,
        "stage": STAGE.but(nullable=False),
        "at": timestamp(nullable=False),
        "user_id": integer(minimum=0, nullable=False),
        "reason": text(),
    },
)
STAGES_KEPT = 100

OPPORTUNITIES = Collection(
    name="crm_opportunities",
    title="Opportunity",
    scoped=True,
    shared=True,
    fields={
        "customer_id": CUSTOMER_ID,
        "name": text(required=True, max_length=200, sort="folded", search=True, example="年度采购"),
        "amount": money(minimum="0", sort=True, filter=True, nullable=False, example="120000.00"),
        "stage": choice(*OPPORTUNITY_STAGES.states, default=OPPORTUNITY_STAGES.initial, filter=True, sort=True),
        "probability": integer(minimum=0, maximum=100, sort=True, description="Percent; by the stage when left out."),
        "expected_close_date": day(sort=True, filter=True),
        "source": text(max_length=64, filter=True, example="referral"),
        "remark": text(max_length=2000),
        "owner_id": OWNER,
        "won_reason": text(read_only=True),
        "lost_reason": text(read_only=True),
        "closed_at": timestamp(read_only=True, sort=True, filter=True),
        "stage_history": array(STAGE_CHANGE, max_items=STAGES_KEPT, read_only=True, default=[], nullable=False),
    },
    indexes=(
        Index("customer_id", "-created_at"),
        Index("owner_id", "-created_at"),
        Index("stage", "-created_at"),
    ),
    internal=(EDITORS,),
)

FOLLOW_UPS = Collection(
    name="crm_follow_ups",
    title="FollowUp",
    scoped=True,
    shared=True,
    fields={
        "customer_id": CUSTOMER_ID,
        "opportunity_id": OPPORTUNITY_ID,
        "contact_id": object_id(ref="crm_contacts"),
        "content": text(required=True, max_length=5000, search=True, example="拜访客户，确认需求"),
        "method": text(max_length=32, filter=True, example="visit"),
        "position": POSITION.but(description="Where the person checked in, WGS-84."),
        "address": text(max_length=500),
        "next_follow_at": timestamp(filter=True, sort=True),
        "owner_id": FOLLOWS_CUSTOMER.but(description="Who followed up: the caller."),
    },
    indexes=(Index("customer_id", "-created_at"), Index("owner_id", "-created_at"), Index("2dsphere:point")),
    internal=("point", EDITORS),
)
