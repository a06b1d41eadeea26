"""Helpers of the tests of notification: send like a plugin, listen like a client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from plugins.api import Message
from plugins.boot.runtime import Running
from plugins.testing import Client, expect

AT = "/api/v1/notifications"
TITLE = Message("标题", "Title")


async def send(running: Running, user_ids: Iterable[int], **values: Any) -> None:
    """Emit the event that sends a message."""
    await running.service.events.emit(
        "notification.send", {"user_ids": list(user_ids), "kind": "announcement", "title": TITLE, **values}
    )


async def titles(client: Client, query: str = "") -> list[str]:
    """The titles of the first page, newest first."""
    return [row["title"] for row in expect(await client.get(f"{AT}?page_size=200{query}"))["items"]]


async def unread(client: Client) -> int:
    """How many messages are unread."""
    return int(expect(await client.get(f"{AT}/unread-count"))["count"])


class Socket:
    """A client of the WebSocket that records what it received."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self._connection = connection
        self.messages: list[dict[str, Any]] = []
        self.last_id = ""

    async def next(self, seconds: float = 5) -> dict[str, Any] | None:
        """Return the next message of the server; None if it closed the connection."""
        raw = await asyncio.wait_for(self._connection.read_message(), seconds)
        if raw is None:
            return None
        said: dict[str, Any] = json.loads(raw)
        if said["type"] == "ready":
            self.last_id = said["last_id"]
        if said["type"] == "notification":
            self.messages.append(said["data"])
            self.last_id = said["data"]["id"]
        return said

    async def until(self, type: str, seconds: float = 5) -> dict[str, Any]:
        """Return the next message of this type."""
        while True:
            said = await self.next(seconds)
            assert said is not None, f"closed with {self.close_code} before {type}"
            if said["type"] == type:
                return said

    async def closed(self, seconds: float = 5) -> int | None:
        """The code with which the server closes the connection."""
        while await self.next(seconds) is not None:
            pass
        return self.close_code

    @property
    def close_code(self) -> int | None:
        """The code with which the connection was closed."""
        return self._connection.close_code

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@asynccontextmanager
async def listening(url: str, client: Client, last_id: str = "", **headers: str) -> AsyncIterator[Socket]:
    """An open WebSocket that received `ready`."""
    address = f"{url.replace('http://', 'ws://')}{AT}/ws" + (f"?last_id={last_id}" if last_id else "")
    request = HTTPRequest(address, headers={"Authorization": f"Bearer {client.token}", **headers})
    socket = Socket(await websocket_connect(request))
    try:
        await socket.until("ready")
        yield socket
    finally:
        socket.close()
