"""The wire against a server that says anything at all: garbled, cut, doubled, late, without end."""

import asyncio
import random
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest
from bson import decode, encode
from pymongo.errors import AutoReconnect
from pymongo.helpers_shared import _RetryPolicy
from tornado.ioloop import IOLoop

from config.database import DatabaseUnavailable, open_driver
from config.database.commands import has_failed, without_existing_ids
from config.database.direct.driver import DirectDriver
from config.database.direct.handshake import Scram, ScramError
from config.database.direct.wire import NotSent, Target, WireConnection, WirePool
from config.database.errors import translate
from config.database.replies import failure
from tests.support.proxy import Link, Proxy

pytestmark = pytest.mark.gen_test(timeout=60)
OP_MSG = 2013
LONGEST = 48_000_000
REPLY = {
    "cursor": {"firstBatch": [{"_id": 1, "name": "晨光", "list": [1, 2.5, None]}], "id": 0, "ns": "a.b"},
    "ok": 1.0,
}


def test_documents_that_exist_do_not_hide_that_the_others_may_be_lost() -> None:
    exists = {"index": 0, "code": 11000, "keyPattern": {"_id": 1}, "errmsg": "E11000"}
    shutdown = {"code": 91, "errmsg": "in shutdown"}
    remaining = without_existing_ids({"ok": 1.0, "n": 0, "writeErrors": [exists], "writeConcernError": shutdown})
    assert has_failed(remaining)
    assert isinstance(translate(failure(remaining)), DatabaseUnavailable)
    assert not has_failed(without_existing_ids({"ok": 1.0, "n": 0, "writeErrors": [exists]}))


def test_a_command_that_is_refused_too_often_for_the_librarys_pauses_is_an_absent_database() -> None:
    with pytest.raises(OverflowError) as refused:
        _RetryPolicy().backoff(1024)
    assert isinstance(translate(refused.value), DatabaseUnavailable)
    with pytest.raises(OverflowError) as too_large:
        encode({"number": 1 << 64})
    assert translate(too_large.value) is None


class Wire(asyncio.Transport):
    """Takes what a connection sends, and knows whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False
        self.request = 0

    def write(self, data: Any) -> None:
        """Note the number of the request."""
        self.request = struct.unpack_from("<i", data, 4)[0]

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True


def reply_to(request: int, document: dict[str, Any] = REPLY, body: bytes | None = None) -> bytes:
    sent = encode(document) if body is None else body
    return struct.pack("<iiiiIB", 21 + len(sent), 77, request, OP_MSG, 0, 0) + sent


class Asked:
    """A connection with a command under way, whose server is the test."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.connection = WireConnection(set())
        self.connection.connection_made(self.wire)

    async def ask(self) -> None:
        """Send a command."""
        self.reply = asyncio.ensure_future(self.connection.run({"ping": 1, "$db": "a"}))
        await asyncio.sleep(0)

    def say(self, *pieces: bytes) -> None:
        """Send bytes, as long as the connection is open."""
        for piece in pieces:
            if piece and not self.wire.closed:
                self.connection.data_received(piece)

    async def outcome(self) -> Any:
        """The reply, or the error; the server hangs up if there is neither."""
        await asyncio.sleep(0)
        if not self.reply.done():
            self.connection.connection_lost(None)
        (outcome,) = await asyncio.wait_for(asyncio.gather(self.reply, return_exceptions=True), 1)
        return outcome


async def asked() -> Asked:
    made = Asked()
    await made.ask()
    return made


async def test_a_reply_in_any_pieces_is_read() -> None:
    for size in (1, 3, 4, 7, 25, 1000):
        one = await asked()
        whole = reply_to(one.wire.request)
        one.say(*(whole[at : at + size] for at in range(0, len(whole), size)))
        assert await one.outcome() == REPLY
        assert not one.wire.closed


async def test_a_reply_to_another_request_is_refused() -> None:
    one = await asked()
    one.say(reply_to(one.wire.request - 1))
    assert isinstance(await one.outcome(), AutoReconnect)
    assert one.wire.closed


async def test_a_reply_that_comes_twice_is_read_once_and_closes_the_connection() -> None:
    for at_once in (True, False):
        one = await asked()
        whole = reply_to(one.wire.request)
        one.say(*([whole + whole] if at_once else [whole, whole]))
        assert await one.outcome() == REPLY
        assert one.wire.closed


async def test_a_reply_without_a_request_closes_the_connection() -> None:
    one = await asked()
    one.say(reply_to(one.wire.request))
    await one.outcome()
    one.say(b"\0")
    assert one.connection.lost


