"""The plugin auth: log-in, tokens, sessions, WeCom."""

from plugins.api import Listener, Message, Plugin, routes_of
from plugins.api.ports import Authenticator
from plugins.auth import admin_sessions, login, own_password, own_sessions, profile, wecom
from plugins.auth.dictionaries import DICTIONARIES
from plugins.auth.errors import ERRORS
from plugins.auth.lifespan import end_sessions, start
from plugins.auth.menus import MENUS, PERMISSIONS
from plugins.auth.records import LOGIN_ATTEMPTS, LOGIN_LOGS, SESSIONS, UNKNOWN_NAMES
from plugins.auth.settings import AuthSettings
from plugins.auth.wecom_records import WECOM_STATES, WECOM_TOKENS
from plugins.rbac.api import SESSIONS_VOID

plugin = Plugin(
    name="auth",
    title=Message("登录", "Log-in"),
    requires=("rbac",),
    settings=AuthSettings,
    provides=(Authenticator,),
    start=start,
    collections=(SESSIONS, LOGIN_LOGS, LOGIN_ATTEMPTS, UNKNOWN_NAMES, WECOM_STATES, WECOM_TOKENS),
    errors=ERRORS,
    routes=routes_of(login, profile, own_password, own_sessions, wecom, admin_sessions),
    dictionaries=DICTIONARIES,
    menus=MENUS,
    listens=(Listener(SESSIONS_VOID, end_sessions),),
    permissions=PERMISSIONS,
)
