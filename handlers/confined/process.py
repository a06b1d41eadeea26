"""A worker process as the service sees it: the service starts it, gives it jobs, and kills it if it takes too much."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson

from handlers.confined.worker import DONE, END, HEAD, JOB, PIECE, RESULT

# all that a worker needs of the environment; it gets no settings of the service, which include secrets
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV")


class WorkerEnded(Exception):
    """The process ended, or was killed, before it replied."""


class WorkerProcess:
    """A worker and the socket to it. It does one job at a time."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls, threads: ThreadPoolExecutor) -> WorkerProcess:
        """Start a process; `threads` runs what would block the event loop."""
        spawning = asyncio.get_running_loop().run_in_executor(threads, _spawn)
        try:
            process, channel = await asyncio.shield(spawning)
        except asyncio.CancelledError:
            spawning.add_done_callback(_end_unwanted)
            raise
        try:
            return cls(process, *await asyncio.open_unix_connection(sock=channel))
        except BaseException:
            channel.close()
            process.kill()
            threads.submit(process.wait)
            raise

    @property
    def is_running(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    async def begin(self, job: dict[str, Any]) -> None:
        """Send a job: `function`, `arguments` and the limits, as `worker.py` reads them."""
        await self._send(JOB, orjson.dumps(job))

    async def send(self, piece: bytes) -> None:
        """Send a piece of the job's input; wait while the process lags behind."""
        await self._send(PIECE, piece)

    async def end_input(self) -> None:
        """Mark the end of the input."""
        await self._send(END, b"")

    async def reply(self) -> tuple[bytes, dict[str, Any]]:
        """Receive the result, and the report of the process about the job. Raises `WorkerEnded` if there is none."""
        result = await self._receive(RESULT)
        done: dict[str, Any] = orjson.loads(await self._receive(DONE))
        return result, done

    async def _send(self, kind: int, body: bytes) -> None:
        try:
            self._writer.write(HEAD.pack(kind, len(body)) + body)
            await self._writer.drain()
        except (ConnectionError, RuntimeError) as error:
            raise WorkerEnded from error

    async def _receive(self, wanted: int) -> bytes:
        try:
            kind, length = HEAD.unpack(await self._reader.readexactly(HEAD.size))
            body = await self._reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError, struct.error) as error:
            raise WorkerEnded from error
        if kind != wanted:
            raise WorkerEnded(f"a frame of the kind {kind}")
        return body

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._writer.transport.abort()

    def reap(self) -> None:
        """Wait for the end of a process that was killed. Blocks, so call it in a thread."""
        self._process.wait()


def _spawn() -> tuple[subprocess.Popen[bytes], socket.socket]:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "handlers.confined.worker"],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    ours.setblocking(False)
    return process, ours


def _end_unwanted(spawning: asyncio.Future[tuple[subprocess.Popen[bytes], socket.socket]]) -> None:
    """End a process whose caller was cancelled while it started."""
    if spawning.cancelled() or spawning.exception() is not None:
        return
    process, channel = spawning.result()
    channel.close()
    process.kill()
    process.wait()
