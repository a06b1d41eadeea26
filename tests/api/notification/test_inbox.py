"""The inbox over HTTP: own messages, marks, counts, and keys that send once."""

from __future__ import annotations

import asyncio

import pytest
from tornado.ioloop import IOLoop

from plugins.api import Message
from plugins.boot.runtime import Running
from plugins.notification.api import notify
from plugins.testing import Client, People, expect, unique
from tests.api.notification.inboxes import AT, TITLE, send, titles, unread

pytestmark = pytest.mark.gen_test(timeout=30)


@pytest.fixture
def reader(io_loop: IOLoop, people: People) -> Client:
    """A user without messages."""
    client: Client = io_loop.run_sync(people.person)
    return client


async def test_a_message_that_a_plugin_sends_is_in_the_inbox(reader: Client, tradewind: Running) -> None:
    await send(tradewind, [reader.user["userId"]], body="Body", link="/approval", data={"resource_id": "7"})
    message = expect(await reader.get(AT))["items"][0]
    wanted = {"title": TITLE.zh, "body": "Body", "link": "/approval", "data": {"resource_id": "7"}, "unread": True}
    assert {name: message[name] for name in wanted} == wanted


async def test_a_message_is_read_in_the_language_of_its_reader(reader: Client, tradewind: Running) -> None:
    await send(tradewind, [reader.user["userId"]])
    page = expect(await reader.get(AT, headers={"Accept-Language": "en"}))
    assert page["items"][0]["title"] == TITLE.en


async def test_nobody_sees_marks_or_deletes_the_messages_of_others(
    reader: Client, admin: Client, tradewind: Running
) -> None:
    await send(tradewind, [reader.user["userId"]])
    id = expect(await reader.get(AT))["items"][0]["id"]
    assert id not in [row["id"] for row in expect(await admin.get(f"{AT}?page_size=200"))["items"]]
    expect(await admin.post(f"{AT}/{id}/read"), 40400)
    expect(await admin.delete(f"{AT}/{id}"), 40400)
    assert await unread(reader) == 1


async def test_a_message_that_was_read_is_no_longer_counted(reader: Client, tradewind: Running) -> None:
    await send(tradewind, [reader.user["userId"]])
    await send(tradewind, [reader.user["userId"]])
    id = expect(await reader.get(AT))["items"][0]["id"]
    assert expect(await reader.post(f"{AT}/{id}/read"))["read_at"] is not None
    assert await unread(reader) == 1


async def test_reading_a_message_again_changes_nothing(reader: Client, tradewind: Running) -> None:
    await send(tradewind, [reader.user["userId"]])
    id = expect(await reader.get(AT))["items"][0]["id"]
    first = expect(await reader.post(f"{AT}/{id}/read"))
    assert expect(await reader.post(f"{AT}/{id}/read")) == first


async def test_read_all_marks_ones_own_messages_alone(reader: Client, people: People, tradewind: Running) -> None:
    other = await people.person()
    ids = [reader.user["userId"], other.user["userId"]]
    for _ in range(3):
        await send(tradewind, ids)
    assert expect(await reader.post(f"{AT}/read-all")) == {"count": 3}
    assert (await unread(reader), await unread(other)) == (0, 3)


async def test_the_list_is_filtered_by_kind_and_by_mark(reader: Client, tradewind: Running) -> None:
    me = [reader.user["userId"]]
    await send(tradewind, me, kind="approval_task", title="task")
    await send(tradewind, me, kind="import_progress", title="import")
    id = expect(await reader.get(f"{AT}?kind=approval_task"))["items"][0]["id"]
    expect(await reader.post(f"{AT}/{id}/read"))
    assert await titles(reader, "&kind=approval_task") == ["task"]
    assert await titles(reader, "&unread=true") == ["import"]
    assert await titles(reader, "&unread=false") == ["task"]


async def test_a_deleted_message_is_gone_from_list_and_count(reader: Client, tradewind: Running) -> None:
    await send(tradewind, [reader.user["userId"]])
    id = expect(await reader.get(AT))["items"][0]["id"]
    expect(await reader.delete(f"{AT}/{id}"))
    expect(await reader.delete(f"{AT}/{id}"), 40400)
    assert (await titles(reader), await unread(reader)) == ([], 0)


async def test_what_is_sent_under_a_key_comes_once_even_when_it_was_deleted(reader: Client, tradewind: Running) -> None:
    me, key = [reader.user["userId"]], unique("reminder")
    await send(tradewind, me, key=key)
    expect(await reader.delete(f"{AT}/{expect(await reader.get(AT))['items'][0]['id']}"))
    await send(tradewind, me, key=key)
    assert await titles(reader) == []


async def test_many_senders_of_one_key_at_once_send_one_message(reader: Client, tradewind: Running) -> None:
    me, key = [reader.user["userId"]], unique("reminder")
    await asyncio.gather(*(send(tradewind, me, key=key) for _ in range(20)))
    assert await titles(reader) == [TITLE.zh]


async def test_many_senders_at_once_lose_nothing(reader: Client, tradewind: Running) -> None:
    me = [reader.user["userId"]]
    await asyncio.gather(*(send(tradewind, me, title=str(number)) for number in range(30)))
    assert sorted(await titles(reader), key=int) == [str(number) for number in range(30)]


async def test_a_message_of_a_transaction_that_fails_is_not_sent(reader: Client, tradewind: Running) -> None:
    class Failure(Exception):
        pass

    async def work() -> None:
        await notify(tradewind.service.database, [reader.user["userId"]], "announcement", TITLE)
        raise Failure

    with pytest.raises(Failure):
        await tradewind.service.database.transaction(work)
    assert await titles(reader) == []


async def test_texts_longer_than_an_inbox_holds_are_cut(reader: Client, tradewind: Running) -> None:
    await send(tradewind, [reader.user["userId"]], title=Message("长" * 300, "L" * 300))
    assert await titles(reader) == ["长" * 200]


async def test_an_announcement_reaches_the_people_it_names(reader: Client, people: People) -> None:
    speaker = await people.person(["notification:announcement:create"])
    body = {"user_ids": [reader.user["userId"]], "title": "维护", "body": "周五"}
    assert expect(await speaker.post(AT, body)) == {"count": 1}
    assert (await titles(reader), await titles(speaker)) == (["维护"], [])


async def test_an_announcement_to_nobody_there_is_refused(admin: Client) -> None:
    reply = await admin.post(AT, {"user_ids": [1, 2**40], "title": "维护"})
    expect(reply, 40001)
    assert reply.fields == {"user_ids"}
