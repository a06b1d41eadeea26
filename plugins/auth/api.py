"""What plugins that require auth may import."""

from plugins.auth.cookies import OwnCookie, is_same_origin
from plugins.auth.errors import ACCOUNT_DISABLED, LOGIN_REFUSED, REFRESH_REFUSED
from plugins.auth.login import end_session_of, login, rotate
from plugins.auth.login_rate import take_attempt
from plugins.auth.profile import codes, read
from plugins.auth.records import LOGIN_BODY, SESSIONS
from plugins.auth.wecom_client import WecomUnavailable
from plugins.auth.wecom_messages import NoSuchMember, WecomMessages

__all__ = [
    "ACCOUNT_DISABLED",
    "LOGIN_BODY",
    "LOGIN_REFUSED",
    "REFRESH_REFUSED",
    "SESSIONS",
    "NoSuchMember",
    "OwnCookie",
    "WecomMessages",
    "WecomUnavailable",
    "codes",
    "end_session_of",
    "is_same_origin",
    "login",
    "read",
    "rotate",
    "take_attempt",
]
