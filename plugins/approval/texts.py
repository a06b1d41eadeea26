"""What people read: dictionaries, menus and the titles of permissions."""

from __future__ import annotations

from plugins.api import Dictionary, Menu, Message, dictionary, page
from plugins.approval.states import STATES

_COLORS = {"draft": "gray", "pending": "orange", "approved": "green", "rejected": "red", "returned": "blue"}

DICTIONARIES = (
    # what a request is about if it has no business record; flows may name other types, which administrators add here
    dictionary("biz_type", ("其他业务类型", "Other business types"), GENERAL=("通用", "General")),
    Dictionary.of_states("approval_status", Message("审批状态", "Approval status"), STATES, _COLORS),
    dictionary(
        "approval_on_reject",
        ("驳回后处理", "On rejection"),
        end=("结束审批", "End the approval"),
        back=("退回发起人", "Send back to the initiator"),
    ),
    dictionary(
        "approval_absent",
        ("人数不足时", "If people lack"),
        leader=("由发起人的上级代替", "The initiator's leaders"),
        substitute=("由替补人员代替", "The substitutes"),
        refuse=("不予提交", "Refuse the request"),
        delegate=("由受托人代理", "The delegate"),
    ),
    dictionary(
        "approval_overdue",
        ("超时处理", "When it is over"),
        remind=("提醒审批人", "Remind the approvers"),
        escalate=("转给上级", "Ask their leaders"),
        agree=("自动同意", "Agree"),
        reject=("自动驳回", "Reject"),
        **{"return": ("退回发起人", "Return to the initiator")},
    ),
    dictionary(
        "approval_repeated",
        ("连续节点的同一审批人", "Who agreed at the node before"),
        ask=("再次审批", "Is asked again"),
        skip=("视为同意", "Has agreed here too"),
    ),
    dictionary(
        "approval_reason",
        ("必须填写意见", "Comment required"),
        reject=("驳回或退回时", "To reject or send back"),
        always=("每次审批", "Always"),
    ),
    dictionary(
        "approval_place",
        ("加签方式", "Place"),
        before=("前加签", "Before"),
        after=("后加签", "After"),
    ),
    dictionary(
        "approval_visit",
        ("节点处理情况", "State of a visit"),
        waiting=("待处理", "Waiting"),
        decided=("已处理", "Decided"),
        sent_back=("已退回", "Sent back"),
        ended=("已取消", "Cancelled"),
    ),
    dictionary(
        "approval_way",
        ("操作途径", "Way"),
        link=("消息链接", "Link in a message"),
        link_without_login=("消息链接（免登录）", "Link in a message, without a log-in"),
    ),
    dictionary(
        "approval_action",
        ("审批操作", "Approval action"),
        **{
            "submit": ("提交", "Submitted"),
            "agree": ("同意", "Agreed", "green"),
            "reject": ("驳回", "Rejected", "red"),
            "send-back": ("退回", "Sent back", "blue"),
            "transfer": ("转办", "Transferred"),
            "reassign": ("改派", "Reassigned"),
            "delegate": ("转交受托人", "Passed to the delegate"),
            "withdraw": ("撤回", "Withdrawn", "gray"),
            "return": ("退回发起人", "Returned to the initiator", "blue"),
            "add-signer-before": ("前加签", "Signer added before"),
            "add-signer-after": ("后加签", "Signer added after"),
            "ask-advice": ("征求意见", "Asked for advice"),
            "advise": ("答复意见", "Gave advice"),
            "comment": ("评论", "Commented"),
            "overdue-escalate": ("超时转给上级", "Overdue: passed to the leader"),
            "overdue-agree": ("超时自动同意", "Overdue: agreed", "green"),
            "overdue-reject": ("超时自动驳回", "Overdue: rejected", "red"),
            "overdue-return": ("超时退回发起人", "Overdue: returned to the initiator", "blue"),
        },
    ),
    dictionary(
        "approval_operator",
        ("比较方式", "Operator"),
        eq=("等于", "Equal to"),
        ne=("不等于", "Not equal to"),
        gt=("大于", "More than"),
        gte=("大于或等于", "At least"),
        lt=("小于", "Less than"),
        lte=("小于或等于", "At most"),
        **{"in": ("属于", "One of")},
        not_in=("不属于", "None of"),
        contains=("包含", "Contains"),
        exists=("有值", "Has a value"),
    ),
    dictionary(
        "approval_own_requests",
        ("本人单据的审批", "Decisions on own requests"),
        ask=("本人可审批", "They do"),
        leave_out=("由他人审批", "Others do"),
    ),
    dictionary(
        "approval_without_definition",
        ("无适用流程时的处理", "Requests without a flow"),
        leave=("等待有审批权限的人处理", "Waits for whoever may approve it"),
        approve=("直接通过", "Approved"),
        refuse=("不允许提交", "Refused"),
    ),
    dictionary(
        "approval_box",
        ("审批分类", "Approval box"),
        mine=("我发起的", "Mine"),
        copied=("抄送我的", "Copied to me"),
        todo=("待我处理", "To do"),
        done=("我已处理", "Done"),
    ),
)


MENUS = (
    Menu("approval", Message("审批", "Approvals"), path="/approval", icon="lucide:stamp", order=200),
    page("approval:task", ("我的审批", "My approvals"), "/approval/tasks", "lucide:list-checks", 1),
    page("approval:instance", ("审批单", "Requests"), "/approval/instances", "lucide:file-check", 2),
    page("approval:delegation", ("审批委托", "Delegations"), "/approval/delegations", "lucide:user-check", 3),
    page("approval:definition", ("审批流程", "Approval flows"), "/approval/definitions", "lucide:workflow", 4),
    page("approval:form", ("审批表单", "Request forms"), "/approval/forms", "lucide:text-cursor-input", 5),
    page("approval:figure", ("审批统计", "Figures"), "/approval/figures", "lucide:activity", 6),
)

PERMISSIONS = {
    "approval:figure:read": Message("节点用时", "Nodes"),
    "approval:figure:list": Message("用时明细", "Visits"),
    "approval:definition:simulate": Message("模拟", "Simulate"),
    "approval:instance:submit": Message("提交", "Submit"),
    "approval:instance:withdraw": Message("撤回", "Withdraw"),
    "approval:instance:reassign": Message("改派", "Reassign"),
    "approval:task:agree": Message("同意", "Agree"),
    "approval:task:reject": Message("驳回", "Reject"),
    "approval:task:send-back": Message("退回", "Send back"),
    "approval:task:transfer": Message("转办", "Transfer"),
    "approval:task:add-signer": Message("加签", "Add a signer"),
    "approval:task:ask-advice": Message("征求意见", "Ask for advice"),
}
