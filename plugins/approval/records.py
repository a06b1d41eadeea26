"""Collections of approval: flows, approvals with their tasks and history, and delegations."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    anything,
    array,
    boolean,
    choice,
    integer,
    mapping,
    obj,
    object_id,
    record_name,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.approval.record_types import ApprovalDefinition, ApprovalDelegation
from plugins.approval.states import STATES, TASK_STATES
from plugins.approval.tree import MAX_NODES
from plugins.rbac.api import USERS

INITIATOR = "initiator"
MAX_PEOPLE, MAX_STEPS, MAX_FILES = 100, 500, 20
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in", "contains", "exists")
_BIZ_TYPE = r"^[A-Z][A-Z0-9_]{0,63}$"

CONDITION = obj(
    "ApprovalCondition",
    {
        "field": text(
            label=("字段", "Field"), required=True, max_length=100, pattern=r"^[A-Za-z0-9_.]+$", example="amount"
        ),
        "op": choice(*OPERATORS, label=("比较方式", "Operator"), required=True, example="gte"),
        "value": anything(
            label=("值", "Value"),
            example="100000.00",
            description="A number may be given as a string. For `in` and `not_in`: an array.",
        ),
    },
)
APPROVERS = obj(
    "ApprovalApprovers",
    {
        "users": array(
            integer(minimum=1, ref="rbac_users", on_delete="keep"),
            label=("指定人员", "Users"),
            max_items=MAX_PEOPLE,
            unique=True,
        ),
        "roles": array(
            integer(minimum=1, ref="rbac_roles"),
            label=("角色", "Roles"),
            max_items=20,
            unique=True,
            description="Everybody who has one of these roles when the node is reached.",
        ),
        "department_leader": integer(
            label=("部门负责人", "Leader of the department"),
            minimum=1,
            ref="rbac_departments",
            description="The leader of this department.",
        ),
        "initiator_leader": integer(
            label=("发起人的上级", "Initiator's leader"),
            minimum=1,
            maximum=10,
            example=1,
            description="1: the leader of the initiator; 2: the next leader above; and so on.",
        ),
    },
    description="Everybody named here is asked. A node names at least one enabled person; `absent` of the node says who "
    "is asked if that is not so any more.",
)
_KEY = r"^[a-z][a-z0-9_-]*$"
_KEYS = array(
    text(max_length=64, pattern=_KEY, nullable=False),
    label=("节点", "Nodes"),
    max_items=MAX_NODES,
    nullable=False,
    required=True,
    description="The keys of the nodes in it, in their order.",
)
BRANCH = obj(
    "ApprovalBranch",
    {
        "name": text(label=("分支名称", "Branch name"), required=True, max_length=100, example="大额"),
        "conditions": array(
            CONDITION,
            label=("适用条件", "Conditions"),
            max_items=20,
            required=True,
            nullable=False,
            description="The branch applies if all of them hold; without any, always.",
        ),
        "nodes": _KEYS,
    },
)
LANE = obj(
    "ApprovalLane",
    {"name": text(label=("并行线名称", "Lane name"), required=True, max_length=100, example="财务"), "nodes": _KEYS},
)
DEADLINE = obj(
    "ApprovalDeadline",
    {
        "hours": integer(
            label=("时限（工作小时）", "Working hours"), required=True, minimum=1, maximum=2000, example=16
        ),
        "remind": integer(
            label=("提前提醒（工作小时）", "Remind before (working hours)"), minimum=1, maximum=2000, example=4
        ),
        "then": choice(
            "remind",
            "escalate",
            "agree",
            "reject",
            "return",
            label=("超时处理", "When it is over"),
            default="remind",
            description="`remind`: who is asked is told. `escalate`: the leaders above them are asked in their place, "
            "or user 1. `agree`, only with the mode `any`, or `reject`: the node is decided so. `return`: the request "
            "goes back to the initiator.",
        ),
    },
)
ABSENCES = ("leader", "substitute", "refuse")
NODE_FIELDS = {
    "key": text(label=("节点标识", "Key"), required=True, max_length=64, pattern=_KEY, example="leader"),
    "name": text(label=("节点名称", "Node name"), required=True, max_length=100, example="部门负责人"),
    "approvers": APPROVERS.but(label=("审批人", "Approvers"), nullable=False),
    "mode": text(
        label=("审批方式", "Mode"),
        max_length=16,
        pattern=r"^(any|all|quorum:[1-9][0-9]?)$",
        default="any",
        example="any",
        description="`any`: the first decision counts; `all`: everybody must agree; `quorum:n`: n must agree.",
    ),
    "absent": choice(
        *ABSENCES,
        label=("人数不足时", "If people lack"),
        description="Who is asked if the node has fewer people than must agree. `leader`, the default: the leaders above the "
        "initiator; `substitute`: the `substitutes`; after both user 1. `refuse`: the request cannot be submitted, or "
        "goes back to the initiator.",
    ),
    "substitutes": APPROVERS.but(
        label=("替补人员", "Substitutes"), description="Who is asked if people lack and `absent` is `substitute`."
    ),
    "on_reject": choice(
        "end",
        "back",
        label=("驳回后处理", "On rejection"),
        default="end",
        description="`end`: the approval ends; `back`: the request goes back to the initiator.",
    ),
    "copies": APPROVERS.but(
        label=("节点抄送人", "Copied people"), description="Who is notified when the node is reached."
    ),
    "deadline": DEADLINE.but(label=("审批时限", "Time limit")),
    "reason": choice(
        "reject",
        "always",
        label=("必须填写意见", "Comment required"),
        description="Whether a decision needs a comment: to reject or send back, or always.",
    ),
    "choice": boolean(
        label=("发起人自选", "Initiator chooses"),
        description="The initiator may choose among the people whom the node names, or among its branches that apply.",
    ),
    "branches": array(
        BRANCH,
        label=("条件分支", "Branches"),
        min_items=2,
        max_items=20,
        description="A node with branches has no approvers: a request goes through the nodes of the first branch that "
        "applies. Nodes that a branch or lane names are not part of the main sequence.",
    ),
    "lanes": array(
        LANE,
        label=("并行审批", "Lanes"),
        min_items=2,
        max_items=10,
        description="A node with lanes has no approvers: a request goes through all lanes at the same time, and on once "
        "all of them have agreed.",
    ),
}
NODE = obj("ApprovalNode", NODE_FIELDS)

DEFINITIONS: Collection[ApprovalDefinition] = Collection(
    name="approval_definitions",
    title="ApprovalDefinition",
    noun=Message("审批流程", "approval flow"),
    default_sort="priority",
    fields={
        "name": record_name(label=("流程名称", "Flow name"), max_length=100, example="合同审批"),
        "biz_type": text(
            label=("业务类型", "Business type"),
            required=True,
            max_length=64,
            pattern=_BIZ_TYPE,
            filter=True,
            example="GENERAL",
        ),
        "conditions": array(
            CONDITION,
            label=("适用条件", "Conditions"),
            max_items=20,
            default=[],
            description="The flow applies if all of them hold.",
        ),
        "nodes": array(NODE, label=("审批节点", "Nodes"), required=True, min_items=1, max_items=MAX_NODES),
        "copies": APPROVERS.but(
            label=("抄送人", "Copied people"), description="Who is notified of each request besides the approvers."
        ),
        "repeated": choice(
            "ask",
            "skip",
            label=("连续节点的同一审批人", "Who agreed at the node before"),
            description="`ask`, the default: they are asked again; `skip`: their agreement counts at the next node too.",
        ),
        "enabled": boolean(label=("启用", "Enabled"), default=True, filter=True),
        "priority": integer(
            label=("优先级", "Priority"),
            minimum=0,
            maximum=1_000_000,
            default=100,
            sort=True,
            description="If several flows apply, the one with the lowest number is used.",
        ),
    },
    indexes=(Index("biz_type", "enabled", "priority"),),
)

ABSENT = choice(
    "delegate",
    *ABSENCES[:2],
    label=("代替方式", "In place of absent people"),
    description="`delegate`: the person is the delegate of `on_behalf_of`. `leader`, `substitute`: the node had "
    "fewer people than must agree, and by this rule of the node the person is asked besides them.",
)
TASK = obj(
    "ApprovalTask",
    {
        "node": text(label=("节点", "Node"), nullable=False, key_of="nodes"),
        "round": integer(label=("轮次", "Round"), nullable=False),
        "user_id": integer(label=("处理人", "Assignee"), nullable=False, ref="users"),
        "on_behalf_of": integer(
            label=("原处理人", "On behalf of"),
            description="Who delegated or transferred the task to this person, or had it before.",
            ref="users",
        ),
        "absent": ABSENT,
        "repeated": boolean(
            label=("沿用上一节点", "Repeated"),
            description="The person agreed at the node before, and was not asked again.",
        ),
        "status": TASK_STATES.choice(label=("处理状态", "Status")),
        "asked_at": timestamp(label=("到达时间", "Asked at"), description="When the node was reached."),
        "acted_at": timestamp(label=("处理时间", "Acted at")),
        "comment": text(label=("审批意见", "Comment"), max_length=1000),
    },
)
TAKEN = obj(
    "ApprovalBranchTaken",
    {
        "node": text(label=("节点", "Node"), nullable=False, named_by="name"),
        "name": text(label=("节点名称", "Node name"), nullable=False),
        "branch": text(label=("分支名称", "Branch name"), nullable=False),
        "index": integer(label=("分支序号", "Index"), minimum=0, nullable=False),
    },
)
STEP = obj(
    "ApprovalStep",
    {
        "at": timestamp(label=("时间", "Time"), nullable=False),
        "user_id": integer(label=("操作人", "User"), nullable=False, ref="users"),
        "action": text(dictionary="approval_action", label=("操作", "Action"), nullable=False),
        "node": text(label=("节点", "Node"), key_of="nodes"),
        "to": text(label=("目标", "To"), named_by="to_name", description="A node, `initiator`, or the id of a person."),
        "to_name": text(label=("去向", "Passed to"), description="The name of that node or person."),
        "comment": text(label=("审批意见", "Comment"), max_length=1000),
        "way": choice(
            "link",
            "link_without_login",
            label=("操作途径", "Way"),
            description="`link`: by the link in a message, logged in; `link_without_login`: by the link alone. Null: "
            "at the approval itself.",
        ),
        "attachments": array(
            obj(
                "ApprovalStepFile",
                {
                    "id": object_id(label=("附件", "Attachment"), nullable=False),
                    "file_name": text(label=("文件名", "File name"), nullable=False),
                    "object_key": text(label=("存储键", "Object key"), nullable=False),
                },
            ),
            label=("附件", "Files"),
            max_items=MAX_FILES,
            description="The files of a comment. Whoever may read the approval may read them.",
        ),
    },
)

# `shared_with`: the initiator, approvers and copied people see an approval whatever their data scope
INSTANCES = Collection(
    name="approval_instances",
    title="ApprovalInstance",
    noun=Message("审批", "approval"),
    scoped=True,
    shared=True,
    fields={
        "definition_id": object_id(
            label=("审批流程", "Approval flow"),
            required=True,
            ref="approval_definitions",
            on_delete="keep",
            filter=True,
        ),
        "title": record_name(label=("审批标题", "Title"), example="采购办公用品"),
        "record": mapping(
            anything(),
            label=("审批内容", "Record"),
            default={},
            example={"amount": "1200.00"},
            description="What is to be approved; the conditions of the flow look at its fields.",
        ),
        "biz_type": text(label=("业务类型", "Business type"), filter=True, read_only=True, nullable=False),
        "resource_id": text(label=("业务单据", "Source record"), read_only=True, max_length=100, filter=True),
        "status": STATES.choice(label=("审批状态", "Status"), filter=True),
        **service_fields(
            initiator_id=integer(label=("发起人", "Initiator"), filter=True, ref="users"),
            nodes=array(
                NODE,
                label=("审批节点", "Nodes"),
                max_items=MAX_NODES,
                description="Those that the request goes through, without the branches that did not apply.",
            ),
            taken=array(
                TAKEN, label=("所经分支", "Branches taken"), max_items=MAX_NODES, history=False, nullable=False
            ),
        ),
        "node": text(
            label=("当前节点", "Current node"),
            read_only=True,
            key_of="nodes",
            description="The key of the node whose approvers are asked now; of several in parallel lanes, the first.",
        ),
        "current": array(
            text(nullable=False),
            label=("当前各节点", "Current nodes"),
            read_only=True,
            key_of="nodes",
            max_items=MAX_NODES,
            history=False,
            description="The keys of all nodes whose approvers are asked now.",
        ),
        **service_fields(
            tasks=array(TASK, label=("审批任务", "Tasks"), max_items=10_000, history=False),
            history=array(STEP, label=("审批记录", "History"), max_items=10_000, history=False),
            copied=array(integer(), label=("抄送人", "Copied people"), max_items=10_000, ref="users"),
            mentioned=array(
                integer(), label=("提到的人", "Mentioned people"), max_items=10_000, ref="users", history=False
            ),
        ),
        "submitted_at": timestamp(label=("提交时间", "Submitted at"), read_only=True, sort=True),
        "finished_at": timestamp(label=("完成时间", "Finished at"), read_only=True, sort=True),
    },
    indexes=(
        Index("todo", "-created_at"),
        Index("done", "-created_at"),
        Index("copied", "-created_at"),
        Index("initiator_id", "-created_at"),
        Index("status", "-created_at"),
        Index("biz_type", "resource_id", unique=True, where={"status": "pending", "resource_id": {"$type": "string"}}),
        Index("resource_id", "biz_type"),
        Index("due", where={"status": "pending"}),
    ),
    internal=(
        "todo",
        "done",
        "round",
        "needed",
        "behind",
        "visits",
        "passed",
        "kept",
        "repeated",
        "choices",
        "due",
    ),
    states=STATES,
)
_NAME = shape("ApprovalPerson", id=integer(nullable=False), name=text(nullable=False))
_SAID = {"label": text(label=("字段", "Field"), nullable=False), "value": text(label=("值", "Value"), nullable=False)}
CONTENT = array(obj("ApprovalContent", _SAID), label=("审批内容", "Content"), nullable=False)
SHOWN = shape(
    "ApprovalShown",
    content=CONTENT.but(
        description="What people entered, as they read it, of requests that are about no business record."
    ),
    **INSTANCES.all_fields,
    people=array(
        _NAME,
        label=("相关人员", "People"),
        max_items=10_000,
        nullable=False,
        description="The names of everybody whom the approval mentions.",
    ),
    absent=array(
        integer(nullable=False),
        label=("已停用的审批人", "Disabled approvers"),
        max_items=MAX_PEOPLE,
        nullable=False,
        ref="users",
        description="Who is asked now and cannot decide, because the account is disabled.",
    ),
    send_back_to=array(
        shape("ApprovalEarlier", key=text(nullable=False), name=text(nullable=False)),
        label=("可退回到", "Can be sent back to"),
        max_items=MAX_NODES + 1,
        nullable=False,
        description="To whom the caller may send it back: the initiator, and the nodes before their own; empty if they are "
        "not asked.",
    ),
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
ROW = shape(
    "ApprovalRow",
    **{name: INSTANCES.all_fields[name] for name in _ROW},
    initiator_name=text(label=("发起人姓名", "Initiator's name"), nullable=False),
    waiting_for=array(_NAME, max_items=MAX_PEOPLE, nullable=False, description="The approvers who are asked now."),
)
_CHOOSING = ("page", "page_size", "with_total", "cursor", "q", "department_id")
COLLEAGUE_QUERY = {
    **{name: USERS.list_query[name] for name in _CHOOSING},
    "sort": text(max_length=200, default="id", nullable=False, example="id", description="`id` or `-id`."),
}
COLLEAGUE = shape(
    "ApprovalColleague",
    id=integer(nullable=False),
    name=text(nullable=False),
    department_id=integer(ref="departments"),
)

DELEGATIONS: Collection[ApprovalDelegation] = Collection(
    name="approval_delegations",
    title="ApprovalDelegation",
    noun=Message("审批委托", "delegation"),
    scoped=True,
    fields={
        "user_id": integer(
            label=("委托人", "Delegator"),
            minimum=1,
            filter=True,
            read_only=True,
            nullable=False,
            description="The person who is away; always the caller.",
            ref="users",
        ),
        "delegate_id": integer(
            label=("代理人", "Delegate"), minimum=1, ref="rbac_users", on_delete="keep", required=True, filter=True
        ),
        "starts_at": timestamp(
            label=("开始时间", "Starts at"), required=True, sort=True, example="2025-10-01T00:00:00.000Z"
        ),
        "ends_at": timestamp(
            label=("结束时间", "Ends at"), required=True, sort=True, example="2025-10-08T00:00:00.000Z"
        ),
        "reason": text(label=("委托原因", "Reason"), max_length=200),
    },
    indexes=(Index("user_id", "ends_at"), Index("delegate_id", "ends_at"), Index("ends_at")),
    internal=("settled",),
)
