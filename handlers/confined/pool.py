"""Runs work that may cost more than its input suggests in worker processes, a few at a time, within limits.

A plugin opens a `Lane` for each kind of such work. A lane runs a function of a module, named
`package.module:function`. The function takes an iterator over the pieces of its input and further arguments that JSON
can represent, and returns bytes. The module should import little, because every process imports it anew.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Self, TypedDict, TypeVar, Unpack

from handlers.access.rate_limit import too_many_of_yours
from handlers.confined.process import WorkerEnded, WorkerProcess
from handlers.request import Request
from handlers.schema.errors import BAD_REQUEST, ApiError, unavailable
from handlers.schema.messages import BUSY, STOPPING

log = logging.getLogger("tradewind.confined")
_RETRY_SECONDS = 5
_IDLE_SECONDS = 30.0
_IDLE_PROCESSES = 2
_GRACE_SECONDS = 1.0  # for running jobs, when the service stops
NOBODY = 0
Result = TypeVar("Result")


class TooCostly(Exception):
    """The work needed more memory or time than its lane allows."""


class WorkFailed(Exception):
    """The function raised an exception: `kind` is the name of its class, `text` its message."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.text = text


@dataclass(frozen=True)
class Limits:
    """The limits of one lane.

    At most `at_once` jobs run at the same time; up to `waiting` more wait, each for up to `patience_seconds`. One
    person may have at most `each` jobs in the lane, of which all places but one run. A job may use `cpu_seconds` of
    processor time, `seconds` of elapsed time and `memory_bytes`, and write files of `file_bytes` each.
    """

    at_once: int
    memory_bytes: int
    waiting: int = 16
    each: int = 4
    patience_seconds: float = 10.0
    seconds: float = 30.0
    cpu_seconds: int = 10
    file_bytes: int = 0


class LaneLimits(TypedDict, total=False):
    """The `Limits` that a lane may set."""

    at_once: int
    memory_bytes: int
    waiting: int
    each: int
    patience_seconds: float
    seconds: float
    cpu_seconds: int
    file_bytes: int


class Confined:
    """The worker processes of this service, and the lanes that share them.

    `at_once` and `memory_bytes` are the deployment's settings, for every lane that does not set its own.
    """

    def __init__(self, at_once: int, memory_bytes: int) -> None:
        self._at_once = at_once
        self._memory_bytes = memory_bytes
        self._threads = ThreadPoolExecutor(1, "worker-processes")
        self._idle: deque[tuple[WorkerProcess, asyncio.TimerHandle]] = deque()
        self._lanes: list[Lane] = []
        self.stopping = False
        self.cpu_seconds = 0.0

    def lane(self, name: str, **limits: Unpack[LaneLimits]) -> Lane:
        """Open a lane with these `Limits`; those left out are the deployment's settings, or the defaults."""
        given: LaneLimits = {"at_once": self._at_once, "memory_bytes": self._memory_bytes, **limits}
        lane = Lane(self, name, Limits(**given))
        self._lanes.append(lane)
        return lane

    def loads(self) -> dict[str, float]:
        """Return how many jobs run or wait in each lane, by its name."""
        return {lane.name: lane.load for lane in self._lanes}

    async def take(self) -> WorkerProcess:
        """Return an idle process, or start one."""
        while self._idle:
            process, ending = self._idle.pop()
            ending.cancel()
            if process.is_running:
                return process
            self.discard(process)
        return await WorkerProcess.start(self._threads)

    def give_back(self, process: WorkerProcess) -> None:
        """Return a process to the pool after its job."""
        if self.stopping or len(self._idle) >= _IDLE_PROCESSES:
            self.discard(process)
            return
        ending = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._end_oldest)
        self._idle.append((process, ending))

    def _end_oldest(self) -> None:
        self.discard(self._idle.popleft()[0])

    def discard(self, process: WorkerProcess) -> None:
        """Kill a process."""
        process.kill()
        self._threads.submit(process.reap)

    def stop(self) -> None:
        """Start no more jobs; running ones have a second to finish."""
        self.stopping = True
        for lane in self._lanes:
            lane.end_waiting()
        asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._end_running)

    def _end_running(self) -> None:
        for lane in self._lanes:
            lane.end_all()

    async def close(self) -> None:
        """End every process."""
        self.stopping = True
        self._end_running()
        while self._idle:
            process, ending = self._idle.popleft()
            ending.cancel()
            self.discard(process)
        await asyncio.to_thread(self._threads.shutdown)


