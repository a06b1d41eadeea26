"""The records of auth, and the bodies of its requests. A session is one document that holds hashes of its tokens."""

from __future__ import annotations

from plugins.api import Collection, Index, Message, boolean, choice, integer, shape, text, timestamp
from plugins.rbac.api import MAX_PASSWORD, USERS, new_password

SESSIONS = Collection(
    name="auth_sessions",
    title="Session",
    noun=Message("会话", "session"),
    plain=True,
    ids="text",
    watched=True,
    default_sort="-last_seen_at",
    fields={
        "user_id": integer(label=("用户", "User"), nullable=False, filter=True, ref="users", on_delete="keep"),
        "username": text(label=("用户名", "Username"), nullable=False),
        "address": text(label=("IP 地址", "IP address"), nullable=False),
        "user_agent": text(label=("客户端", "User agent")),
        "created_at": timestamp(label=("登录时间", "Logged in at"), nullable=False, sort=True),
        "last_seen_at": timestamp(
            label=("最后活动时间", "Last seen at"), nullable=False, sort=True, description="Accurate to the minute."
        ),
        "expires_at": timestamp(label=("过期时间", "Expires at"), nullable=False),
    },
    indexes=(
        Index("user_id", "-last_seen_at"),
        Index("-last_seen_at", "-id"),
        Index("expires_at", expire_seconds=86_400),
    ),
    internal=("current_hash", "previous_hash", "rotated_at", "ended_at", "end_reason"),
)

OWN_SESSION = shape(
    "OwnSession",
    **SESSIONS.all_fields,
    current=boolean(nullable=False, description="Whether it is the session of this request."),
)

LOGIN_LOGS = Collection(
    name="auth_login_logs",
    title="LoginLog",
    noun=Message("登录日志", "login log entry"),
    plain=True,
    default_sort="-at",
    fields={
        "at": timestamp(label=("时间", "Time"), nullable=False, sort=True, filter=True),
        "event": choice(
            "login",
            "logout",
            "lockout",
            "token_reuse",
            "kicked_out",
            "password_change",
            label=("事件", "Event"),
            nullable=False,
            filter=True,
        ),
        "username": text(
            label=("用户名", "Username"),
            nullable=False,
            filter=True,
            description="Masked if no user has this name; a filter by the name still finds the entry.",
        ),
        "user_id": integer(label=("用户", "User"), filter=True, ref="users", on_delete="keep"),
        "code": integer(label=("结果码", "Result code"), nullable=False, filter=True),
        "address": text(label=("IP 地址", "IP address"), nullable=False, filter=True),
        "user_agent": text(label=("客户端", "User agent")),
        "request_id": text(label=("请求编号", "Request ID"), nullable=False),
        "session_id": text(label=("会话", "Session")),
    },
    indexes=(
        Index("-at", "-id"),
        Index("user_id", "-at", "-id"),
        Index("username", "-at", "-id"),
        Index("event"),
        Index("code"),
        Index("address"),
        Index("at", expire_seconds=180 * 86_400),
    ),
)

# one document for each address and minute, so that the count includes all instances
LOGIN_ATTEMPTS = Collection(
    name="auth_login_attempts",
    title="LoginAttempts",
    plain=True,
    ids="text",
    default_sort="-expires_at",
    fields={"expires_at": timestamp(nullable=False, sort=True)},
    indexes=(Index("expires_at", expire_seconds=0),),
    internal=("count",),
)

# unknown names, stored as keyed hashes for as long as a failed log-in counts or a lock lasts
UNKNOWN_NAMES = Collection(
    name="auth_unknown_names",
    title="UnknownName",
    plain=True,
    ids="text",
    default_sort="-expires_at",
    fields={"expires_at": timestamp(nullable=False, sort=True), "locked_until": timestamp()},
    indexes=(Index("expires_at", expire_seconds=0),),
    internal=("failures", "failed_at"),
)

LOGIN_BODY = shape(
    "LoginBody",
    username=text(required=True, max_length=64, example="admin"),
    password=text(required=True, max_length=MAX_PASSWORD, secret=True, example="the password"),
)
REFRESH_BODY = shape(
    "RefreshBody",
    refreshToken=text(max_length=4096, secret=True, example="eyJ…"),
    refresh_token=text(max_length=4096, secret=True, description="The same under its other name."),
)
PASSWORD_BODY = shape(
    "ChangePasswordBody",
    old_password=text(required=True, max_length=MAX_PASSWORD, secret=True),
    new_password=new_password(),
)
PROFILE_BODY = shape(
    "ProfileBody",
    real_name=text(max_length=100),
    email=text(max_length=200, format="idn-email"),
    mobile=text(max_length=20, pattern=r"^\+?[0-9 -]{5,20}$"),
    avatar=USERS.all_fields["avatar"],
)
