"""Approvals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from plugins.api import (
    FORBIDDEN,
    INVALID,
    REFUSES_OWN,
    Dictionary,
    Item,
    Menu,
    Message,
    Option,
    OwnRequests,
    Plugin,
    Refusal,
    Service,
    choice,
    conflicts,
    crud,
    route,
)
from plugins.approval import actions, definitions, delegations, demo, instances, names, requests
from plugins.approval.dashboards import DASHBOARDS
from plugins.approval.desk import CANCELLED, FINISHED, REQUESTED
from plugins.approval.messages import (
    ALREADY_ASKED,
    ALREADY_PENDING,
    DISABLED,
    NO_DEFINITION,
    NO_TASK,
    NOT_ALLOWED,
    NOT_ASKED,
    NOT_OF_ONES_OWN,
    OF_A_RECORD,
    ONLY_INITIATOR,
    OWN_APPROVERS,
    TOO_LONG,
)
from plugins.approval.people import OWN_REQUESTS, OwnRequestsSetting
from plugins.approval.records import (
    ACT_BODY,
    BACK_BODY,
    COLLEAGUE,
    COLLEAGUE_QUERY,
    COUNTS,
    DEFINITIONS,
    DELEGATIONS,
    INSTANCES,
    REASSIGN_BODY,
    ROW,
    SHOWN,
    SIMULATE_BODY,
    SIMULATION,
    TRANSFER_BODY,
)
from plugins.approval.states import STATES
from plugins.system.api import Configs

AT = "/api/v1/approvals"
ONE = f"{AT}/instances/{{id}}"
_instance: dict[str, Any] = {
    "tag": "approval",
    "collection": INSTANCES.name,
    "returns": SHOWN,
    "errors": (INVALID,),
}
_INITIATOR = (Refusal(FORBIDDEN, ONLY_INITIATOR), *conflicts(NOT_ALLOWED))
_ANSWERING = conflicts(NO_TASK, NOT_ALLOWED, TOO_LONG)
# what ends an approval, which the plugin of the record may refuse
_ends: dict[str, Any] = {**_instance, "asks": (FINISHED,), "refusals": (*_ANSWERING, REFUSES_OWN)}
_ANOTHER = conflicts(ALREADY_ASKED, NOT_OF_ONES_OWN)
_REASSIGNING = (Refusal(FORBIDDEN, OWN_APPROVERS), *conflicts(NOT_ASKED, NOT_ALLOWED, TOO_LONG), *_ANOTHER)
_TASK_BOX = {"box": choice("todo", "done", default="todo", nullable=False, example="todo")}
_BOX = {
    "box": choice(
        "mine",
        "copied",
        "todo",
        "done",
        nullable=False,
        example="mine",
        description="Without it: all that the caller may see.",
    )
}
_COLORS = {"draft": "gray", "pending": "orange", "approved": "green", "rejected": "red", "returned": "blue"}


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Hear the requests of business plugins, and say who may decide on their own."""
    service.provide(OwnRequests, OwnRequestsSetting(service.part(Configs)))
    service.events.listen(REQUESTED, partial(requests.on_requested, service))
    service.events.listen(CANCELLED, partial(requests.on_cancelled, service))
    yield


