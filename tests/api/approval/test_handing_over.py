"""Approvers who are away, have left, or would decide on their own request; reminders."""

from __future__ import annotations

import pytest

from plugins.testing import Client, People, expect
from tests.api.approval.flows import (
    ALLOWED,
    AT,
    DEFINITIONS,
    EVERYTHING,
    INSTANCES,
    act,
    ask,
    box,
    configured,
    define,
    disable,
    id_of,
    node,
    read,
    several,
    waiting,
)
from tests.api.approval.test_people import delegate
from tests.api.files.samples import note
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=60)
LEFT_OUT = {"approval_own_requests": "leave_out"}


async def test_an_approval_continues_when_its_flow_is_deleted(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    definition = await define(admin, node("one", first), node("two", second))
    agreed, taken_back = await ask(me, definition), await ask(me, definition)
    expect(await admin.delete(f"{DEFINITIONS}/{definition['id']}"))
    expect(await act(first, agreed, "agree"))
    assert expect(await act(second, agreed, "agree"))["status"] == "approved"
    assert expect(await act(me, taken_back, "withdraw"))["status"] == "withdrawn"
    expect(await act(me, taken_back, "submit"), 40901)


async def test_the_task_of_a_person_who_left_is_reassigned(admin: Client, people: People) -> None:
    me, gone, successor = await several(people, 3)
    made = await ask(me, await define(admin, node("one", gone, mode="all")))
    await disable(admin, gone)
    body = {"from_user_id": id_of(gone), "user_id": id_of(successor), "comment": "left the company"}
    given = expect(await act(admin, made, "reassign", **body))
    assert waiting(given) == {id_of(successor)}
    assert [task["status"] for task in given["tasks"]] == ["reassigned", "pending"]
    assert given["history"][-1]["action"] == "reassign"
    assert await titles(successor) == [f"待您审批：{made['title']}"]
    assert expect(await act(successor, made, "agree"))["status"] == "approved"


async def test_a_reassigned_task_is_not_among_the_completed_ones(admin: Client, people: People) -> None:
    me, ill, successor = await several(people, 3)
    made = await ask(me, await define(admin, node("one", ill)))
    expect(await act(admin, made, "reassign", from_user_id=id_of(ill), user_id=id_of(successor)))
    assert (await box(ill, "todo"), await box(ill, "done")) == ([], [])
    expect(await act(ill, made, "agree"), 40901)


async def test_reassigning_requires_the_permission_and_the_data_scope(admin: Client, people: People) -> None:
    everything = [*EVERYTHING, "approval:instance:reassign"]
    me, first, other = await several(people, 3, everything)
    made = await ask(me, await define(admin, node("one", first)))
    body = {"from_user_id": id_of(first), "user_id": id_of(other)}
    for who in (me, first):
        expect(await act(who, made, "reassign", **body), 40300)
    expect(await act(other, made, "reassign", **body), 40400)
    expect(await act(admin, made, "reassign", **{**body, "from_user_id": id_of(other)}), 40901)
    assert waiting(await read(me, made)) == {id_of(first)}


async def test_people_approve_their_own_requests_only_if_the_option_allows_it(admin: Client, people: People) -> None:
    me, other = await several(people, 2)
    definition = await define(admin, node("one", me, other, mode="all"))
    assert waiting(await ask(me, definition)) == {id_of(other)}
    async with configured(admin, **ALLOWED):
        assert waiting(await ask(me, definition)) == {id_of(me), id_of(other)}


async def test_the_leader_replaces_an_approver_of_their_own_request(admin: Client, people: People) -> None:
    department = await people.department()
    (me,) = await several(people, 1, department_id=department)
    (leader,) = await several(people, 1)
    definition = await define(admin, node("one", me))
    async with configured(admin, **LEFT_OUT):
        assert waiting(await ask(me, definition)) == {1}
        led = {"version": 1, "leader_user_id": id_of(leader)}
        expect(await admin.patch(f"/api/v1/system/departments/{department}", led))
        assert waiting(await ask(me, definition)) == {id_of(leader)}
        simulated = expect(await admin.post(f"{DEFINITIONS}/{definition['id']}/simulate", {"initiator_id": id_of(me)}))
        assert [one["user_id"] for one in simulated["nodes"][0]["approvers"]] == [id_of(leader)]


async def test_excluded_people_get_their_own_request_neither_by_delegation_nor_by_transfer(
    admin: Client, people: People
) -> None:
    me, away, other = await several(people, 3)
    await delegate(away, me)
    async with configured(admin, **LEFT_OUT):
        made = await ask(me, await define(admin, node("one", away, other, mode="all")))
        assert waiting(made) == {id_of(away), id_of(other)}
        expect(await act(other, made, "transfer", user_id=id_of(me)), 40901)
        body = {"from_user_id": id_of(other), "user_id": id_of(me)}
        expect(await act(admin, made, "reassign", **body), 40901)


async def test_a_delegate_is_notified(people: People) -> None:
    away, stand_in = await several(people, 2, real_name="张三")
    body = {"delegate_id": id_of(stand_in), "starts_at": "2026-10-01T00:00:00Z", "ends_at": "2026-10-08T00:00:00Z"}
    expect(await away.post(f"{AT}/delegations", body))
    assert await titles(stand_in) == ["张三 在 2026-10-01 至 2026-10-08 期间将审批委托给您"]


async def test_holders_of_a_disabled_role_are_not_asked(admin: Client, people: People) -> None:
    (me,) = await several(people, 1)
    role = await people.role(EVERYTHING)
    await people.account([role])
    definition = await define(admin, node("one", roles=[role]))
    version = expect(await admin.get(f"/api/v1/system/roles/{role}"))["version"]
    expect(await admin.patch(f"/api/v1/system/roles/{role}", {"version": version, "status": "disabled"}))
    assert waiting(await ask(me, definition)) == {1}


async def test_approvers_are_reminded_at_most_once_an_hour(admin: Client, people: People) -> None:
    me, first, done = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first, done, mode="all")))
    expect(await act(done, made, "agree"))
    for _ in range(2):
        assert waiting(expect(await me.post(f"{INSTANCES}/{made['id']}/remind"))) == {id_of(first)}
    assert await titles(first) == [f"催办审批：{made['title']}", f"待您审批：{made['title']}"]
    assert await titles(done) == [f"待您审批：{made['title']}"]