@pytest.mark.parametrize(
    ("at", "value"), [(0, 20), (0, 0), (0, -1), (0, LONGEST + 1), (12, 1), (12, 2012), (16, 1), (16, 2), (16, 1 << 15)]
)
async def test_a_head_that_is_not_the_protocols_is_not_read(at: int, value: int) -> None:
    one = await asked()
    whole = bytearray(reply_to(one.wire.request))
    struct.pack_into("<i", whole, at, value)
    one.say(bytes(whole))
    assert isinstance(await one.outcome(), AutoReconnect)
    assert one.wire.closed


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"ok": "1"},
        {"n": 1},
        {"ok": 0, "code": "no number"},
        {"ok": 1, "writeErrors": {"0": {}}},
        {"ok": 1, "writeErrors": [1]},
        {"ok": 1, "writeErrors": [{"index": "a"}]},
        {"ok": 1, "writeConcernError": 64},
        {"ok": 0, "code": 11000, "keyPattern": 1},
    ],
)
async def test_a_reply_with_an_invalid_shape_is_refused(document: dict[str, Any]) -> None:
    one = await asked()
    one.say(reply_to(one.wire.request, document))
    assert isinstance(await one.outcome(), AutoReconnect)


async def test_a_failure_whose_words_are_cut_in_a_character_is_read_all_the_same() -> None:
    one = await asked()
    failure = encode({"ok": 0.0, "code": 11000, "errmsg": "dup key: 中"})
    one.say(reply_to(one.wire.request, body=failure.replace("中".encode(), b"\xe4\xb8.")))
    assert (await one.outcome())["code"] == 11000
    assert not one.wire.closed


async def test_a_record_that_is_no_text_is_not_passed_off_as_one() -> None:
    one = await asked()
    one.say(reply_to(one.wire.request, body=encode(REPLY).replace("晨".encode(), b"\xe6\x99.")))
    assert isinstance(await one.outcome(), AutoReconnect)


async def test_no_more_is_kept_than_the_longest_message() -> None:
    one = await asked()
    piece, sent = bytes(1 << 20), 0
    one.say(struct.pack("<i", LONGEST))
    while not one.wire.closed and sent < 4 * LONGEST:
        one.say(piece)
        sent += len(piece)
        assert len(one.connection._received) <= LONGEST + len(piece)
    assert isinstance(await one.outcome(), AutoReconnect)
    assert sent < LONGEST + len(piece)


def damaged(whole: bytes, dice: random.Random) -> list[bytes]:
    """What a broken server may send in place of `whole`."""
    at, size = dice.randrange(len(whole)), dice.randrange(1, 12)
    noise = dice.randbytes(size)
    bits = bytes(byte ^ dice.choice((1, 2, 0x55, 0x80, 0xFF)) for byte in whole[at : at + size])
    return dice.choice(
        [
            [whole[:at] + bits + whole[at + size :]],
            [whole[:at]],
            [whole, whole],
            [whole[:at], whole],
            [whole[:at] + noise + whole[at:]],
            [whole[at:], whole[:at]],
            [noise, whole],
            [whole + noise],
            [struct.pack("<i", dice.randrange(-(1 << 31), 1 << 31)) + whole[4:]],
            [whole[:8] + dice.randbytes(8) + whole[16:]],
        ]
    )


