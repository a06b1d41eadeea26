"""WebSockets: routes whose handler exchanges messages for as long as the client stays (RFC 6455, by Tornado).

The handshake goes through the same checks as a request: route, token, permission. Browsers cannot set headers on a
WebSocket, so the token may come as the subprotocol `bearer.<token>`.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Any

from tornado.web import Application
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from config.database import DatabaseUnavailable
from handlers.access.rate_limit import AtOnce
from handlers.docs.response_checks import ResponseChecks
from handlers.http.addresses import Proxies, context_address
from handlers.http.heads import bearer_of
from handlers.lifecycle import admit, authenticate, begin, find_route, require_permission
from handlers.request import Request
from handlers.results import name_references
from handlers.schema.envelope import failed, project, to_json
from handlers.schema.errors import INTERNAL, ApiError, unavailable
from handlers.schema.messages import language_of
from handlers.schema.validation import parse_json
from handlers.service import Service
from handlers.tasks import within

log = logging.getLogger("tradewind.sockets")
SUBPROTOCOL = "bearer."
PING_SECONDS = 30
MAX_MESSAGE_BYTES = 64 << 10
WAITING_MESSAGES = 100
_OF_PERSON = 50  # far more than the tabs and devices of anybody
GOING_AWAY, POLICY, FAILED, SERVICE_RESTART, OVERLOADED = 1001, 1008, 1011, 1012, 1013


class Sockets:
    """The open WebSockets of a process."""

    def __init__(self, service: Service, proxies: Proxies, origins: frozenset[str]) -> None:
        self.service = service
        self.proxies = proxies
        self.origins = origins
        self.open: set[Socket] = set()
        self.at_once = AtOnce(_OF_PERSON)
        self.ended = asyncio.Event()
        self.application = Application(
            [(r".*", Socket, {"sockets": self})],
            websocket_ping_interval=PING_SECONDS,
            websocket_max_message_size=MAX_MESSAGE_BYTES,
            log_function=lambda handler: None,
        )

    async def close(self, code: int, seconds: float = 2) -> None:
        """Close every WebSocket with `code`, and wait up to `seconds` for the clients to close their end."""
        for socket in list(self.open):
            socket.close(code)
        try:
            async with asyncio.timeout(seconds):
                while self.open:
                    self.ended.clear()
                    await self.ended.wait()
        except TimeoutError:
            log.info("clients did not say goodbye", extra={"open": len(self.open)})


class Socket(WebSocketHandler):
    """One client, `req.socket` in the route's handler: `await socket.send(…)`, `async for message in socket`."""

    def initialize(self, sockets: Sockets) -> None:
        """Tornado: called once for each handshake."""
        self._sockets = sockets
        self._arrived: deque[Any] = deque()
        self._changed = asyncio.Event()
        self._gone = False
        self._task: asyncio.Task[None] | None = None

    async def prepare(self) -> None:
        """Tornado: check the request; a refusal is sent in the envelope, without an upgrade."""
        request = self._request()
        begin(request)
        try:
            self._route = find_route(request)
            await within(request.service.request_limit, admit(request, self._route))
            self._sockets.at_once.refuse_more(request.actor.user_id)
        except ApiError as error:
            self._refuse(request, error)
        except (DatabaseUnavailable, TimeoutError):
            self._refuse(request, unavailable())
        except Exception:
            log.exception("handshake failed", extra={"request_id": request.id})
            self._refuse(request, ApiError(INTERNAL))
        self._asked = request

    def _request(self) -> Request:
        headers = self.request.headers
        offered = [part.strip() for part in headers.get("Sec-WebSocket-Protocol", "").split(",")]
        token = next((part.removeprefix(SUBPROTOCOL) for part in offered if part.startswith(SUBPROTOCOL)), "")
        connection: Any = self.request.connection
        return Request(
            service=self._sockets.service,
            method="GET",
            target=self.request.path,
            raw_query=self.request.query,
            id=secrets.token_hex(16),
            headers=headers,
            socket=self,
            language=language_of(headers.get("Accept-Language")),
            bearer=bearer_of({"Authorization": headers.get("Authorization", f"Bearer {token}")}),
            remote_ip=self._sockets.proxies.client(context_address(connection), headers),
        )

    def _refuse(self, request: Request, error: ApiError) -> None:
        self.set_status(error.kind.status)
        self.set_header("Content-Type", "application/json; charset=utf-8")
        for name, value in {**error.headers, "X-Request-ID": request.id}.items():
            self.set_header(name, value)
        self.finish(failed(error, request.language))

    def check_origin(self, origin: str) -> bool:
        """Tornado: return whether a browser page of this origin may connect; programs send no origin."""
        return origin in self._sockets.origins or origin.partition("//")[2] == self.request.host

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """Tornado: return the subprotocol that carried the token, which the client expects back."""
        return next((part for part in subprotocols if part.startswith(SUBPROTOCOL)), None)

    async def open(self, *args: str, **kwargs: str) -> None:
        """Tornado: the WebSocket is open."""
        if self._gone:  # during the handshake: `on_close` is not called again
            return
        self._sockets.open.add(self)
        self._task = asyncio.create_task(self._run(), name="socket")

    async def _run(self) -> None:
        try:
            with self._sockets.at_once.counted(self._asked.actor.user_id):
                await self._route.handler(self._asked)
            self.close()
        except WebSocketClosedError:
            pass
        except ApiError as error:
            self.close(POLICY, error.kind.name)
        except Exception:
            log.exception("socket failed", extra={"request_id": self._asked.id})
            self.close(FAILED)

    async def on_message(self, message: str | bytes) -> None:
        """Tornado: a message arrived. One that is not JSON, or exceeds `WAITING_MESSAGES`, ends the connection."""
        if len(self._arrived) >= WAITING_MESSAGES:
            self.close(OVERLOADED)
            return
        settings = self._asked.service.settings
        raw = message.encode() if isinstance(message, str) else message
        try:
            self._arrived.append(parse_json(raw, settings.max_json_depth, settings.max_json_values))
        except ApiError:
            self.close(POLICY, "messages are JSON")
        self._changed.set()

    def on_close(self) -> None:
        """Tornado: the client went away."""
        self._sockets.open.discard(self)
        self._sockets.ended.set()
        self._gone = True
        self._changed.set()
        if self._task is not None:
            self._task.cancel()

    async def send(self, value: Any) -> None:
        """Send a JSON message, with the names of records in it. Raises `WebSocketClosedError` without a client."""
        route = self._route
        shape = route.messages.get(str(value.get("type"))) if isinstance(value, Mapping) else None
        if shape is not None and shape.holds_names:
            value = project(shape, value)
            await name_references(self._asked, shape, [value])
        message = to_json(value).decode()
        self._sockets.service.part(ResponseChecks).check_message(route, value, message)
        await self.write_message(message)

    async def __aiter__(self) -> AsyncIterator[Any]:
        """Yield the client's messages, until it disconnects."""
        while not self._gone:
            while self._arrived:
                yield self._arrived.popleft()
            self._changed.clear()
            await self._changed.wait()

    async def still_allowed(self) -> None:
        """Raise 40100 or 40300 if the session ended or the permission was withdrawn since the handshake."""
        request = self._asked
        await authenticate(request, self._route)
        # without the rate limit, because this check is the service's own and no request of the person
        await require_permission(request, self._route)
