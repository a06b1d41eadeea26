"""Errors and messages of log-ins."""

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


WECOM_OFF = Message("本系统未配置企业微信登录", "WeCom log-in is not configured on this service")
WECOM_STATE_REFUSED = Message(
    "登录二维码已失效或已使用，请重新扫码", "The QR code has expired or was already used; scan again"
)
WECOM_STATE_ELSEWHERE = Message(
    "本次登录不是在当前浏览器或会话中发起的，请在此重新扫码",
    "The log-in was started in another browser or session; scan again here",
)
WECOM_CODE_REFUSED = Message(
    "企业微信授权码无效或已使用，请重新扫码", "The WeCom authorization code is invalid or was already used; scan again"
)
WECOM_OUTSIDER = Message("您不是本企业成员，无法登录", "You are not a member of this company, so you cannot log in")
WECOM_NO_ACCOUNT = Message(
    "该企业微信账号未绑定系统用户，请联系管理员", "This WeCom account is not linked to a user; ask an administrator"
)
WECOM_NO_ROLE = Message(
    "新用户的默认角色不存在或已停用，请联系管理员",
    "The default role of new users does not exist or is disabled; ask an administrator",
)
WECOM_BY_SUPER = Message("只有超级管理员可以同步企业微信通讯录", "Only super administrators take over the directory")
WECOM_NO_DIRECTORY = Message(
    "应用看不到任何部门，请在企业微信后台设置应用的可见范围",
    "The application sees no department; set what it may see in WeCom's administration",
)
WECOM_TOO_LARGE = Message(
    "通讯录过大，最多 500 个部门、2000 人", "The directory is too large: at most 500 departments and 2,000 people"
)
WECOM_BOUND_BY_ANOTHER = Message("该企业微信账号已绑定其他用户", "This WeCom account is already linked to another user")

# shown by GET /api/v1/system/authorization/explain
NO_SESSION = Message(
    "会话不存在或已结束，或其用户不在您的数据范围内",
    "The session does not exist or has ended, or its user is outside your data scope",
)
NOT_YOUR_SESSION = Message("会话不存在、已结束，或不属于您", "The session does not exist, has ended, or is not yours")
PASSWORD_CHANGED = Message("密码在此期间已被修改", "The password was changed in the meantime")
FOR_PEOPLE = Message("服务账号不能使用该功能", "Service accounts may not use this")
