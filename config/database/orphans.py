"""Transactions that nobody will end, because their process was killed: what they changed is blocked for everybody else
until `transactionLifetimeLimitSeconds` are over.

MongoDB knows them: the transaction is open, nothing of it is being executed, and the connection that spoke last for it
is closed. Should a process that lives have lost just that connection, its transaction runs again, as after any conflict.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from config.database.commands import Document

APP_NAME = "tradewind"
_IDLE_MICROSECONDS = 200_000  # between two statements of a healthy transaction there is less
_BATCH = 1000
_SUSPECTS: list[Mapping[str, Any]] = [
    # no more than one's own user sees, which takes no privilege
    {"$currentOp": {"allUsers": False, "idleSessions": True}},
    {
        "$match": {
            "type": "idleSession",
            "appName": APP_NAME,
            "connectionId": {"$exists": True},
            "transaction.timeInactiveMicros": {"$gt": _IDLE_MICROSECONDS},
        }
    },
    {"$project": {"connectionId": 1, "lsid": 1}},
]
AdminCommand = Callable[[Mapping[str, Any]], Awaitable[Document]]


async def end_orphans(run: AdminCommand) -> int:
    """End every such transaction of this user; how many there were. `run` executes a command on the database `admin`."""
    suspects = await _rows(run, _SUSPECTS)
    if not suspects:
        return 0
    connections = [suspect["connectionId"] for suspect in suspects]
    open_ones = await _rows(
        run,
        [
            {"$currentOp": {"allUsers": False, "idleConnections": True, "idleSessions": False}},
            {"$match": {"connectionId": {"$in": connections}}},
            {"$group": {"_id": "$connectionId"}},
        ],
    )
    living = {row["_id"] for row in open_ones}
    orphans = [{"id": suspect["lsid"]["id"]} for suspect in suspects if suspect["connectionId"] not in living]
    if orphans:
        await run({"killSessions": orphans})
    return len(orphans)


async def _rows(run: AdminCommand, pipeline: list[Mapping[str, Any]]) -> list[Document]:
    answer = await run({"aggregate": 1, "pipeline": pipeline, "cursor": {"batchSize": _BATCH}})
    rows: list[Document] = answer["cursor"]["firstBatch"]
    return rows
