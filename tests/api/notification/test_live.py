"""The WebSocket: new messages arrive at once, from every instance, each once, until the session ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tornado.http1connection import HTTP1Connection

from config.database import DatabaseUnavailable
from config.database.direct.driver import DirectDriver
from handlers.http.sockets import Socket
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import PASSWORD, Client, People, eventually, expect, serving, unique
from tests.api.notification.inboxes import AT, TITLE, listening, send

pytestmark = pytest.mark.gen_test(timeout=60)
KEY = "a-key-of-the-tests-with-enough-characters"


@asynccontextmanager
async def two_instances(uri: str, folder: Path, **settings: object) -> AsyncIterator[tuple[Running, Running, Client]]:
    """Two servers on one database, and a user."""
    plugins = load_plugins(("notification",))
    shared = {"mongodb_database": unique("test").replace("-", "_"), "jwt_secret": KEY, "demo": False, **settings}
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(serving(uri, folder, plugins, **shared)) for _ in range(2)]
        yield first, second, await Client(first.url).log_in("admin")


@pytest.mark.parametrize("http", ["tornado", "fast"])
async def test_a_message_of_one_instance_reaches_a_socket_on_the_other_within_a_second(
    mongodb_uri: str, tmp_path: Path, http: str
) -> None:
    async with (
        two_instances(mongodb_uri, tmp_path, http=http) as (first, second, admin),
        listening(second.url, admin) as socket,
    ):
        sent = asyncio.get_running_loop().time()
        await send(first, [1])
        said = await socket.until("notification")
        assert asyncio.get_running_loop().time() - sent < 1
        assert said["data"]["title"] == TITLE.zh
        assert (await socket.until("unread"))["count"] == 1


async def test_a_reconnect_with_the_last_id_misses_nothing_and_repeats_nothing(
    mongodb_uri: str, tmp_path: Path
) -> None:
    total, names = 120, [str(number) for number in range(120)]
    seen: list[dict[str, Any]] = []
    async with two_instances(mongodb_uri, tmp_path) as (first, second, admin):
        waiting, last_id = list(names), ""

        async def write(running: Running) -> None:
            while waiting:
                title = waiting.pop()
                try:
                    await send(running, [1], title=title)
                except DatabaseUnavailable:  # one of many at one inbox may get no turn in its time: nothing was written
                    waiting.append(title)

        async with listening(first.url, admin) as socket:
            last_id = socket.last_id
        # eight writers on both instances, while the reader reconnects after every few messages
        writers = [asyncio.create_task(write(running)) for running in (first, second) for _ in range(4)]
        while len(seen) < total:
            running = (first, second)[len(seen) % 2]
            async with listening(running.url, admin, last_id) as socket:
                while len(socket.messages) < 7 and len(seen) + len(socket.messages) < total:
                    await socket.until("notification")
                seen += socket.messages
                last_id = socket.last_id
        await asyncio.gather(*writers)
        assert sorted(message["title"] for message in seen) == sorted(names)
        assert [message["id"] for message in seen] == sorted(message["id"] for message in seen)


async def test_without_a_last_id_only_what_comes_from_now_on_is_sent(people: People, tradewind: Running) -> None:
    reader = await people.person()
    await send(tradewind, [reader.user["userId"]], title="before")
    async with listening(tradewind.url, reader) as socket:
        await send(tradewind, [reader.user["userId"]], title="after")
        await socket.until("notification")
        assert [message["title"] for message in socket.messages] == ["after"]


async def test_a_socket_carries_the_messages_of_its_person_alone(people: People, tradewind: Running) -> None:
    reader, other = await people.person(), await people.person()
    async with listening(tradewind.url, reader) as socket:
        await send(tradewind, [other.user["userId"]], title="not for you")
        await send(tradewind, [reader.user["userId"]], title="for you")
        await socket.until("notification")
        assert [message["title"] for message in socket.messages] == ["for you"]


async def test_a_message_read_on_one_device_is_read_on_the_other(people: People, tradewind: Running) -> None:
    reader = await people.person()
    await send(tradewind, [reader.user["userId"]])
    async with listening(tradewind.url, reader) as socket:
        expect(await reader.post(f"{AT}/read-all"))
        assert (await socket.until("unread"))["count"] == 0


async def test_progress_is_sent_until_the_end_and_is_no_message(people: People, tradewind: Running) -> None:
    reader = await people.person()

    async def further(data: dict[str, int] | None) -> None:
        word = {"user_ids": [reader.user["userId"]], "kind": "import_progress", "key": "import:1", "data": data}
        await tradewind.service.events.emit("notification.progress", word)

    async with listening(tradewind.url, reader) as socket:
        for done in (1, 2):
            await further({"done": done})
            assert (await socket.until("progress"))["data"] == {"done": done}
    async with listening(tradewind.url, reader) as socket:
        assert (await socket.until("progress"))["data"] == {"done": 2}
    await further(None)
    async with listening(tradewind.url, reader) as socket:
        await send(tradewind, [reader.user["userId"]])
        assert [(await socket.next() or {})["type"] for _ in range(2)] == ["notification", "unread"]


async def test_the_socket_speaks_the_language_of_the_handshake(people: People, tradewind: Running) -> None:
    reader = await people.person()
    async with listening(tradewind.url, reader, **{"Accept-Language": "en"}) as socket:
        await send(tradewind, [reader.user["userId"]])
        assert (await socket.until("notification"))["data"]["title"] == TITLE.en


# so rare that only the change event itself can close the socket in time
RARELY = {"notification_check_seconds": 600}
PASSWORDS = {"old_password": PASSWORD, "new_password": f"{PASSWORD}-2"}


@pytest.mark.parametrize("end", ["log-out", "kicked out", "new password", "disabled"])
async def test_the_end_of_the_session_closes_the_socket_within_two_seconds(
    end: str, mongodb_uri: str, tmp_path: Path
) -> None:
    async with two_instances(mongodb_uri, tmp_path, **RARELY) as (_, second, admin):
        account = {"username": unique("person"), "password": PASSWORD, "must_change_password": False}
        user = expect(await admin.post("/api/v1/system/users", account))
        reader, one = await admin.log_in(user["username"]), f"/api/v1/system/users/{user['id']}"
        async with listening(second.url, reader) as socket:
            ended = asyncio.get_running_loop().time()
            match end:
                case "log-out":
                    expect(await reader.post("/api/v1/auth/logout"))
                case "kicked out":
                    expect(await admin.delete(f"{one}/sessions"))
                case "new password":
                    expect(await reader.put("/api/v1/auth/password", PASSWORDS))
                case _:
                    expect(await admin.patch(one, {"version": user["version"], "status": "disabled"}))
            assert await socket.closed() == 1008
            assert asyncio.get_running_loop().time() - ended < 2


async def test_after_the_end_of_the_session_nothing_more_is_sent(mongodb_uri: str, tmp_path: Path) -> None:
    async with (
        two_instances(mongodb_uri, tmp_path, **RARELY) as (first, _, admin),
        listening(first.url, admin) as socket,
    ):
        expect(await admin.post("/api/v1/auth/logout"))
        await send(first, [1])
        assert await socket.closed() == 1008
        assert socket.messages == []


async def test_a_slow_reader_whose_session_ended_is_sent_nothing_more(
    mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalled, reads_on, send_one = asyncio.Event(), asyncio.Event(), Socket.send

    async def slowly(socket: Socket, value: Any) -> None:
        await send_one(socket, value)
        if value["type"] == "notification":
            stalled.set()
            await reads_on.wait()

    monkeypatch.setattr(Socket, "send", slowly)
    async with two_instances(mongodb_uri, tmp_path, **RARELY) as (first, _, admin):
        for _ in range(3):
            await send(first, [1])
        async with listening(first.url, admin, "0" * 24) as socket:
            await stalled.wait()
            expect(await admin.post("/api/v1/auth/logout"))
            reads_on.set()
            assert await socket.closed() == 1008
            assert len(socket.messages) == 1


async def test_a_plain_request_is_refused_only_after_log_in(people: People, anonymous: Client) -> None:
    expect(await anonymous.get(f"{AT}/ws"), 40100)
    expect(await (await people.person()).get(f"{AT}/ws"), 40000)


def count_commands(tradewind: Running, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The commands on collections of notification from now on, by name and collection."""
    if not isinstance(tradewind.service.database.driver, DirectDriver):
        pytest.skip("counts the commands of the driver `direct`")
    sent = DirectDriver._send
    asked: list[tuple[str, str]] = []

    async def counted(self: DirectDriver, command: Any, *arguments: Any, **options: Any) -> Any:
        name, collection = next(iter(command.items()))
        if str(collection).startswith("notification_"):
            asked.append((name, collection))
        return await sent(self, command, *arguments, **options)

    monkeypatch.setattr(DirectDriver, "_send", counted)
    return asked