class Lane:
    """One kind of work, and how much of it may run and wait."""

    def __init__(self, confined: Confined, name: str, limits: Limits) -> None:
        self.confined = confined
        self.name = name
        self.limits = limits
        self._present: set[Work] = set()
        self._waiting: deque[Work] = deque()
        self._of_person: Counter[int] = Counter()  # jobs that run or wait
        self._running: Counter[int] = Counter()
        self._turns: Counter[int] = Counter()  # since the person last had no job here

    @property
    def load(self) -> int:
        """How many jobs run or wait."""
        return len(self._present)

    async def run(self, function: str, data: bytes, *arguments: object, request: Request | None = None) -> bytes:
        """Run `function` on `data` as one job and return its result. Raises as `begin` and `Work.result` do."""
        async with await self.begin(function, *arguments, request=request) as work:
            await work.send(data)
            return await work.result()

    async def begin(self, function: str, *arguments: object, request: Request | None = None) -> Work:
        """Start a job and return it; the caller sends its input and closes it. The job ends if the client disconnects.

        Raises 50300 if too many jobs wait or the wait is too long, 42900 for a person who has too many of them or waits
        too long for their own, both with `Retry-After`.
        """
        work = Work(self, request)
        try:
            await self._admit(work)
            await work.start(function, arguments)
        except BaseException:
            work.close()
            raise
        return work

    async def _admit(self, work: Work) -> None:
        limits = self.limits
        if self.confined.stopping:
            raise unavailable(reason=STOPPING)
        if work.person != NOBODY and self._of_person[work.person] >= limits.each:
            raise too_many_of_yours()
        free = self._may_run(work)
        if not free and len(self._waiting) >= limits.waiting:
            raise unavailable(_RETRY_SECONDS, BUSY)
        self._present.add(work)
        self._of_person[work.person] += 1
        if free:
            self._give_turn(work)
        else:
            await self._wait(work)

    def _may_run(self, work: Work) -> bool:
        """Whether a place is free, and is not the last one for a person who has all the others."""
        of_person = max(1, self.limits.at_once - 1)
        own = work.person == NOBODY or self._running[work.person] < of_person
        return own and self._running.total() < self.limits.at_once

    def _give_turn(self, work: Work) -> None:
        self._running[work.person] += 1
        self._turns[work.person] += 1
        work.turn.set_result(None)

    async def _wait(self, work: Work) -> None:
        self._waiting.append(work)
        try:
            async with asyncio.timeout(self.limits.patience_seconds):
                await work.turn
        except TimeoutError as error:
            waits_for_own = self._running.total() < self.limits.at_once
            raise (too_many_of_yours() if waits_for_own else unavailable(_RETRY_SECONDS, BUSY)) from error
        finally:
            if work in self._waiting:
                self._waiting.remove(work)

    def release(self, work: Work) -> None:
        """Remove a job that is over, and let others run: first those of the people who have had least."""
        if work not in self._present:
            return
        self._present.discard(work)
        self._running[work.person] -= work.has_turn
        self._of_person[work.person] -= 1
        if not self._of_person[work.person]:
            for counts in (self._of_person, self._running, self._turns):
                del counts[work.person]
        while ready := [waiting for waiting in self._waiting if not waiting.turn.done() and self._may_run(waiting)]:
            self._give_turn(min(ready, key=lambda one: (self._running[one.person], self._turns[one.person])))

    def end_waiting(self) -> None:
        """End the jobs that wait, because the service stops."""
        for work in list(self._waiting):
            work.end("stopping")

    def end_all(self) -> None:
        """End all jobs, because the service stops."""
        for work in list(self._present):
            work.end("stopping")


