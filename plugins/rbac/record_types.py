"""The types of the records of Access control. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class Department(TypedDict):
    """A record of `rbac_departments`."""

    id: int
    parent_id: int | None
    ancestors: list[int]
    name: str
    code: str | None
    leader_user_id: int | None
    sort: int
    status: Literal["enabled", "disabled"]
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Role(TypedDict):
    """A record of `rbac_roles`."""

    id: int
    code: str
    name: str
    data_scope: Literal["all", "department", "department_and_below", "self", "custom"]
    data_scope_department_ids: list[int]
    menu_ids: list[int]
    status: Literal["enabled", "disabled"]
    sort: int
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class MenuApi(TypedDict):
    """An object within `Menu`."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str


class Menu(TypedDict):
    """A record of `rbac_menus`."""

    id: int
    parent_id: int | None
    type: Literal["directory", "menu", "button", "link"]
    code: str
    name: str | None
    title: str
    title_en: str | None
    path: str | None
    component: str | None
    redirect: str | None
    icon: str | None
    order: int
    hidden: bool
    link: str | None
    permission: str | None
    apis: list[MenuApi]
    role_ids: list[int]
    withdrawn: bool
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    declared: NotRequired[object]
    edited: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class User(TypedDict):
    """A record of `rbac_users`."""

    id: int
    username: str
    password: NotRequired[str]
    real_name: str | None
    avatar: str | None
    email: str | None
    mobile: str | None
    department_id: int | None
    role_ids: list[int]
    status: Literal["enabled", "disabled"]
    is_super: bool
    must_change_password: bool
    home_path: str | None
    wecom_user_id: str | None
    locked_until: datetime | None
    last_login_at: datetime | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    service: NotRequired[object]
    password_hash: NotRequired[object]
    password_history: NotRequired[object]
    failures: NotRequired[object]
    failed_at: NotRequired[object]
    networks: NotRequired[object]
    network_locks: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ServiceKey(TypedDict):
    """A record of `rbac_service_keys`."""

    id: StoredId
    account_id: int
    name: str
    addresses: list[str]
    expires_at: datetime | None
    hint: str
    last_used_at: datetime | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    hash: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class HandedOver(TypedDict):
    """An object within `HandoverRecord`."""

    collection: str
    field: str
    count: int


class HandoverFailure(TypedDict):
    """An object within `HandoverRecord`."""

    collection: str
    resource_id: str
    zh: str
    en: str


class HandoverRecord(TypedDict):
    """A record of `rbac_handovers`."""

    id: StoredId
    user_id: int
    to_user_id: int
    status: Literal["running", "finished", "failed"]
    items: list[HandedOver]
    failures: list[HandoverFailure]
    finished_at: datetime | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    request_id: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
