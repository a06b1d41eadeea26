"""The barrier: a linearizable read, after which a primary has everything that was acknowledged before.

A new primary knows what a majority has of its predecessor only once a majority has its own first entry; until then a
read with `readConcern: majority` may miss an acknowledged write. And a primary that was frozen continues for a moment
although another one has been elected. A linearizable read commits an entry of its own, so it waits in the first case
and fails in the second: https://www.mongodb.com/docs/manual/reference/read-concern-linearizable/
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import TypeVar

from bson import ObjectId
from pymongo.errors import OperationFailure
from pymongo.server_type import SERVER_TYPE
from pymongo.topology_description import TopologyDescription

from config.database.commands import Document
from config.database.errors import AWAY_CODES
from config.database.transactions import SESSION

Result = TypeVar("Result")

log = logging.getLogger("tradewind.database")
_NOWHERE = "core_barrier"  # the collection need not exist: the server waits all the same


def barrier_command() -> Document:
    """Return the linearizable read; it needs a time limit, as it waits for a majority."""
    return {"find": _NOWHERE, "filter": {"_id": 0}, "limit": 1, "readConcern": {"level": "linearizable"}}


class Elections:
    """The election that a library's primary has won, and the latest one whose winner has passed the barrier.

    If there is no election, as with a router of a sharded cluster, there is nothing to wait for.
    """

    def __init__(self, describe: Callable[[], TopologyDescription] | None = None) -> None:
        self._describe = describe
        self._description: TopologyDescription | None = None
        self._current: ObjectId | None = None
        self._addresses: tuple[tuple[str, int], ...] = ()
        self.passed: ObjectId | None = None

    def current(self) -> ObjectId | None:
        """Return the election of the library's primary, or the previous one while there is no primary."""
        if self._describe is None:
            return None
        description = self._describe()
        if description is not self._description:
            self._description = description
            servers = description.server_descriptions().values()
            primaries = [server for server in servers if server.server_type == SERVER_TYPE.RSPrimary]
            self._addresses = tuple((host, port) for host, port in (each.address for each in primaries) if port)
            if primaries and primaries[0].election_id != self._current:
                self._current = primaries[0].election_id
        return self._current

    def addresses(self) -> tuple[tuple[str, int], ...]:
        """Return the address of the library's primary; empty while there is none."""
        self.current()
        return self._addresses

    def replica_set(self) -> str | None:
        """Return the name of the replica set, as the address or the primary states it; None if neither does."""
        return None if self._describe is None else self._describe().replica_set_name

    def is_passed(self) -> bool:
        """Return whether the library may read from its primary."""
        current = self.current()
        return current is None or current == self.passed

    def note_passed(self, election: ObjectId | None) -> None:
        """Note that the winner of an election has passed the barrier."""
        if is_newer(election, self.passed):
            self.passed = election


class Barrier:
    """The barrier of a library: all callers that wait for it share one read, which `send` performs."""

    def __init__(self, elections: Elections, send: Callable[[], Awaitable[object]]) -> None:
        self._elections = elections
        self._send = send
        self._running: asyncio.Task[None] | None = None

    async def wait(self) -> None:
        """Return once the primary has passed the barrier. Raises the errors of `send`; the caller limits the time."""
        while not self._elections.is_passed():
            if self._running is None:
                # without the time limit of the request that happens to come first
                self._running = asyncio.get_running_loop().create_task(self._run(), context=Context())
                self._running.add_done_callback(self._end)
            await asyncio.shield(self._running)

    async def read(self, read: Callable[[], Awaitable[Result]]) -> Result:
        """Return the result of a read, repeated if it came from a primary that had not passed the barrier yet.

        While there is no primary, the library waits, and reads from the new one at once.
        """
        while True:
            result = await read()
            if SESSION.get() is not None or self._elections.is_passed():
                return result
            await self.wait()

    async def _run(self) -> None:
        election = self._elections.current()
        try:
            await self._send()
        except OperationFailure as error:
            if error.code in AWAY_CODES:
                raise
            note_refusal(error)
        if self._elections.current() == election:  # otherwise it is unknown which of the two primaries replied
            self._elections.note_passed(election)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._running = None
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log an error without a caller


def is_newer(election: ObjectId | None, than: ObjectId | None) -> bool:
    """Return whether `election` came after `than`; the ids begin with the term."""
    return election is not None and (than is None or election > than)


def note_refusal(reason: object) -> None:
    """Log that a server does not support linearizable reads or refuses them; it is then read without the barrier."""
    log.warning("no linearizable read", extra={"reason": str(reason)[:200]})