plugin = Plugin(
    name="approval",
    title=Message("审批", "Approvals"),
    requires=("rbac", "system"),
    provides=(OwnRequests,),
    start=start,
    demo=demo.load,
    collections=(DEFINITIONS, INSTANCES, DELEGATIONS),
    state_machines=(STATES,),
    dashboards=DASHBOARDS,
    answers={REQUESTED: conflicts(NO_DEFINITION, ALREADY_PENDING, TOO_LONG)},
    routes=(
        *crud(
            DEFINITIONS,
            at=f"{AT}/definitions",
            resource="approval:definition",
            noun="approval flow",
            create=definitions.create,
            update=definitions.update,
        ),
        route(
            f"POST {AT}/definitions/{{id}}/simulate",
            definitions.simulate,
            summary="Who would be asked",
            access="approval:definition:simulate",
            body=SIMULATE_BODY,
            returns=SIMULATION,
            tag="approval",
            collection=DEFINITIONS.name,
        ),
        route(
            f"GET {AT}/instances",
            instances.list_instances,
            summary="List approvals",
            access="approval:instance:list",
            query={**INSTANCES.list_query, **_BOX},
            returns=ROW,
            paged=True,
            tag="approval",
            collection=INSTANCES.name,
        ),
        *(
            replace(one, returns=SHOWN) if one.returns is INSTANCES.read else one
            for one in crud(
                INSTANCES,
                at=f"{AT}/instances",
                resource="approval:instance",
                noun="approval",
                only=("read", "create", "update", "delete"),
                read=instances.read,
                create=instances.create,
                update=instances.update,
                delete=instances.delete,
                refusals_of={"update": _INITIATOR, "delete": _INITIATOR},
            )
        ),
        route(
            f"POST {ONE}/submit",
            actions.submit,
            summary="Ask for approval",
            access="approval:instance:submit",
            body=ACT_BODY,
            refusals=(*_INITIATOR, *conflicts(OF_A_RECORD, DISABLED, TOO_LONG)),
            **_instance,
        ),
        route(
            f"POST {ONE}/withdraw",
            actions.withdraw,
            summary="Take a request back",
            access="approval:instance:withdraw",
            body=ACT_BODY,
            refusals=(*_INITIATOR, *conflicts(TOO_LONG)),
            **_instance,
        ),
        route(
            f"POST {ONE}/remind",
            actions.remind,
            summary="Remind who is asked",
            access="approval:instance:submit",
            refusals=_INITIATOR,
            **_instance,
        ),
        route(
            f"POST {ONE}/reassign",
            actions.reassign,
            summary="Let somebody answer who can",
            access="approval:instance:reassign",
            body=REASSIGN_BODY,
            refusals=_REASSIGNING,
            **_instance,
        ),
        route(
            f"POST {ONE}/agree", actions.agree, summary="Agree", access="approval:task:agree", body=ACT_BODY, **_ends
        ),
        route(
            f"POST {ONE}/reject",
            actions.reject,
            summary="Reject",
            access="approval:task:reject",
            body=ACT_BODY,
            **_ends,
        ),
        route(
            f"POST {ONE}/send-back",
            actions.send_back,
            summary="Send back",
            access="approval:task:send-back",
            body=BACK_BODY,
            **_ends,
        ),
        route(
            f"POST {ONE}/transfer",
            actions.transfer,
            summary="Let somebody else answer",
            access="approval:task:transfer",
            body=TRANSFER_BODY,
            refusals=(*_ANSWERING, *_ANOTHER),
            **_instance,
        ),
        route(
            f"GET {AT}/tasks",
            instances.list_tasks,
            summary="What I have to answer, or have answered",
            access="approval:task:list",
            query={**INSTANCES.list_query, **_TASK_BOX},
            returns=ROW,
            paged=True,
            tag="approval",
        ),
        route(
            f"GET {AT}/counts",
            instances.count_boxes,
            summary="How many approvals my boxes hold",
            access="approval:task:list",
            returns=COUNTS,
            tag="approval",
        ),
        route(
            f"GET {AT}/people",
            names.colleagues,
            summary="The colleagues to whom a task may be given",
            access="approval:task:list",
            query=COLLEAGUE_QUERY,
            returns=COLLEAGUE,
            paged=True,
            tag="approval",
        ),
        *crud(
            DELEGATIONS,
            at=f"{AT}/delegations",
            resource="approval:delegation",
            noun="delegation",
            only=("list", "read", "create", "delete"),
            create=delegations.create,
        ),
    ),
    menus=(
        Menu("approval", Message("审批", "Approvals"), path="/approval", icon="lucide:stamp", order=200),
        Menu(
            "approval.task",
            Message("我的审批", "My approvals"),
            path="/approval/tasks",
            parent="approval",
            resource="approval:task",
            icon="lucide:list-checks",
            order=1,
        ),
        Menu(
            "approval.instance",
            Message("审批单", "Requests"),
            path="/approval/instances",
            parent="approval",
            resource="approval:instance",
            icon="lucide:file-check",
            order=2,
        ),
        Menu(
            "approval.delegation",
            Message("审批委托", "Delegations"),
            path="/approval/delegations",
            parent="approval",
            resource="approval:delegation",
            icon="lucide:user-check",
            order=3,
        ),
        Menu(
            "approval.definition",
            Message("审批流程", "Approval flows"),
            path="/approval/definitions",
            parent="approval",
            resource="approval:definition",
            icon="lucide:workflow",
            order=4,
        ),
    ),
    permissions={
        "approval:definition:simulate": Message("模拟", "Simulate"),
        "approval:instance:submit": Message("提交", "Submit"),
        "approval:instance:withdraw": Message("撤回", "Withdraw"),
        "approval:instance:reassign": Message("改派", "Reassign"),
        "approval:task:agree": Message("同意", "Agree"),
        "approval:task:reject": Message("驳回", "Reject"),
        "approval:task:send-back": Message("退回", "Send back"),
        "approval:task:transfer": Message("转办", "Transfer"),
    },
    biz_types={"APPROVAL": INSTANCES},
    options=(
        Option(
            OWN_REQUESTS,
            choice("ask", "leave_out", default="leave_out", nullable=False),
            Message(
                "能否审批本人申请、创建或负责的单据：可以，或由他人审批",
                "Whether people may decide on what they asked for, made or own, or are left out",
            ),
            super_only=True,
        ),
        Option(
            requests.WITHOUT_DEFINITION,
            choice("leave", "approve", "refuse", default="leave", nullable=False),
            Message("没有适用流程时的处理", "What happens to a request that no flow fits"),
            super_only=True,
        ),
    ),
    dictionaries=(
        Dictionary(
            "approval_status",
            Message("审批状态", "Approval status"),
            tuple(Item(name, label, _COLORS.get(name, "")) for name, label in STATES.states.items()),
        ),
    ),
)
