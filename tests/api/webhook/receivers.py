"""A receiver of webhooks on loopback, which answers as a test says."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPHeaders, HTTPServerRequest, ResponseStartLine
from tornado.netutil import bind_sockets


@dataclass(frozen=True)
class Message:
    """A request that arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        """The body."""
        event: dict[str, Any] = json.loads(self.body)
        return event

    @property
    def type(self) -> str:
        """The type of the event."""
        return str(self.event["type"])

    @property
    def of(self) -> str:
        """The id of the record."""
        return str(self.event["data"]["id"])


def accept(_: Message) -> int:
    """The status for everything."""
    return 200


@dataclass
class Receiver:
    """`messages` are those that arrived, in order; `answer` gives the status for one, or 0 to close the connection."""

    url: str
    answer: Callable[[Message], int] = accept
    messages: list[Message] = field(default_factory=list)

    def of(self, record: Any) -> list[Message]:
        """The messages about a record."""
        return [one for one in self.messages if "id" in one.event["data"] and one.of == str(record)]

    def take(self, request: HTTPServerRequest) -> None:
        """Keep a message, and answer."""
        headers = {name.lower(): value for name, value in request.headers.get_all()}
        message = Message(request.path, headers, request.body)
        self.messages.append(message)
        status, connection = self.answer(message), request.connection
        assert connection is not None
        if status == 0:
            connection.detach().close()  # type: ignore[attr-defined]  # of the implementation
            return
        body = b"x" * (100 << 10) if message.path == "/large" else b"thanks"
        more = {"Location": f"{self.url}/elsewhere"} if 300 <= status < 400 else {}
        sent = HTTPHeaders({"Content-Length": str(len(body)), **more})
        connection.write_headers(ResponseStartLine("HTTP/1.1", status, ""), sent, body)
        connection.finish()


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """Receive while the block runs."""
    (socket,) = bind_sockets(0, "127.0.0.1")
    receiver = Receiver(f"http://127.0.0.1:{socket.getsockname()[1]}")
    server = HTTPServer(receiver.take)
    server.add_socket(socket)
    try:
        yield receiver
    finally:
        server.stop()
        await server.close_all_connections()
