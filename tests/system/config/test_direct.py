"""The wire beneath the driver `direct`, where it differs from a driver library."""

import asyncio
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextvars import Context
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest
from pymongo.errors import AutoReconnect
from tornado.ioloop import IOLoop

from config.database import AWAY_CODES, REPEATED_CODES, DatabaseUnavailable, DuplicateKey, IndexSpec, open_driver
from config.database.direct import handshake
from config.database.direct.driver import DirectDriver
from config.database.direct.handshake import Scram, ScramError
from config.database.direct.sessions import WireSessions
from config.database.direct.target import target_of
from config.database.direct.wire import NotSent, Target, WirePool
from plugins.testing import eventually
from tests.support.proxy import Proxy

pytestmark = pytest.mark.gen_test
# the exchange of RFC 7677 section 3
NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
PROOF = b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.fixture
def exchange(monkeypatch: pytest.MonkeyPatch) -> Scram:
    monkeypatch.setattr(handshake.secrets, "token_urlsafe", lambda size: NONCE)
    return Scram("user", "pencil")


@pytest.fixture(scope="module")
def name() -> str:
    return f"test_{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def driver(io_loop: IOLoop, mongodb_uri: str, name: str) -> Iterator[DirectDriver]:
    made = open_driver("direct", mongodb_uri, name, 5000)
    assert isinstance(made, DirectDriver)
    yield made
    io_loop.run_sync(made.close)


@pytest.fixture
def hasty(io_loop: IOLoop, mongodb_uri: str, name: str) -> Iterator[DirectDriver]:
    """A driver that waits for nothing longer than a second."""
    made = open_driver("direct", mongodb_uri, name, 1000)
    assert isinstance(made, DirectDriver)
    yield made
    io_loop.run_sync(made.close)


@pytest.fixture
def proxy(io_loop: IOLoop, mongodb_uri: str) -> Iterator[Proxy]:
    made = Proxy(urlsplit(mongodb_uri).port or 0)
    io_loop.run_sync(made.up)
    yield made
    io_loop.run_sync(made.close)


@pytest.fixture
def behind(io_loop: IOLoop, proxy: Proxy, mongodb_uri: str, name: str) -> Iterator[DirectDriver]:
    """The same database through the proxy."""
    address = urlsplit(mongodb_uri)
    uri = f"mongodb://{address.username}:{address.password}@127.0.0.1:{proxy.port}/?directConnection=true&authSource=admin"
    made = open_driver("direct", uri, name, 2000)
    assert isinstance(made, DirectDriver)
    yield made
    io_loop.run_sync(made.close)


async def test_the_proof_is_the_one_of_the_rfc(exchange: Scram) -> None:
    assert exchange.first() == b"n,,n=user,r=" + NONCE.encode()
    assert exchange.final(SERVER_FIRST).endswith(b"," + PROOF)
    exchange.verify(SERVER_FINAL)


async def test_a_server_that_does_not_know_the_password_is_refused(exchange: Scram) -> None:
    exchange.final(SERVER_FIRST)
    with pytest.raises(ScramError):
        exchange.verify(SERVER_FINAL.replace(b"v=6r", b"v=6s"))


@pytest.mark.parametrize(
    "unsound", [b"r=another,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", SERVER_FIRST.replace(b"4096", b"1")]
)
async def test_an_invalid_challenge_is_refused(exchange: Scram, unsound: bytes) -> None:
    with pytest.raises(ScramError):
        exchange.final(unsound)


@pytest.mark.parametrize(
    "uri",
    [
        "mongodb://db.example.com/?compressors=zlib",
        "mongodb://db.example.com/?authMechanism=MONGODB-X509",
        "mongodb://db.example.com/?readPreference=secondary",
        "mongodb://%2Ftmp%2Fmongodb-27017.sock/",
    ],
)
async def test_an_address_that_the_wire_does_not_support_has_no_target(uri: str) -> None:
    assert target_of(uri, "tradewind") is None


async def test_an_address_is_read_with_its_hosts_and_its_log_in() -> None:
    uri = "mongodb://ann:s%40fe@one.example.com,two.example.com:27018/?replicaSet=rs0&authSource=people"
    hosts = (("one.example.com", 27017), ("two.example.com", 27018))
    assert target_of(uri, "tradewind") == Target(hosts, "tradewind", "ann", "s@fe", "people")


async def test_a_password_is_in_no_description() -> None:
    assert "s@fe" not in repr(target_of("mongodb://ann:s%40fe@one.example.com/", "tradewind"))


