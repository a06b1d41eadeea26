"""The types of the records of Log-in. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class Session(TypedDict):
    """A record of `auth_sessions`."""

    id: str
    user_id: int
    username: str
    address: str
    user_agent: str | None
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    current_hash: NotRequired[object]
    previous_hash: NotRequired[object]
    rotated_at: NotRequired[object]
    ended_at: NotRequired[object]
    end_reason: NotRequired[object]


class LoginLog(TypedDict):
    """A record of `auth_login_logs`."""

    id: StoredId
    at: datetime
    event: Literal["login", "logout", "lockout", "token_reuse", "kicked_out", "password_change"]
    username: str
    user_id: int | None
    code: int
    address: str
    user_agent: str | None
    request_id: str
    session_id: str | None


class LoginAttempts(TypedDict):
    """A record of `auth_login_attempts`."""

    id: str
    expires_at: datetime
    count: NotRequired[object]


class UnknownName(TypedDict):
    """A record of `auth_unknown_names`."""

    id: str
    expires_at: datetime
    locked_until: datetime | None
    failures: NotRequired[object]
    failed_at: NotRequired[object]


class WecomState(TypedDict):
    """A record of `auth_wecom_states`."""

    id: str
    expires_at: datetime
    used_at: datetime | None
    session_id: NotRequired[object]
    browser: NotRequired[object]


class WecomToken(TypedDict):
    """A record of `auth_wecom_tokens`."""

    id: str
    expires_at: datetime
    encrypted: NotRequired[object]


class WecomDepartment(TypedDict):
    """A record of `auth_wecom_departments`."""

    id: str
    department_id: int