async def test_devices_of_one_person_that_connect_at_once_share_what_is_read(
    people: People, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = await people.person()
    asked = count_commands(tradewind, monkeypatch)
    async with AsyncExitStack() as stack:
        opening = (stack.enter_async_context(listening(tradewind.url, reader)) for _ in range(10))
        sockets = await asyncio.gather(*opening)
        assert len(asked) < 3 * len(sockets)
        await send(tradewind, [reader.user["userId"]])
        for socket in sockets:
            await socket.until("notification")


async def test_opening_takes_three_commands_and_reads_the_handshake_once(
    people: People, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = count_commands(tradewind, monkeypatch)
    reader, read = await people.person(), HTTP1Connection.read_response
    heads: list[HTTP1Connection] = []

    def noted(self: HTTP1Connection, delegate: Any) -> Any:
        if not self.is_client:
            heads.append(self)
        return read(self, delegate)

    monkeypatch.setattr(HTTP1Connection, "read_response", noted)
    async with listening(tradewind.url, reader):

        async def looked_for_progress() -> bool:
            return asked[-1] == ("find", "notification_progress")

        # commands of Motor's own thread do not count
        await eventually(looked_for_progress)
        assert [collection for _, collection in asked] == ["notification_messages"] * 2 + ["notification_progress"]
    assert heads == []