async def test_results_in_several_replies_are_complete(driver: DirectDriver) -> None:
    await driver.insert("many", [{"_id": n} for n in range(1200)])
    found = await driver.aggregate("many", [{"$sort": {"_id": 1}}])
    assert [one["_id"] for one in found] == list(range(1200))


async def test_more_commands_than_connections_wait_for_their_turn(mongodb_uri: str, name: str) -> None:
    target = target_of(mongodb_uri, name)
    assert target is not None
    pool = WirePool(target, connect_seconds=2, most=3)
    replies = await asyncio.gather(*(pool.run({"count": "nothing"}) for _ in range(50)))
    assert [reply["n"] for reply in replies] == [0] * 50
    assert len(pool.connections) <= 3
    pool.close()


async def test_a_cancelled_command_closes_its_connection(mongodb_uri: str, name: str) -> None:
    target = target_of(mongodb_uri, name)
    assert target is not None
    pool = WirePool(target, connect_seconds=2)
    sleeping = {"aggregate": 1, "pipeline": [{"$currentOp": {}}], "cursor": {}, "comment": "left"}
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await pool.run(sleeping)
    assert (await pool.run({"count": "nothing"}))["n"] == 0
    pool.close()


async def test_a_connection_in_use_while_the_primary_is_forgotten_is_not_used_again(
    mongodb_uri: str, name: str
) -> None:
    target = target_of(mongodb_uri, name)
    assert target is not None
    pool = WirePool(target, connect_seconds=2)
    await pool.run({"ping": 1})
    (before,) = pool.connections
    running = asyncio.ensure_future(pool.run({"ping": 1}))
    await asyncio.sleep(0)
    pool.forget()
    assert (await running)["ok"] == 1
    assert before.lost
    assert (await pool.run({"ping": 1}))["ok"] == 1
    assert before not in pool.connections
    pool.close()


async def test_a_closed_pool_opens_no_connection(mongodb_uri: str, name: str) -> None:
    target = target_of(mongodb_uri, name)
    assert target is not None
    pool = WirePool(target, connect_seconds=2)
    pool.close()
    with pytest.raises(NotSent):
        await pool.run({"ping": 1})


async def test_no_server_at_all_means_that_nothing_was_sent() -> None:
    pool = WirePool(Target((("127.0.0.1", 1),), "tradewind"), connect_seconds=1)
    with pytest.raises(NotSent):
        await pool.run({"ping": 1})


async def test_a_wrong_password_means_that_nothing_was_sent(mongodb_uri: str) -> None:
    address = urlsplit(mongodb_uri)
    target = Target((("127.0.0.1", address.port or 0),), "tradewind", address.username or "", "wrong", "admin", True)
    pool = WirePool(target, connect_seconds=2)
    with pytest.raises(NotSent):
        await pool.run({"ping": 1})


