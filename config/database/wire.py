"""MongoDB's wire protocol on asyncio: a command goes out, its answer comes back, nothing in between.

https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ (OP_MSG). A driver library takes 150 to 400
microseconds of processor time for that, this file 30: it knows no sessions, cursors or topology.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from bson import Binary, decode, encode
from pymongo.errors import AutoReconnect

from config.database.commands import CODEC, Document
from config.database.scram import MECHANISM, Scram, ScramError

Address = tuple[str, int]
_HEAD = struct.Struct("<iiiiIB")  # length, request, answered request, opcode, flags, kind of section
_SEQUENCE = struct.Struct("<Bi")  # kind of section, its length without the kind
_DOCUMENTS = b"documents\0"
_OP_MSG = 2013
_REST_SECONDS = 60.0
_numbers = count(1)


class NotSent(Exception):
    """The command was not executed: there is no primary to send it to, or it could not be reached."""


@dataclass(frozen=True)
class Target:
    """Where a database is: the hosts to ask for the primary (`direct`: the one host to use), and who logs in."""

    hosts: Sequence[Address]
    database: str
    user: str = ""
    password: str = field(default="", repr=False)
    source: str = "admin"
    direct: bool = False


class WireConnection(asyncio.Protocol):
    """One connection, with one command under way at most; it is `among` the others while it is open."""

    def __init__(self, among: set[WireConnection]) -> None:
        self._among = among
        self._transport: asyncio.Transport
        self._received = bytearray()
        self._answer: asyncio.Future[Document] | None = None
        self.lost = False
        self.idle_since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the connection is open."""
        self._transport = transport  # type: ignore[assignment]
        self._among.add(self)

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes of an answer."""
        if self._received or len(data) < 4 or int.from_bytes(data[:4], "little") != len(data):
            self._received += data
            if len(self._received) < 4 or int.from_bytes(self._received[:4], "little") > len(self._received):
                return
            data, self._received = bytes(self._received), bytearray()
        answer, self._answer = self._answer, None
        if answer is None or answer.done():
            self.close()
            return
        try:
            answer.set_result(decode(memoryview(data)[_HEAD.size :], CODEC))
        except Exception as error:
            answer.set_exception(AutoReconnect(f"an answer that cannot be read: {error}"))
            self.close()

    def connection_lost(self, error: Exception | None) -> None:
        """asyncio: the connection is closed."""
        self.lost = True
        self._among.discard(self)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(AutoReconnect(f"connection closed: {error or 'by the server'}"))

    async def run(self, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Document:
        """The answer to a command, whatever it says; `documents` are its field of that name, encoded.

        Who stops waiting for it closes the connection.
        """
        body = encode(command) + (_sequence(documents) if documents else b"")
        self._answer = answer = asyncio.get_running_loop().create_future()
        head = _HEAD.pack(_HEAD.size + len(body), next(_numbers) & 0x7FFFFFFF, 0, _OP_MSG, 0, 0)
        self._transport.write(head + body)
        try:
            told: Document = await answer
            return told
        except asyncio.CancelledError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self.lost = True
        self._transport.close()


class WirePool:
    """The connections to the primary: the one used last is used first, `most` at a time."""

    def __init__(self, target: Target, connect_seconds: float, most: int = 100) -> None:
        self._target = target
        self._connect_seconds = connect_seconds
        self._idle: list[WireConnection] = []
        self.connections: set[WireConnection] = set()
        self._turn = asyncio.Semaphore(most)
        self._primary: Address | None = None

    async def run(self, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Document:
        """The answer to a command on the database. Raises `NotSent`, or `AutoReconnect` for what may have been executed."""
        async with self._turn:
            connection = self._rested() or await self._open()
            try:
                return await connection.run({**command, "$db": self._target.database}, documents)
            finally:
                if not connection.lost:
                    connection.idle_since = time.monotonic()
                    self._idle.append(connection)

    def _rested(self) -> WireConnection | None:
        """The connection that was used last; one that rested for long may be dead without having said so."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.lost and time.monotonic() - connection.idle_since < _REST_SECONDS:
                return connection
            connection.close()
        return None

    def forget(self) -> None:
        """The primary is another one, or gone: close what is idle and look for it again."""
        self._primary = None
        while self._idle:
            self._idle.pop().close()

    def close(self) -> None:
        """Close every connection."""
        self.forget()
        for connection in list(self.connections):
            connection.close()

    async def _open(self) -> WireConnection:
        for host in [self._primary] if self._primary else self._target.hosts:
            with suppress(OSError, TimeoutError, AutoReconnect, ScramError):
                async with asyncio.timeout(self._connect_seconds):
                    return await self._opened(host, follow=True)
        self._primary = None
        raise NotSent("no primary is in reach")

    async def _opened(self, host: Address, follow: bool) -> WireConnection:
        """A connection to the primary that `host` is, or names. Raises `AutoReconnect` when it knows of none."""
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(lambda: WireConnection(self.connections), *host)
        try:
            told = await connection.run({"hello": 1, "$db": "admin"})
            if told.get("isWritablePrimary") or self._target.direct:
                await self._log_in(connection)
                self._primary = host
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
        named = _address(told.get("primary", ""))
        if named is None or not follow:
            raise AutoReconnect("no primary")
        return await self._opened(named, follow=False)

    async def _log_in(self, connection: WireConnection) -> None:
        if not self._target.user:
            return
        scram = Scram(self._target.user, self._target.password)
        source = {"$db": self._target.source}
        begun = await connection.run({
            "saslStart": 1, "mechanism": MECHANISM, "payload": Binary(scram.first()),
            "options": {"skipEmptyExchange": True}, **source,
        })  # fmt: skip
        _accepted(begun)
        ended = await connection.run({
            "saslContinue": 1, "conversationId": begun["conversationId"],
            "payload": Binary(scram.final(begun["payload"])), **source,
        })  # fmt: skip
        _accepted(ended)
        scram.verify(ended["payload"])


def _sequence(documents: Sequence[bytes]) -> bytes:
    """A section of kind 1: the field `documents` as what is encoded already."""
    size = _SEQUENCE.size + len(_DOCUMENTS) + sum(map(len, documents))
    return b"".join([_SEQUENCE.pack(1, size - 1), _DOCUMENTS, *documents])


def _accepted(answer: Document) -> None:
    if not answer.get("ok"):
        raise ScramError(str(answer.get("errmsg", "refused")))


def _address(told: str) -> Address | None:
    host, _, port = told.rpartition(":")
    return (host.strip("[]"), int(port)) if host and port.isdigit() else None
