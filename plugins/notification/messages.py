"""Messages of the plugin notification, in Chinese and English."""

from plugins.api import Message

KINDS = {
    "approval_task": (Message("待办审批", "Approval task"), "orange"),
    "approval_copy": (Message("审批抄送", "Approval copy"), "blue"),
    "approval_result": (Message("审批结果", "Approval result"), "green"),
    "approval_delegation": (Message("审批委托", "Approval delegation"), "blue"),
    "leave_result": (Message("请假结果", "Leave result"), "green"),
    "attendance_result": (Message("考勤结果", "Attendance result"), "green"),
    "request_result": (Message("申请结果", "Request result"), "green"),
    "swap_request": (Message("换班邀请", "Request to swap"), "orange"),
    "punch_review": (Message("打卡复核", "Punch review"), "orange"),
    "import_progress": (Message("导入进度", "Import progress"), "blue"),
    "follow_up_reminder": (Message("跟进提醒", "Follow-up reminder"), "orange"),
    "employment_reminder": (Message("劳动合同提醒", "Employment reminder"), "orange"),
    "contract_reminder": (Message("合同到期提醒", "Contract reminder"), "orange"),
    "payment_reminder": (Message("回款提醒", "Payment reminder"), "red"),
    "ledger_difference": (Message("账目差异", "Ledger difference"), "red"),
    "handover": (Message("工作交接", "Handover"), "blue"),
    "dead_address": (Message("地址无法送达", "Undeliverable address"), "red"),
    "announcement": (Message("公告", "Announcement"), "purple"),
}
WELCOME = Message("欢迎使用 Tradewind", "Welcome to Tradewind")
WELCOME_BODY = Message("审批、导入和提醒都会出现在这里。", "Approvals, imports and reminders appear here.")

# shown by GET /api/v1/system/authorization/explain
NOT_YOURS = Message("没有该消息，或不是发给您的", "There is no such notification, or it is not yours")

ANNOUNCEMENT_OVER = Message("公告已结束或已撤回", "The announcement has ended or was withdrawn")
SENT_TO_YOU = Message("该公告发送给了您", "The announcement was sent to you")
NOT_TO_CONFIRM = Message("该消息无需确认", "The notification need not be confirmed")
CONFIRM_FIRST = Message("请先确认该公告，再删除", "Confirm the announcement before you delete it")

OPEN = Message("查看", "Open")
DEAD_ADDRESS = Message("无法向{name}发送通知", "Notifications cannot be sent to {name}")
DEAD_ADDRESS_BODY = Message(
    "地址 {address} 无法送达（{answer}）。请更正该用户的地址；一周后系统会再试一次。",
    "The address {address} cannot be reached ({answer}). Correct the address of the user; it is tried again in a week.",
)
DIGEST_TITLE = Message("您有 {count} 条新消息", "You have {count} new notifications")
DIGEST_LINE = Message("• {title}", "• {title}")
ALWAYS_SENT = Message(
    "个人不可关闭的通知（消息类型:渠道，* 表示所有类型）",
    "Notifications that people cannot switch off (kind:channel, * for every kind)",
)
FRONT_END = Message("通知中链接的前端地址", "Address of the front end, with which links in messages begin")
MAIL_TEXT = Message(
    "{{ name }}，您好：\n\n{{ title }}\n\n{{ body }}\n{% if link %}\n查看：{{ link }}\n{% endif %}",
    "Hello {{ name }},\n\n{{ title }}\n\n{{ body }}\n{% if link %}\nOpen: {{ link }}\n{% endif %}",
)
_HTML = (
    '<p>{greeting}</p><h3>{{{{ title }}}}</h3><p style="white-space:pre-line">{{{{ body }}}}</p>'
    '{{% if link %}}<p><a href="{{{{ link }}}}">{open}</a></p>{{% endif %}}'
)
MAIL_HTML = Message(
    _HTML.format(greeting="{{ name }}，您好：", open=OPEN.zh), _HTML.format(greeting="Hello {{ name }},", open=OPEN.en)
)
