"""Messages of the plugin auth, in Chinese and English."""

from plugins.api import Message

WECOM_OFF = Message("本系统未配置企业微信登录", "WeCom log-in is not configured on this service")
WECOM_STATE_REFUSED = Message(
    "登录二维码已失效或已使用，请重新扫码", "The log-in state is unknown, used or expired; scan again"
)
WECOM_STATE_ELSEWHERE = Message(
    "登录不是在当前浏览器或会话中发起的，请在此重新扫码",
    "The log-in was begun in another browser or session; begin it here and scan again",
)
WECOM_CODE_REFUSED = Message(
    "企业微信授权码无效或已使用，请重新扫码", "WeCom refuses the code as wrong, used or expired; scan again"
)
WECOM_OUTSIDER = Message("您不是本企业成员，无法登录", "You are not a member of this corporation")
WECOM_NO_ACCOUNT = Message(
    "该企业微信账号未绑定系统用户，请联系管理员", "No user is bound to this WeCom account; ask an administrator"
)
WECOM_NO_ROLE = Message(
    "新用户的默认角色不存在或已停用，请联系管理员",
    "A default role of new users is missing or disabled; ask an administrator",
)
WECOM_BOUND_BY_ANOTHER = Message("该企业微信账号已绑定其他用户", "Another user is bound to this WeCom account")

# shown by GET /api/v1/system/authorization/explain
NO_SESSION = Message(
    "没有该会话，或已结束，或其用户不在您的数据范围内",
    "There is no such session, or it ended, or its user lies outside your data scope",
)
NOT_YOUR_SESSION = Message("没有该会话，或已结束，或不是您的", "There is no such session, or it ended, or is not yours")
PASSWORD_CHANGED = Message("密码在此期间已被更改", "The password was changed meanwhile")
