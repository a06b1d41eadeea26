"""An HTTP client that retries nothing and reports every fault, and a probe of liveness in a separate process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Any

_SECONDS = 45.0
_KEPT_SECONDS = 50.0  # shorter than the time for which the server keeps an idle connection
LIVENESS_MS = 50  # the most that liveness may take, without the time spent waiting for a processor


@dataclass(frozen=True)
class Reply:
    """The result of a request: `fault` is empty if a whole response arrived, otherwise it names what happened."""

    fault: str
    status: int = 0
    code: int | None = None
    data: Any = None
    seconds: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        """The fault, or the code of the envelope as text."""
        return self.fault or str(self.code)


class Connection:
    """A client with one connection at a time.

    It opens a new one only after `Connection: close`, a fault or a long pause; without `keep_alive`, for each request.
    """

    def __init__(self, port: int, token: str = "", keep_alive: bool = True) -> None:
        self.port, self.token, self.keep_alive = port, token, keep_alive
        self.refresh_token = ""
        self.user_id = 0
        self._used = 0.0
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        seconds: float = _SECONDS,
        content: bytes | None = None,
    ) -> Reply:
        """Send one request once; `body` is sent as JSON, `content` unchanged."""
        began = time.monotonic()
        if began - self._used > _KEPT_SECONDS:
            self.drop()
        self._used = began
        kind = "new connection" if self._streams is None else "kept connection"
        read = b""
        try:
            async with asyncio.timeout(seconds):
                reader, writer = await self._open()
                writer.write(self._request(method, path, body, content, headers or {}))
                read = await reader.readuntil(b"\r\n\r\n")
                status, fields = _head(read)
                content = await _body(reader, status, fields)
        except TimeoutError:
            return self._lost("timeout", began)
        except ConnectionRefusedError:
            return self._lost("connection refused", began)
        except (OSError, asyncio.IncompleteReadError) as error:
            partial = read or getattr(error, "partial", b"")
            where = " in the middle of a response" if partial else ""
            return self._lost(f"{kind}: {type(error).__name__}{where}", began)
        if fields.get("connection", "").lower() == "close" or not self.keep_alive:
            self.drop()
        envelope = json.loads(content) if fields.get("content-type", "").startswith("application/json") else {}
        code = envelope.get("code", 0 if status < 400 else status)
        return Reply("", status, code, envelope.get("data"), time.monotonic() - began, fields)

    async def must(self, method: str, path: str, body: Any = None) -> Any:
        """Return the data of a request that has to succeed. Raises `RuntimeError` if it does not."""
        reply = await self.call(method, path, body)
        if reply.outcome != "0":
            raise RuntimeError(f"{method} {path}: {reply.outcome} {reply.data}")
        return reply.data

    async def log_in(self, username: str, password: str, seconds: float = 30) -> Connection:
        """Log in, retrying for `seconds` while the service is unavailable. Raises `RuntimeError` if that fails."""
        end = time.monotonic() + seconds
        while True:
            reply = await self.call("POST", "/api/v1/auth/login", {"username": username, "password": password})
            if reply.outcome == "0":
                self.token, self.refresh_token = reply.data["accessToken"], reply.data["refreshToken"]
                self.user_id = reply.data["userInfo"]["userId"]
                return self
            if time.monotonic() > end:
                raise RuntimeError(f"log-in of {username}: {reply.outcome}")
            await asyncio.sleep(0.3)

    def drop(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        return self._streams

    def _request(self, method: str, path: str, body: Any, content: bytes | None, headers: dict[str, str]) -> bytes:
        sent = content if content is not None else b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(sent)}"]
        lines += ["Content-Type: application/json"] if sent and content is None else []
        lines += [f"Authorization: Bearer {self.token}"] if self.token else []
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += [] if self.keep_alive else ["Connection: close"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + sent

    def _lost(self, fault: str, began: float) -> Reply:
        self.drop()
        return Reply(fault, seconds=time.monotonic() - began)


def _head(raw: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return int(first.split()[1]), fields


async def _body(reader: asyncio.StreamReader, status: int, fields: dict[str, str]) -> bytes:
    if status in (204, 304):
        return b""
    if fields.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(fields.get("content-length", 0)))
    pieces = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        pieces.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return b"".join(pieces)


@dataclass
class Waits:
    """How long liveness took.

    Per probe its start, its seconds, those in which the event loop or the probe waited for a processor, and those in
    which threads of the server ran.
    """

    probes: list[tuple[float, float, float, float]]
    failed: list[str]

    def slowest_ms(self, since: float = 0.0) -> int:
        """Return the longest response of the probes that began after `since`, a time of the monotonic clock."""
        return round(max((seconds for at, seconds, _, _ in self.probes if at >= since), default=0.0) * 1000)

    def slowest_running_ms(self) -> int:
        """Return the longest response, without the time in which server or probe was ready to run but had no processor."""
        return round(self._slowest_running()[0] * 1000)

    def ran_ms(self) -> int:
        """Return how long threads of the server ran during that response: for the rest, none had a processor or work."""
        return round(self._slowest_running()[1] * 1000)

    def _slowest_running(self) -> tuple[float, float]:
        return max(((seconds - queued, ran) for _, seconds, queued, ran in self.probes), default=(0.0, 0.0))


class Liveness:
    """Probes `/api/health` continually from another process, and beside it a socket that only echoes.

    The echo shows how much of a wait is due to this machine; the scheduler reports how long the servers with these pids
    and the probing process waited for a processor: on two busy cores every process waits for its turn.
    """

    def __init__(self, port: int, *pids: int) -> None:
        self._port = port
        self._pids = pids
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Liveness:
        command = [
            sys.executable,
            "-m",
            "tests.experiments.fault_injection.liveness",
            *map(str, (self._port, *self._pids)),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait()

    def result(self) -> tuple[Waits, Waits]:
        """End the probe, and return the waits for the service and those for the echo."""
        if self._process is None:
            raise RuntimeError("the probe was not started")
        try:
            written, _ = self._process.communicate("", timeout=40)
        except BrokenPipeError as error:
            raise RuntimeError("the probe has ended by itself") from error
        told = json.loads(written)
        return Waits([tuple(p) for p in told["service"]], told["failed"]), Waits([tuple(p) for p in told["echo"]], [])
