"""The load: keep-alive connections that send calls in turn, with `wrk` if it is installed, else from this process."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.experiments.benchmark.works import Call

GENERATOR = "wrk" if shutil.which("wrk") else "tests/experiments/benchmark/load.py"
_SCRIPT = """
local calls = {%s}
local at, n = 0, %d
function request()
  at = at %% #calls + 1
  local call = calls[at]
  if call.body == "" then return call.ready end
  n = n + 1
  return wrk.format(call.method, call.path, call.headers, (call.body:gsub("{n}", string.format("%%d", n))))
end
function init(args)
  for _, call in ipairs(calls) do call.ready = wrk.format(call.method, call.path, call.headers, call.body) end
end
function done(summary, latency, requests)
  local wrong = summary.errors
  io.write(string.format("RESULT %%d %%d %%d %%d %%d\\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), wrong.connect + wrong.read + wrong.write + wrong.status + wrong.timeout))
end
"""
_numbers = itertools.count(time.time_ns() // 1000, 10_000_000)


@dataclass(frozen=True)
class Load:
    """The figures of a load: requests per second, latencies p50 and p99 in milliseconds, and the number of requests."""

    per_second: float
    p50: float
    p99: float
    requests: int


def load(port: int, calls: Sequence[Call], connections: int, seconds: float) -> Load:
    """Send `calls` in turn for `seconds`. Raises `RuntimeError` if a response is not a success."""
    if GENERATOR == "wrk":
        return _by_wrk(port, calls, connections, seconds)
    return asyncio.run(_by_hand(port, calls, connections, seconds))


@contextlib.contextmanager
def load_beside(port: int, calls: Sequence[Call], connections: int, seconds: float) -> Iterator[None]:
    """Send `calls` in turn while the block runs, without reporting figures."""
    given = json.dumps([[call.method, call.path, call.token, call.body] for call in calls])
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.experiments.benchmark.load", str(port), str(connections), str(seconds), given],
        cwd=Path(__file__).parents[3],
        start_new_session=True,
    )
    try:
        time.sleep(1)
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)  # the whole group, because wrk is a child of the process
        process.wait(10)


def _by_wrk(port: int, calls: Sequence[Call], connections: int, seconds: float) -> Load:
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(_SCRIPT % (",".join(map(_lua, calls)), next(_numbers)))
        script.flush()
        command = ["wrk", "-t1", f"-c{connections}", f"-d{math.ceil(seconds)}s", "--timeout", "30s", "-s", script.name]
        told = subprocess.run(
            [*command, f"http://127.0.0.1:{port}"], capture_output=True, text=True, timeout=seconds + 60, check=True
        ).stdout
    found = re.search(r"RESULT (\d+) (\d+) (\d+) (\d+) (\d+)", told)
    if found is None or int(found[5]):
        raise RuntimeError(f"{calls[0].path} on port {port} answered with errors: {told[-500:]}")
    requests, microseconds, p50, p99 = (int(found[number]) for number in range(1, 5))
    return Load(requests / microseconds * 1e6, p50 / 1000, p99 / 1000, requests)


def _lua(call: Call) -> str:
    headers = {"Host": "127.0.0.1"}
    headers |= {"Authorization": f"Bearer {call.token}"} if call.token else {}
    headers |= {"Content-Type": "application/json"} if call.body else {}
    fields = ",".join(f"[{_quoted(name)}]={_quoted(value)}" for name, value in headers.items())
    return f"{{method='{call.method}',path={_quoted(call.path)},headers={{{fields}}},body={_quoted(call.body)}}}"


def _quoted(text: str) -> str:
    return " [==[" + text + "]==] "


async def _by_hand(port: int, calls: Sequence[Call], connections: int, seconds: float) -> Load:
    loop = asyncio.get_running_loop()
    rendered = _rendered(calls)
    started = time.perf_counter()
    waiting = []
    for _ in range(connections):
        done: asyncio.Future[list[float]] = loop.create_future()
        caller = partial(_Caller, rendered, started + seconds, done)
        await loop.create_connection(caller, "127.0.0.1", port)
        waiting.append(done)
    times = sorted(time for answers in await asyncio.gather(*waiting) for time in answers)
    elapsed = time.perf_counter() - started
    return Load(len(times) / elapsed, statistics.median(times) * 1000, times[int(len(times) * 0.99)] * 1000, len(times))


def _rendered(calls: Sequence[Call]) -> Iterator[bytes]:
    numbers = itertools.count(next(_numbers))
    for call in itertools.cycle(calls):
        body = call.body.replace("{n}", str(next(numbers))).encode()
        lines = [f"{call.method} {call.path} HTTP/1.1", "Host: 127.0.0.1"]
        lines += [f"Authorization: Bearer {call.token}"] if call.token else []
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
        yield "\r\n".join([*lines, "", ""]).encode() + body


class _Caller(asyncio.Protocol):
    """One connection, with just enough HTTP to count responses that have a Content-Length and no error."""

    def __init__(self, requests: Iterator[bytes], until: float, done: asyncio.Future[list[float]]) -> None:
        self._requests = requests
        self._until = until
        self._done = done
        self._buffer = b""
        self._times: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]  # asyncio says BaseTransport
        self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(next(self._requests))

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


if __name__ == "__main__":
    given_port, given_connections, given_seconds, given_calls = sys.argv[1:]
    load(
        int(given_port), [Call(*call) for call in json.loads(given_calls)], int(given_connections), float(given_seconds)
    )
