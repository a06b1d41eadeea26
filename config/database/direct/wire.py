"""MongoDB's wire protocol on asyncio: sends a command and reads its reply.

https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ (OP_MSG). A driver library takes 150 to 400
microseconds of processor time for that, this module 30: it has no sessions, cursors or topology.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from bson import Binary, ObjectId, decode, encode
from bson.errors import InvalidBSON
from pymongo.errors import AutoReconnect

from config.database.barrier import Elections, barrier_command, is_newer, note_refusal
from config.database.commands import CODEC, Document, has_failed
from config.database.direct.handshake import HELLO, MECHANISM, Scram, ScramError, primary_of
from config.database.errors import AWAY_CODES

Address = tuple[str, int]
_HEAD = struct.Struct("<iiiiIB")  # length, request id, id of the request replied to, opcode, flags, kind of section
_SEQUENCE = struct.Struct("<Bi")  # kind of section, its length without the kind
_DOCUMENTS = b"documents\0"
_OP_MSG = 2013
_BODY = 0  # kind of section
_SHORTEST_BYTES = _HEAD.size + 5  # with an empty document
_LONGEST_BYTES = 48_000_000  # maxMessageSizeBytes of every MongoDB
_MOST_IDLE_SECONDS = 60.0
_TLS_LIMIT = {"ssl_shutdown_timeout": 1.0}  # for the server's part when a connection ends
X509 = "MONGODB-X509"
# mongod truncates its error messages at a byte, even in the middle of a character
_REPLACING = CODEC.with_options(unicode_decode_error_handler="replace")
NO_PRIMARY_CODES = frozenset({10107, 13435})  # NotWritablePrimary, NotPrimaryNoSecondaryOk: nothing was executed
_request_ids = count(1)


class NotSent(Exception):
    """The command was not executed: there is no primary, or it could not be reached."""


# ValueError: an invalid host name
_UNREACHABLE = (OSError, TimeoutError, ValueError, AutoReconnect, NotSent, ScramError)


@dataclass(frozen=True)
class Target:
    """Where a database is: the hosts that know the primary (`direct`: the one host to use), and the credentials."""

    hosts: Sequence[Address]
    database: str
    user: str = ""
    password: str = field(default="", repr=False)
    source: str = "admin"
    direct: bool = False
    mechanism: str = MECHANISM
    tls: ssl.SSLContext | None = None


class WireConnection(asyncio.Protocol):
    """One connection, which runs one command at a time; it is a member of `open_connections` while it is open.

    A reply that does not belong to the command closes it: whether the command was executed is then unknown.
    """

    def __init__(self, open_connections: set[WireConnection]) -> None:
        self._open_connections = open_connections
        self._transport: asyncio.Transport
        self._received = bytearray()
        self._request = 0
        self._reply: asyncio.Future[Document] | None = None
        self.lost = False
        self.idle_since = 0.0
        self.generation = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the connection is open."""
        self._transport = transport  # type: ignore[assignment]
        self._open_connections.add(self)

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes of a reply have arrived."""
        if self._reply is None or self._reply.done():
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
                self.close()  # more than one reply: the connection cannot be used again
            data, self._received = bytes(memoryview(self._received)[:length]), bytearray()
        reply, self._reply = self._reply, None
        try:
            reply.set_result(_read(data, self._request))
        except Exception as error:
            reply.set_exception(AutoReconnect(f"a reply that cannot be read: {error}"))
            self.close()

    def _fail(self, reason: str) -> None:
        self._received.clear()
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(AutoReconnect(reason))
        self.close()

    def connection_lost(self, error: Exception | None) -> None:
        """asyncio: the connection is closed."""
        self.lost = True
        self._open_connections.discard(self)
        self._fail(f"connection closed: {error or 'by the server'}")

    async def run(self, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Document:
        """Return the reply to a command, even one with a failure; `documents` are its field of that name, encoded.

        Cancelling the caller closes the connection. Raises `NotSent` if it is closed already.
        """
        if self.lost:
            raise NotSent("the connection is closed")
        body = encode(command) + (_sequence(documents) if documents else b"")
        self._reply = reply = asyncio.get_running_loop().create_future()
        self._request = next(_request_ids) & 0x7FFFFFFF
        head = _HEAD.pack(_HEAD.size + len(body), self._request, 0, _OP_MSG, 0, _BODY)
        self._transport.write(head + body)
        try:
            document: Document = await reply
            return document
        except asyncio.CancelledError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self.lost = True
        self._transport.close()


class WirePool:
    """Up to `most` connections to the primary; the one that was used last is used first.

    A newly found primary is used only once it has passed the barrier, and only if `elections` knows no later one.
    """

    def __init__(
        self, target: Target, connect_seconds: float, most: int = 100, elections: Elections | None = None
    ) -> None:
        self._target = target
        self._connect_seconds = connect_seconds
        self._elections = elections or Elections()
        self._idle: list[WireConnection] = []
        self.connections: set[WireConnection] = set()
        self._slots = asyncio.Semaphore(most)
        self._primary: Address | None = None
        self._election: ObjectId | None = None  # that the primary has won
        self._generation = 0  # of the connections that were opened since `forget`
        self._looking: asyncio.Task[None] | None = None
        self._closed = False

    async def run(self, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Document:
        """Return the reply to a command, on the target's database if its `$db` names no other.

        Raises `NotSent`, or `AutoReconnect` if the command may have been executed.
        """
        named = {**command, "$db": command.get("$db", self._target.database)}
        async with self._slots:
            connection = self._pop_idle() or await self._open()
            gone = False
            try:
                reply = await connection.run(named, documents)
                gone = not reply["ok"] and reply.get("code") in NO_PRIMARY_CODES
            except AutoReconnect:
                gone = True
                raise
            finally:
                if gone and connection.generation == self._generation:
                    self.forget()
                self._put_back(connection)
            return reply

    @property
    def figures(self) -> dict[str, float]:
        """How many connections are used and idle."""
        idle = len(self._idle)
        return {"used": len(self.connections) - idle, "idle": idle}

    def _pop_idle(self) -> WireConnection | None:
        """Return the connection that was used last; close those idle for long, as they may be dead without notice."""
        if self._primary is not None and is_newer(self._elections.current(), self._election):
            self.forget()  # the library knows another primary; an older one that was frozen may wake up
        while self._idle:
            connection = self._idle.pop()
            if not connection.lost and time.monotonic() - connection.idle_since < _MOST_IDLE_SECONDS:
                return connection
            connection.close()
        return None

    def _put_back(self, connection: WireConnection) -> None:
        if connection.generation != self._generation:
            connection.close()
        elif not connection.lost:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)

    def forget(self) -> None:
        """Close the connections once they are idle, and look for the primary again, which has changed or is gone."""
        self._primary = None
        self._generation += 1
        while self._idle:
            self._idle.pop().close()

    def close(self) -> None:
        """Close every connection, and open no more."""
        self._closed = True
        self.forget()
        if self._looking is not None:
            self._looking.cancel()
        for connection in list(self.connections):
            connection.close()

    async def _open(self) -> WireConnection:
        if self._closed:
            raise NotSent("the pool is closed")
        if self._primary is None:
            await self._wait_for_primary()
            if found := self._pop_idle():
                return found
        primary, generation = self._primary, self._generation
        if primary is not None:
            with suppress(*_UNREACHABLE):
                async with asyncio.timeout(self._connect_seconds):
                    return await self._connect(primary)
            if generation == self._generation:
                self.forget()
        raise NotSent("no primary can be reached")

    async def _wait_for_primary(self) -> None:
        """Look for the primary, once for all callers that wait for it."""
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look(), context=Context())
            self._looking.add_done_callback(self._end_looking)
        await asyncio.wait({self._looking})

    def _end_looking(self, task: asyncio.Task[None]) -> None:
        self._looking = None

    async def _look(self) -> None:
        # a frozen host takes its whole time limit, so the primary that the library knows comes first
        for host in dict.fromkeys((*self._elections.addresses(), *self._target.hosts)):
            with suppress(*_UNREACHABLE):
                async with asyncio.timeout(self._connect_seconds):
                    self._put_back(await self._connect(host, new=True))
                    return

    async def _connect(self, host: Address, new: bool = False, follow: bool = True) -> WireConnection:
        """Connect to the primary at `host`; if it is a `new` one, `host` may also be a member that names it.

        Raises `NotSent`, or `AutoReconnect` if the host is not the primary and names none.
        """
        generation = self._generation
        loop = asyncio.get_running_loop()
        secured: dict[str, Any] = {} if self._target.tls is None else {"ssl": self._target.tls, **_TLS_LIMIT}
        _, connection = await loop.create_connection(lambda: WireConnection(self.connections), *host, **secured)
        try:
            hello = await connection.run(HELLO)
            if hello.get("isWritablePrimary") or self._target.direct:
                await self._log_in(connection)
                await self._check(connection, hello, new)
                if generation != self._generation:
                    raise AutoReconnect("another primary meanwhile")
                self._primary, connection.generation = host, generation
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
        named = primary_of(hello)
        if named is None or not follow or not new:
            raise AutoReconnect("no primary")
        return await self._connect(named, new, follow=False)

    async def _check(self, connection: WireConnection, hello: Document, new: bool) -> None:
        """Let a `new` primary pass the barrier. Raises `AutoReconnect` unless it is the latest of our replica set."""
        if (wanted := self._elections.replica_set()) is not None and hello.get("setName") != wanted:
            raise AutoReconnect("the primary of another replica set")
        election = hello.get("electionId") if isinstance(hello.get("electionId"), ObjectId) else None
        if new and "setName" in hello:
            limit = {"maxTimeMS": int(self._connect_seconds * 1000)}
            reply = await connection.run({**barrier_command(), **limit, "$db": self._target.database})
            if reply.get("code") in AWAY_CODES:
                raise AutoReconnect(f"not past the barrier: {reply.get('errmsg')}")
            if has_failed(reply):
                note_refusal(reply.get("errmsg"))
            self._elections.note_passed(election)
            self._election = election
        if election != self._election or is_newer(self._elections.current(), election):
            raise AutoReconnect("no longer the primary")

    async def _log_in(self, connection: WireConnection) -> None:
        if self._target.mechanism == X509:
            # the server takes the user name from the certificate that it got by TLS
            command = {"authenticate": 1, "mechanism": X509, "$db": "$external"}
            if has_failed(reply := await connection.run(command)):
                raise ScramError(str(reply.get("errmsg", "refused")))
            return
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
        # in a thread, as by design the hash takes milliseconds
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
    """Return the document of a reply to `request`. Raises ValueError for another message or an invalid document."""
    _, _, request_id, opcode, flags, kind = _HEAD.unpack_from(message)
    if request_id != request:
        raise ValueError(f"it belongs to request {request_id} instead of {request}")
    if (opcode, flags, kind) != (_OP_MSG, 0, _BODY):
        raise ValueError(f"opcode {opcode}, flags {flags}, section {kind}")
    body = memoryview(message)[_HEAD.size :]
    try:
        document: Document = decode(body, CODEC)
    except InvalidBSON:
        document = decode(body, _REPLACING)
        if not has_failed(document):
            raise
    if not isinstance(document.get("ok"), int | float):
        raise ValueError("it does not say whether it is ok")
    if has_failed(document) and not _has_sound_faults(document):
        raise ValueError("it does not say what failed")
    return document


def _has_sound_faults(reply: Document) -> bool:
    """Return whether a reply describes its failures in the shape that the rest of the program relies on."""
    faults, concern = reply.get("writeErrors", []), reply.get("writeConcernError", {})
    if not isinstance(faults, list) or not isinstance(concern, dict):
        return False
    if not all(isinstance(fault, dict) and isinstance(fault.get("index"), int) for fault in faults):
        return False
    return all(
        isinstance(fault.get("code", 0), int) and isinstance(fault.get("keyPattern", {}), dict)
        for fault in (reply, concern, *faults)
    )


def _sequence(documents: Sequence[bytes]) -> bytes:
    """Return a section of kind 1: the field `documents`, from documents that are encoded already."""
    size = _SEQUENCE.size + len(_DOCUMENTS) + sum(map(len, documents))
    return b"".join([_SEQUENCE.pack(1, size - 1), _DOCUMENTS, *documents])


def _payload(reply: Document) -> bytes:
    """Return the server's message of the log-in. Raises `ScramError`."""
    payload = reply.get("payload")
    if not reply["ok"] or not isinstance(payload, bytes):
        raise ScramError(str(reply.get("errmsg", "refused")))
    return payload
