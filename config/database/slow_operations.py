"""Reports slow operations: their commands without any value, and MongoDB's plans for them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from config.database.commands import Document

log = logging.getLogger("tradewind.database")
SLOW_SECONDS = 1.0
_EXPLAINED_EVERY = 600.0  # seconds between two plans of one shape, because making one takes time too
_MOST_SHAPES = 200
_DEPTH, _NAMES = 4, 30
_EXPLAINABLE = frozenset({"find", "aggregate", "count"})
_LEFT_OUT = frozenset({"maxTimeMS", "readConcern", "writeConcern", "batchSize", "cursor"})
Send = Callable[[Mapping[str, Any]], Awaitable[Document]]


class SlowOperations:
    """Counts and logs the slow operations of a driver; `send` asks the driver for their plans."""

    def __init__(self, send: Send) -> None:
        self.count = 0
        self._send = send
        self._explained: dict[str, float] = {}
        self._running: set[asyncio.Task[None]] = set()

    def note(self, command: Mapping[str, Any], seconds: float) -> None:
        """Log a command that took `seconds`; its plan follows, at most once in ten minutes for each shape."""
        self.count += 1
        name = next(iter(command))
        shape = shape_of(command)
        details = {"command": name, "collection": str(command[name]), "shape": shape, "seconds": round(seconds, 2)}
        log.warning("slow database operation", extra=details)
        now = time.monotonic()
        if name not in _EXPLAINABLE or now - self._explained.get(shape, -_EXPLAINED_EVERY) < _EXPLAINED_EVERY:
            return
        if len(self._explained) >= _MOST_SHAPES:
            self._explained.clear()
        self._explained[shape] = now
        task = asyncio.create_task(self._explain(command, details))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _explain(self, command: Mapping[str, Any], details: Mapping[str, Any]) -> None:
        asked = {name: value for name, value in command.items() if name not in _LEFT_OUT - {"cursor"}}
        try:
            reply = await self._send({"explain": asked, "verbosity": "queryPlanner", "maxTimeMS": 1000})
        except Exception as error:
            log.info("no plan of a slow database operation", extra={"reason": str(error)[:200]})
            return
        plan = summary_of(reply)
        log.warning("plan of a slow database operation", extra={**details, "plan": plan})


def shape_of(command: Mapping[str, Any]) -> str:
    """Return the names in a command without values: `find things filter{deleted,owner_id{$in}} limit sort{_id}`."""
    name = next(iter(command))
    given = {key: value for key, value in command.items() if key != name and key not in _LEFT_OUT}
    return " ".join((name, str(command[name]), *(f"{key}{_shape(value, _DEPTH)}" for key, value in given.items())))


def _shape(value: object, depth: int) -> str:
    if depth and isinstance(value, Mapping):
        names = list(value)[:_NAMES]
        return "{" + ",".join(f"{name}{_shape(value[name], depth - 1)}" for name in names) + "}"
    if depth and isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        inner = [_shape(one, depth - 1) for one in value[:_NAMES] if isinstance(one, Mapping)]
        return f"[{','.join(inner)}]" if inner else ""
    return ""


def summary_of(reply: Mapping[str, Any]) -> str:
    """Return the stages of a plan with their indexes, as in MongoDB's log: `FETCH < IXSCAN owner_1`."""
    stages: list[str] = []
    waiting: list[object] = [reply]
    while waiting and len(stages) < _NAMES:
        part = waiting.pop(0)
        if isinstance(part, Mapping):
            if isinstance(part.get("stage"), str):
                stages.append(" ".join(filter(None, (part["stage"], part.get("indexName")))))
            keys = ("winningPlan", "queryPlanner", "queryPlan", "inputStage", "inputStages", "stages", "$cursor")
            waiting = [part[key] for key in keys if key in part] + waiting
        elif isinstance(part, list):
            waiting = [*part, *waiting]
    return " < ".join(stages)
