"""The types of the records of Files. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class StoredFile(TypedDict):
    """A record of `files_objects`."""

    id: str
    visibility: Literal["public", "private"]
    name: str
    size: int
    content_type: str
    sha256: str | None
    etag: str | None
    uploader_id: int
    uploader_name: str | None
    attached: bool
    state: Literal["arriving", "expected", "stored", "leaving"]
    writer: str | None
    created_at: datetime


class Uploader(TypedDict):
    """An object within `AttachmentRecord`."""

    id: int
    name: NotRequired[str | None]


class AttachmentRecord(TypedDict):
    """A record of `files_attachments`."""

    id: StoredId
    biz_type: str
    resource_id: str
    file_name: str
    object_key: str
    url: str | None
    visibility: Literal["public", "private"]
    size: int
    content_type: str
    uploader: Uploader
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    kept: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
