"""Background work: single tasks, and periodic jobs that one instance at a time runs."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from config.database import DatabaseUnavailable
from config.tracing import Tracing
from handlers.data.database import LEASES, Database, Lease
from handlers.schema.messages import Message
from handlers.tasks import end

log = logging.getLogger("tradewind.jobs")
_RETRY_SECONDS = 1.0
_LEASE = "job:"
_JITTER = 0.2


@dataclass
class JobRuns:
    """How often a periodic job ran and failed in this process, its total duration, and when it last succeeded."""

    runs: int = 0
    failures: int = 0
    seconds: float = 0.0
    succeeded_at: float = 0.0


@dataclass(frozen=True)
class LastRun:
    """The last run of a periodic job on any instance, and when the next one is due.

    `fault` is the name of the exception's class if the run failed. A run without an end is still going on, or its
    instance was killed.
    """

    began: datetime | None = None
    ended: datetime | None = None
    due: datetime | None = None
    fault: str = ""


@dataclass(frozen=True)
class Periodic:
    """A job that runs once every `seconds`."""

    name: str
    seconds: float
    title: Message | None


class Jobs:
    """The background tasks of one process; the process cancels them when it stops."""

    def __init__(self, database: Database, tracing: Tracing | None = None) -> None:
        self._database = database
        self._tracing = tracing
        self.runs: dict[str, JobRuns] = {}  # by the name of the periodic job
        self.periodic: list[Periodic] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, name: str, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Run `work` as a detached task: outside the transaction of the current request, and not cancelled with it."""
        task = asyncio.create_task(_log_failure(name, work), name=name, context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def every(
        self, seconds: float, name: str, work: Callable[[], Awaitable[object]], title: Message | None = None
    ) -> asyncio.Task[None]:
        """Run `work` once every `seconds`, on one instance at a time; another instance takes over if that one dies."""
        self.periodic.append(Periodic(name, seconds, title))
        return self.spawn(name, self._repeat(seconds, name, work))

    async def last_runs(self) -> Mapping[str, LastRun]:
        """Return the last run of each periodic job that has run, by the job's name."""
        leases = await self._database.driver.find(
            LEASES, {"_id": {"$in": [_LEASE + one.name for one in self.periodic]}}
        )
        return {lease["_id"].removeprefix(_LEASE): _last_run(lease) for lease in leases}

    async def _repeat(self, seconds: float, name: str, work: Callable[[], Awaitable[object]]) -> None:
        runs = self.runs.setdefault(name, JobRuns())
        while True:
            lease = Lease(self._database, _LEASE + name, seconds)
            try:
                if await lease.acquire():
                    await self._measured(name, runs, lease, self._run_held(lease, seconds, work))
            except DatabaseUnavailable:
                log.warning("job waits for the database", extra={"job": name})
            except Exception:
                log.exception("job failed", extra={"job": name})
            await asyncio.sleep(min(seconds / 2, max(_RETRY_SECONDS, seconds / 10)))

    async def _measured(self, name: str, runs: JobRuns, lease: Lease, work: Awaitable[None]) -> None:
        began = time.monotonic()
        try:
            with self._tracing.root(f"job {name}", "INTERNAL") if self._tracing else nullcontext():
                await work
        except Exception as error:
            runs.failures += 1
            with suppress(DatabaseUnavailable):
                await lease.end(type(error).__name__)  # without its message, which may contain data of records
            raise
        else:
            runs.succeeded_at = time.time()
            await lease.end("")
        finally:
            runs.runs += 1
            runs.seconds += time.monotonic() - began

    async def _run_held(self, lease: Lease, seconds: float, work: Callable[[], Awaitable[object]]) -> None:
        # the lease is not released after the work, so that no other instance runs it in the same period
        running = asyncio.ensure_future(work())
        try:
            while not (await asyncio.wait({running}, timeout=seconds / 3))[0]:
                if not await lease.renew():
                    return
            running.result()
        finally:
            await end([running])

    async def stop(self) -> None:
        """Cancel every task and wait for its end."""
        await end(self._tasks)


def retry_at(now: datetime, attempts: int, seconds: Sequence[float]) -> datetime:
    """Return when to try again after so many failed attempts: `seconds` has the pause after each, give or take a fifth."""
    pause = seconds[min(attempts, len(seconds)) - 1]
    return now + timedelta(seconds=pause * random.uniform(1 - _JITTER, 1 + _JITTER))  # noqa: S311  no secret


def _last_run(lease: Mapping[str, Any]) -> LastRun:
    began, ended = lease.get("began"), lease.get("ended")
    over = began is not None and ended is not None and ended >= began
    return LastRun(began, ended if over else None, lease.get("until"), lease.get("fault", "") if over else "")


async def _log_failure(name: str, work: Coroutine[object, object, None]) -> None:
    try:
        await work
    except asyncio.CancelledError:
        raise
    except Exception:
        log.exception("background task failed", extra={"job": name})
