"""The processes of one port: each queries the others over Unix sockets, so that one scrape or probe covers all of them.

Each process takes the lowest free number, by a file lock that the kernel releases when the process ends. It replies on
a socket of that number in the folder `processes` of the data folder, which only the user of the service can enter. A
process that hangs keeps its lock and does not reply.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from config.version import VERSION
from handlers.operations.metrics import PROCESS, Family, Metrics, exposition

log = logging.getLogger("tradewind.processes")
_FOLDER = "processes"
_LOCK = re.compile(r"(\d{1,5})\.(\d{1,3})\.lock")
_MOST = 1000
_REPLY_SECONDS = 2.0
_METRICS, _EXEMPLARS = b"metrics\n", b"metrics with exemplars\n"
_OPEN_FOLDERS = Path(
    "/proc/self/fd"
)  # a path through it is short enough for a socket, however long that of the data folder is


@dataclass(frozen=True)
class ProcessState:
    """What a process reports; a `pid` of 0 means that it did not reply in time. `seconds`: how long the reply took."""

    port: int
    number: int
    pid: int = 0
    version: str = ""
    seconds: float = _REPLY_SECONDS
    families: tuple[Family, ...] = ()

    def figure(self, name: str, having: str = "") -> float | None:
        """Return the sum of a metric over its lines that contain `having`; None if the process does not report it."""
        lines = [line for one in self.families if one.name == name for line in one.lines.splitlines()]
        values = [float(line.rpartition(" ")[2]) for line in lines if having in line]
        return sum(values) if lines else None


class Processes:
    """This process, as one of those of its port."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._port = self._number = 0
        self._folder: _Folder | None = None
        self._lock: int | None = None
        self._server: asyncio.Server | None = None

    async def join(self, data_dir: Path, port: int) -> None:
        """Take a number, and reply to the others from now on.

        If the data folder cannot hold sockets, the metrics are those of this process alone.
        """
        self._port = port
        try:
            (data_dir / _FOLDER).mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder = folder = _Folder(data_dir / _FOLDER)
            self._number, self._lock = folder.take(port)
            self._server = await asyncio.start_unix_server(self._reply, sock=folder.bind(port, self._number))
        except OSError as error:
            log.warning("metrics tell of this process alone", extra={"reason": str(error)})

    async def leave(self) -> None:
        """Stop replying, and free the number."""
        if self._server is not None:
            self._server.close()
        if self._folder is not None:
            self._folder.remove(self._port, self._number)
            self._folder.close()
            self._folder = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, ValueError):
            async with asyncio.timeout(_REPLY_SECONDS):
                asked = await reader.readline()
                families = await self._families(asked) if asked in (_METRICS, _EXEMPLARS) else []
                state = {"pid": os.getpid(), "version": VERSION, "families": list(map(tuple, families))}
                writer.write(orjson.dumps(state))
                await writer.drain()
        writer.close()

    async def _families(self, asked: bytes) -> list[Family]:
        """Return the metrics of this process. Those of number 0, which often is the only one, have no process label."""
        return await self._metrics.families(str(self._number) if self._number else "", asked == _EXEMPLARS)

    async def all_states(self, question: bytes = b"ping\n") -> list[ProcessState]:
        """Return the states of all processes of the port, including this one, sorted by number."""
        families = await self._families(question) if question in (_METRICS, _EXEMPLARS) else []
        own = ProcessState(self._port, self._number, os.getpid(), VERSION, 0.0, tuple(families))
        if self._folder is None:
            return [own]
        others = [number for port, number in self._folder.held() if port == self._port and number != self._number]
        asked = (_ask(self._folder, self._port, number, question) for number in others)
        return sorted((own, *await asyncio.gather(*asked)), key=lambda one: one.number)

    async def exposition(self, open_metrics: bool = False) -> bytes:
        """Return the metrics of all processes of the port and of the whole service; with exemplars in OpenMetrics."""
        question = _EXEMPLARS if open_metrics else _METRICS
        states, shared = await asyncio.gather(self.all_states(question), self._metrics.shared())
        up = "".join(f'tradewind_process_up{{{PROCESS}="{one.number}"}} {int(one.pid > 0)}\n' for one in states)
        up_family = Family("tradewind_process_up", "Whether a process of this port replies; 0: it hangs", "gauge", up)
        return exposition((up_family, *(family for one in states for family in one.families), *shared), open_metrics)


async def processes_of(data_dir: Path) -> list[ProcessState]:
    """Return the states of the processes of all ports that use this data folder."""
    try:
        folder = _Folder(data_dir / _FOLDER)
    except OSError:
        return []
    try:
        return await asyncio.gather(*(_ask(folder, port, number, b"ping\n") for port, number in folder.held()))
    finally:
        folder.close()


async def _ask(folder: _Folder, port: int, number: int, question: bytes) -> ProcessState:
    began = time.monotonic()
    try:
        async with asyncio.timeout(_REPLY_SECONDS):
            reader, writer = await asyncio.open_unix_connection(folder.path(port, number))
            try:
                writer.write(question)
                reply = orjson.loads(await reader.read())
            finally:
                writer.close()
        families = tuple(Family(*one) for one in reply["families"])
        return ProcessState(port, number, reply["pid"], reply["version"], time.monotonic() - began, families)
    except (OSError, TimeoutError, ValueError, LookupError, TypeError):
        return ProcessState(port, number)


class _Folder:
    """The folder with the locks and sockets of processes. Raises `OSError` if there is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open = os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def close(self) -> None:
        os.close(self._open)

    def path(self, port: int, number: int) -> str:
        """Return the path of the socket on which the process with this number listens."""
        folder = _OPEN_FOLDERS / str(self._open) if _OPEN_FOLDERS.exists() else self._path
        return str(folder / f"{port}.{number}.sock")

    def take(self, port: int) -> tuple[int, int]:
        """Take the lowest free number of a port; return it and the descriptor that holds its lock. Raises `OSError`."""
        for number in range(_MOST):
            lock = os.open(f"{port}.{number}.lock", os.O_RDWR | os.O_CREAT, 0o600, dir_fd=self._open)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return number, lock
            except BlockingIOError:
                os.close(lock)
        raise OSError(f"{_MOST} processes have a number of port {port}")

    def bind(self, port: int, number: int) -> socket.socket:
        """Return a socket that is bound to the path of the process with this number."""
        self.remove(port, number)
        bound = socket.socket(socket.AF_UNIX)
        try:
            bound.bind(self.path(port, number))
            bound.setblocking(False)
        except OSError:
            bound.close()
            raise
        return bound

    def remove(self, port: int, number: int) -> None:
        """Remove the socket file of a number, if there is one."""
        with suppress(FileNotFoundError):
            os.unlink(f"{port}.{number}.sock", dir_fd=self._open)

    def held(self) -> Iterator[tuple[int, int]]:
        """Yield the port and number of each live process."""
        for name in os.listdir(self._open):
            found = _LOCK.fullmatch(name)
            if found and self._is_held(name):
                yield int(found[1]), int(found[2])

    def _is_held(self, name: str) -> bool:
        try:
            lock = os.open(name, os.O_RDONLY, dir_fd=self._open)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
