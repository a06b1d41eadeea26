"""Approvals: flows, requests and tasks."""

from __future__ import annotations

from plugins.api import Job, Listener, Message, Plugin, conflicts, routes_of
from plugins.api.events import APPROVAL_CANCELLED, APPROVAL_REQUESTED
from plugins.api.ports import Approvals, DirectLinks, OwnRequests, Passes
from plugins.approval import (
    actions,
    collaboration,
    definitions,
    delegations,
    demo,
    figures,
    flow_check,
    forms,
    instances,
    links,
    names,
    requests,
    simulation,
)
from plugins.approval.deadlines import SECONDS as DUE_SECONDS, handle_due
from plugins.approval.form_records import FORMS
from plugins.approval.handover import HOLDINGS
from plugins.approval.lifespan import start
from plugins.approval.messages import ALREADY_PENDING, NO_DEFINITION, TOO_FEW, TOO_LONG
from plugins.approval.options import OPTIONS
from plugins.approval.records import DEFINITIONS, DELEGATIONS, INSTANCES
from plugins.approval.standing_in import SECONDS, settle_due
from plugins.approval.states import TASK_STATES
from plugins.approval.stored_flows import FITTING
from plugins.approval.telling import on_sessions_void
from plugins.approval.texts import DICTIONARIES, MENUS, PERMISSIONS
from plugins.approval.views import VIEWS
from plugins.rbac.api import SESSIONS_VOID

_REQUESTS = (definitions, forms, flow_check, simulation, instances, actions, collaboration)
_DUE = Message("处理超时的审批", "Handle approvals whose time is over")
_SETTLE = Message("委托开始或结束时移交审批任务", "Move tasks when delegations start or end")
plugin = Plugin(
    name="approval",
    title=Message("审批", "Approvals"),
    requires=("rbac", "system"),
    provides=(Approvals, DirectLinks, OwnRequests, Passes),
    start=start,
    demo=demo.load,
    collections=(DEFINITIONS, FORMS, INSTANCES, DELEGATIONS),
    biz_types={"APPROVAL": INSTANCES},
    state_machines=(TASK_STATES,),
    holdings=HOLDINGS,
    dictionaries=DICTIONARIES,
    dashboards=figures.DASHBOARDS,
    views=VIEWS,
    listens=(
        Listener(
            APPROVAL_REQUESTED, requests.on_requested, conflicts(NO_DEFINITION, ALREADY_PENDING, TOO_FEW, TOO_LONG)
        ),
        Listener(APPROVAL_CANCELLED, requests.on_cancelled),
        Listener(SESSIONS_VOID, on_sessions_void),
    ),
    migrations=(FITTING,),
    jobs=(
        Job("approval.delegations", SECONDS, settle_due, _SETTLE),
        Job("approval.deadlines", DUE_SECONDS, handle_due, _DUE),
    ),
    routes=routes_of(*_REQUESTS, links, figures, names, delegations),
    menus=MENUS,
    permissions=PERMISSIONS,
    options=OPTIONS,
)
