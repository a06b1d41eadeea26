"""The messages of approval, and the refusals that several routes share."""

from __future__ import annotations

from plugins.api import FORBIDDEN, Message, Refusal, conflicts

NO_TASK = Message("您在该审批中没有待处理的任务", "You have no pending task in this approval")
NOT_ALLOWED = Message("当前状态不允许该操作", "The current status does not allow this")
ONLY_INITIATOR = Message("仅发起人可操作", "Only the initiator may do this")
ALREADY_ASKED = Message("该用户已是当前节点的审批人", "This person is already an approver of the current node")
ALREADY_PENDING = Message("该单据正在审批中", "This record is already waiting for approval")
NO_DEFINITION = Message("没有适用于该单据的审批流程", "No approval flow applies to this record")
DISABLED = Message("审批流程已停用", "The approval flow is disabled")
OTHER_FLOW = Message("按申请内容应使用其他审批流程", "By its content, this request must go through another flow")
OF_A_RECORD = Message(
    "该审批来自业务单据，请在业务单据中重新提交",
    "This request belongs to a business record: submit the record again instead",
)
NOT_OF_ONES_OWN = Message("不能由本人审批自己的申请", "People cannot approve their own requests")
OWN_APPROVERS = Message(
    "只能由数据范围包含该审批的其他人改派",
    "Only somebody else whose data scope includes this request may reassign its tasks",
)
NOT_ASKED = Message("该用户在该审批中没有待处理的任务", "This person has no pending task in this approval")
TOO_FEW = Message("节点“{node}”的审批人不足", "The node “{node}” has too few approvers")
NO_BRANCH = Message("节点“{node}”没有适用的分支，或无人审批", "No branch of “{node}” applies, or it asks nobody")
NO_ADVICE = Message("您在该审批中没有待答复的意见征询", "You are not asked for advice in this approval")
TOO_MANY_NODES = Message("审批节点过多，不能再加签", "This approval has too many nodes to add a signer")
NOT_CONCERNED = Message("仅审批的参与人可操作", "Only people who take part in this approval may do this")
ADDED_NODE = Message("{node}（加签）", "{node} (added signer)")
TOO_LONG = Message("审批流转次数过多", "This approval has too many steps")

FORM_IN_USE = Message(
    "流程“{flow}”的条件使用了字段“{field}”", "The flow “{flow}” has a condition on the field “{field}”"
)
NOT_YOUR_LINK = Message(
    "该链接不是发给您的，请使用本人账号登录", "This link is not for you: log in as whom it was sent to"
)
NOT_PERMITTED = Message("您没有该审批操作的权限", "You lack the permission for this decision")
BAD_LINK = Message(
    "链接无效或已过期，请登录后在“我的审批”中处理", "The link is wrong or has expired: decide in “My approvals”"
)
YES, NO = Message("是", "Yes"), Message("否", "No")

ASKED = Message("待您审批：{title}", "Waiting for your approval: {title}")
DELEGATED = Message(
    "{name} 在 {first} 至 {last} 期间将审批委托给您", "{name} delegated approvals to you from {first} to {last}"
)
NO_FLOW = Message("没有适用的审批流程，请直接审批：{title}", "No flow applies: please decide at the record: {title}")
WAITS_FOR = Message(
    "审批人 {name} 的账号已停用，您的申请仍待其审批：{title}",
    "Your request waits for {name}, whose account is disabled: {title}",
)
LEFT_TASKS = Message(
    "{name} 的账号已停用，仍有 {count} 个待审批任务，请改派",
    "The account of {name} is disabled; {count} {count:approval waits|approvals wait} for them: please reassign",
)
REPLACED = Message(
    "审批人暂缺，已按流程规则改由他人审批：{title}",
    "Approvers are missing; by the rule of the flow somebody else is asked: {title}",
)
ADVICE = Message("征求您的意见：{title}", "You are asked for advice: {title}")
ADVISED = Message("已答复您的意见征询：{title}", "Your request for advice was answered: {title}")
MENTIONED = Message("有人在审批中提到您：{title}", "You are mentioned in an approval: {title}")
OVERDUE = Message("审批已超过时限：{title}", "The time limit of this approval is over: {title}")
REMINDED = Message("催办审批：{title}", "Still waiting for your approval: {title}")
ASKED_IN = Message(
    "审批“{title}”的审批人、抄送人或发起人",
    "Approver, copied person or initiator of the approval “{title}”",
)
COPIED = Message("抄送给您：{title}", "For your information: {title}")
ENDED = Message("您发起的审批{outcome}：{title}", "Your request was {outcome}: {title}")


INITIATOR_ONLY = (Refusal(FORBIDDEN, ONLY_INITIATOR), *conflicts(NOT_ALLOWED))
