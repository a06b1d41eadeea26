"""Transactions over the wire protocol: the sessions in which they run, and the fields that make a command part of one.

https://github.com/mongodb/specifications/blob/master/source/transactions/transactions.md
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bson import Binary, Int64
from pymongo.errors import AutoReconnect, OperationFailure, PyMongoError

from config.database.commands import Document, has_failed
from config.database.direct.wire import NotSent, WirePool
from config.database.operations import MARGIN_SECONDS, SILENT_CODES
from config.database.replies import failure
from config.time_limits import OwnLimit

_MOST_IDLE_SECONDS = 1200.0  # the server forgets a session after 1800
_ABORT_SECONDS = 2.0
_TRANSIENT = {"errorLabels": ["TransientTransactionError"]}
_UNKNOWN = {"errorLabels": ["UnknownTransactionCommitResult"]}
_OF_THE_TRANSACTION = frozenset({"readConcern", "writeConcern"})  # only its first and last command have them


@dataclass
class _ServerSession:
    """A session as the server knows it: its id, and the number of the last transaction in it."""

    id: Binary
    number: int = 0
    idle_since: float = 0.0


class WireSessions:
    """Opens sessions on `wire`; those that ended are used again. `find_primary` returns once there is a primary."""

    def __init__(self, wire: WirePool, find_primary: Callable[[], Awaitable[object]], timeout_ms: int) -> None:
        self.timeout_ms = timeout_ms
        self._wire = wire
        self._find_primary = find_primary
        self._idle: list[_ServerSession] = []

    async def open(self) -> WireSession:
        """Open a session. The server learns of it from its first command."""
        while self._idle:
            found = self._idle.pop()
            if time.monotonic() - found.idle_since < _MOST_IDLE_SECONDS:
                return WireSession(self, found)
        return WireSession(self, _ServerSession(Binary.from_uuid(uuid.uuid4())))

    def put_back(self, session: _ServerSession) -> None:
        """Let a later transaction use a session in which every command had a reply."""
        session.idle_since = time.monotonic()
        self._idle.append(session)

    async def send(self, command: Mapping[str, Any], documents: Sequence[bytes]) -> Document:
        """Return the reply to a command; wait for a primary if there is none. Raises as `WirePool.run`."""
        try:
            return await self._wire.run(command, documents)
        except NotSent:
            await self._find_primary()
        return await self._wire.run(command, documents)


class WireSession:
    """A session with one transaction at a time, with the methods of the libraries' sessions.

    A command waits for the one before it, and has its time limit whether or not the caller waits for it.
    """

    def __init__(self, sessions: WireSessions, server_session: _ServerSession) -> None:
        self.in_transaction = False
        self._sessions = sessions
        self._server_session = server_session
        self._seconds = sessions.timeout_ms / 1000 + MARGIN_SECONDS
        self._turn = asyncio.Lock()
        self._begun = False  # the server may know of the transaction
        self._unanswered = False
        self._recovery: dict[str, Any] = {}  # for a router that may not be the one at which the transaction began

    @property
    def session_id(self) -> Mapping[str, Any]:
        """The `lsid` of the session's commands."""
        return {"id": self._server_session.id}

    @property
    def unanswered(self) -> bool:
        """Whether a command had no reply: if it was an abort, the server may still have the transaction open."""
        return self._unanswered

    async def start_transaction(self) -> None:
        """Start a transaction. The server learns of it from its first command."""
        self._server_session.number += 1
        self._begun, self._recovery = False, {}
        self.in_transaction = True

    async def run(self, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Document:
        """Return the reply to a command of the transaction, even one with a failure.

        Raises `AutoReconnect` if there was none, labelled as an error after which the transaction can start again, and
        TimeoutError.
        """
        with OwnLimit(self._seconds)():
            async with self._turn:
                if not self.in_transaction:
                    raise AutoReconnect("the transaction has ended", _TRANSIENT)
                fields = {name: value for name, value in command.items() if name not in _OF_THE_TRANSACTION}
                if not self._begun:
                    fields |= {"startTransaction": True, "readConcern": {"level": "majority"}}
                    self._begun = True
                try:
                    return await self._send(fields, documents)
                except (AutoReconnect, NotSent) as error:
                    raise AutoReconnect(str(error), _TRANSIENT) from error

    async def commit_transaction(self) -> None:
        """Commit; called again, it asks for the outcome, which the server remembers.

        Raises `OperationFailure` or `AutoReconnect`, labelled if the outcome is unknown, and TimeoutError.
        """
        self.in_transaction = False
        if not self._begun:
            return
        concern = {"writeConcern": {"w": "majority"}, "maxTimeMS": self._sessions.timeout_ms}
        with OwnLimit(self._seconds)():
            async with self._turn:
                try:
                    reply = await self._send({"commitTransaction": 1, **concern, **self._recovery, "$db": "admin"})
                except (AutoReconnect, NotSent) as error:
                    raise AutoReconnect(str(error), _UNKNOWN) from error
        if has_failed(reply):
            raise _commit_failure(reply)

    async def abort_transaction(self) -> None:
        """Abort. The transaction is over whatever the server replies; raises TimeoutError if it does not reply."""
        self.in_transaction = False
        if not self._begun:
            return
        with OwnLimit(_ABORT_SECONDS)():
            async with self._turn:
                with suppress(PyMongoError, NotSent):
                    await self._send({"abortTransaction": 1, **self._recovery, "$db": "admin"})

    async def end_session(self) -> None:
        """End the session, and its transaction."""
        with suppress(TimeoutError):
            if self.in_transaction:
                await self.abort_transaction()
        await self.__aexit__()

    async def __aexit__(self, *_: object) -> None:
        """End a session without a transaction."""
        if not self._unanswered:
            self._sessions.put_back(self._server_session)

    async def _send(self, fields: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Document:
        belonging = {
            "lsid": self.session_id,
            "txnNumber": Int64(self._server_session.number),
            "autocommit": False,
        }
        before, self._unanswered = self._unanswered, True  # stays so if the time limit ends meanwhile
        reply = await self._sessions.send({**fields, **belonging}, documents)
        self._unanswered = before
        if token := reply.get("recoveryToken"):
            self._recovery = {"recoveryToken": token}
        return reply


def _commit_failure(reply: Document) -> OperationFailure:
    """Return the failure of a commit, labelled if it is unknown whether it happened, or whether it lasts."""
    error = failure(reply)
    return failure({**reply, **_UNKNOWN}) if error.code in SILENT_CODES else error
