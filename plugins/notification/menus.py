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
)

PERMISSIONS = {"notification:announcement:create": Message("发送公告", "Send announcements")}
