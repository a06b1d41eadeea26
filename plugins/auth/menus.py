"""The menus of the plugin, and titles of permissions."""

from plugins.api import Menu, Message

MENUS = (
    Menu(
        "system.session",
        Message("在线用户", "Who is online"),
        path="/system/sessions",
        parent="system",
        resource="system:session",
        icon="lucide:monitor-smartphone",
        order=7,
    ),
    Menu(
        "system.login-log",
        Message("登录日志", "Log-in log"),
        path="/system/login-logs",
        parent="system",
        resource="system:login-log",
        icon="lucide:key-round",
        order=9,
    ),
)

PERMISSIONS = {
    "system:session:delete": Message("强制下线", "Log out"),
    "system:user:kick-out": Message("强制下线", "Log out everywhere"),
}
