"""Collections of approval: flows, approvals with their tasks and history, and delegations."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    anything,
    array,
    boolean,
    choice,
    integer,
    mapping,
    obj,
    object_id,
    text,
    timestamp,
)
from plugins.approval.states import STATES
from plugins.rbac.api import USERS

INITIATOR = "initiator"
MAX_PEOPLE, MAX_STEPS = 100, 500
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in", "contains", "exists")
_BIZ_TYPE = r"^[A-Z][A-Z0-9_]{0,63}$"

CONDITION = obj(
    "ApprovalCondition",
    {
        "field": text(required=True, max_length=100, pattern=r"^[A-Za-z0-9_.]+$", example="amount"),
        "op": choice(*OPERATORS, required=True, example="gte"),
        "value": anything(example="100000.00", description="A number may be a string. For `in`, `not_in`: an array."),
    },
)
APPROVERS = obj(
    "ApprovalApprovers",
    {
        "users": array(integer(minimum=1, ref="rbac_users"), max_items=MAX_PEOPLE, unique=True),
        "roles": array(
            integer(minimum=1, ref="rbac_roles"),
            max_items=20,
            unique=True,
            description="Everybody who holds one when the node is reached.",
        ),
        "department_leader": integer(minimum=1, ref="rbac_departments", description="The leader of this department."),
        "initiator_leader": integer(
            minimum=1, maximum=10, example=1, description="1: the initiator's own leader; 2: the next one above; …"
        ),
    },
    description="Together; where they are nobody, user 1 is asked.",
)
_NODE = {
    "key": text(required=True, max_length=64, pattern=r"^[a-z][a-z0-9_-]*$", example="leader"),
    "name": text(required=True, max_length=100, example="部门负责人"),
    "approvers": APPROVERS.but(required=True, nullable=False),
    "mode": text(
        max_length=16,
        pattern=r"^(any|all|quorum:[1-9][0-9]?)$",
        default="any",
        example="any",
        description="`any`: the first decision counts; `all`: everybody must agree; `quorum:n`: n must agree.",
    ),
    "on_reject": choice("end", "back", default="end", description="`back`: the initiator gets it again."),
}
NODE = obj("ApprovalNode", _NODE)

DEFINITIONS = Collection(
    name="approval_definitions",
    title="ApprovalDefinition",
    default_sort="priority",
    fields={
        "name": text(required=True, max_length=100, sort="folded", search=True, example="合同审批"),
        "biz_type": text(required=True, max_length=64, pattern=_BIZ_TYPE, filter=True, example="GENERAL"),
        "conditions": array(CONDITION, max_items=20, default=[], description="All must hold."),
        "nodes": array(NODE, required=True, min_items=1, max_items=30),
        "copies": APPROVERS.but(description="Who is notified of each request besides the approvers."),
        "enabled": boolean(default=True, filter=True),
        "priority": integer(
            minimum=0,
            maximum=1_000_000,
            default=100,
            sort=True,
            description="Of several flows that fit the least one is taken.",
        ),
    },
    indexes=(Index("biz_type", "enabled", "priority"),),
)

TASK = obj(
    "ApprovalTask",
    {
        "node": text(nullable=False),
        "round": integer(nullable=False),
        "user_id": integer(nullable=False),
        "on_behalf_of": integer(description="Who delegated or transferred it to them, or had it before."),
        "status": choice(
            "pending", "agreed", "rejected", "sent_back", "transferred", "reassigned", "cancelled", nullable=False
        ),
        "acted_at": timestamp(),
        "comment": text(max_length=1000),
    },
)
STEP = obj(
    "ApprovalStep",
    {
        "at": timestamp(nullable=False),
        "user_id": integer(nullable=False),
        "action": text(nullable=False),
        "node": text(),
        "to": text(),
        "comment": text(max_length=1000),
    },
)

# `shared_with`: initiator, approvers and copied people see an approval besides the data scope
INSTANCES = Collection(
    name="approval_instances",
    title="ApprovalInstance",
    scoped=True,
    shared=True,
    fields={
        "definition_id": object_id(required=True, ref="approval_definitions", filter=True),
        "title": text(required=True, max_length=200, sort="folded", search=True, example="采购办公用品"),
        "record": mapping(
            anything(),
            default={},
            example={"amount": "1200.00"},
            description="What is to be approved; the flow's conditions look into it.",
        ),
        "biz_type": text(filter=True, read_only=True, nullable=False),
        "resource_id": text(read_only=True, max_length=100, filter=True),
        "status": choice(*STATES.states, filter=True, read_only=True, nullable=False),
        "initiator_id": integer(filter=True, read_only=True, nullable=False),
        "nodes": array(NODE, max_items=30, read_only=True, nullable=False),
        "node": text(read_only=True, description="The key of the node whose people are asked."),
        "tasks": array(TASK, max_items=10_000, read_only=True, nullable=False),
        "history": array(STEP, max_items=10_000, read_only=True, nullable=False),
        "copied": array(integer(), max_items=1000, read_only=True, nullable=False),
        "submitted_at": timestamp(read_only=True, sort=True),
        "finished_at": timestamp(read_only=True, sort=True),
    },
    indexes=(
        Index("todo", "-created_at"),
        Index("done", "-created_at"),
        Index("copied", "-created_at"),
        Index("initiator_id", "-created_at"),
        Index("status", "-created_at"),
        Index("biz_type", "resource_id", unique=True, where={"status": "pending", "resource_id": {"$type": "string"}}),
        Index("resource_id", "biz_type"),
    ),
    internal=("todo", "done", "round", "behind"),
)
_NAME = obj("ApprovalPerson", {"id": integer(nullable=False), "name": text(nullable=False)}, nullable=False)
SHOWN = obj(
    "ApprovalShown",
    {
        **INSTANCES.all_fields,
        "people": array(_NAME, max_items=10_000, nullable=False, description="The names of everybody mentioned."),
    },
    nullable=False,
)
_ROW = (
    "id",
    "title",
    "biz_type",
    "resource_id",
    "status",
    "initiator_id",
    "node",
    "submitted_at",
    "finished_at",
    "definition_id",
    "creator_id",
    "creator_department_id",
    "created_at",
    "updated_at",
    "version",
)
ROW_FIELDS = [*_ROW, "todo"]
ROW = obj(
    "ApprovalRow",
    {
        **{name: INSTANCES.all_fields[name] for name in _ROW},
        "initiator_name": text(nullable=False),
        "waiting_for": array(_NAME, max_items=MAX_PEOPLE, nullable=False, description="Who is asked now."),
    },
    nullable=False,
)
_CHOOSING = ("page", "page_size", "with_total", "cursor", "q", "department_id")
COLLEAGUE_QUERY = {
    **{name: USERS.list_query[name] for name in _CHOOSING},
    "sort": text(max_length=200, default="id", nullable=False, example="id", description="`id` or `-id`."),
}
COLLEAGUE = obj(
    "ApprovalColleague",
    {"id": integer(nullable=False), "name": text(nullable=False), "department_id": integer()},
    nullable=False,
)

DELEGATIONS = Collection(
    name="approval_delegations",
    title="ApprovalDelegation",
    scoped=True,
    fields={
        "user_id": integer(
            minimum=1, filter=True, read_only=True, nullable=False, description="Who is away: the caller."
        ),
        "delegate_id": integer(minimum=1, ref="rbac_users", required=True, filter=True),
        "starts_at": timestamp(required=True, sort=True, example="2025-10-01T00:00:00.000Z"),
        "ends_at": timestamp(required=True, sort=True, example="2025-10-08T00:00:00.000Z"),
        "reason": text(max_length=200),
    },
    indexes=(Index("user_id", "ends_at"),),
)

_COMMENT_FIELD = {"comment": text(max_length=1000, example="同意")}
ACT_BODY = obj("ApprovalAct", _COMMENT_FIELD, nullable=False)
BACK_BODY = obj(
    "ApprovalSendBack",
    {
        **_COMMENT_FIELD,
        "to": text(
            max_length=64,
            default=INITIATOR,
            example=INITIATOR,
            description="`initiator`, or the key of an earlier node.",
        ),
    },
    nullable=False,
)
TRANSFER_BODY = obj(
    "ApprovalTransfer",
    {**_COMMENT_FIELD, "user_id": integer(minimum=1, ref="rbac_users", required=True)},
    nullable=False,
)
REASSIGN_BODY = obj(
    "ApprovalReassign",
    {
        **_COMMENT_FIELD,
        "from_user_id": integer(minimum=1, required=True, description="Whose task it is."),
        "user_id": integer(minimum=1, ref="rbac_users", required=True, description="The new assignee."),
    },
    nullable=False,
)
SIMULATE_BODY = obj(
    "ApprovalSimulate",
    {
        "initiator_id": integer(minimum=1, example=1, description="The caller by default."),
        "record": mapping(anything(), example={"amount": "1200.00"}),
    },
    nullable=False,
)
_ASKED = obj(
    "ApprovalAsked",
    {"user_id": integer(nullable=False), "name": text(nullable=False), "on_behalf_of": integer()},
    nullable=False,
)
SIMULATION = obj(
    "ApprovalSimulation",
    {
        "matches": boolean(nullable=False, description="Whether the conditions hold."),
        "nodes": array(
            obj(
                None,
                {name: child.but(nullable=False) for name, child in _NODE.items() if name in ("key", "name", "mode")}
                | {"approvers": array(_ASKED, max_items=MAX_PEOPLE, nullable=False)},
            ),
            nullable=False,
        ),
        "copies": array(_ASKED, max_items=1000, nullable=False),
    },
    nullable=False,
)
COUNTS = obj(
    "ApprovalCounts",
    {name: integer(minimum=0, nullable=False) for name in ("todo", "done", "mine", "copied")},
    nullable=False,
)
