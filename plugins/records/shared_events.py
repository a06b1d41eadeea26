"""Events between plugins that need not be loaded together: both use the same value, and neither imports the other.

Every plugin may emit them and listen for them, whatever other plugins are loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from handlers.events import Event
from handlers.schema.messages import Message

_Text = str | Message

NOTIFY = Event(
    "notification.send",
    user_ids=Iterable,
    kind=str,
    title=_Text,
    body=_Text | None,
    link=str | None,
    data=Mapping | None,
    key=str | None,
)
"""Puts a message into the inboxes of these users. A user gets at most one for each `key`."""

NOTIFY_PROGRESS = Event("notification.progress", user_ids=Iterable, kind=str, key=str, data=Mapping | None)
"""Replaces the progress that these users see under `key`; `data` None removes it."""

DATA_RESET = Event("system.data_reset", modules=Iterable)
"""All records of these plugins were removed."""

CONFIG_CHANGING = Event("system.config.changing", values=dict)
"""Options get these values, by their keys; a listener may refuse them."""

APPROVAL_REQUESTED = Event(
    "approval.requested",
    biz_type=str,
    resource_id=str,
    title=_Text,
    record=Mapping,
    own=Iterable,
    initiator_id=int | None,
)
"""Starts the approval of a record. The people `own` do not decide on it."""

APPROVAL_CANCELLED = Event("approval.cancelled", biz_type=str, resource_id=str, reason=str | None)
"""Ends the approval of a record that was decided, withdrawn or deleted at the record itself."""

APPROVAL_FINISHED = Event(
    "approval.finished",
    biz_type=str,
    resource_id=str,
    outcome=str,
    by=int | None,
    reason=str | None,
    instance_id=str | None,
)
"""How an approval ended: the outcome is `approved`, `rejected`, `returned` or `withdrawn`."""

PROTOCOLS = (
    APPROVAL_CANCELLED,
    APPROVAL_FINISHED,
    APPROVAL_REQUESTED,
    CONFIG_CHANGING,
    DATA_RESET,
    NOTIFY,
    NOTIFY_PROGRESS,
)
