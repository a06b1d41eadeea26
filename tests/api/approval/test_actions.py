"""Agree, reject, send back, transfer, withdraw: their effects, and who may call them."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect
from tests.api.approval.flows import INSTANCES, act, ask, box, define, draft, id_of, node, read, several, waiting

pytestmark = pytest.mark.gen_test(timeout=60)


async def test_nodes_become_current_one_after_the_other_until_approval(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    assert waiting(made) == {id_of(first)}
    assert waiting(expect(await act(first, made, "agree"))) == {id_of(second)}
    assert expect(await act(second, made, "agree"))["status"] == "approved"


async def test_a_rejection_ends_the_approval(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    rejected = expect(await act(first, made, "reject", comment="too dear"))
    assert (rejected["status"], waiting(rejected)) == ("rejected", set())
    assert rejected["history"][-1]["comment"] == "too dear"


async def test_a_rejection_at_a_node_with_on_reject_back_returns_the_request(admin: Client, people: People) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first, on_reject="back")))
    assert expect(await act(first, made, "reject"))["status"] == "returned"
    assert waiting(expect(await act(me, made, "submit"))) == {id_of(first)}


async def test_only_approvers_can_decide(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    for action in ("agree", "reject", "send-back"):
        expect(await act(me, made, action), 40901)
        expect(await act(second, made, action), 40400)
    assert await read(me, made) == made


async def test_a_repeated_action_changes_nothing(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    after = expect(await act(first, made, "agree"))
    for action in ("agree", "reject", "send-back"):
        expect(await act(first, made, action), 40901)
    assert await read(me, made) == after


async def test_fifty_concurrent_actions_have_one_effect(admin: Client, people: People, tradewind: Running) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first)))
    replies = await asyncio.gather(*(act(first, made, ("agree", "reject")[number % 2]) for number in range(50)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 49}
    now = await read(me, made)
    assert (now["version"], len(now["history"])) == (made["version"] + 1, len(made["history"]) + 1)


async def test_concurrent_decisions_at_a_node_all_count(admin: Client, people: People) -> None:
    me, *asked = await several(people, 9)
    made = await ask(me, await define(admin, node("one", *asked, mode="all")))
    replies = await asyncio.gather(*(act(one, made, "agree") for one in asked))
    assert {reply.code for reply in replies} == {0}
    assert (await read(me, made))["status"] == "approved"


async def test_a_quorum_is_reached_when_enough_people_agree(admin: Client, people: People) -> None:
    me, *asked = await several(people, 4)
    made = await ask(me, await define(admin, node("one", *asked, mode="quorum:2")))
    assert expect(await act(asked[0], made, "agree"))["status"] == "pending"
    assert expect(await act(asked[1], made, "reject"))["status"] == "pending"
    assert expect(await act(asked[2], made, "agree"))["status"] == "approved"


async def test_a_node_is_rejected_when_its_quorum_is_out_of_reach(admin: Client, people: People) -> None:
    me, *asked = await several(people, 4)
    made = await ask(me, await define(admin, node("one", *asked, mode="quorum:2")))
    assert expect(await act(asked[0], made, "reject"))["status"] == "pending"
    assert expect(await act(asked[1], made, "reject"))["status"] == "rejected"


async def test_sending_back_to_an_earlier_node_asks_its_approvers_again(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    expect(await act(first, made, "agree"))
    assert [one["key"] for one in (await read(second, made))["send_back_to"]] == ["initiator", "one"]
    back = expect(await act(second, made, "send-back", to="one"))
    assert (back["node"], waiting(back), back["send_back_to"]) == ("one", {id_of(first)}, [])
    assert (back["history"][-1]["to"], back["history"][-1]["to_name"]) == ("one", back["nodes"][0]["name"])
    expect(await act(first, made, "agree"))
    assert expect(await act(second, made, "agree"))["status"] == "approved"


async def test_a_returned_request_can_be_changed_and_submitted_again(admin: Client, people: People) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first)))
    back = expect(await act(first, made, "send-back"))
    assert back["status"] == "returned"
    body = {"version": back["version"], "title": "better"}
    expect(await me.patch(f"{INSTANCES}/{made['id']}", body))
    again = expect(await act(me, made, "submit"))
    assert (again["title"], waiting(again)) == ("better", {id_of(first)})


async def test_a_request_is_sent_back_to_earlier_nodes_only(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    for to in ("one", "two", "nowhere"):
        reply = await act(first, made, "send-back", to=to)
        expect(reply, 40001)
        assert reply.fields == {"to"}


async def test_the_new_assignee_decides_on_a_transferred_task(admin: Client, people: People) -> None:
    me, first, other = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first)))
    assert waiting(expect(await act(first, made, "transfer", user_id=id_of(other)))) == {id_of(other)}
    expect(await act(first, made, "agree"), 40901)
    assert expect(await act(other, made, "agree"))["status"] == "approved"


async def test_a_task_is_not_transferred_to_a_current_approver(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first, second, mode="all")))
    expect(await act(first, made, "transfer", user_id=id_of(second)), 40901)
    expect(await act(first, made, "transfer", user_id=2**40), 40001)


async def test_the_initiator_withdraws_a_request(admin: Client, people: People) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first)))
    expect(await act(first, made, "withdraw"), 40300)
    withdrawn = expect(await act(me, made, "withdraw"))
    assert (withdrawn["status"], waiting(withdrawn)) == ("withdrawn", set())
    expect(await act(first, made, "agree"), 40901)


async def test_a_pending_or_decided_request_is_neither_changed_nor_deleted(admin: Client, people: People) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first)))
    at = f"{INSTANCES}/{made['id']}"
    expect(await me.patch(at, {"version": made["version"], "title": "other"}), 40901)
    expect(await me.delete(at), 40901)


async def test_an_approval_under_way_keeps_the_flow_that_it_started_with(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    definition = await define(admin, node("one", first))
    made = await ask(me, definition)
    at = f"/api/v1/approvals/definitions/{definition['id']}"
    expect(await admin.patch(at, {"version": definition["version"], "nodes": [node("other", second)]}))
    assert expect(await act(first, made, "agree"))["status"] == "approved"


async def test_a_disabled_flow_accepts_no_requests(admin: Client, people: People) -> None:
    (me,) = await several(people, 1)
    made = await draft(me, await define(admin, node("one", me), enabled=False))
    expect(await act(me, made, "submit"), 40901)


async def test_each_box_lists_its_requests(admin: Client, people: People) -> None:
    me, first, copied = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), copies={"users": [id_of(copied)]}))
    clients = {"mine": me, "todo": first, "copied": copied}
    for name in ("mine", "todo", "copied", "done"):
        holders = {who for who, client in clients.items() if made["id"] in await box(client, name)}
        assert holders == {name} & set(clients)
    expect(await act(first, made, "agree"))
    assert (await box(first, "todo"), await box(first, "done")) == ([], [made["id"]])
    counts = expect(await first.get("/api/v1/approvals/counts"))
    assert counts == {"todo": 0, "done": 1, "mine": 0, "copied": 0}


async def test_initiator_approvers_and_copied_people_see_it_and_nobody_else(admin: Client, people: People) -> None:
    me, first, second, copied, other = await several(people, 5)
    made = await ask(
        me, await define(admin, node("one", first), node("two", second), copies={"users": [id_of(copied)]})
    )
    at = f"{INSTANCES}/{made['id']}"
    for client, code in ((me, 0), (first, 0), (copied, 0), (second, 40400), (other, 40400)):
        expect(await client.get(at), code)
    expect(await act(first, made, "agree"))
    expect(await second.get(at))
    expect(await first.get(at))


async def test_an_approver_neither_changes_nor_deletes_a_request_that_they_returned(
    admin: Client, people: People
) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first)))
    returned = expect(await act(first, made, "send-back"))
    body = {"version": returned["version"], "title": "something else"}
    expect(await first.patch(f"{INSTANCES}/{made['id']}", body), 40300)
    expect(await first.delete(f"{INSTANCES}/{made['id']}"), 40300)
    expect(await me.patch(f"{INSTANCES}/{made['id']}", body))
    expect(await me.delete(f"{INSTANCES}/{made['id']}"))