async def test_single_inserts_that_come_at_once_are_few_commands(
    driver: DirectDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    run = WirePool.run

    async def counted(pool: WirePool, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Any:
        if "insert" in command:
            sent.append(len(documents))
        return await run(pool, command, documents)

    monkeypatch.setattr(WirePool, "run", counted)
    await asyncio.gather(*(driver.insert("gathered", [{"_id": n}]) for n in range(60)))
    assert sent == [16, 16, 16, 12]
    assert await driver.count("gathered", {"_id": {"$gte": 0}}) == 60


async def test_an_insert_that_waits_for_a_transaction_fails_without_the_rest_of_its_batch(hasty: DirectDriver) -> None:
    await hasty.synchronise_indexes("waiting", [IndexSpec("code", (("code", 1),), unique=True)])

    async def work() -> list[Any]:
        await hasty.insert("waiting", [{"_id": 0, "code": "a"}])
        outside = [{"_id": 1, "code": "a"}, {"_id": 2, "code": "b"}, {"_id": 3, "code": "c"}]
        begun = (Context().run(asyncio.ensure_future, hasty.insert("waiting", [one])) for one in outside)
        return await asyncio.gather(*begun, return_exceptions=True)

    outcomes = await hasty.transaction(work)
    assert isinstance(outcomes[0], DatabaseUnavailable)
    assert outcomes[1:] == [None, None]
    assert [row["_id"] for row in await hasty.find("waiting", {}, sort=[("_id", 1)])] == [0, 2, 3]


async def test_documents_that_are_durable_late_are_inserted_once(
    driver: DirectDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, expired = WirePool.run, {"code": 50, "errmsg": "operation exceeded time limit"}

    async def late(pool: WirePool, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Any:
        reply = await run(pool, command, documents)
        return {**reply, "writeConcernError": expired} if "insert" in command else reply

    monkeypatch.setattr(WirePool, "run", late)
    await asyncio.gather(*(driver.insert("durable", [{"_id": n, "list": [n]}]) for n in range(3)))
    assert await driver.find("durable", {}, sort=[("_id", 1)]) == [{"_id": n, "list": [n]} for n in range(3)]


@pytest.mark.parametrize("long", ["中" * 60, "a" + "中" * 60, "aa" + "中" * 60, "😀" * 50, "é" * 100, "x" * 300])
async def test_a_long_key_that_is_taken_is_the_fault_of_one(driver: DirectDriver, long: str) -> None:
    things = f"long_{uuid.uuid4().hex[:8]}"
    await driver.synchronise_indexes(things, [IndexSpec("code", (("code", 1),), unique=True)])
    await driver.insert(things, [{"_id": 0, "code": long}])
    codes = ["a", long, "b", long, "c"]
    outcomes = await asyncio.gather(
        *(driver.insert(things, [{"_id": n, "code": code}]) for n, code in enumerate(codes, 1)), return_exceptions=True
    )
    assert [one and (type(one), getattr(one, "fields", ())) for one in outcomes] == [
        None,
        (DuplicateKey, ("code",)),
        None,
        (DuplicateKey, ("code",)),
        None,
    ]
    with pytest.raises(DuplicateKey):
        await driver.update_one(things, {"_id": 1}, {"$set": {"code": long}})
    assert len(await driver.find(things, {}, limit=10)) == 4


async def test_documents_of_a_failed_batch_are_inserted_one_by_one(
    driver: DirectDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, things = WirePool.run, f"each_{uuid.uuid4().hex[:8]}"

    async def refusing(pool: WirePool, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Any:
        reply = await run(pool, command, documents)
        # some are stored all the same: the server tells of none
        return {"ok": 0.0, "code": 8, "errmsg": "unknown error"} if len(documents) > 1 else reply

    monkeypatch.setattr(WirePool, "run", refusing)
    outcomes = await asyncio.gather(
        *(driver.insert(things, [{"_id": n, "n": n}]) for n in (1, 2, 3)),
        driver.insert(things, [{"_id": 1, "n": "another"}]),
        return_exceptions=True,
    )
    assert [type(one) for one in outcomes] == [type(None), type(None), type(None), DuplicateKey]
    assert [row["n"] for row in await driver.find(things, {}, sort=[("_id", 1)], limit=9)] == [1, 2, 3]


@pytest.mark.parametrize("code", sorted(REPEATED_CODES))
async def test_an_interrupted_read_is_repeated_once(
    driver: DirectDriver, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    await driver.insert_missing("again", [{"_id": 1}])

    async def interrupted(pool: WirePool, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Any:
        return {"ok": 0.0, "code": code, "errmsg": "interrupted"}

    monkeypatch.setattr(WirePool, "run", interrupted)
    assert await driver.find("again", {}, limit=5) == [{"_id": 1}]
    assert await driver.find_one("again", {"_id": 1}) == {"_id": 1}
    assert await driver.count("again", {"_id": 1}) == 1
    assert await driver.aggregate("again", []) == [{"_id": 1}]


@pytest.mark.parametrize("code", sorted(AWAY_CODES - {10107, 13435}))
async def test_an_interrupted_write_is_reported_and_not_repeated(
    driver: DirectDriver, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    async def interrupted(pool: WirePool, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Any:
        return {"ok": 0.0, "code": code, "errmsg": "interrupted"}

    async def unknown_whether_durable(
        pool: WirePool, command: Mapping[str, Any], documents: Sequence[bytes] = ()
    ) -> Any:
        return {"ok": 1.0, "n": 1, "nModified": 1, "value": None, "writeConcernError": {"code": code, "errmsg": "wait"}}

    for said in (interrupted, unknown_whether_durable):
        monkeypatch.setattr(WirePool, "run", said)
        for write in (
            driver.insert("once", [{"_id": 1}]),
            driver.update_one("once", {"_id": 1}, {"$set": {"n": 1}}, upsert=True),
            driver.update_many("once", {"_id": 1}, {"$set": {"n": 1}}),
            driver.delete_many("once", {"_id": 1}),
        ):
            with pytest.raises(DatabaseUnavailable):
                await write
    monkeypatch.undo()
    assert await driver.find("once", {}, limit=5) == []


async def test_a_list_whose_cursor_is_lost_is_read_again(driver: DirectDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    await driver.insert("lost_cursor", [{"_id": n} for n in range(1200)])
    run = WirePool.run

    async def losing(pool: WirePool, command: Mapping[str, Any], documents: Sequence[bytes] = ()) -> Any:
        if "getMore" in command:
            return {"ok": 0.0, "code": 43, "errmsg": "cursor not found"}
        return await run(pool, command, documents)

    monkeypatch.setattr(WirePool, "run", losing)
    found = await driver.aggregate("lost_cursor", [{"$sort": {"_id": 1}}])
    assert [one["_id"] for one in found] == list(range(1200))


async def test_a_lost_reply_is_reported_for_each_document_of_a_batch(
    behind: DirectDriver, driver: DirectDriver, proxy: Proxy
) -> None:
    await behind.insert("lost", [{"_id": 0}])
    proxy.forget()
    writing = [asyncio.ensure_future(behind.insert("lost", [{"_id": n}])) for n in (1, 2)]
    finished, _ = await asyncio.wait(writing, timeout=0.1)
    assert not finished
    await proxy.down()
    await proxy.up()
    outcomes = await asyncio.gather(*writing, return_exceptions=True)
    assert [type(one) for one in outcomes] == [DatabaseUnavailable, DatabaseUnavailable]
    assert await driver.count("lost", {"_id": {"$gt": 0}}) == 0


async def test_reading_goes_on_over_a_new_connection(behind: DirectDriver, proxy: Proxy) -> None:
    await behind.insert("kept", [{"_id": 1}])
    await proxy.down()
    await proxy.up()
    assert await behind.find_one("kept", {"_id": 1}) == {"_id": 1}


async def test_a_write_whose_reply_was_lost_is_not_sent_again(
    behind: DirectDriver, driver: DirectDriver, proxy: Proxy
) -> None:
    await behind.insert("counted", [{"_id": "n", "value": 0}])
    proxy.forget()
    writing = asyncio.ensure_future(behind.update_one("counted", {"_id": "n"}, {"$inc": {"value": 1}}))
    finished, _ = await asyncio.wait({writing}, timeout=0.1)
    assert not finished
    await proxy.down()
    await proxy.up()
    with pytest.raises(DatabaseUnavailable):
        await writing
    found = await driver.find_one("counted", {"_id": "n"})
    assert found == {"_id": "n", "value": 0}


@pytest.mark.parametrize("ending", [ValueError, asyncio.CancelledError])
async def test_a_transaction_whose_abort_had_no_reply_holds_nothing(
    ending: type[BaseException], driver: DirectDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, sending = uuid.uuid4().hex, WireSessions.send
    await driver.insert("things", [{"_id": id, "number": 0}])

    async def lose(sessions: WireSessions, command: Mapping[str, Any], documents: Sequence[bytes]) -> Any:
        if "abortTransaction" in command:
            raise AutoReconnect("the connection was lost")
        return await sending(sessions, command, documents)

    async def fail() -> None:
        await driver.update_one("things", {"_id": id}, {"$inc": {"number": 1}})
        raise ending

    async def ended() -> bool:
        return not driver.open_sessions

    with monkeypatch.context() as losing:
        losing.setattr(WireSessions, "send", lose)
        with pytest.raises(ending):
            await driver.transaction(fail)
        await eventually(ended)
    async with asyncio.timeout(3):  # the server would end the transaction after a minute
        changed = await driver.update_one("things", {"_id": id}, {"$inc": {"number": 1}})
    assert changed is not None
    assert changed["number"] == 1


async def test_transactions_use_a_session_again(
    mongodb_uri: str, name: str, things: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[bytes, int]] = []
    run = WirePool.run

    async def noted(pool: WirePool, command: Mapping[str, Any], documents: Sequence[bytes] = (), *more: Any) -> Any:
        if "startTransaction" in command:
            seen.append((bytes(command["lsid"]["id"]), command["txnNumber"]))
        return await run(pool, command, documents, *more)

    monkeypatch.setattr(WirePool, "run", noted)
    driver = open_driver("direct", mongodb_uri, name, 2000)
    for number in range(3):
        await driver.transaction(partial(driver.insert, things, [{"_id": number}]))
    assert [number for _, number in seen] == [1, 2, 3]
    assert len({session for session, _ in seen}) == 1
    assert driver.open_sessions == []
    await driver.close()
