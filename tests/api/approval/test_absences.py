"""Tasks that wait follow delegations; those of disabled people are told; records without a flow find who decides."""

from __future__ import annotations

from datetime import timedelta

import pytest

from plugins.api import utc_now
from plugins.approval import telling
from plugins.approval.records import DELEGATIONS
from plugins.approval.standing_in import settle_due
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect
from tests.api.approval.flows import AT, act, ask, box, define, disable, id_of, node, read, several, waiting
from tests.api.approval.test_people import FUTURE, PAST, delegate
from tests.api.crm.sales import CONTRACTS, contract
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=60)
SELLING = ["crm:contract:create", "crm:contract:submit", "crm:contract:read", "crm:customer:create"]
DECIDING = ["crm:contract:list", "crm:contract:read", "crm:contract:approve"]


async def delegation(client: Client, to: Client, starts_at: str = PAST) -> str:
    """Delegate to another person, and return the id of the delegation."""
    body = {"delegate_id": id_of(to), "starts_at": starts_at, "ends_at": FUTURE}
    return str(expect(await client.post(f"{AT}/delegations", body))["id"])


async def test_a_delegate_gets_the_tasks_that_wait_and_whoever_is_back_those_that_wait_then(
    admin: Client, people: People
) -> None:
    me, away, stand_in, other = await several(people, 4)
    first, second = [await ask(me, await define(admin, node("one", away, other, mode="all"))) for _ in range(2)]
    made = await delegation(away, stand_in)
    assert waiting(await read(me, first)) == waiting(await read(me, second)) == {id_of(stand_in), id_of(other)}
    assert (await box(away, "todo"), len(await titles(stand_in))) == ([], 3)
    expect(await act(stand_in, first, "agree"))
    expect(await away.delete(f"{AT}/delegations/{made}"))
    assert waiting(await read(me, first)) == {id_of(other)}
    assert waiting(await read(me, second)) == {id_of(away), id_of(other)}


async def test_a_task_stays_with_its_person_while_the_delegate_is_asked_already(admin: Client, people: People) -> None:
    me, away, stand_in = await several(people, 3)
    made = await ask(me, await define(admin, node("one", away, stand_in, mode="quorum:2")))
    await delegation(away, stand_in)
    assert waiting(await read(me, made)) == {id_of(away), id_of(stand_in)}


async def test_tasks_move_on_the_first_day_and_come_back_after_the_last(
    admin: Client, people: People, tradewind: Running
) -> None:
    me, away, stand_in = await several(people, 3)
    made = await ask(me, await define(admin, node("one", away)))
    id = await delegation(away, stand_in, starts_at="2098-01-01T00:00:00Z")
    assert waiting(await read(me, made)) == {id_of(away)}
    store, now = tradewind.service.database.store(DELEGATIONS), utc_now()
    for field, expected in (("starts_at", stand_in), ("ends_at", away)):
        key = {"_id": DELEGATIONS.parse_id(id)}
        await store.update_many(key, {"$set": {field: now - timedelta(minutes=1)}})
        await settle_due(tradewind.service)
        assert waiting(await read(me, made)) == {id_of(expected)}


async def test_a_chain_of_delegations_gives_a_task_back_to_its_middle(admin: Client, people: People) -> None:
    me, first, second, third = await several(people, 4)
    await delegate(first, second)
    made = await ask(me, await define(admin, node("one", first)))
    middle = await delegation(second, third)
    assert waiting(await read(me, made)) == {id_of(third)}
    expect(await second.delete(f"{AT}/delegations/{middle}"))
    assert waiting(await read(me, made)) == {id_of(second)}


async def test_the_initiator_and_those_who_can_reassign_hear_of_a_disabled_approver(
    admin: Client, people: People
) -> None:
    manager = await people.person(["approval:instance:reassign"])
    me, gone = await several(people, 2, real_name="张三")
    made = await ask(me, await define(admin, node("one", gone)))
    await disable(admin, gone)
    assert await titles(me) == [f"审批人 张三 的账号已停用，您的申请仍待其审批：{made['title']}"]
    assert await titles(manager) == ["张三 的账号已停用，仍有 1 个待审批任务，请改派"]
    assert (await read(me, made))["absent"] == [id_of(gone)]


# -- records to which no flow applies


async def test_permitted_approvers_in_scope_are_notified_that_no_flow_applies(people: People) -> None:
    maker, boss, stranger = [
        await people.person(codes, scope) for codes, scope in ((SELLING, "self"), (DECIDING, "all"), (DECIDING, "self"))
    ]
    made = await contract(maker, "12.00")
    reply = await maker.post(f"{CONTRACTS}/{made['id']}/submit")
    submitted = expect(reply)
    assert (submitted["status"], submitted["approval"], reply.headers["X-Approval"]) == ("pending", None, "none")
    told = [title for title in await titles(boss) if made["number"] in title]
    assert (len(told), await titles(stranger), await titles(maker)) == (1, [], [])
    listed = expect(await boss.get(f"{CONTRACTS}?status=pending&page_size=200"))["items"]
    assert made["id"] in [row["id"] for row in listed]


async def test_neither_who_does_not_see_the_record_nor_super_administrators_take_the_place_of_who_decides(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker, stranger, boss = [
        await people.person(codes, scope) for codes, scope in ((SELLING, "self"), (DECIDING, "self"), (DECIDING, "all"))
    ]

    async def permitted(*_: object) -> list[int]:
        return [id_of(stranger), 1, id_of(boss)]

    monkeypatch.setattr(telling, "people_permitted", permitted)
    monkeypatch.setattr(telling, "_MOST", 1)
    made = await contract(maker, "12.00")
    expect(await maker.post(f"{CONTRACTS}/{made['id']}/submit"))
    told = [[made["number"] in title for title in await titles(one)] for one in (stranger, boss)]
    assert told == [[], [True]]


async def test_a_record_that_a_flow_takes_answers_with_its_approval(admin: Client, people: People) -> None:
    (boss,) = await several(people, 1)
    made = await contract(admin, "13.00")
    condition = {"field": "id", "op": "eq", "value": made["id"]}
    await define(admin, node("one", boss), biz_type="CONTRACT", conditions=[condition], priority=1)
    reply = await admin.post(f"{CONTRACTS}/{made['id']}/submit")
    (asked,) = expect(await admin.get(f"{AT}/instances?resource_id={made['id']}"))["items"]
    assert (expect(reply)["approval"], reply.headers.get("X-Approval")) == (asked["id"], None)
