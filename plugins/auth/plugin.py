"""The plugin auth: log-in, tokens, sessions, WeCom."""

from __future__ import annotations

from plugins.api import Listener, Message, Plugin, dictionary, page, routes_of
from plugins.api.ports import Authenticator
from plugins.auth import admin_sessions, login, own_account, profile, wecom, wecom_directory
from plugins.auth.errors import ERRORS
from plugins.auth.lifespan import end_sessions, start
from plugins.auth.records import LOGIN_ATTEMPTS, LOGIN_LOGS, SESSIONS, UNKNOWN_NAMES
from plugins.auth.settings import AuthSettings
from plugins.auth.wecom_directory import WECOM_DEPARTMENTS
from plugins.auth.wecom_states import WECOM_STATES, WECOM_TOKENS
from plugins.rbac.api import SESSIONS_VOID

DICTIONARIES = (
    dictionary(
        "auth_login_event",
        ("登录事件", "Log-in event"),
        login=("登录", "Log-in"),
        logout=("退出登录", "Log-out"),
        lockout=("账号锁定", "Lockout", "red"),
        token_reuse=("令牌重复使用", "Token reused", "red"),
        kicked_out=("强制下线", "Forced log-out", "orange"),
        password_change=("修改密码", "Password change"),
    ),
    dictionary(
        "auth_wecom_change",
        ("通讯录同步结果", "Taken over from WeCom"),
        created=("新增", "Created", "green"),
        linked=("绑定", "Linked", "blue"),
        changed=("更新", "Changed", "blue"),
        left=("已离开", "Left", "gray"),
        disabled=("已停用", "Disabled", "red"),
    ),
)


MENUS = (
    page("system:session", ("在线用户", "Online users"), "/system/sessions", "lucide:monitor-smartphone", 7),
    page("system:login-log", ("登录日志", "Login log"), "/system/login-logs", "lucide:key-round", 9),
)

PERMISSIONS = {
    "system:session:delete": Message("强制下线", "Log out"),
    "system:user:kick-out": Message("强制下线", "Log out everywhere"),
    "system:user:take-over": Message("同步企业微信通讯录", "Take over from WeCom"),
}


plugin = Plugin(
    name="auth",
    title=Message("登录", "Log-in"),
    requires=("rbac",),
    settings=AuthSettings,
    provides=(Authenticator,),
    start=start,
    collections=(SESSIONS, LOGIN_LOGS, LOGIN_ATTEMPTS, UNKNOWN_NAMES, WECOM_STATES, WECOM_TOKENS, WECOM_DEPARTMENTS),
    errors=ERRORS,
    routes=routes_of(login, profile, own_account, wecom, wecom_directory, admin_sessions),
    dictionaries=DICTIONARIES,
    menus=MENUS,
    listens=(Listener(SESSIONS_VOID, end_sessions),),
    permissions=PERMISSIONS,
)
