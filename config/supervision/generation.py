"""A generation: the servers with the same code and settings, as the supervisor sees them."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config import process
from config.listening import CannotListen, UnixSocket, close_sockets, open_sockets, open_unix_socket
from config.supervision.link import Link, Message

log = logging.getLogger("tradewind.supervisor")
REFUSED = 1  # the exit code of a server that has printed why it cannot start
KILLED = -signal.SIGKILL
_ENTRY = Path(__file__).parents[2] / "server.py"


class CannotStart(Exception):
    """A generation cannot start. Its processes have printed the reason, unless the message says it."""

    def __init__(self, code: int, why: str = "") -> None:
        super().__init__(why)
        self.code = code
        self.reason = why or f"exit code {code}"


@dataclass(eq=False)
class Listening:
    """The open sockets of an address, which is a host and a port, or a path and 0."""

    address: tuple[str, int]
    sockets: list[socket.socket]
    _file: UnixSocket | None = None

    @classmethod
    def at(cls, host: str, port: int) -> Listening:
        """Open the sockets of a host and a port for this supervisor's processes alone. Raises `CannotStart`."""
        try:
            return cls((host, port), open_sockets(host, port, shared=False))
        except OSError as error:
            raise CannotStart(
                REFUSED,
                f"Cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}. If another supervisor or "
                "server has the port, stop it, or set TRADEWIND_PORT to a free one.",
            ) from error

    @classmethod
    def at_path(cls, path: str, mode: int) -> Listening:
        """Open a Unix socket. Raises `CannotStart`."""
        try:
            opened = open_unix_socket(Path(path), mode)
        except CannotListen as error:
            raise CannotStart(REFUSED, str(error)) from error
        return cls((path, 0), [opened.socket], opened)

    def close(self) -> None:
        """Close the sockets in this process, and remove the file of a Unix socket."""
        close_sockets(self.sockets)
        file, self._file = self._file, None
        if file is not None:
            file.remove()


@dataclass(eq=False)
class Server:
    """A server process."""

    pid: int
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    ready_at: float | None = None
    code: int = 0

    @property
    def ready_seconds(self) -> float | None:
        """How long it has been ready; None if it never was."""
        return None if self.ready_at is None else time.monotonic() - self.ready_at

    def note_ready(self) -> None:
        """Note that it is ready to serve."""
        self.ready_at = time.monotonic()
        self.ready.set()

    def note_end(self, code: int) -> None:
        """Note that it has ended with the exit code `code`."""
        self.code = code
        self.ended.set()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if not self.ended.is_set():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def is_ready_within(self, seconds: float | None) -> bool:
        """Wait until it is ready; return False if it ends before that, or takes longer than `seconds`."""
        await wait_for_any(self.ready, self.ended, seconds=seconds)
        return self.ready.is_set() and not self.ended.is_set()

    async def end(self, number: signal.Signals, seconds: float) -> None:
        """Send it the signal `number`, and kill it if it has not ended after `seconds`."""
        self.send(number)
        try:
            await asyncio.wait_for(self.ended.wait(), seconds)
        except TimeoutError:
            log.error("a process did not stop in time and is killed", extra={"pid": self.pid})
            self.send(signal.SIGKILL)
            await self.ended.wait()


async def wait_for_any(*events: asyncio.Event, seconds: float | None = None) -> None:
    """Wait until one of the events is set, or for `seconds`."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()


class Generation:
    """A fork server and its servers."""

    def __init__(self, arguments: Sequence[str]) -> None:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        environment = {name: value for name, value in os.environ.items() if name != process.VARIABLE}
        with theirs:
            command = [sys.executable, str(_ENTRY), "--fork-server", str(theirs.fileno()), *arguments]
            self._process = subprocess.Popen(  # noqa: S603 - our own entry point
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # signals from the terminal come through the supervisor
            )
        self.servers: dict[int, Server] = {}
        self.listening: list[Listening] = []  # the sockets that its servers inherit
        self._loaded: asyncio.Future[Message] = loop.create_future()
        self.stop_seconds = 0.0
        self._link = Link(ours)
        self._starts: deque[asyncio.Future[Server]] = deque()  # in the order of their requests
        loop.add_reader(self._link, self._read)

    @property
    def is_over(self) -> bool:
        """Whether its fork server has ended."""
        return self._process.returncode is not None

    async def loaded_within(self, seconds: float) -> Message:
        """Return what the fork server reports once it has loaded everything. Raises `CannotStart`."""
        try:
            return await asyncio.wait_for(self._loaded, seconds)
        except TimeoutError as error:
            raise CannotStart(KILLED, f"the plugins were not loaded within {seconds:.0f} s") from error

    def listen(self, listening: list[Listening]) -> None:
        """Let the servers accept on these sockets."""
        self.listening = listening
        self._link.send({"kind": "listen"}, [each for one in listening for each in one.sockets])

    def stop_listening(self) -> None:
        """Close the sockets in the fork server; its servers close theirs."""
        with suppress(OSError):
            self._link.send({"kind": "close"})

    async def start(self, first: bool = False) -> Server:
        """Fork a server. Raises `CannotStart` if the fork server has ended."""
        started: asyncio.Future[Server] = asyncio.get_running_loop().create_future()
        try:
            self._link.send({"kind": "start", "first": first})
        except OSError as error:
            raise CannotStart(KILLED, "its fork server has ended") from error
        self._starts.append(started)
        return await started

    def look(self) -> None:
        """Check whether the fork server has ended; if so, ask its servers to end too, as the kernel does on Linux."""
        if self.is_over or self._process.poll() is None:
            return
        self._read_rest()
        asyncio.get_running_loop().remove_reader(self._link)
        code = self._process.returncode
        why = "" if code > 0 else f"the process that loads the plugins ended with {code}"
        waiting: list[asyncio.Future[Any]] = [self._loaded, *self._starts]
        for future in waiting:
            if not future.done():
                future.set_exception(CannotStart(code, why))
        for server in self.servers.values():
            server.send(signal.SIGTERM)
            server.note_end(KILLED)  # nobody can observe its real end any more
        self.servers.clear()
        self._link.close()

    def finish(self) -> None:
        """End the fork server; call it once it has no servers left."""
        if not self.is_over:
            self._process.terminate()  # it does not handle SIGTERM, so it ends at once

    def _read_rest(self) -> None:
        with suppress(OSError):
            while received := self._link.receive():
                self._note(received[0])

    def _read(self) -> None:
        with suppress(OSError):
            if received := self._link.receive():
                self._note(received[0])

    def _note(self, messages: Sequence[Message]) -> None:
        for message in messages:
            kind, pid = message["kind"], int(message.get("pid", 0))
            if kind == "loaded":
                self.stop_seconds = float(message["stop_seconds"])
                if not self._loaded.done():
                    self._loaded.set_result(message)
            elif kind == "started":
                self.servers[pid] = Server(pid)
                waiting = self._starts.popleft()
                if not waiting.done():
                    waiting.set_result(self.servers[pid])
            elif kind == "ready" and pid in self.servers:
                self.servers[pid].note_ready()
            elif kind == "ended" and pid in self.servers:
                self.servers.pop(pid).note_end(int(message["code"]))
