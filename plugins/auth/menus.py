"""The menus of the plugin, and titles of permissions."""

from plugins.api import Message, page

MENUS = (
    page("system:session", ("在线用户", "Online users"), "/system/sessions", "lucide:monitor-smartphone", 7),
    page("system:login-log", ("登录日志", "Login log"), "/system/login-logs", "lucide:key-round", 9),
)

PERMISSIONS = {
    "system:session:delete": Message("强制下线", "Log out"),
    "system:user:kick-out": Message("强制下线", "Log out everywhere"),
}
