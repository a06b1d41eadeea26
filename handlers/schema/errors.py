"""The error catalogue: every error is a value, raised by name and turned into a response in one place.

The table in docs/reference/errors.md is generated from here. A plugin declares its own `ErrorKind` values, each with a free code of
five digits; those of plugins outside of this repository begin with 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field as attribute

from handlers.schema.fields import NOTHING, Field, array, integer, obj, text
from handlers.schema.messages import Message


@dataclass(frozen=True)
class ErrorKind:
    """One row of the catalogue: `name`, the `code` of the envelope, the HTTP `status`, and the `message`.

    `when` says in which cases it is raised, for the documentation. `data` is the shape of the envelope's `data`; if it
    is nullable, a response has the required ones of its fields and those that apply.
    """

    name: str
    code: int
    status: int
    message: Message
    when: str = ""
    data: Field = NOTHING


class ApiError(Exception):
    """An error that becomes a response.

    `reason` is a more specific message than that of the kind; `data` goes into the envelope; `headers` are added to the
    response.
    """

    def __init__(
        self,
        kind: ErrorKind,
        reason: Message | None = None,
        *,
        data: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(kind.name)
        self.kind = kind
        self.reason = reason or kind.message
        self.data = data
        self.headers = {**_challenge(kind), **(headers or {})}

    @property
    def expected(self) -> bool:
        """Whether the client is at fault rather than the service."""
        return self.kind.status < 500


def _challenge(kind: ErrorKind) -> dict[str, str]:
    """Return the challenge that every 401 carries (RFC 9110 section 15.5.2, RFC 6750 section 3)."""
    if kind.status != 401:
        return {}
    return {"WWW-Authenticate": "Bearer" if kind is UNAUTHENTICATED else 'Bearer error="invalid_token"'}


@dataclass(frozen=True)
class FieldError:
    """A field at fault: `field` is a path such as `items[2].quantity`, `rule` a key of `messages.RULES`, whose
    sentence `message` replaces.
    """

    field: str
    rule: str
    message: Message | None = attribute(default=None, compare=False)


class ValidationFailed(ApiError):
    """A 40001 that names every field at fault; `reason` is the message of the response, if there is more to say."""

    def __init__(self, errors: Sequence[FieldError], reason: Message | None = None) -> None:
        super().__init__(INVALID, reason)
        self.errors = list(errors)


class MissingPermission(ApiError):
    """A 40300 because the permission code `permission` is missing; `missing` names it as menus and buttons do.

    `reason` is the message of the response, if the rule that refuses has its own.
    """

    def __init__(self, permission: str, missing: Message, reason: Message | None = None) -> None:
        super().__init__(FORBIDDEN, reason)
        self.permission = permission
        self.missing = missing


def invalid(field: str, rule: str) -> ValidationFailed:
    """Return the 40001 for one field."""
    return ValidationFailed([FieldError(field, rule)])


def unavailable(retry_after: int = 2, reason: Message | None = None) -> ApiError:
    """Return the 50300 for a back end that is unavailable; the client may retry after `retry_after` seconds."""
    return ApiError(UNAVAILABLE, reason, headers={"Retry-After": str(retry_after)})


def _kind(name: str, code: int, status: int, zh: str, en: str, when: str, data: Field = NOTHING) -> ErrorKind:
    return ErrorKind(name, code, status, Message(zh, en), when, data)


_FAULT = obj("FieldError", {name: text(nullable=False) for name in ("field", "rule", "message")}, nullable=False)
MAX_FAULTS = 100
_FAULTS = obj(None, {"errors": array(_FAULT, max_items=MAX_FAULTS, nullable=False)}, nullable=False)
_TAKEN = obj(None, {"field": text(nullable=False)}, nullable=False)
_REFUSED = obj(
    "Refused",
    {
        "permission": text(
            example="acme:agreement:export",
            description="The permission code that is missing; null if no permission would help, as with other "
            "people's records.",
        ),
        "reason": text(
            nullable=False,
            example="Missing permission: export agreements",
            description="What is missing, as menus and buttons call it, in the caller's language.",
        ),
    },
    nullable=False,
)
_HOLDER = obj(
    None,
    {
        "collection": text(required=True, nullable=False),
        "field": text(nullable=False),
        "count": integer(required=True, nullable=False),
    },
    nullable=False,
)
# null, or the fields that apply
_OBSTACLE = obj(
    None,
    {
        "held_by": array(_HOLDER, nullable=False, description="What refers to the record, or what the person holds."),
        "open": text(nullable=False, description="The amount or quantity that is left, if the request asked for more."),
        "field": text(nullable=False, description="The field that asks for more than is left."),
    },
)
_STALE = obj(
    "Stale",
    {
        "version": integer(minimum=1, nullable=False, description="The current version."),
        "changed": array(
            text(nullable=False),
            max_items=1000,
            description="The fields that changed since the version that was sent, as far as the caller may read them; "
            "null if that is not known.",
        ),
    },
)
_TRACE = obj(None, {"request_id": text(nullable=False)}, nullable=False)


BAD_REQUEST = _kind(
    "bad_request",
    40000,
    400,
    "请求格式错误",
    "Malformed request",
    "malformed request: invalid JSON, header or encoding",
)
INVALID = _kind(
    "invalid",
    40001,
    400,
    "参数校验失败",
    "Validation failed",
    "validation failed; `data.errors` names every field",
    _FAULTS,
)
UNAUTHENTICATED = _kind(
    "unauthenticated",
    40100,
    401,
    "请先登录",
    "Log in first",
    "no token, an invalid one, or one whose session has ended",
)
TOKEN_EXPIRED = _kind(
    "token_expired",
    40101,
    401,
    "登录已过期",
    "Access token expired",
    "access token expired: refresh it and repeat the request",
)
FORBIDDEN = _kind(
    "forbidden",
    40300,
    403,
    "没有权限",
    "Permission denied",
    "no role grants a menu with this API, or a grant exceeds the caller's own rights; `data` says what is missing",
    _REFUSED,
)
PASSWORD_CHANGE_REQUIRED = _kind(
    "password_change_required",
    40301,
    403,
    "请先修改密码",
    "Change your password first",
    "the password must be changed first",
)
SUPER_ONLY = _kind(
    "super_only",
    40302,
    403,
    "仅超级管理员可操作",
    "Only super administrators may do this",
    "for super administrators only; `data` says why",
    _REFUSED,
)
NOT_FOUND = _kind(
    "not_found", 40400, 404, "资源不存在", "Not found", "no such path or record, or one outside the caller's data scope"
)
METHOD_NOT_ALLOWED = _kind(
    "method_not_allowed",
    40500,
    405,
    "不支持该请求方法",
    "Method not allowed",
    "method not allowed at this path; see `Allow`",
)
REQUEST_TIMEOUT = _kind(
    "request_timeout", 40800, 408, "请求超时", "Request timed out", "the request did not arrive within the time limit"
)
DUPLICATE = _kind(
    "duplicate",
    40900,
    409,
    "数据重复",
    "Already exists",
    "a unique value is already taken; `data.field` names the field",
    _TAKEN,
)
CONFLICT = _kind(
    "conflict",
    40901,
    409,
    "数据正被使用，或当前状态不允许该操作",
    "In use, or not allowed in this state",
    "in use, or its state forbids it; `data` may say what holds it, or how much is open",
    _OBSTACLE,
)
STALE = _kind(
    "stale",
    40902,
    409,
    "数据已被他人修改，请刷新后重试",
    "Changed by someone else; reload and try again",
    "the `version` sent is not the current one; `data` has that one, and what changed since, or is null",
    _STALE,
)
IDEMPOTENCY_REUSED = _kind(
    "idempotency_reused",
    40903,
    409,
    "幂等键已用于其他请求",
    "Idempotency key already used for another request",
    "idempotency key reused for another request",
)
TOO_LARGE = _kind("too_large", 41300, 413, "请求体过大", "Request body too large", "body or file too large")
MEDIA_TYPE = _kind(
    "media_type", 41500, 415, "不支持的内容类型", "Media type not accepted", "media type or file type not accepted"
)
RANGE = _kind("range", 41600, 416, "请求范围无效", "Range not satisfiable", "range not satisfiable")
LOCKED = _kind(
    "locked",
    42300,
    423,
    "账号已锁定，请稍后再试",
    "Account locked; try again later",
    "locked after repeated failed log-ins; see `Retry-After`",
)
RATE_LIMITED = _kind(
    "rate_limited", 42900, 429, "请求过于频繁", "Too many requests", "rate limit exceeded; see `Retry-After`"
)
HEADERS_TOO_LARGE = _kind(
    "headers_too_large", 43100, 431, "请求头过大", "Header block too large", "header block too large"
)
INTERNAL = _kind(
    "internal",
    50000,
    500,
    "服务器内部错误",
    "Internal error",
    "a fault of the service; report it with the request ID",
    _TRACE,
)
UNAVAILABLE = _kind(
    "unavailable",
    50300,
    503,
    "服务暂不可用，请稍后重试",
    "Service unavailable; try again later",
    "database or file storage out of reach, or the service is overloaded or stopping",
)

CORE_ERRORS: tuple[ErrorKind, ...] = tuple(value for value in list(globals().values()) if isinstance(value, ErrorKind))
