"""Departments: the tree stays a tree, and rows move along with it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plugins.rbac.tree import MAX_LEVELS
from plugins.testing import Client, People, Reply, expect, unique

pytestmark = pytest.mark.gen_test(timeout=60)
AT = "/api/v1/system/departments"


async def move(client: Client, id: int, parent_id: int | None) -> Reply:
    version = expect(await client.get(f"{AT}/{id}"))["version"]
    return await client.patch(f"{AT}/{id}", {"parent_id": parent_id, "version": version})


async def node(client: Client, id: int) -> dict[str, Any]:
    """The department in the tree, with its children."""
    waiting = list(expect(await client.get(AT)))
    while waiting:
        found: dict[str, Any] = waiting.pop()
        if found["id"] == id:
            return found
        waiting += found["children"]
    raise AssertionError(f"department {id} is not in the tree")


async def chain(people: People, length: int, parent: int | None = None) -> list[int]:
    """Departments, each below the one before it."""
    made: list[int] = []
    for _ in range(length):
        parent = await people.department(parent)
        made.append(parent)
    return made


async def test_departments_are_returned_as_a_tree_of_records(people: People) -> None:
    top, middle, leaf = await chain(people, 3)
    found = await node(people.admin, top)
    assert [child["id"] for child in found["children"]] == [middle]
    assert found["children"][0]["children"][0]["ancestors"] == [top, middle]
    assert found["children"][0]["children"][0]["id"] == leaf
    assert {"id", "parent_id", "ancestors", "name", "code", "leader_user_id", "sort", "status", "version"} <= set(found)


async def test_a_department_moves_with_all_that_is_below_it(people: People) -> None:
    top, middle, leaf = await chain(people, 3)
    place = await people.department()
    expect(await move(people.admin, middle, place))
    assert expect(await people.admin.get(f"{AT}/{leaf}"))["ancestors"] == [place, middle]
    assert (await node(people.admin, top))["children"] == []
    expect(await move(people.admin, middle, None))
    assert expect(await people.admin.get(f"{AT}/{leaf}"))["ancestors"] == [middle]


async def test_a_department_is_not_moved_under_itself(people: People) -> None:
    top, middle, leaf = await chain(people, 3)
    for below in (top, middle, leaf):
        expect(await move(people.admin, top, below), 40901)
    assert expect(await people.admin.get(f"{AT}/{leaf}"))["ancestors"] == [top, middle]


async def test_two_moves_at_once_make_no_circle(people: People) -> None:
    for _ in range(5):
        one, other = [await people.department() for _ in range(2)]
        replies = await asyncio.gather(move(people.admin, one, other), move(people.admin, other, one))
        assert sorted(reply.code for reply in replies) in ([0, 40901], [0, 40902])


async def test_a_department_made_while_its_parent_moves_knows_its_place(people: People) -> None:
    for _ in range(5):
        parent, place = await people.department(), await people.department()
        _, made = await asyncio.gather(move(people.admin, parent, place), people.department(parent))
        assert expect(await people.admin.get(f"{AT}/{made}"))["ancestors"] == [place, parent]


async def test_a_tree_has_no_more_levels_than_clients_can_follow(people: People) -> None:
    deepest = (await chain(people, MAX_LEVELS))[-1]
    reply = await people.admin.post(AT, {"name": "x", "parent_id": deepest})
    expect(reply, 40001)
    assert reply.fields == {"parent_id"}
    top, _ = await chain(people, 2)
    above = expect(await people.admin.get(f"{AT}/{deepest}"))["parent_id"]
    expect(await move(people.admin, top, above), 40001)


async def test_a_department_with_children_is_not_deleted(people: People) -> None:
    top, leaf = await chain(people, 2)
    expect(await people.admin.delete(f"{AT}/{top}"), 40901)
    expect(await people.admin.delete(f"{AT}/{leaf}"))
    expect(await people.admin.delete(f"{AT}/{top}"))
    expect(await people.admin.get(f"{AT}/{top}"), 40400)


async def test_a_department_with_people_is_not_deleted(people: People) -> None:
    department = await people.department()
    user = await people.account(department_id=department)
    expect(await people.admin.delete(f"{AT}/{department}"), 40901)
    expect(await people.admin.delete(f"/api/v1/system/users/{user['id']}"))
    expect(await people.admin.delete(f"{AT}/{department}"))


async def test_a_parent_must_exist(people: People) -> None:
    reply = await people.admin.post(AT, {"name": "x", "parent_id": 999_999})
    expect(reply, 40001)
    assert reply.fields == {"parent_id"}


async def test_a_code_is_taken_once(people: People) -> None:
    code = unique("D")
    expect(await people.admin.post(AT, {"name": "x", "code": code}))
    assert expect(await people.admin.post(AT, {"name": "y", "code": code}), 40900) == {"field": "code"}


async def test_a_move_changes_what_those_above_see_with_the_next_request(people: People) -> None:
    place, moved = [await people.department() for _ in range(2)]
    person = await people.person(["system:user:list"], "department_and_below", place)
    await people.account(department_id=moved)
    assert expect(await person.get("/api/v1/system/users"))["total"] == 1
    expect(await move(people.admin, moved, place))
    assert expect(await person.get("/api/v1/system/users"))["total"] == 2
    expect(await move(people.admin, moved, None))
    assert expect(await person.get("/api/v1/system/users"))["total"] == 1
