"""The types of the records of Printing. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class PrintTemplate(TypedDict):
    """A record of `print_templates`."""

    id: StoredId
    name: str
    paper: str
    language: Literal["zh", "en"]
    preferred: bool
    source: str
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
