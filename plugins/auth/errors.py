"""The errors of logging in, which clients know by their codes."""

from __future__ import annotations

from plugins.api import ErrorKind, Message

LOGIN_REFUSED = ErrorKind(
    "login_refused",
    40010,
    400,
    Message("用户名或密码错误", "Wrong user name or password"),
    "log-in refused, or wrong old password",
)
WECOM_REFUSED = ErrorKind(
    "wecom_refused",
    40011,
    400,
    Message("企业微信登录被拒绝", "WeCom log-in refused"),
    "WeCom code or state refused, or the person is not a member of the company",
)
REFRESH_REFUSED = ErrorKind(
    "refresh_refused",
    40102,
    401,
    Message("刷新令牌已失效，请重新登录", "Refresh token no longer valid; log in again"),
    "refresh token expired, revoked, reused or invalid",
)
ACCOUNT_DISABLED = ErrorKind(
    "account_disabled", 40303, 403, Message("账号已停用", "Account disabled"), "log-in refused: the account is disabled"
)
ERRORS = (LOGIN_REFUSED, WECOM_REFUSED, REFRESH_REFUSED, ACCOUNT_DISABLED)