async def test_only_the_initiator_of_a_pending_request_sends_reminders(admin: Client, people: People) -> None:
    me, first = await several(people, 2)
    made = await ask(me, await define(admin, node("one", first)))
    expect(await first.post(f"{INSTANCES}/{made['id']}/remind"), 40300)
    expect(await act(first, made, "agree"))
    expect(await me.post(f"{INSTANCES}/{made['id']}/remind"), 40901)


async def test_lists_and_details_contain_names(admin: Client, people: People) -> None:
    me, first = await several(people, 2, real_name="张三")
    made = await ask(me, await define(admin, node("one", first)))
    (row,) = expect(await first.get(f"{AT}/tasks"))["items"]
    asked = {"id": id_of(first), "name": "张三"}
    assert (row["initiator_name"], row["waiting_for"]) == ("张三", [asked])
    assert made["people"] == (await read(first, made))["people"] == [{"id": id_of(me), "name": "张三"}, asked]


async def test_colleagues_are_found_without_regard_to_data_scope(admin: Client, people: People) -> None:
    me, first, gone = await several(people, 3)
    await disable(admin, gone)
    found = [expect(await me.get(f"{AT}/people?q={one.user['username']}"))["items"] for one in (first, gone)]
    name = {"id": id_of(first), "name": first.user["username"]}
    assert found == [[{**name, "department_id": None, "department_name": None}], []]


async def test_approvers_read_the_files_of_a_request(admin: Client, people: People) -> None:
    me, first, stranger = await several(people, 3)
    made = await ask(me, await define(admin, node("one", first)))
    stored = await note(me)
    body = {
        "biz_type": "APPROVAL",
        "resource_id": made["id"],
        "file_name": "报价.txt",
        "object_key": stored["objectKey"],
        "visibility": "private",
    }
    expect(await me.post("/api/attachments", body))
    path = f"/api/file/dl?object_key={stored['objectKey']}"
    assert [(await who.get(path)).status for who in (first, stranger)] == [200, 404]
