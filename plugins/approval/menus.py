"""Menus of approval, and the titles of its permissions."""

from __future__ import annotations

from plugins.api import Menu, Message

MENUS = (
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
)

PERMISSIONS = {
    "approval:definition:simulate": Message("模拟", "Simulate"),
    "approval:instance:submit": Message("提交", "Submit"),
    "approval:instance:withdraw": Message("撤回", "Withdraw"),
    "approval:instance:reassign": Message("改派", "Reassign"),
    "approval:task:agree": Message("同意", "Agree"),
    "approval:task:reject": Message("驳回", "Reject"),
    "approval:task:send-back": Message("退回", "Send back"),
    "approval:task:transfer": Message("转办", "Transfer"),
}
