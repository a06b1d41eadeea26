"""A load on one core: keep-alive connections that send the same request again and again for a while."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """What a load saw: requests a second, and the latency at half and at 99 of 100 requests, in milliseconds."""

    per_second: float
    p50: float
    p99: float


class _Caller(asyncio.Protocol):
    """One connection. Knows just enough HTTP to count answers that carry a Content-Length and no error."""

    def __init__(self, request: bytes, until: float, done: asyncio.Future[list[float]]) -> None:
        self._request = request
        self._until = until
        self._done = done
        self._buffer = b""
        self._times: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        if not separator or len(body) < _length(head):
            return
        if not head.startswith(b"HTTP/1.1 200"):
            self._done.set_exception(RuntimeError(f"the server answered {self._buffer[:300]!r}"))
            return
        now = time.perf_counter()
        self._times.append(now - self._sent)
        self._buffer = b""
        if now < self._until:
            self._send()
        elif not self._done.done():
            self._done.set_result(self._times)
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(error or ConnectionError("the server closed the connection"))


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return int(line.split(b":")[1])
    raise RuntimeError("an answer without Content-Length")


async def load(port: int, path: str, token: str | None = None, connections: int = 32, seconds: float = 3) -> Load:
    """Ask `GET path` on `connections` connections for `seconds`."""
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{authorization}\r\n".encode()
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    waiting = []
    for _ in range(connections):
        done: asyncio.Future[list[float]] = loop.create_future()
        await loop.create_connection(lambda done=done: _Caller(request, started + seconds, done), "127.0.0.1", port)
        waiting.append(done)
    times = sorted(time for answers in await asyncio.gather(*waiting) for time in answers)
    elapsed = time.perf_counter() - started
    return Load(len(times) / elapsed, statistics.median(times) * 1000, times[int(len(times) * 0.99)] * 1000)
