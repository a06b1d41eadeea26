"""The dictionaries of the plugin."""

from plugins.api import Dictionary, Message, dictionary
from plugins.api.records import Item
from plugins.notification.announcement_records import ANNOUNCEMENT_STATES
from plugins.notification.messages import KINDS

DICTIONARIES = (
    Dictionary(
        "notification_kind",
        Message("消息类型", "Notification kind"),
        tuple(Item(kind, label, color) for kind, (label, color) in KINDS.items()),
    ),
    Dictionary.of_states(
        "notification_announcement_status",
        Message("公告状态", "State of an announcement"),
        ANNOUNCEMENT_STATES,
        {"scheduled": "orange", "published": "green", "ended": "gray", "withdrawn": "red"},
    ),
    dictionary(
        "notification_channel",
        ("通知渠道", "Channel of notifications"),
        email=("邮件", "E-mail"),
        wecom=("企业微信", "WeCom"),
    ),
    dictionary(
        "notification_delivery_state",
        ("通知发送状态", "State of a delivery"),
        waiting=("待发送", "Waiting", "blue"),
        sent=("已发送", "Sent", "green"),
        failed=("失败", "Failed", "red"),
        skipped=("未发送", "Not sent", "gray"),
    ),
    dictionary(
        "notification_delivery_rule",
        ("通知发送规则", "Rule of a delivery"),
        always=("公司规定", "Set by the company"),
        own=("本人选择", "Chosen by the person"),
        default=("默认", "Default"),
        off=("本人已关闭", "Switched off by the person"),
        preferred=("已由企业微信发送", "Sent by WeCom instead"),
        read=("已在系统中阅读", "Read meanwhile"),
        gone=("消息已删除或撤回", "Deleted or withdrawn"),
        disabled=("账号已停用", "Account disabled"),
        no_address=("没有地址", "No address"),
        bad_address=("地址无效", "Invalid address"),
        dead_address=("地址无法送达", "Undeliverable address"),
        not_set_up=("渠道未启用", "Channel not set up"),
    ),
    dictionary(
        "notification_waits_for",
        ("通知等待原因", "What a delivery waits for"),
        quiet=("免打扰时间", "Quiet hours"),
        digest=("汇总发送", "Digest"),
        retry=("重试", "Another attempt"),
    ),
    dictionary(
        "notification_language",
        ("通知语言", "Language of notifications"),
        zh=("中文", "Chinese"),
        en=("英文", "English"),
    ),
    dictionary(
        "notification_choice",
        ("通知方式", "How to notify"),
        on=("立即", "At once"),
        off=("关闭", "Off"),
        digest=("汇总", "In the digest"),
    ),
    dictionary(
        "notification_receipt_state",
        ("回执状态", "State of a receipt"),
        unread=("未读", "Unread", "gray"),
        read=("已读", "Read", "blue"),
        confirmed=("已确认", "Confirmed", "green"),
    ),
)