@pytest.mark.parametrize("seed", range(4))
async def test_damaged_replies_give_the_caller_a_reply_or_a_lost_connection(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(1500):
        one = await asked()
        whole = reply_to(one.wire.request)
        pieces = damaged(whole, dice)
        one.say(*pieces)
        outcome = await one.outcome()
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, AutoReconnect), pieces
            assert one.wire.closed, pieces
        else:
            assert isinstance(outcome["ok"], int | float), pieces
        assert len(one.connection._received) <= len(b"".join(pieces))


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_a_server_says_at_log_in_ends_it(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(2000):
        scram = Scram("user", "pencil")
        first = b"r=" + scram.first().partition(b"r=")[2] + b"more,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
        with suppress(ScramError):  # some damage leaves a challenge that is sound
            scram.final(b"".join(damaged(first, dice)))
        with pytest.raises(ScramError):
            scram.verify(b"".join(damaged(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", dice)))


async def test_a_log_in_that_would_take_for_ever_is_refused() -> None:
    scram = Scram("user", "pencil")
    endless = b"r=" + scram.first().partition(b"r=")[2] + b"more,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=2147483647"
    with pytest.raises(ScramError):
        scram.final(endless)


@pytest.mark.parametrize("primary", ["", "host", "host:99999", "[::1]:²", ":1", "a" * 300 + ":1", 5, {"a": 1}, "\0:1"])
async def test_a_primary_at_no_address_means_that_nothing_was_sent(primary: Any) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readexactly(16)
        await reader.readexactly(struct.unpack_from("<i", head)[0] - 16)
        writer.write(reply_to(struct.unpack_from("<i", head, 4)[0], {"ok": 1, "primary": primary}))
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    pool = WirePool(Target((server.sockets[0].getsockname()[:2],), "tradewind"), connect_seconds=1)
    with pytest.raises(NotSent):
        await pool.run({"ping": 1})
    server.close()


class Liar(Proxy):
    """Passes messages of the wire whole, and damages one reply in `every`, as `damage` says. A library's are spared."""

    damage: Callable[[bytes], list[bytes]] | None = None
    every = 5
    spared: ClassVar[set[Link]] = set()

    async def _pump(self, link: Link, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        from_client = sink is link.target
        try:
            while True:
                head = await source.readexactly(4)
                whole = head + await source.readexactly(struct.unpack("<i", head)[0] - 4)
                if from_client and b"PyMongo" in whole:
                    self.spared.add(link)
                spared = from_client or link in self.spared or random.randrange(self.every)
                for piece in [whole] if spared or self.damage is None else self.damage(whole):
                    sink.write(piece)
                    await asyncio.sleep(0)
        except (OSError, asyncio.IncompleteReadError):
            link.abort()


@pytest.fixture
def liar(io_loop: IOLoop, mongodb_uri: str) -> Iterator[Liar]:
    made = Liar(urlsplit(mongodb_uri).port or 0)
    io_loop.run_sync(made.up)
    yield made
    io_loop.run_sync(made.close)


@asynccontextmanager
async def driver_behind(liar: Liar, uri: str, name: str) -> AsyncIterator[DirectDriver]:
    address = urlsplit(uri)
    through = (
        f"mongodb://{address.username}:{address.password}@127.0.0.1:{liar.port}/?directConnection=true&authSource=admin"
    )
    driver = open_driver("direct", through, name, 400)
    assert isinstance(driver, DirectDriver)
    yield driver
    await driver.close()


def cut(whole: bytes) -> list[bytes]:
    return [whole[: random.randrange(len(whole))]]


def late(whole: bytes) -> list[bytes]:
    return [whole[:8] + struct.pack("<i", struct.unpack_from("<i", whole, 8)[0] - 1) + whole[12:]]


def without_end(whole: bytes) -> list[bytes]:
    return [struct.pack("<i", 0x7FFFFFFF) + whole[4:]]


@pytest.mark.parametrize(
    "damage",
    [cut, late, without_end, lambda whole: [whole, whole], lambda whole: [whole[:12], b"\xff" * 8, whole[20:]]],
    ids=["cut", "late", "without end", "twice", "garbled"],
)
async def test_damaged_replies_cost_503_and_neither_writes_nor_time(
    liar: Liar, mongodb_uri: str, database_name: str, things: str, damage: Callable[[bytes], list[bytes]]
) -> None:
    kept: list[int] = []
    raised: list[Exception] = []

    async def attempt(operation: Awaitable[Any], kept_if_done: int | None = None) -> None:
        started = time.monotonic()
        try:
            await operation
        except Exception as error:
            raised.append(error)
        else:
            kept.extend([] if kept_if_done is None else [kept_if_done])
        assert time.monotonic() - started < 3

    async with driver_behind(liar, mongodb_uri, database_name) as driver:
        await driver.insert(things, [{"_id": -1, "n": 0}])
        liar.damage = damage
        for turn in range(12):
            await asyncio.gather(
                *(attempt(driver.insert(things, [{"_id": turn * 5 + n, "n": 0}]), turn * 5 + n) for n in range(5)),
                attempt(driver.update_one(things, {"_id": -1}, {"$inc": {"n": 1}})),
                attempt(driver.find(things, {}, limit=10)),
                attempt(driver.aggregate(things, [{"$match": {}}])),
                attempt(driver.count(things, {"n": 0})),
                attempt(driver.update_many(things, {"_id": -1}, {"$inc": {"n": 1}})),
                attempt(driver.delete_many(things, {"_id": -2})),
            )
        liar.damage = None
        stored = [row["_id"] for row in await driver.find(things, {"_id": {"$gte": 0}})]
    assert [error for error in raised if not isinstance(error, DatabaseUnavailable)] == []
    assert set(kept) <= set(stored)
    assert kept


def test_the_reply_of_these_tests_is_one() -> None:
    assert decode(reply_to(1)[21:]) == REPLY
