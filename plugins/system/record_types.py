"""The types of the records of System. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class DictionaryItem(TypedDict):
    """An object within `Dictionary`."""

    value: str
    label: str
    color: NotRequired[str | None]
    sort: int
    status: Literal["enabled", "disabled"]


class Dictionary(TypedDict):
    """A record of `system_dictionaries`."""

    id: int
    type: str
    name: str
    items: list[DictionaryItem]
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    name_en: NotRequired[object]
    declared: NotRequired[object]
    edited: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class StoredConfig(TypedDict):
    """A record of `system_configs`."""

    id: str
    value: object
    changed: bool
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ViewAudience(TypedDict):
    """An object within `SavedView`."""

    all: bool
    departments: NotRequired[list[int] | None]
    roles: NotRequired[list[int] | None]
    users: NotRequired[list[int] | None]


class SavedView(TypedDict):
    """A record of `system_saved_views`."""

    id: StoredId
    list: str
    name: str
    filters: object
    sort: str | None
    columns: list[str] | None
    shared_with: ViewAudience | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
