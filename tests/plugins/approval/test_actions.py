"""Agree, reject, send back, transfer, withdraw: what each does, and to whom it is allowed."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from plugins.runtime import Running
from plugins.testing import Client, People, expect
from tests.plugins.approval.flows import INSTANCES, act, ask, box, define, draft, id_of, node, read, several, waiting

pytestmark = pytest.mark.gen_test(timeout=60)


async def test_the_nodes_are_asked_one_after_the_other_until_it_is_approved(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    assert waiting(made) == {id_of(first)}
    assert waiting(expect(await act(first, made, "agree"))) == {id_of(second)}
    assert expect(await act(second, made, "agree"))["status"] == "approved"


async def test_a_rejection_ends_it(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    rejected = expect(await act(first, made, "reject", comment="too dear"))
    assert (rejected["status"], waiting(rejected)) == ("rejected", set())
    assert rejected["history"][-1]["comment"] == "too dear"


async def test_a_rejection_at_a_node_that_gives_back_returns_it_to_the_initiator(admin: Client, people: People) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first, on_reject="back")))
    assert expect(await act(first, made, "reject"))["status"] == "returned"
    assert waiting(expect(await act(me, made, "submit"))) == {id_of(first)}


async def test_only_who_is_asked_can_answer(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    for action in ("agree", "reject", "send-back"):
        expect(await act(me, made, action), 40901)
        expect(await act(second, made, action), 40400)
    assert await read(me, made) == made


async def test_a_second_tap_changes_nothing(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    after = expect(await act(first, made, "agree"))
    for action in ("agree", "reject", "send-back"):
        expect(await act(first, made, action), 40901)
    assert await read(me, made) == after


async def test_fifty_taps_at_once_have_one_effect(admin: Client, people: People, tradewind: Running) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first)))
    replies = await asyncio.gather(*(act(first, made, ("agree", "reject")[number % 2]) for number in range(50)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 49}
    now = await read(me, made)
    assert (now["version"], len(now["history"])) == (made["version"] + 1, len(made["history"]) + 1)


async def test_everybody_of_a_node_who_answers_at_once_is_heard(admin: Client, people: People) -> None:
    me, *asked = await several(people, 9)
    made = await ask(me, await define(admin, node("one", *asked, mode="all")))
    replies = await asyncio.gather(*(act(one, made, "agree") for one in asked))
    assert {reply.code for reply in replies} == {0}
    assert (await read(me, made))["status"] == "approved"


async def test_a_quorum_is_reached_when_so_many_agree(admin: Client, people: People) -> None:
    me, *asked = await several(people, 4)
    made = await ask(me, await define(admin, node("one", *asked, mode="quorum:2")))
    assert expect(await act(asked[0], made, "agree"))["status"] == "pending"
    assert expect(await act(asked[1], made, "reject"))["status"] == "pending"
    assert expect(await act(asked[2], made, "agree"))["status"] == "approved"


async def test_a_quorum_is_missed_when_it_can_no_longer_be_reached(admin: Client, people: People) -> None:
    me, *asked = await several(people, 4)
    made = await ask(me, await define(admin, node("one", *asked, mode="quorum:2")))
    assert expect(await act(asked[0], made, "reject"))["status"] == "pending"
    assert expect(await act(asked[1], made, "reject"))["status"] == "rejected"


async def test_what_is_sent_back_to_an_earlier_node_is_asked_there_again(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    expect(await act(first, made, "agree"))
    back = expect(await act(second, made, "send-back", to="one"))
    assert (back["node"], waiting(back)) == ("one", {id_of(first)})
    expect(await act(first, made, "agree"))
    assert expect(await act(second, made, "agree"))["status"] == "approved"


async def test_what_is_sent_back_to_the_initiator_can_be_changed_and_submitted_again(
    admin: Client, people: People
) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first)))
    back = expect(await act(first, made, "send-back"))
    assert back["status"] == "returned"
    body = {"version": back["version"], "title": "better"}
    expect(await me.patch(f"{INSTANCES}/{made['id']}", body))
    again = expect(await act(me, made, "submit"))
    assert (again["title"], waiting(again)) == ("better", {id_of(first)})


async def test_it_is_sent_back_to_nodes_before_it_alone(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first), node("two", second)))
    for to in ("one", "two", "nowhere"):
        reply = await act(first, made, "send-back", to=to)
        expect(reply, 40001)
        assert reply.fields == {"to"}


async def test_a_transferred_task_is_answered_by_the_other_person(admin: Client, people: People) -> None:
    me, first, other = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first)))
    assert waiting(expect(await act(first, made, "transfer", user_id=id_of(other)))) == {id_of(other)}
    expect(await act(first, made, "agree"), 40901)
    assert expect(await act(other, made, "agree"))["status"] == "approved"


async def test_a_task_is_not_transferred_to_somebody_who_is_asked_already(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first, second, mode="all")))
    expect(await act(first, made, "transfer", user_id=id_of(second)), 40901)
    expect(await act(first, made, "transfer", user_id=2**40), 40001)


async def test_the_initiator_takes_a_request_back(admin: Client, people: People) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first)))
    expect(await act(first, made, "withdraw"), 40300)
    withdrawn = expect(await act(me, made, "withdraw"))
    assert (withdrawn["status"], waiting(withdrawn)) == ("withdrawn", set())
    expect(await act(first, made, "agree"), 40901)


async def test_what_is_under_way_or_decided_is_not_changed_or_deleted(admin: Client, people: People) -> None:
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


async def test_a_disabled_flow_takes_no_requests(admin: Client, people: People) -> None:
    (me,) = await several(people, 1)
    made = await draft(me, await define(admin, node("one", me), enabled=False))
    expect(await act(me, made, "submit"), 40901)


async def test_the_boxes_hold_what_they_are_called(admin: Client, people: People) -> None:
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


async def test_who_is_asked_neither_changes_nor_deletes_what_they_sent_back(admin: Client, people: People) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first)))
    returned = expect(await act(first, made, "send-back"))
    body = {"version": returned["version"], "title": "something else"}
    expect(await first.patch(f"{INSTANCES}/{made['id']}", body), 40300)
    expect(await first.delete(f"{INSTANCES}/{made['id']}"), 40300)
    expect(await me.patch(f"{INSTANCES}/{made['id']}", body))
    expect(await me.delete(f"{INSTANCES}/{made['id']}"))
