"""Added signers, advice, comments, several decisions at once, and sending back with what was agreed kept."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import (
    AT,
    EVERYTHING,
    INSTANCES,
    act,
    ask,
    box,
    define,
    draft,
    id_of,
    node,
    read,
    several,
    waiting,
)
from tests.api.crm.sales import CONTRACTS, contract
from tests.api.files.samples import attach, upload
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=60)
BATCH = f"{AT}/tasks/batch"


async def test_an_added_signer_before_is_asked_first_and_what_was_agreed_counts(admin: Client, people: People) -> None:
    me, one, two, signer, last = await several(people, 5)
    made = await ask(me, await define(admin, node("both", one, two, mode="all"), node("last", last)))
    expect(await act(one, made, "agree"))
    added = expect(await act(two, made, "add-signer", user_id=id_of(signer), place="before"))
    assert (waiting(added), added["current"]) == ({id_of(signer)}, ["added-1"])
    expect(await act(two, made, "agree"), 40901)
    assert waiting(expect(await act(signer, made, "agree"))) == {id_of(two)}
    assert waiting(expect(await act(two, made, "agree"))) == {id_of(last)}


async def test_a_task_that_waits_for_an_added_signer_is_handed_over(admin: Client, people: People) -> None:
    me, one, signer, heir = await several(people, 4)
    made = await ask(me, await define(admin, node("one", one)))
    expect(await act(one, made, "add-signer", user_id=id_of(signer), place="before"))
    handover = f"/api/v1/system/users/{id_of(one)}/handover"
    expect(await admin.post(handover, {"to": id_of(heir)}))
    assert waiting(await read(me, made)) == {id_of(signer)}
    assert waiting(expect(await act(signer, made, "agree"))) == {id_of(heir)}


async def test_an_added_signer_after_is_asked_next_also_within_a_lane(admin: Client, people: People) -> None:
    me, one, two, signer = await several(people, 4)
    lanes = {"key": "lanes", "name": "lanes", "lanes": [{"name": key, "nodes": [key]} for key in ("one", "two")]}
    made = await ask(me, await define(admin, lanes, node("one", one), node("two", two)))
    expect(await act(one, made, "add-signer", user_id=id_of(me), place="after"), 40901)  # on their own request
    assert waiting(expect(await act(one, made, "add-signer", user_id=id_of(signer), place="after"))) == {
        id_of(one),
        id_of(two),
    }
    assert waiting(expect(await act(one, made, "agree"))) == {id_of(signer), id_of(two)}
    expect(await act(two, made, "agree"))
    assert expect(await act(signer, made, "agree"))["status"] == "approved"


async def test_who_is_copied_at_a_node_reads_the_request_from_then_on(admin: Client, people: People) -> None:
    me, first, second, copied = await several(people, 4)
    last = {**node("last", second), "copies": {"users": [id_of(copied)]}}
    made = await ask(me, await define(admin, node("one", first), last))
    path = f"{INSTANCES}/{made['id']}"
    expect(await copied.get(path), 40400)
    expect(await act(first, made, "agree"))
    expect(await copied.get(path))
    assert await box(copied, "copied") == [made["id"]]


async def test_who_is_asked_for_advice_decides_nothing(admin: Client, people: People) -> None:
    me, boss, expert = await several(people, 3)
    made = await ask(me, await define(admin, node("one", boss, mode="all")))
    expect(await act(boss, made, "ask-advice", user_id=id_of(expert), comment="is this usual?"))
    assert (await box(expert, "todo"), waiting(await read(me, made))) == ([made["id"]], {id_of(boss)})
    for action in ("agree", "reject"):
        expect(await act(expert, made, action), 40901)
    expect(await act(expert, made, "advise", comment="yes"))
    expect(await act(expert, made, "advise", comment="yes"), 40901)
    assert f"已答复您的意见征询：{made['title']}" in await titles(boss)
    assert expect(await act(boss, made, "agree"))["status"] == "approved"


async def test_who_is_mentioned_may_read_the_record_and_nobody_else_mentions(admin: Client, people: People) -> None:
    (boss,) = await several(people, 1)
    reader, stranger = await people.person(EVERYTHING), await people.person(EVERYTHING, "all")
    made = await contract(admin, "17.00", name=unique("contract"))
    mine = {"field": "id", "op": "eq", "value": made["id"]}
    await define(admin, node("one", boss), biz_type="CONTRACT", conditions=[mine], priority=0)
    approval = {"id": expect(await admin.post(f"{CONTRACTS}/{made['id']}/submit"))["approval"]}
    mention: dict[str, Any] = {"comment": "look", "mentions": [id_of(reader)]}
    expect(await act(stranger, approval, "comments", **mention), 40300)
    expect(await reader.get(f"{CONTRACTS}/{made['id']}"), 40300)
    said = expect(await act(boss, approval, "comments", **mention))
    assert (said["history"][-1]["action"], said["mentioned"]) == ("comment", [id_of(reader)])
    assert expect(await reader.get(f"{CONTRACTS}/{made['id']}"))["id"] == made["id"]
    assert len(await titles(reader)) == 1


async def test_who_may_read_a_comment_may_read_its_files_which_stay(admin: Client, people: People) -> None:
    me, boss = await several(people, 2)
    reader, stranger = await people.person(EVERYTHING), await people.person(EVERYTHING)
    made = await draft(me, await define(admin, node("one", boss)))
    file = await upload(me, b"three thousand", "offer.txt")
    attached = expect(await attach(me, made, file, "APPROVAL"))
    other = expect(await attach(me, await draft(me, await define(admin, node("one", boss))), file, "APPROVAL"))
    wrong = await act(me, made, "comments", comment="see", attachments=[attached["id"], other["id"]])
    assert (wrong.code, wrong.fields) == (40001, {"attachments"})
    mention = {"comment": "see", "mentions": [id_of(reader)], "attachments": [attached["id"]]}
    (shown,) = expect(await act(me, made, "comments", **mention))["history"][-1]["attachments"]
    assert shown == {"id": attached["id"], "file_name": "offer.txt", "object_key": file["objectKey"]}
    expect(await me.delete(f"/api/attachments/{attached['id']}"), 40901)
    reading = f"/api/file/dl?object_key={shown['object_key']}"
    assert [(await one.get(reading)).status for one in (reader, stranger)] == [200, 404]


async def test_several_tasks_are_decided_each_on_its_own(admin: Client, people: People) -> None:
    me, boss = await several(people, 2)
    plain, strict = [
        await define(admin, node("one", boss)),
        await define(admin, {**node("one", boss), "reason": "always"}),
    ]
    good, needing, foreign = (
        await ask(me, plain),
        await ask(me, strict),
        await ask(me, await define(admin, node("one"))),
    )
    ids = [one["id"] for one in (good, needing, foreign)]
    done = expect(await boss.post(BATCH, {"action": "agree", "ids": ids}))["items"]
    assert [(one["id"], one["code"], one["status"]) for one in done] == [
        (good["id"], 0, "approved"),
        (needing["id"], 40001, None),
        (foreign["id"], 40400, None),
    ]
    done = expect(await boss.post(BATCH, {"action": "reject", "ids": ids[:2], "reason": "too late"}))["items"]
    assert [one["code"] for one in done] == [40901, 0]
    without = await people.person([one for one in EVERYTHING if one != "approval:task:reject"])
    refused = expect(await without.post(BATCH, {"action": "reject", "ids": ids}))["items"]
    assert {one["code"] for one in refused} == {40300}


async def test_what_was_agreed_is_kept_if_the_sender_says_so(admin: Client, people: People) -> None:
    me, one, two, three = await several(people, 4)
    made = await ask(me, await define(admin, node("one", one), node("two", two), node("three", three)))
    for who in (one, two):
        expect(await act(who, made, "agree"))
    assert waiting(expect(await act(three, made, "send-back", to="one", keep=True))) == {id_of(one)}
    assert waiting(expect(await act(one, made, "agree"))) == {id_of(three)}
    expect(await act(three, made, "send-back", to="one"))
    assert waiting(expect(await act(one, made, "agree"))) == {id_of(two)}
    expect(await act(two, made, "agree"))
    expect(await act(three, made, "send-back", keep=True))
    assert waiting(expect(await act(me, made, "submit"))) == {id_of(three)}
    returned = expect(await act(three, made, "send-back", keep=True))
    expect(await me.patch(f"{INSTANCES}/{made['id']}", {"version": returned["version"], "record": {"amount": "2"}}))
    assert waiting(expect(await act(me, made, "submit"))) == {id_of(one)}


async def test_who_agreed_at_the_node_before_is_not_asked_twice_if_the_flow_says_so(
    admin: Client, people: People
) -> None:
    me, one, two = await several(people, 3)
    nodes = [node("one", one), node("two", one, two, mode="all"), node("three", one)]
    made = await ask(me, await define(admin, *nodes, repeated="skip"))
    assert waiting(expect(await act(one, made, "agree"))) == {id_of(two)}
    done = expect(await act(two, made, "agree"))
    assert (done["status"], [task["repeated"] for task in done["tasks"]]) == ("approved", [None, True, None, True])


async def test_a_rejection_needs_the_comment_that_its_node_requires(admin: Client, people: People) -> None:
    me, boss, copied = await several(people, 3)
    strict = {**node("one", boss), "reason": "reject", "copies": {"users": [id_of(copied)]}}
    made = await ask(me, await define(admin, strict))
    assert await titles(copied) == [f"抄送给您：{made['title']}"]
    for action in ("reject", "send-back"):
        reply = await act(boss, made, action)
        expect(reply, 40001)
        assert reply.fields == {"comment"}
    expect(await act(boss, made, "agree"))
    assert (await draft(me, await define(admin, strict)))["current"] == []
