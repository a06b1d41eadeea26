"""Announcements: whom they reach, when, who has read and confirmed them, and who may see that."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from plugins.api import utc_now
from plugins.boot.runtime import Running
from plugins.notification import publishing
from plugins.notification.announcement_records import ANNOUNCEMENTS
from plugins.testing import Client, People, expect, unique
from tests.api.notification.inboxes import AT, titles, unread

pytestmark = pytest.mark.gen_test(timeout=30)
ANNOUNCED = f"{AT}/announcements"
LATER = "2199-01-01T00:00:00Z"


async def announce(running: Running, speaker: Client, to: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Announce, and send what is due."""
    body = {"title": unique("notice"), "content": "周五停机", "to": to, **more}
    made: dict[str, Any] = expect(await speaker.post(ANNOUNCED, body))
    await publishing.run(running.service)
    return made


async def readers(client: Client, made: dict[str, Any], query: str = "") -> dict[int, str]:
    rows = expect(await client.get(f"{ANNOUNCED}/{made['id']}/readers?page_size=200{query}"))["items"]
    return {row["user_id"]: row["state"] for row in rows}


async def test_it_reaches_departments_with_those_below_roles_and_people_each_once(
    admin: Client, people: People, tradewind: Running
) -> None:
    above, role = await people.department(), await people.role()
    below = await people.department(above)
    inside = await people.person(department_id=below)
    holder, named, outside = await people.account([role]), await people.person(), await people.person()
    gone = await people.account([role], status="disabled")
    to = {"departments": [above], "roles": [role], "users": [named.user["userId"], inside.user["userId"]]}
    made = await announce(tradewind, admin, to)
    assert (await titles(inside), await titles(named), await titles(outside)) == ([made["title"]], [made["title"]], [])
    reached = {inside.user["userId"], holder["id"], named.user["userId"]}
    assert await readers(admin, made) == dict.fromkeys(reached, "unread")
    assert gone["id"] not in reached
    sent = expect(await admin.get(f"{ANNOUNCED}/{made['id']}"))
    assert (sent["status"], sent["recipients"]) == ("published", 3)


async def test_it_waits_for_its_time_and_can_be_withdrawn_before_and_after(
    admin: Client, people: People, tradewind: Running
) -> None:
    reader = await people.person()
    to = {"users": [reader.user["userId"]]}
    waiting = await announce(tradewind, admin, to, publish_at=LATER)
    sent = await announce(tradewind, admin, to)
    assert await titles(reader) == [sent["title"]]
    for made in (waiting, sent):
        expect(await admin.post(f"{ANNOUNCED}/{made['id']}/withdraw"))
        expect(await admin.post(f"{ANNOUNCED}/{made['id']}/withdraw"), 40901)
    await publishing.run(tradewind.service)
    assert (await titles(reader), await unread(reader)) == ([], 0)


async def test_at_its_end_it_leaves_the_inbox_and_the_receipt_stays(
    admin: Client, people: People, tradewind: Running
) -> None:
    reader = await people.person()
    id = reader.user["userId"]
    made = await announce(tradewind, admin, {"users": [id]}, expires_at=LATER)
    over = utc_now() - timedelta(seconds=1)
    await tradewind.service.database.store(ANNOUNCEMENTS).update(made["id"], {"expires_at": over})
    await publishing.run(tradewind.service)
    assert (await titles(reader), await readers(admin, made)) == ([], {id: "unread"})
    assert expect(await admin.get(f"{ANNOUNCED}/{made['id']}"))["status"] == "ended"


async def test_what_must_be_confirmed_is_confirmed_before_it_is_deleted(
    admin: Client, people: People, tradewind: Running
) -> None:
    reader = await people.person()
    id = reader.user["userId"]
    plain = await announce(tradewind, admin, {"users": [id]})
    made = await announce(tradewind, admin, {"users": [id]}, confirm=True)
    first, other = (row["id"] for row in expect(await reader.get(AT))["items"])
    expect(await reader.post(f"{AT}/{other}/confirm"), 40901)
    expect(await reader.delete(f"{AT}/{first}"), 40901)
    assert await readers(admin, made) == {id: "unread"}
    confirmed = expect(await reader.post(f"{AT}/{first}/confirm"))["confirmed_at"]
    assert expect(await reader.post(f"{AT}/{first}/confirm"))["confirmed_at"] == confirmed is not None
    expect(await reader.delete(f"{AT}/{first}"))
    expect(await reader.post(f"{AT}/read-all"))
    assert (await readers(admin, made), await readers(admin, plain)) == ({id: "confirmed"}, {id: "read"})
    assert await readers(admin, made, "&state=read") == {}


async def test_readers_are_shown_in_the_data_scope_of_who_asks(
    admin: Client, people: People, tradewind: Running
) -> None:
    ours, theirs = await people.department(), await people.department()
    sees = ["notification:announcement:read", "notification:announcement:create"]
    leader = await people.person(sees, "department", ours)
    mine, other = await people.person(department_id=ours), await people.person(department_id=theirs)
    made = await announce(tradewind, leader, {"users": [mine.user["userId"], other.user["userId"]]})
    assert set(await readers(leader, made)) == {mine.user["userId"]}
    assert set(await readers(admin, made)) == {mine.user["userId"], other.user["userId"]}


async def test_who_received_it_may_read_it_with_its_attachments_and_nobody_else(
    admin: Client, people: People, tradewind: Running
) -> None:
    reader, stranger = await people.person(), await people.person()
    made = await announce(tradewind, admin, {"users": [reader.user["userId"]]})
    attached = f"/api/attachments?biz_type=ANNOUNCEMENT&resource_id={made['id']}"
    assert expect(await reader.get(f"{ANNOUNCED}/{made['id']}"))["content"] == "周五停机"
    assert expect(await reader.get(attached))["items"] == []
    expect(await stranger.get(f"{ANNOUNCED}/{made['id']}"), 40300)
    expect(await stranger.get(attached), 40400)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"to": {"all": False, "users": []}}, "to"),
        ({"to": {"departments": [2**40]}}, "to.departments"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"publish_at": LATER, "expires_at": LATER}, "expires_at"),
    ],
)
async def test_nobody_is_addressed_by_mistake(admin: Client, wrong: dict[str, Any], field: str) -> None:
    reply = await admin.post(ANNOUNCED, {"title": "t", "content": "c", "to": {"users": [1]}, **wrong})
    expect(reply, 40001)
    assert reply.fields == {field}
