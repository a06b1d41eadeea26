"""`Idempotency-Key`: a retried POST writes once and is answered with the first answer (CONTRACT 1)."""

import asyncio
from typing import Any

import pytest
from bson import encode

from handlers.idempotency import IDEMPOTENCY_KEYS
from plugins.runtime import Running
from plugins.testing import Client, People, Reply, eventually, expect, unique
from tests.handlers.probe import AT, WIDGETS_AT
from tests.handlers.refusals import nothing_written, refused

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


async def test_a_retry_is_for_who_still_may(probe_admin: Client) -> None:
    other = await People(probe_admin).person(WRITING)
    key = unique("key")
    expect(await make(other, key, name="a"))
    expect(await other.post("/api/v1/auth/logout"))
    refused(await make(other, key, name="a"), 40100)


async def test_who_reads_the_database_reads_no_answers(probed: Running, probe_admin: Client) -> None:
    key, name = unique("key"), unique("very-private-name")
    expect(await make(probe_admin, key, name=name))
    kept = await probed.service.database.driver.find(IDEMPOTENCY_KEYS.name, {})
    assert kept
    raw = b"".join(encode(document) for document in kept)
    assert name.encode() not in raw
    assert key.encode() not in raw


async def test_an_answer_is_kept_for_a_day(probed: Running, probe_admin: Client) -> None:
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
    # as if the process had died before it could answer
    await driver.delete_many(IDEMPOTENCY_KEYS.name, {"_id": f"{claim['_id']}:answer"})
    await driver.update_one(IDEMPOTENCY_KEYS.name, {"_id": claim["_id"]}, {"$set": {"until": claim["created_at"]}})
    expect(await make(probe_admin, key, name="a", batch=batch))
    assert await count(probe_admin, batch) == 2


async def test_who_lost_the_claim_to_a_faster_twin_writes_nothing(probed: Running, probe_admin: Client) -> None:
    key, batch = unique("key"), unique("batch")
    first = await make(probe_admin, key, name="a", batch=batch)
    await probed.service.database.driver.delete_many(IDEMPOTENCY_KEYS.name, {"_id": (await last_claim(probed))["_id"]})
    second = await make(probe_admin, key, name="a", batch=batch)
    assert second.body == first.body
    assert await count(probe_admin, batch) == 1


async def test_a_key_on_another_method_means_nothing(probe_admin: Client) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "a"}))
    at, key = f"{WIDGETS_AT}/{made['id']}", {"Idempotency-Key": unique("key")}
    expect(await probe_admin.patch(at, {"version": 1, "rank": 1}, headers=key))
    refused(await probe_admin.patch(at, {"version": 1, "rank": 1}, headers=key), 40902)


async def test_every_write_of_a_retry_is_in_the_operation_log(probe_admin: Client) -> None:
    key, trace = unique("key"), unique("trace")
    for _ in range(2):
        await probe_admin.post(WIDGETS_AT, {"name": "a"}, headers={"Idempotency-Key": key, "X-Request-ID": trace})

    async def logged() -> bool:
        return bool(expect(await probe_admin.get(f"/api/v1/system/operation-logs?request_id={trace}"))["total"] == 2)

    await eventually(logged)
