"""The operation log: every write by a logged-in user, refused ones too, and every export.

Entries wait in a bounded queue and are written in batches, so no response waits for them. The first entry is written at
once; those that arrive while it is written, or within 10 ms, share the next command. An entry that does not fit into
the queue goes to the process log as a line of its own. Entries in the queue are written before the process ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bson import ObjectId

from config.database import DatabaseUnavailable, Driver
from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import THE_USERS, Collection
from handlers.data.index import Index
from handlers.schema.envelope import to_json
from handlers.schema.fields import anything, integer, number, text, timestamp
from handlers.schema.messages import Message
from handlers.tasks import end

log = logging.getLogger("tradewind.oplog")
_BATCH = 100  # encoding more at once would delay requests
_GATHER_SECONDS = 0.01  # after a batch, so that there are fewer; after 50 ms, other writes waited for the large ones
_RETRY_SECONDS = 1.0


def _exemptions(catalogue: Catalogue) -> Mapping[str, Message]:
    """Return what the rules say from which super administrators are exempt, by the names that entries have for them."""
    refusals = (one for route in catalogue.routes for one in route.refusals)
    return {one.exemption: one.message for one in refusals if one.exemption}


OPERATION_LOGS = Collection(
    name="core_operation_logs",
    title="OperationLog",
    noun=Message("操作日志", "operation log entry"),
    plain=True,
    default_sort="-at",
    fields={
        "at": timestamp(label=("操作时间", "Time"), nullable=False, sort=True, filter=True),
        "user_id": integer(label=("操作人", "User"), nullable=False, filter=True, ref=THE_USERS, on_delete="keep"),
        "username": text(label=("用户名", "Username"), nullable=False, filter=True),
        "permission": text(label=("权限标识", "Permission"), filter=True),
        "summary": text(label=("操作内容", "Summary")),
        "method": text(label=("请求方法", "Method"), nullable=False, filter=True),
        "path": text(label=("请求地址", "Path"), max_length=2000, nullable=False, filter=True),
        "route": text(label=("接口", "Route")),
        "status": integer(label=("HTTP 状态码", "HTTP status"), nullable=False, filter=True),
        "code": integer(label=("结果码", "Result code"), nullable=False, filter=True),
        "milliseconds": number(label=("耗时（毫秒）", "Duration (ms)"), nullable=False),
        "address": text(label=("IP 地址", "IP address"), nullable=False, filter=True),
        "user_agent": text(label=("客户端", "User agent")),
        "request_id": text(label=("请求编号", "Request ID"), nullable=False, filter=True),
        "resource_id": text(label=("记录 ID", "Record ID"), filter=True),
        "rows": integer(
            label=("行数", "Rows"),
            minimum=0,
            description="The rows that were exported or imported; for a handover, the records concerned.",
        ),
        "exemption": text(
            label=("豁免规则", "Exemption"),
            max_length=64,
            filter=True,
            example="own_request",
            labels=_exemptions,
            description="The rule from which a super administrator was exempt.",
        ),
        "body": anything(label=("请求内容", "Request body")),
    },
    indexes=(
        Index("-at", "-_id"),
        Index("user_id", "-at", "-_id"),
        Index("path", "-at", "-_id"),
        Index("code", "-at", "-_id"),
        # only a few entries in a million have one
        Index("exemption", where={"exemption": {"$type": "string"}}),
        *(
            Index(name)
            for name in ("username", "permission", "method", "status", "address", "request_id", "resource_id")
        ),
    ),
)


def expiring_after(days: int) -> Collection:
    """Return the collection of the operation log, whose entries expire after `days`."""
    return replace(OPERATION_LOGS, indexes=(*OPERATION_LOGS.indexes, Index("at", expire_seconds=days * 86_400)))


class OperationLog:
    """The queue of the operation log, and its writer."""

    def __init__(self, driver: Driver, collection: Collection, limit: int) -> None:
        self._driver = driver
        self._collection = collection
        self._limit = limit
        self._waiting: deque[dict[str, Any]] = deque()
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def record(self, entry: dict[str, Any]) -> None:
        """Add an entry to the queue. Never waits, never raises."""
        if len(self._waiting) >= self._limit:
            log.error("operation log queue is full", extra={"entry": to_json(entry).decode()})
            return
        self._waiting.append({"_id": ObjectId(), **entry})
        self._arrived.set()

    @property
    def waiting(self) -> int:
        """The number of entries that are not yet written."""
        return len(self._waiting)

    def start(self) -> None:
        """Start to write entries in the background."""
        self._task = asyncio.create_task(self._run(), name="operation-log")

    async def stop(self) -> None:
        """Write the entries in the queue, then stop."""
        if self._task:
            await end([self._task])
        try:
            while self._waiting:
                await self._write()
        except DatabaseUnavailable:
            for entry in self._waiting:
                log.error("operation log entry not stored", extra={"entry": to_json(entry).decode()})

    async def _run(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            try:
                while self._waiting:
                    await self._write()
                    if len(self._waiting) < _BATCH:
                        await asyncio.sleep(_GATHER_SECONDS)
            except Exception:
                log.warning("operation log waits for the database", extra={"waiting": self.waiting})
                await asyncio.sleep(_RETRY_SECONDS)
                self._arrived.set()

    async def _write(self) -> None:
        batch = [self._waiting[i] for i in range(min(_BATCH, len(self._waiting)))]
        # only missing entries are inserted, so that a batch that is retried after a time-out is stored once
        try:
            await self._driver.insert_missing(self._collection.name, batch)
        except DatabaseUnavailable:
            raise
        except Exception:
            await self._write_one_by_one(batch)
        for _ in batch:
            self._waiting.popleft()

    async def _write_one_by_one(self, batch: Sequence[dict[str, Any]]) -> None:
        """Write each entry separately; one that the database refuses goes to the process log and stops no others."""
        for entry in batch:
            try:
                await self._driver.insert_missing(self._collection.name, [entry])
            except DatabaseUnavailable:
                raise
            except Exception:
                log.exception("operation log entry not stored", extra={"entry": repr(entry)})
