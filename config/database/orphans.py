"""Ends the transactions of processes that were killed, as nobody else ends them.

Such a transaction blocks the documents that it changed until `transactionLifetimeLimitSeconds` are over. MongoDB can
identify it: the transaction is open, no statement of it is running, and its last connection is closed. A live process
that merely lost that connection runs its transaction again, as after any write conflict.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from bson.binary import UUID_SUBTYPE, Binary

from config.database.commands import APP_NAME, Document
from config.database.operations import Operations

_IDLE_MICROSECONDS = 200_000  # two statements of a healthy transaction are closer together
_BATCH = 1000
_SUSPECTS: list[Mapping[str, Any]] = [
    # sees the sessions of its own user only, which needs no privilege
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
    """End every orphaned transaction of this user; return how many there were. `run` executes a command on `admin`."""
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


async def kill_sessions(
    call: Callable[[Awaitable[Document]], Awaitable[Document]],
    run: AdminCommand,
    operations: Operations,
    ids: Sequence[bytes],
) -> None:
    """End the sessions with these ids, and the transactions that are open in them; `call` awaits what `run` returns."""
    with operations():
        await call(run({"killSessions": [{"id": Binary(id, UUID_SUBTYPE)} for id in ids]}))


async def _rows(run: AdminCommand, pipeline: list[Mapping[str, Any]]) -> list[Document]:
    reply = await run({"aggregate": 1, "pipeline": pipeline, "cursor": {"batchSize": _BATCH}})
    rows: list[Document] = reply["cursor"]["firstBatch"]
    return rows
