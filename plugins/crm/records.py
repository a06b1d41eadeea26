"""Collections of crm: customers, contacts, leads, opportunities and follow-ups. contract_records.py has the others."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
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
    record_name,
    text,
    timestamp,
)
from plugins.api.business import currency, party_fields, terms_fields
from plugins.crm.messages import HAS_BUSINESS, HAS_CONTRACTS, LIST_IN_USE
from plugins.crm.record_types import Contact, Customer, FollowUp, Lead, Opportunity
from plugins.crm.states import LEAD_STATES, OPPORTUNITY_STAGES

POSITION = obj(
    "Position",
    {
        "lng": number(label=("经度", "Longitude"), minimum=-180, maximum=180, required=True, example=121.47),
        "lat": number(label=("纬度", "Latitude"), minimum=-90, maximum=90, required=True, example=31.23),
    },
)
COLLABORATOR = obj(
    "Collaborator",
    {
        "user_id": integer(label=("人员", "Person"), minimum=1, required=True, ref="rbac_users", on_delete="keep"),
        "access": choice(
            "read",
            "write",
            label=("权限", "Access"),
            required=True,
            description="`read`: may view the customer and its records; `write`: may also change them.",
        ),
    },
)
# `editors` may change a record that is shared with them; the others in `shared_with` may only read it
EDITORS = "editors"
# an account may be deleted while it owns records: they can be given to others afterwards
OWNER = integer(
    label=("负责人", "Owner"),
    minimum=1,
    ref="rbac_users",
    on_delete="keep",
    filter=True,
    description="The user responsible. Defaults to the caller.",
)
OWNER_BELOW = OWNER.but(description="The user responsible. Defaults to the customer's owner, or else to the caller.")
FOLLOWS_CUSTOMER = OWNER.but(
    label=("负责人", "Owner"), read_only=True, description="The user responsible; follows the customer's owner."
)
CUSTOMER_ID = object_id(label=("客户", "Customer"), required=True, ref="crm_customers", held=HAS_BUSINESS, filter=True)
OF_CUSTOMER = CUSTOMER_ID.but(on_delete="cascade", held=None)
OPPORTUNITY_ID = object_id(label=("商机", "Opportunity"), ref="crm_opportunities", held=HAS_CONTRACTS, filter=True)

CUSTOMERS: Collection[Customer] = Collection(
    name="crm_customers",
    title="Customer",
    noun=Message("客户", "customer"),
    scoped=True,
    shared=True,
    owner="owner_id",
    fields={
        "name": record_name(label=("客户名称", "Customer name"), example="晨光科技"),
        "code": text(
            label=("客户编码", "Customer code"),
            max_length=64,
            min_length=1,
            sort=True,
            filter=True,
            search=True,
            example="C-0001",
        ),
        "industry": text(
            dictionary="crm_customer_industry",
            label=("所属行业", "Industry"),
            max_length=64,
            filter=True,
            sort=True,
            example="manufacturing",
        ),
        "level": text(
            dictionary="crm_customer_level",
            label=("客户级别", "Level"),
            max_length=32,
            filter=True,
            sort=True,
            example="A",
        ),
        "source": text(
            dictionary="crm_customer_source",
            label=("客户来源", "Source"),
            max_length=64,
            filter=True,
            example="referral",
        ),
        "phone": text(label=("电话", "Phone"), max_length=50, search=True, example="021-5555 0100"),
        "email": text(label=("邮箱", "Email"), max_length=200, format="idn-email", example="office@example.com"),
        "website": link(label=("网址", "Website"), own=False, bare=True, max_length=300, example="https://example.com"),
        "address": text(label=("地址", "Address"), max_length=500),
        **party_fields(),
        "location": POSITION.but(label=("定位", "Location")),
        "owner_id": integer(
            label=("负责人", "Owner"),
            minimum=1,
            ref="rbac_users",
            on_delete="keep",
            filter=True,
            description="Null if the customer is in the public pool.",
        ),
        "status": text(
            dictionary="crm_customer_status",
            label=("客户状态", "Status"),
            max_length=32,
            min_length=1,
            filter=True,
            default="active",
            example="active",
        ),
        "tags": array(
            text(max_length=50, min_length=1),
            label=("标签", "Tags"),
            unique=True,
            max_items=50,
            default=[],
            filter=True,
        ),
        "remark": text(label=("备注", "Remarks"), max_length=2000),
        "credit_limit": money(
            label=("信用额度", "Credit limit"),
            minimum="0",
            description="Limit of what the customer owes and has on order together; null for no limit. The option "
            "`crm_credit_limit` says what happens to an order that exceeds it.",
            example="50000.00",
        ),
        **terms_fields(days="Days to pay for orders and invoices that have no terms of their own."),
        "currency": currency().but(
            filter=False, description="Of the customer's new orders and invoices; null: the company's own."
        ),
        "tax_id": object_id(
            label=("默认税种", "Default tax"),
            ref="inventory_taxes",
            ref_optional=True,
            description="For the lines of the customer's orders, whatever the products say.",
        ),
        "price_list_ids": array(
            object_id(ref="inventory_price_lists", ref_optional=True, held=LIST_IN_USE),
            label=("价目表", "Price lists"),
            unique=True,
            max_items=10,
            default=[],
            nullable=True,
            description="For the customer's orders, the preferred one first, before those for everybody.",
        ),
        "last_follow_at": timestamp(label=("最后跟进时间", "Last followed up at"), past=True, sort=True, filter=True),
        "next_follow_at": timestamp(label=("下次跟进时间", "Next follow-up at"), sort=True, filter=True),
        "collaborators": array(
            COLLABORATOR,
            label=("协作人", "Collaborators"),
            named_by="user_id",
            max_items=50,
            read_only=True,
            default=[],
            nullable=False,
        ),
    },
    indexes=(
        Index("code", unique=True, where={"code": {"$type": "string"}}),
        # for lists and exports sorted by these fields, where customers without a code appear too. There is none for
        # `updated_at`, because it would make every update a tenth slower
        *(Index(name) for name in ("code", "industry", "level", "last_follow_at")),
        Index("owner_id", "-created_at"),
        Index("name_key"),
        Index("phone_key"),
        Index("owned_since"),
        Index("next_follow_at"),
        Index("2dsphere:point"),
        # contains only customers with collaborators
        Index("collaborators.user_id", where={"collaborators.user_id": {"$type": "number"}}),
    ),
    internal=(
        "pool_left_at",
        "owned_since",
        "name_key",
        "phone_key",
        "point",
        "reminded_for",
        EDITORS,
    ),
)

CONTACTS: Collection[Contact] = Collection(
    name="crm_contacts",
    title="Contact",
    noun=Message("联系人", "contact"),
    scoped=True,
    shared=True,
    owner="owner_id",
    fields={
        "customer_id": OF_CUSTOMER,
        "name": record_name(label=("姓名", "Name"), max_length=100, person=True, example="王芳"),
        "title": text(label=("职务", "Job title"), max_length=100, example="采购经理"),
        "phone": text(label=("电话", "Phone"), max_length=50, search=True, example="021-5555 0101"),
        "mobile": text(label=("手机", "Mobile"), max_length=50, search=True, example="13800000000"),
        "email": text(
            label=("邮箱", "Email"), max_length=200, format="idn-email", search=True, example="wang@example.com"
        ),
        "is_primary": boolean(
            label=("主要联系人", "Primary contact"),
            default=False,
            filter=True,
            description="Whether this contact is the first to approach; a customer has at most one.",
        ),
        "remark": text(label=("备注", "Remarks"), max_length=2000),
        "owner_id": FOLLOWS_CUSTOMER,
    },
    indexes=(Index("customer_id", "-created_at"), Index("owner_id", "-created_at")),
    internal=(EDITORS,),
)

LEADS: Collection[Lead] = Collection(
    name="crm_leads",
    title="Lead",
    noun=Message("线索", "lead"),
    scoped=True,
    shared=True,
    owner="owner_id",
    fields={
        "name": record_name(label=("姓名", "Name"), max_length=100, person=True, example="刘洋"),
        "company": text(label=("公司名称", "Company"), max_length=200, sort="folded", search=True, example="晨光科技"),
        "phone": text(label=("电话", "Phone"), max_length=50, search=True, example="13900000000"),
        "email": text(label=("邮箱", "Email"), max_length=200, format="idn-email", example="liu@example.com"),
        "source": text(
            dictionary="crm_lead_source", label=("线索来源", "Source"), max_length=64, filter=True, example="website"
        ),
        "status": LEAD_STATES.choice(label=("线索状态", "Status"), filter=True, sort=True, read_only=False),
        "owner_id": OWNER,
        "remark": text(label=("备注", "Remarks"), max_length=2000),
        "converted_at": timestamp(label=("转化时间", "Converted at"), read_only=True),
        "customer_id": object_id(label=("客户", "Customer"), read_only=True, filter=True, ref="crm_customers"),
        "contact_id": object_id(label=("联系人", "Contact"), read_only=True, ref="crm_contacts"),
        "opportunity_id": object_id(label=("商机", "Opportunity"), read_only=True, ref="crm_opportunities"),
    },
    indexes=(Index("owner_id", "-created_at"), Index("status", "-created_at"), Index("source")),
    internal=(EDITORS,),
    states=LEAD_STATES,
)

STAGE = choice(*OPPORTUNITY_STAGES.states)
STAGE_CHANGE = obj(
    "StageChange",
    {
        "from_stage": STAGE.but(label=("原阶段", "From stage")),
        "stage": STAGE.but(label=("新阶段", "To stage"), nullable=False),
        "at": timestamp(label=("变更时间", "Changed at"), nullable=False),
        "user_id": integer(label=("变更人", "Changed by"), minimum=0, nullable=False, ref="users"),
        "reason": text(label=("原因", "Reason")),
    },
)
STAGES_KEPT = 100

OPPORTUNITIES: Collection[Opportunity] = Collection(
    name="crm_opportunities",
    title="Opportunity",
    noun=Message("商机", "opportunity"),
    scoped=True,
    shared=True,
    owner="owner_id",
    fields={
        "customer_id": CUSTOMER_ID,
        "name": record_name(label=("商机名称", "Opportunity name"), example="年度采购"),
        "amount": money(
            label=("预计金额", "Expected amount"),
            minimum="0",
            sort=True,
            filter=True,
            nullable=False,
            example="120000.00",
        ),
        "stage": OPPORTUNITY_STAGES.choice(label=("销售阶段", "Stage"), filter=True, sort=True, read_only=False),
        "probability": integer(
            label=("赢率（%）", "Win probability (%)"),
            minimum=0,
            maximum=100,
            sort=True,
            description="In percent. Defaults to the probability of the stage.",
        ),
        "expected_close_date": day(label=("预计成交日期", "Expected close date"), sort=True, filter=True),
        "source": text(
            dictionary="crm_lead_source", label=("商机来源", "Source"), max_length=64, filter=True, example="referral"
        ),
        "remark": text(label=("备注", "Remarks"), max_length=2000),
        "owner_id": OWNER_BELOW,
        "won_reason": text(label=("赢单原因", "Reason won"), read_only=True),
        "lost_reason": text(label=("输单原因", "Reason lost"), read_only=True),
        "closed_at": timestamp(label=("关闭时间", "Closed at"), read_only=True, sort=True, filter=True),
        "stage_history": array(
            STAGE_CHANGE,
            label=("阶段变更记录", "Stage history"),
            max_items=STAGES_KEPT,
            read_only=True,
            default=[],
            nullable=False,
            history=False,
        ),
    },
    indexes=(
        Index("customer_id", "-created_at"),
        Index("owner_id", "-created_at"),
        Index("stage", "-created_at"),
    ),
    internal=(EDITORS,),
    states=OPPORTUNITY_STAGES,
)

FOLLOW_UPS: Collection[FollowUp] = Collection(
    name="crm_follow_ups",
    title="FollowUp",
    noun=Message("跟进记录", "follow-up"),
    scoped=True,
    shared=True,
    owner="owner_id",
    fields={
        "customer_id": OF_CUSTOMER,
        # a follow-up is about the past, so it keeps its references when the records are deleted
        "opportunity_id": OPPORTUNITY_ID.but(on_delete="keep", held=None),
        "contact_id": object_id(label=("联系人", "Contact"), ref="crm_contacts", on_delete="keep"),
        "content": text(
            label=("跟进内容", "Content"), required=True, max_length=5000, search=True, example="拜访客户，确认需求"
        ),
        "method": text(
            dictionary="crm_follow_up_method", label=("跟进方式", "Method"), max_length=32, filter=True, example="visit"
        ),
        "position": POSITION.but(
            label=("签到位置", "Check-in position"), description="Where the user checked in, in WGS-84."
        ),
        "address": text(label=("签到地址", "Check-in address"), max_length=500),
        "next_follow_at": timestamp(label=("下次跟进时间", "Next follow-up at"), filter=True, sort=True),
        "owner_id": FOLLOWS_CUSTOMER,
    },
    indexes=(Index("customer_id", "-created_at"), Index("owner_id", "-created_at"), Index("2dsphere:point")),
    internal=("point", EDITORS),
)

AROUND_CUSTOMERS = (CUSTOMERS, CONTACTS, LEADS, OPPORTUNITIES, FOLLOW_UPS)
