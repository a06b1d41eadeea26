"""Menus of approval, and the titles of its permissions."""

from __future__ import annotations

from plugins.api import Menu, Message, page

MENUS = (
    Menu("approval", Message("审批", "Approvals"), path="/approval", icon="lucide:stamp", order=200),
    page("approval:task", ("我的审批", "My approvals"), "/approval/tasks", "lucide:list-checks", 1),
    page("approval:instance", ("审批单", "Requests"), "/approval/instances", "lucide:file-check", 2),
    page("approval:delegation", ("审批委托", "Delegations"), "/approval/delegations", "lucide:user-check", 3),
    page("approval:definition", ("审批流程", "Approval flows"), "/approval/definitions", "lucide:workflow", 4),
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
