"""The menus of the plugin, and titles of permissions."""

from plugins.api import Menu, Message

MENUS = (
    Menu(
        "notification",
        Message("消息通知", "Notifications"),
        path="/notification",
        resource="notification:announcement",
        icon="lucide:bell",
        order=900,
    ),
    Menu(
        "notification.template",
        Message("邮件模板", "E-mail templates"),
        path="/notification/templates",
        parent="system",
        resource="notification:template",
        icon="lucide:file-text",
        order=14,
    ),
    Menu(
        "notification.delivery",
        Message("通知发送记录", "Deliveries of notifications"),
        path="/notification/deliveries",
        parent="system",
        resource="notification:delivery",
        icon="lucide:scroll-text",
        order=15,
    ),
)

PERMISSIONS = {
    "notification:announcement:create": Message("发送公告", "Send announcements"),
    "notification:template:preview": Message("预览", "Preview"),
    "notification:announcement:withdraw": Message("撤回", "Withdraw"),
}
