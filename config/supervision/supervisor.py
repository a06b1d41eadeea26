"""The supervisor: keeps servers running, replaces them on SIGHUP, ends them on SIGTERM."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from config.listening import activated_sockets
from config.logs import log_at_once
from config.process import fail, notify
from config.supervision.generation import REFUSED, CannotStart, Generation, Listening, Server
from config.supervision.link import Message

FIRST_SECONDS = 0.1
MOST_SECONDS = 10.0
EARLY_SECONDS = 3.0
STABLE_SECONDS = 60.0
_MOST_DOUBLINGS = 7


@dataclass
class Restarts:
    """The pauses before restarts in one place: none after a process that served, 100 ms to 10 s while starts fail.

    A start fails if the process ends before it is ready, or within three seconds. A minute of service resets the pause.
    A process that is killed later than three seconds does not lengthen it.
    """

    failures: int = 0

    def pause_after(self, ready_seconds: float | None) -> float:
        """Return the seconds to wait after a process that was ready for `ready_seconds`, or never if that is None."""
        if ready_seconds is None or ready_seconds < EARLY_SECONDS:
            self.failures += 1
        elif ready_seconds >= STABLE_SECONDS:
            self.failures = 0
        if not self.failures:
            return 0.0
        doublings = min(self.failures - 1, _MOST_DOUBLINGS)
        return float(min(FIRST_SECONDS * 2**doublings, MOST_SECONDS))


log = logging.getLogger("tradewind.supervisor")
_TIDY_SECONDS = 5.0
_LOOK_SECONDS = 0.01
_START_SECONDS = 120.0  # until a server is ready; migrations may run before that


def supervise(processes: int | None, arguments: Sequence[str] = ()) -> int:
    """Keep `processes` servers running, or one for each core, until SIGTERM or SIGINT; return the exit code.

    `arguments` are those of `server.py`. SIGHUP replaces the servers one after the other with servers of the current
    code and settings; each old one ends when its successor is ready. If no server has ever been ready and one reports
    that its settings are wrong, all end with its exit code.
    """
    if processes is not None and processes < 1:
        return fail(["--processes takes at least 1."])
    log_at_once("INFO")
    return asyncio.run(_Supervisor(processes or _cores(), arguments).run())


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class _Place:
    """A place for one of the servers to keep running; `server` is None while it is empty.

    Whoever starts a server for it holds `lock`.
    """

    server: Server | None = None
    restarts: Restarts = field(default_factory=Restarts)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class _Supervisor:
    def __init__(self, count: int, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._activated = activated_sockets()
        self._places = [_Place() for _ in range(count)]
        self._open: list[Listening] = []
        self._generations: list[Generation] = []
        self._current: Generation | None = None
        self._loading = asyncio.Lock()
        self._asked_to_roll = asyncio.Event()
        self._over = asyncio.Event()
        self._proven = False  # a server has been ready: from then on, one that cannot start does not end the supervisor
        self._welcomed = False
        self._code = 0

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._over.set)
        loop.add_signal_handler(signal.SIGHUP, self._asked_to_roll.set)
        loop.add_signal_handler(signal.SIGCHLD, self._look)
        work = [self._keep(place) for place in self._places] + [self._roll_when_asked()]
        tasks = [asyncio.create_task(each) for each in (self._over.wait(), *work)]
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await self._end_all()
        for task in ended:
            if not task.cancelled():
                task.result()  # raises an unexpected error of the supervisor itself
        return self._code

    def _look(self) -> None:
        for generation in list(self._generations):
            generation.look()
            if generation.is_over:
                self._generations.remove(generation)

    async def _keep(self, place: _Place) -> None:
        """Start a server whenever the place has none."""
        while True:
            async with place.lock:
                if place.server is None:
                    place.server = await self._start()
            server = place.server
            if await server.is_ready_within(None):
                self._note_ready()
            await server.ended.wait()
            if place.server is not server:
                continue  # it was replaced
            place.server = None
            if server.code == REFUSED and not self._proven:
                return self._give_up(server.code)
            pause = place.restarts.pause_after(server.ready_seconds)
            details = {"pid": server.pid, "exit_code": server.code, "pause_seconds": pause}
            log.warning("a process ended and is started again", extra=details)
            await asyncio.sleep(pause)

    async def _start(self) -> Server:
        """Start a server of the current generation, loading the generation again if its fork server has ended."""
        restarts = Restarts()
        while True:
            try:
                async with self._loading:
                    if self._over.is_set():
                        raise asyncio.CancelledError
                    if self._current is None or self._current.is_over:
                        self._current = await self._load()
                    generation = self._current
                first, self._welcomed = not self._welcomed, True
                return await generation.start(first)
            except CannotStart as error:
                if not self._proven:
                    self._give_up(error.code, str(error))
                    raise asyncio.CancelledError from error
                pause = restarts.pause_after(None)
                log.error("no process can be started", extra={"reason": error.reason, "pause_seconds": pause})
                await asyncio.sleep(pause)

    async def _load(self) -> Generation:
        """Load a generation with the current code and settings, and let it listen."""
        generation = Generation(self._arguments)
        self._generations.append(generation)
        try:
            loaded = await generation.loaded_within(_START_SECONDS)
            generation.listen(self._listening(loaded))
        except CannotStart:
            generation.finish()
            raise
        log_at_once(str(loaded["log_level"]))
        return generation

    def _listening(self, loaded: Message) -> list[Listening]:
        """Return the sockets of the service manager, or those that the settings name; sockets already open are kept."""
        if self._activated:
            return [self._open_at(("", 0), lambda: Listening(("", 0), self._activated))]
        host, port, path = str(loaded["host"]), int(loaded["port"]), str(loaded["unix_socket"])
        found = [self._open_at((host, port), lambda: Listening.at(host, port))]
        if path:
            mode = int(str(loaded["unix_socket_mode"]), 8)
            found.append(self._open_at((path, 0), lambda: Listening.at_path(path, mode)))
        return found

    def _open_at(self, address: tuple[str, int], open_sockets: Callable[[], Listening]) -> Listening:
        found = next((each for each in self._open if each.address == address), None)
        if found is None:
            found = open_sockets()
            self._open.append(found)
        return found

    def _note_ready(self) -> None:
        if not self._proven:
            notify(f"READY=1\nSTATUS={len(self._places)} processes")
        self._proven = True

    def _give_up(self, code: int, why: str = "") -> None:
        """End with the exit code `code`, as no server has ever been ready; print `why`."""
        if why:
            fail([why])
        self._code = self._code or (code if code > 0 else REFUSED)
        self._over.set()

    async def _roll_when_asked(self) -> None:
        while True:
            await self._asked_to_roll.wait()
            self._asked_to_roll.clear()
            notify("RELOADING=1")
            log.info("rolling restart", extra={"processes": len(self._places)})
            try:
                await self._roll()
                log.info("rolled")
            except CannotStart as error:
                log.error("not rolled: a new process does not start", extra={"reason": error.reason})
            notify("READY=1")
            self._retire()

    async def _roll(self) -> None:
        """Replace the servers one after the other with those of a new generation.

        Raises `CannotStart`; the servers that are not replaced yet keep running.
        """
        new = await self._load()
        for place in self._places:
            async with place.lock:
                server = await new.start()
                if not await server.is_ready_within(_START_SECONDS):
                    await server.end(signal.SIGKILL, new.stop_seconds)
                    raise CannotStart(server.code, f"it was not ready, and ended with {server.code}")
                old, place.server = place.server, server
                async with self._loading:  # or a place that loads a generation would replace this one
                    self._current = new
            if old is not None:
                # a server that is not ready yet handles no signal but SIGTERM
                await old.end(signal.SIGHUP if old.ready.is_set() else signal.SIGTERM, new.stop_seconds)
        self._note_ready()

    def _retire(self) -> None:
        """End replaced or failed generations that have no servers left; close sockets that no generation uses."""
        for generation in self._generations:
            if generation is not self._current and not generation.servers:
                generation.finish()
                generation.listening = []
        used = [listening for each in self._generations for listening in each.listening]
        for listening in [each for each in self._open if each not in used]:
            listening.close()
            self._open.remove(listening)

    async def _end_all(self) -> None:
        """Stop listening, and end every server, then the fork servers."""
        notify("STOPPING=1")
        for generation in self._generations:
            generation.stop_listening()
        for listening in self._open:
            listening.close()
        while servers := [(server, each) for each in self._generations for server in each.servers.values()]:
            await asyncio.gather(*(server.end(signal.SIGTERM, each.stop_seconds) for server, each in servers))
            self._code = self._code or max(0, *(server.code for server, _ in servers))
        for generation in self._generations:
            generation.finish()
        with suppress(TimeoutError):
            async with asyncio.timeout(_TIDY_SECONDS):
                while self._generations:
                    await asyncio.sleep(_LOOK_SECONDS)
                    self._look()
