"""WebSockets: the checks of a request at the handshake, and then a conversation."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from handlers.http.sockets import Socket
from plugins.api import Menu, Message, Plugin, Request, route
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, eventually, serving
from tests.support.raw_http import connected as connected_raw, exchange

pytestmark = pytest.mark.gen_test(timeout=30)
PATH = "/api/v1/echo/ws"


async def echo(req: Request) -> None:
    async for message in req.socket:
        await req.socket.send({"you": req.actor.username, "said": message})


ECHO = Plugin(
    name="echo",
    title=Message("回声", "Echo"),
    requires=("auth",),
    routes=(route(f"GET {PATH}", echo, summary="Echo", access="echo:socket:list", tag="echo", socket=True),),
    menus=(Menu("echo", Message("回声", "Echo"), resource="echo:socket"),),
)


@asynccontextmanager
async def echoing(uri: str, folder: Path, http: str) -> AsyncIterator[tuple[Running, Client]]:
    async with serving(uri, folder, plugins=[*load_plugins(("auth", "rbac")), ECHO], http=http) as service:
        yield service, await Client(service.url).log_in("admin")


async def connected(service: Running, **options: Any) -> WebSocketClientConnection:
    address = service.url.replace("http://", "ws://") + PATH
    protocols = options.pop("subprotocols", None)
    return await websocket_connect(HTTPRequest(address, **options), subprotocols=protocols)


async def test_a_token_in_the_header_opens_a_conversation(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (service, admin):
        socket = await connected(service, headers={"Authorization": f"Bearer {admin.token}"})
        await socket.write_message('{"hello": 1}')
        assert await socket.read_message() == '{"you":"admin","said":{"hello":1}}'
        socket.close()


@pytest.mark.parametrize("message", ["[" * 60_000, "{", "NaN"])
async def test_a_message_that_is_no_json_ends_the_conversation(mongodb_uri: str, tmp_path: Path, message: str) -> None:
    async with echoing(mongodb_uri, tmp_path, "fast") as (service, admin):
        socket = await connected(service, headers={"Authorization": f"Bearer {admin.token}"})
        await socket.write_message(message)
        assert await socket.read_message() is None
        assert (socket.close_code, socket.close_reason) == (1008, "messages are JSON")


async def test_a_token_as_the_subprotocol_is_as_good(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (service, admin):
        socket = await connected(service, subprotocols=[f"bearer.{admin.token}"])
        assert socket.selected_subprotocol == f"bearer.{admin.token}"
        socket.close()


async def test_without_a_token_the_handshake_is_refused(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (service, _):
        with pytest.raises(HTTPClientError) as refused:
            await connected(service)
        assert refused.value.code == 401


async def test_one_person_has_fifty_conversations_and_another_after_one_ends(
    mongodb_uri: str, tmp_path: Path, http: str
) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (service, admin):
        token = {"Authorization": f"Bearer {admin.token}"}
        opening = [connected(service, headers=token) for _ in range(70)]
        opened = await asyncio.gather(*opening, return_exceptions=True)
        sockets = [one for one in opened if isinstance(one, WebSocketClientConnection)]
        for socket in sockets:
            with suppress(WebSocketClosedError):
                await socket.write_message("1")
        answers = await asyncio.gather(*(socket.read_message() for socket in sockets))
        assert answers.count('{"you":"admin","said":1}') == 50
        with pytest.raises(HTTPClientError, match="429"):
            await connected(service, headers=token)
        next(socket for socket, answer in zip(sockets, answers, strict=True) if answer).close()

        async def taken() -> WebSocketClientConnection | None:
            with suppress(HTTPClientError):
                return await connected(service, headers=token)
            return None

        for socket in [*sockets, await eventually(taken)]:
            socket.close()


async def test_another_origin_is_refused(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (service, admin):
        with pytest.raises(HTTPClientError) as refused:
            await connected(
                service, headers={"Authorization": f"Bearer {admin.token}", "Origin": "https://evil.example"}
            )
        assert refused.value.code == 403


async def test_a_stopping_server_says_that_it_goes_away(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (service, admin):
        socket = await connected(service, headers={"Authorization": f"Bearer {admin.token}"})
        ended = asyncio.ensure_future(socket.read_message())
    assert await ended is None
    assert socket.close_code == 1001
    socket.close()


async def test_a_plain_request_to_it_is_no_conversation(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (_, admin):
        assert (await admin.get(PATH)).status == 400


def handshake(admin: Client, *more: str) -> bytes:
    """A request for a conversation, with a good token."""
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    lines = (
        f"GET {PATH} HTTP/1.1",
        "Host: localhost",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        key,
        f"Sec-WebSocket-Protocol: bearer.{admin.token}",
        *more,
    )
    return "\r\n".join((*lines, "", "")).encode()


async def test_an_upgrade_that_the_connection_does_not_name_is_no_offer(
    mongodb_uri: str, tmp_path: Path, http: str
) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (service, admin):
        told = f"Authorization: Bearer {admin.token}"
        replies = [
            await exchange(service.url, handshake(admin, *more)) for more in ((), (told,), (told, "Connection: te"))
        ]
        assert [orjson.loads(reply.body)["code"] for reply in replies] == [40100, 40000, 40000]


async def test_a_handshake_behind_another_request_is_taken_after_it(
    mongodb_uri: str, tmp_path: Path, http: str
) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (service, admin), connected_raw(service.url) as wire:
        told = ("Connection: Upgrade", f"Authorization: Bearer {admin.token}")
        await wire.send(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n" + handshake(admin, *told))
        assert (await wire.reply()).status == 200
        assert (await wire.reader.readline()).split()[1] == b"101"


async def test_a_client_that_leaves_during_the_handshake_is_no_open_conversation(
    mongodb_uri: str, tmp_path: Path, http: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, left, opened = asyncio.Event(), asyncio.Event(), asyncio.Event()
    on_close, open_socket = Socket.on_close, Socket.open

    async def wait_until_left(*_: object) -> None:
        asked.set()
        await left.wait()

    def noted_close(self: Socket) -> None:
        on_close(self)
        left.set()

    async def noted_open(self: Socket) -> None:
        await open_socket(self)
        opened.set()

    monkeypatch.setattr("handlers.http.sockets.admit", wait_until_left)
    monkeypatch.setattr(Socket, "on_close", noted_close)
    monkeypatch.setattr(Socket, "open", noted_open)
    async with echoing(mongodb_uri, tmp_path, http) as (service, admin):
        async with connected_raw(service.url) as wire:
            await wire.send(handshake(admin, "Connection: Upgrade"))
            await asked.wait()
        await opened.wait()
        assert b"tradewind_open_sockets 0" in (await Client(service.url).get("/metrics")).body


async def test_a_message_right_behind_the_handshake_is_heard(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (service, admin), connected_raw(service.url) as wire:
        text, mask = b"[1]", bytes(4)
        frame = bytes((0x81, 0x80 | len(text))) + mask + text  # RFC 6455 section 5.2
        told = ("Connection: Upgrade", f"Authorization: Bearer {admin.token}")
        await wire.send(handshake(admin, *told) + frame)
        assert (await wire.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
        assert b'"said":[1]' in await wire.reader.readuntil(b"}")


REFUSED = {"GET": (401, 40100), "POST": (405, 40500)}


@pytest.mark.parametrize("method", REFUSED)
async def test_a_refused_handshake_leaves_the_connection_as_it_was(
    mongodb_uri: str, tmp_path: Path, http: str, method: str
) -> None:
    async with echoing(mongodb_uri, tmp_path, http) as (service, admin), connected_raw(service.url) as wire:
        asked = handshake(admin, "Connection: Upgrade", "Authorization: Bearer none")
        for _ in range(2):
            await wire.send(asked.replace(b"GET", method.encode(), 1))
            refused = await wire.reply()
            assert (refused.status, orjson.loads(refused.body)["code"]) == REFUSED[method]
        await wire.send(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await wire.reply()).status == 200
