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
from bson.errors import InvalidBSON
from pymongo.errors import AutoReconnect

from config.database.commands import CODEC, Document, refuses
from config.database.scram import MECHANISM, Scram, ScramError

Address = tuple[str, int]
_HEAD = struct.Struct("<iiiiIB")  # length, request, answered request, opcode, flags, kind of section
_SEQUENCE = struct.Struct("<Bi")  # kind of section, its length without the kind
_DOCUMENTS = b"documents\0"
_OP_MSG = 2013
_BODY = 0  # kind of section
_SHORTEST_BYTES = _HEAD.size + 5  # with an empty document
_LONGEST_BYTES = 48_000_000  # maxMessageSizeBytes of every MongoDB
_REST_SECONDS = 60.0
# mongod cuts its error messages at a byte, also in the middle of a character
_REPLACING = CODEC.with_options(unicode_decode_error_handler="replace")
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
    """One connection, with one command under way at most; it is `among` the others while it is open.

    A reply that is not exactly the one to the command closes it: what was done is then unknown.
    """

    def __init__(self, among: set[WireConnection]) -> None:
        self._among = among
        self._transport: asyncio.Transport
        self._received = bytearray()
        self._request = 0
        self._answer: asyncio.Future[Document] | None = None
        self.lost = False
        self.idle_since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the connection is open."""
        self._transport = transport  # type: ignore[assignment]
        self._among.add(self)

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes of a reply."""
        if self._answer is None or self._answer.done():
            self.close()
            return
        if self._received or len(data) < _SHORTEST_BYTES or int.from_bytes(data[:4], "little") != len(data):
            self._received += data
            length = int.from_bytes(self._received[:4], "little") if len(self._received) >= 4 else _SHORTEST_BYTES
            if not _SHORTEST_BYTES <= length <= _LONGEST_BYTES:
                self._fail(f"a reply of {length} bytes")
                return
            if len(self._received) < max(length, 4):
                return
            if len(self._received) > length:
                self.close()  # more than was asked for: of no use after this reply
            data, self._received = bytes(memoryview(self._received)[:length]), bytearray()
        answer, self._answer = self._answer, None
        try:
            answer.set_result(_read(data, self._request))
        except Exception as error:
            answer.set_exception(AutoReconnect(f"a reply that cannot be read: {error}"))
            self.close()

    def _fail(self, reason: str) -> None:
        self._received.clear()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(AutoReconnect(reason))
        self.close()

    def connection_lost(self, error: Exception | None) -> None:
        """asyncio: the connection is closed."""
        self.lost = True
        self._among.discard(self)
        self._fail(f"connection closed: {error or 'by the server'}")

    async def run(self, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Document:
        """The answer to a command, whatever it says; `documents` are its field of that name, encoded.

        Who stops waiting for it closes the connection.
        """
        body = encode(command) + (_sequence(documents) if documents else b"")
        self._answer = answer = asyncio.get_running_loop().create_future()
        self._request = next(_numbers) & 0x7FFFFFFF
        head = _HEAD.pack(_HEAD.size + len(body), self._request, 0, _OP_MSG, 0, _BODY)
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
            # ValueError: a name of a host that is none
            with suppress(OSError, TimeoutError, ValueError, AutoReconnect, ScramError):
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
        named = _address(told.get("primary"))
        if named is None or not follow:
            raise AutoReconnect("no primary")
        return await self._opened(named, follow=False)

    async def _log_in(self, connection: WireConnection) -> None:
        if not self._target.user:
            return
        scram = Scram(self._target.user, self._target.password)
        source = {"$db": self._target.source}
        begun = await connection.run(
            {
                "saslStart": 1,
                "mechanism": MECHANISM,
                "payload": Binary(scram.first()),
                "options": {"skipEmptyExchange": True},
                **source,
            }
        )
        # the hash takes milliseconds, on purpose
        proof = await asyncio.to_thread(scram.final, _payload(begun))
        ended = await connection.run(
            {
                "saslContinue": 1,
                "conversationId": begun.get("conversationId"),
                "payload": Binary(proof),
                **source,
            }
        )
        scram.verify(_payload(ended))


def _read(message: bytes, request: int) -> Document:
    """The document of a reply. Raises ValueError for what is no reply to `request`, or has a document of ours unsound."""
    _, _, answered, opcode, flags, kind = _HEAD.unpack_from(message)
    if answered != request:
        raise ValueError(f"it answers request {answered} instead of {request}")
    if (opcode, flags, kind) != (_OP_MSG, 0, _BODY):
        raise ValueError(f"opcode {opcode}, flags {flags}, section {kind}")
    body = memoryview(message)[_HEAD.size :]
    try:
        document: Document = decode(body, CODEC)
    except InvalidBSON:
        document = decode(body, _REPLACING)
        if not refuses(document):
            raise
    if not isinstance(document.get("ok"), int | float):
        raise ValueError("it does not say whether it is ok")
    if refuses(document) and not _says_why(document):
        raise ValueError("it does not say what failed")
    return document


def _says_why(answer: Document) -> bool:
    """Whether an answer tells of its failures in the shape that readers rely on."""
    faults, concern = answer.get("writeErrors", []), answer.get("writeConcernError", {})
    if not isinstance(faults, list) or not isinstance(concern, dict):
        return False
    if not all(isinstance(fault, dict) and isinstance(fault.get("index"), int) for fault in faults):
        return False
    return all(
        isinstance(told.get("code", 0), int) and isinstance(told.get("keyPattern", {}), dict)
        for told in (answer, concern, *faults)
    )


def _sequence(documents: Sequence[bytes]) -> bytes:
    """A section of kind 1: the field `documents` as what is encoded already."""
    size = _SEQUENCE.size + len(_DOCUMENTS) + sum(map(len, documents))
    return b"".join([_SEQUENCE.pack(1, size - 1), _DOCUMENTS, *documents])


def _payload(answer: Document) -> bytes:
    """The message of the other side. Raises `ScramError`."""
    payload = answer.get("payload")
    if not answer["ok"] or not isinstance(payload, bytes):
        raise ScramError(str(answer.get("errmsg", "refused")))
    return payload


def _address(told: Any) -> Address | None:
    host, _, port = told.rpartition(":") if isinstance(told, str) else ("", "", "")
    sound = host and port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535
    return (host.strip("[]"), int(port)) if sound else None
