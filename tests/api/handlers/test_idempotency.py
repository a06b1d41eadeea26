"""`Idempotency-Key`: a write that is retried happens once and gets the first response (CONTRACT 1)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from bson import encode
from pymongo.errors import AutoReconnect

from config.database.sessions import OpenSession
from config.database.transactions import Transactions
from handlers.idempotency import IDEMPOTENCY_KEYS
from plugins.boot.runtime import Running
from plugins.testing import Client, People, Reply, eventually, expect, unique
from tests.support.probe import AT, WIDGETS, WIDGETS_AT
from tests.support.refusals import nothing_written, refused

pytestmark = pytest.mark.gen_test
WRITING = [f"probe:widget:{action}" for action in ("list", "read", "create", "update")]


async def make(client: Client, key: str, path: str = WIDGETS_AT, **values: Any) -> Reply:
    return await client.post(path, values, headers={"Idempotency-Key": key})


async def count(client: Client, batch: str) -> int:
    return int(expect(await client.get(f"{WIDGETS_AT}?batch={batch}"))["total"])


async def test_a_retry_writes_once_and_gets_the_same_bytes(probe_admin: Client) -> None:
    key, batch = unique("key"), unique("batch")
    first, second = [await make(probe_admin, key, name="a", batch=batch) for _ in range(2)]
    expect(first)
    assert (second.status, second.body) == (first.status, first.body)
    assert await count(probe_admin, batch) == 1


async def test_of_fifty_twins_one_writes(probe_admin: Client) -> None:
    key, batch = unique("key"), unique("batch")
    replies = await asyncio.gather(*(make(probe_admin, key, name="a", batch=batch) for _ in range(50)))
    assert len({reply.body for reply in replies}) == 1
    expect(replies[0])
    assert await count(probe_admin, batch) == 1


async def test_the_same_key_with_another_body_is_refused(probed: Running, probe_admin: Client) -> None:
    key = unique("key")
    expect(await make(probe_admin, key, name="a"))
    async with nothing_written(probed):
        refused(await make(probe_admin, key, name="b"), 40903)


async def test_the_same_key_at_another_path_is_refused(probed: Running, probe_admin: Client) -> None:
    key = unique("key")
    expect(await make(probe_admin, key, name="a"))
    async with nothing_written(probed):
        refused(await make(probe_admin, key, f"{AT}/pairs", first="a", second="b"), 40903)


async def test_the_same_key_of_another_person_is_another_key(probed: Running, probe_admin: Client) -> None:
    other = await People(probe_admin).person(WRITING)
    key, batch = unique("key"), unique("batch")
    mine, theirs = [expect(await make(client, key, name="a", batch=batch)) for client in (probe_admin, other)]
    assert mine["id"] != theirs["id"]
    assert (mine["creator_id"], theirs["creator_id"]) == (1, other.user["userId"])


async def test_requests_without_a_key_are_two_requests(probe_admin: Client) -> None:
    batch = unique("batch")
    for _ in range(2):
        expect(await probe_admin.post(WIDGETS_AT, {"name": "a", "batch": batch}))
    assert await count(probe_admin, batch) == 2


async def test_a_first_attempt_that_was_refused_does_not_burn_the_key(probe_admin: Client) -> None:
    key, name = unique("key"), unique("name")
    taken = expect(await probe_admin.post(WIDGETS_AT, {"name": name, "batch": "unique"}))
    refused(await make(probe_admin, key, name=name, batch="unique"), 40900)
    expect(await probe_admin.delete(f"{WIDGETS_AT}/{taken['id']}"))
    assert expect(await make(probe_admin, key, name=name, batch="unique"))["name"] == name


async def test_a_first_attempt_that_failed_half_way_leaves_nothing(probe_admin: Client) -> None:
    key, name = unique("key"), unique("name")
    refused(await make(probe_admin, key, f"{AT}/pairs", first=name, second=name), 40900)
    found = expect(await probe_admin.get(f"{WIDGETS_AT}?batch=unique&q={name}"))
    assert found["total"] == 0


async def test_a_refused_body_does_not_claim_the_key(probe_admin: Client) -> None:
    key = unique("key")
    refused(await make(probe_admin, key, name=5), 40001)
    expect(await make(probe_admin, key, name="a"))


async def test_a_retry_is_for_somebody_who_still_may(probe_admin: Client) -> None:
    other = await People(probe_admin).person(WRITING)
    key = unique("key")
    expect(await make(other, key, name="a"))
    expect(await other.post("/api/v1/auth/logout"))
    refused(await make(other, key, name="a"), 40100)


async def test_the_database_alone_reveals_no_response(probed: Running, probe_admin: Client) -> None:
    key, name = unique("key"), unique("very-private-name")
    expect(await make(probe_admin, key, name=name))
    kept = await probed.service.database.driver.find(IDEMPOTENCY_KEYS.name, {})
    assert kept
    raw = b"".join(encode(document) for document in kept)
    assert name.encode() not in raw
    assert key.encode() not in raw


async def test_a_response_is_kept_for_a_day(probed: Running, probe_admin: Client) -> None:
    expect(await make(probe_admin, unique("key"), name="a"))
    indexes = await probed.service.database.driver.command({"listIndexes": IDEMPOTENCY_KEYS.name})
    assert 24 * 3600 in [index.get("expireAfterSeconds") for index in indexes["cursor"]["firstBatch"]]


async def last_claim(running: Running) -> dict[str, Any]:
    """The claim of the request that was sent last."""
    claims = {"holder": {"$exists": True}}
    return (await running.service.database.driver.find(IDEMPOTENCY_KEYS.name, claims, sort=[("created_at", -1)]))[0]


async def test_a_claim_of_a_holder_who_is_silent_is_taken_over(probed: Running, probe_admin: Client) -> None:
    key, batch = unique("key"), unique("batch")
    expect(await make(probe_admin, key, name="a", batch=batch))
    driver, claim = probed.service.database.driver, await last_claim(probed)
    # as if the process had died before its response
    await driver.delete_many(IDEMPOTENCY_KEYS.name, {"_id": f"{claim['_id']}:answer"})
    await driver.update_one(IDEMPOTENCY_KEYS.name, {"_id": claim["_id"]}, {"$set": {"until": claim["created_at"]}})
    expect(await make(probe_admin, key, name="a", batch=batch))
    assert await count(probe_admin, batch) == 2


async def test_a_request_that_lost_the_claim_to_a_faster_twin_writes_nothing(
    probed: Running, probe_admin: Client
) -> None:
    key, batch = unique("key"), unique("batch")
    first = await make(probe_admin, key, name="a", batch=batch)
    await probed.service.database.driver.delete_many(IDEMPOTENCY_KEYS.name, {"_id": (await last_claim(probed))["_id"]})
    second = await make(probe_admin, key, name="a", batch=batch)
    assert second.body == first.body
    assert await count(probe_admin, batch) == 1


async def test_a_replayed_response_says_so_and_has_the_headers_of_the_first(probe_admin: Client) -> None:
    key = unique("key")
    first, second = [await make(probe_admin, key, f"{AT}/twins", name="a") for _ in range(2)]
    expect(first)
    assert second.body == first.body
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert second.headers["X-Possible-Duplicates"] == first.headers["X-Possible-Duplicates"] == "one,two"


Write = Callable[[Client, dict[str, Any], dict[str, str]], Awaitable[Reply]]
WRITES: Mapping[str, Write] = {
    "POST": lambda admin, row, key: admin.post(WIDGETS_AT, {"name": f"{row['name']}!", "batch": "unique"}, headers=key),
    "POST an action": lambda admin, row, key: admin.post(f"{AT}/things/{row['id']}/close", headers=key),
    "PATCH": lambda admin, row, key: admin.patch(f"{WIDGETS_AT}/{row['id']}", {"version": 1, "rank": 5}, headers=key),
    "PUT": lambda admin, row, key: admin.put(f"{AT}/things/{row['id']}", {"version": 1, "rank": 6}, headers=key),
    "DELETE": lambda admin, row, key: admin.delete(f"{WIDGETS_AT}/{row['id']}", headers=key),
}


@pytest.mark.parametrize("method", WRITES)
async def test_a_retry_of_any_method_gets_the_first_response(probe_admin: Client, method: str) -> None:
    made, key = expect(await probe_admin.post(WIDGETS_AT, {"name": unique("a")})), {"Idempotency-Key": unique("key")}
    first, second = [await WRITES[method](probe_admin, made, key) for _ in range(2)]
    expect(first)
    assert (second.status, second.body) == (first.status, first.body)
    assert second.headers["Idempotency-Replayed"] == "true"
    refused(await WRITES[method](probe_admin, made, {}), REFUSED_TWICE[method])


REFUSED_TWICE = {"POST": 40900, "POST an action": 40901, "PATCH": 40902, "PUT": 40902, "DELETE": 40400}


async def test_a_key_of_one_method_is_no_key_of_another(probe_admin: Client) -> None:
    made, key = expect(await probe_admin.post(WIDGETS_AT, {"name": "a"})), {"Idempotency-Key": unique("key")}
    expect(await probe_admin.patch(f"{WIDGETS_AT}/{made['id']}", {"version": 1, "rank": 1}, headers=key))
    refused(await probe_admin.delete(f"{WIDGETS_AT}/{made['id']}", headers=key), 40903)


@pytest.fixture
def unheard_commits(probed: Running, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """While it holds something, transactions are committed and nobody hears of it, as when a primary goes away."""
    unheard: list[bool] = []
    commit = Transactions._commit

    async def commit_unheard(transactions: Transactions, session: OpenSession) -> None:
        await commit(transactions, session)
        if unheard:
            raise AutoReconnect("the reply was lost")

    monkeypatch.setattr(Transactions, "_commit", commit_unheard)
    return unheard


@pytest.mark.parametrize("method", WRITES)
async def test_a_retry_after_a_commit_of_unknown_outcome_gets_the_first_response(
    probe_admin: Client, unheard_commits: list[bool], method: str
) -> None:
    made, key = expect(await probe_admin.post(WIDGETS_AT, {"name": unique("a")})), {"Idempotency-Key": unique("key")}
    unheard_commits.append(True)
    refused(await WRITES[method](probe_admin, made, key), 50300)
    unheard_commits.clear()
    second, third = [await WRITES[method](probe_admin, made, key) for _ in range(2)]
    expect(second)
    assert second.headers["Idempotency-Replayed"] == third.headers["Idempotency-Replayed"] == "true"
    assert third.body == second.body
    refused(await WRITES[method](probe_admin, made, {}), REFUSED_TWICE[method])


async def test_of_twins_after_a_commit_of_unknown_outcome_each_gets_the_first_response(
    probe_admin: Client, unheard_commits: list[bool]
) -> None:
    key, name = unique("key"), unique("name")
    unheard_commits.append(True)
    refused(await make(probe_admin, key, name=name, batch="unique"), 50300)
    unheard_commits.clear()
    replies = await asyncio.gather(*(make(probe_admin, key, name=name, batch="unique") for _ in range(20)))
    assert len({reply.body for reply in replies}) == 1
    assert expect(replies[0])["name"] == name
    assert expect(await probe_admin.get(f"{WIDGETS_AT}?batch=unique&q={name}"))["total"] == 1


async def test_a_refusal_of_another_request_is_reported_while_the_first_has_no_response(probe_admin: Client) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": unique("a")}))
    key = {"Idempotency-Key": unique("key")}
    for _ in range(2):
        refused(await probe_admin.patch(f"{WIDGETS_AT}/{made['id']}", {"version": 7, "rank": 1}, headers=key), 40902)
    expect(await probe_admin.patch(f"{WIDGETS_AT}/{made['id']}", {"version": 1, "rank": 1}, headers={**key}))


async def test_a_key_that_another_request_holds_is_free_once_that_request_has_failed(
    probed: Running, probe_admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, driver, looked = unique("key"), probed.service.database.driver, asyncio.Event()
    expect(await make(probe_admin, key, name="a"))
    claim = await last_claim(probed)
    # as if that request were still served
    await driver.delete_many(IDEMPOTENCY_KEYS.name, {"_id": f"{claim['_id']}:answer"})
    held = {"until": claim["until"] + timedelta(minutes=1)}
    await driver.update_one(IDEMPOTENCY_KEYS.name, {"_id": claim["_id"]}, {"$set": held})
    find = driver.find

    async def found(collection: str, *arguments: Any, **options: Any) -> Any:
        rows = await find(collection, *arguments, **options)
        if collection == IDEMPOTENCY_KEYS.name:
            looked.set()
        return rows

    monkeypatch.setattr(driver, "find", found)
    other = asyncio.create_task(make(probe_admin, key, name="b"))
    await looked.wait()
    await driver.delete_many(IDEMPOTENCY_KEYS.name, {"_id": claim["_id"]})
    assert expect(await other)["name"] == "b"


async def test_a_request_without_a_key_asks_nothing_of_the_keys(
    probed: Running, probe_admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, asked = probed.service.database.driver, []
    for name in ("find", "insert", "update_one", "delete_many"):
        real = getattr(driver, name)

        def noted(collection: str, *given: Any, real: Any = real, **options: Any) -> Any:
            asked.append(collection)
            return real(collection, *given, **options)

        monkeypatch.setattr(driver, name, noted)
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "a"}))
    refused(await probe_admin.patch(f"{WIDGETS_AT}/{made['id']}", {"version": 9}), 40902)
    expect(await probe_admin.delete(f"{WIDGETS_AT}/{made['id']}"))
    assert WIDGETS.name in asked
    assert IDEMPOTENCY_KEYS.name not in asked


async def test_every_write_of_a_retry_is_in_the_operation_log(probe_admin: Client) -> None:
    key, trace = unique("key"), unique("trace")
    for _ in range(2):
        await probe_admin.post(WIDGETS_AT, {"name": "a"}, headers={"Idempotency-Key": key, "X-Request-ID": trace})

    async def logged() -> bool:
        return bool(expect(await probe_admin.get(f"/api/v1/system/operation-logs?request_id={trace}"))["total"] == 2)

    await eventually(logged)
