"""Messages of the plugin notification, in Chinese and English."""

from plugins.api import Message

KINDS = {
    "approval_task": (Message("待办审批", "Approval task"), "orange"),
    "approval_copy": (Message("审批抄送", "Approval copy"), "blue"),
    "approval_result": (Message("审批结果", "Approval result"), "green"),
    "approval_delegation": (Message("审批委托", "Approval delegation"), "blue"),
    "leave_result": (Message("请假结果", "Leave result"), "green"),
    "import_progress": (Message("导入进度", "Import progress"), "blue"),
    "follow_up_reminder": (Message("跟进提醒", "Follow-up reminder"), "orange"),
    "payment_reminder": (Message("回款提醒", "Payment reminder"), "red"),
    "ledger_difference": (Message("账目差异", "Ledger difference"), "red"),
    "handover": (Message("工作交接", "Handover"), "blue"),
    "announcement": (Message("公告", "Announcement"), "purple"),
}
WELCOME = Message("欢迎使用 Tradewind", "Welcome to Tradewind")
WELCOME_BODY = Message("审批、导入和提醒都会出现在这里。", "Approvals, imports and reminders appear here.")

# shown by GET /api/v1/system/authorization/explain
NOT_YOURS = Message("没有该消息，或不是发给您的", "There is no such notification, or it is not yours")
