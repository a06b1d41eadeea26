"""A process that probes liveness until its standard input ends: `… -m tests.experiments.fault_injection.liveness PORT [PID…]`.

For each probe it reports how long the server and this process waited for a processor, one after the other, and how long
all threads of the server ran: of these pids, each time the one with the most.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.experiments.consumption import processor_seconds
from tests.experiments.fault_injection.clients import Connection

_PAUSE_SECONDS = 0.05
_PROBE_SECONDS = 30.0


class _Echo(asyncio.Protocol):
    """Sends back what it receives."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


def queued_seconds(pid: int) -> float:
    """Return how many seconds the main thread of a process has waited for a processor so far (proc_pid_schedstat)."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except FileNotFoundError:
        return 0.0


def _most(read: Callable[[int], float], pids: Sequence[int], before: Sequence[float]) -> float:
    return max((read(pid) - earlier for pid, earlier in zip(pids, before, strict=True)), default=0.0)


async def watch(port: int, pids: Sequence[int] = ()) -> dict[str, list[object]]:
    """Probe the service and the echo in turn.

    Returns for each probe its start, its seconds, those without a processor, and those in which threads ran.
    """
    service: list[object] = []
    echoes: list[object] = []
    failed: list[object] = []
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    echo = await asyncio.get_running_loop().create_server(_Echo, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", echo.sockets[0].getsockname()[1])
    connection = Connection(port)
    while not ended.done():
        queued, ran = [queued_seconds(pid) for pid in pids], [processor_seconds(pid) for pid in pids]
        mine = queued_seconds(os.getpid())
        began = time.monotonic()
        reply = await connection.call("GET", "/api/health", seconds=_PROBE_SECONDS)
        seconds = time.monotonic() - began
        waited = _most(queued_seconds, pids, queued) + queued_seconds(os.getpid()) - mine
        service.append((began, seconds, min(max(waited, 0.0), seconds), _most(processor_seconds, pids, ran)))
        if reply.outcome != "0":
            failed.append(reply.outcome)
        began = time.monotonic()
        writer.write(b"x")
        await reader.readexactly(1)
        echoes.append((began, time.monotonic() - began, 0.0, 0.0))
        await asyncio.sleep(_PAUSE_SECONDS)
    connection.drop()
    writer.close()
    echo.close()
    return {"service": service, "echo": echoes, "failed": failed}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(watch(int(sys.argv[1]), [int(pid) for pid in sys.argv[2:]]))))