class Work:
    """One job. Send its input, get its result, and close it: `async with await lane.begin(…) as work`."""

    def __init__(self, lane: Lane, request: Request | None) -> None:
        self._lane = lane
        self._confined = lane.confined
        self.person = request.actor.user_id if request is not None else NOBODY
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._process: WorkerProcess | None = None
        self._reply: asyncio.Task[tuple[bytes, dict[str, Any]]] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ended = ""
        self._reusable = False
        self._forget_client = request.when_left(lambda: self.end("left")) if request is not None else lambda: None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    @property
    def has_turn(self) -> bool:
        """Whether the job may run."""
        return self.turn.done() and not self.turn.cancelled() and self.turn.exception() is None

    async def start(self, function: str, arguments: Sequence[object]) -> None:
        """Hand the job to a process. The lane calls this when the job may run."""
        limits = self._lane.limits
        process = self._process = await self._confined.take()
        if self._ended:
            raise self._failure()
        self._timer = asyncio.get_running_loop().call_later(limits.seconds, self.end, "time")
        job = {"function": function, "arguments": arguments, **asdict(limits)}
        await self._unless_ended(process.begin(job))
        self._reply = asyncio.create_task(process.reply())

    async def send(self, piece: bytes) -> None:
        """Send a piece of the input; wait while the process lags behind. Raises as `result` does."""
        process, reply = self._running()
        await self._unless_ended(process.send(piece))
        if reply.done():
            self._check(await self._unless_ended(reply))

    async def result(self) -> bytes:
        """End the input and return the result of the function.

        Raises `TooCostly` for work beyond the limits of the lane, `WorkFailed` if the function raised, 50300 if the
        service stops meanwhile, and 40000 if the client disconnected.
        """
        process, reply = self._running()
        await self._unless_ended(process.end_input())
        result, done = await self._unless_ended(reply)
        self._reusable = done["reusable"]
        self._confined.cpu_seconds += done["cpu_seconds"]
        self._check((result, done))
        return result

    def _running(self) -> tuple[WorkerProcess, asyncio.Task[tuple[bytes, dict[str, Any]]]]:
        if self._process is None or self._reply is None:
            raise RuntimeError("the job was not begun")
        return self._process, self._reply

    async def _unless_ended(self, talk: Awaitable[Result]) -> Result:
        """Await an exchange with the process; raise the reason if the process ends meanwhile."""
        try:
            return await talk
        except WorkerEnded as error:
            raise self._failure() from error

    def _check(self, reply: tuple[bytes, dict[str, Any]]) -> None:
        failure = reply[1]["failure"]
        if failure is None:
            return
        if failure["kind"] == "MemoryError":
            raise self._failure()
        raise WorkFailed(failure["kind"], failure["text"])

    def _failure(self) -> Exception:
        if self._ended == "left":
            return ApiError(BAD_REQUEST)
        if self._ended == "stopping":
            return unavailable(reason=STOPPING)
        log.warning("work ended at its limits", extra={"lane": self._lane.name, "limit": self._ended or "memory, cpu"})
        return TooCostly(self._lane.name)

    def end(self, reason: str) -> None:
        """End the job now, whether it waits or runs; its caller gets the reason as an exception."""
        if self._ended:
            return
        self._ended = reason
        if not self.turn.done():
            self.turn.set_exception(self._failure())
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Release the process; a job that still runs is ended."""
        self._forget_client()
        if self._timer is not None:
            self._timer.cancel()
        if self._reply is not None and not self._reply.cancel() and not self._reply.cancelled():
            self._reply.exception()  # retrieve the exception, so that asyncio does not log it
        process, self._process = self._process, None
        if process is not None and self._reusable and not self._ended:
            self._confined.give_back(process)
        elif process is not None:
            self._confined.discard(process)
        self._lane.release(self)
