"""Background work: single tasks, and periodic jobs that one instance at a time runs."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import nullcontext
from dataclasses import dataclass

from config.database import DatabaseUnavailable
from config.tracing import Tracing
from handlers.data.database import Database, Lease
from handlers.tasks import end

log = logging.getLogger("tradewind.jobs")
_RETRY_SECONDS = 1.0


@dataclass
class JobRuns:
    """How often a periodic job ran in this process and failed, how long it took in all, and when it last succeeded."""

    runs: int = 0
    failures: int = 0
    seconds: float = 0.0
    succeeded_at: float = 0.0


class Jobs:
    """The background tasks of one process; the process cancels them when it stops."""

    def __init__(self, database: Database, tracing: Tracing | None = None) -> None:
        self._database = database
        self._tracing = tracing
        self.runs: dict[str, JobRuns] = {}  # of periodic jobs, by their names
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, name: str, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Run `work` as a detached task: outside the transaction of the current request, and not cancelled with it."""
        task = asyncio.create_task(_log_failure(name, work), name=name, context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def every(self, seconds: float, name: str, work: Callable[[], Awaitable[object]]) -> asyncio.Task[None]:
        """Run `work` once in every `seconds`, on one of all instances; another takes over when that one dies."""
        return self.spawn(name, self._repeat(seconds, name, work))

    async def _repeat(self, seconds: float, name: str, work: Callable[[], Awaitable[object]]) -> None:
        runs = self.runs.setdefault(name, JobRuns())
        while True:
            lease = Lease(self._database, f"job:{name}", seconds)
            try:
                if await lease.acquire():
                    await self._measured(name, runs, self._run_held(lease, seconds, work))
            except DatabaseUnavailable:
                log.warning("job waits for the database", extra={"job": name})
            except Exception:
                log.exception("job failed", extra={"job": name})
            await asyncio.sleep(min(seconds / 2, max(_RETRY_SECONDS, seconds / 10)))

    async def _measured(self, name: str, runs: JobRuns, work: Awaitable[None]) -> None:
        began = time.monotonic()
        try:
            with self._tracing.root(f"job {name}", "INTERNAL") if self._tracing else nullcontext():
                await work
        except Exception:
            runs.failures += 1
            raise
        else:
            runs.succeeded_at = time.time()
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


async def _log_failure(name: str, work: Coroutine[object, object, None]) -> None:
    try:
        await work
    except asyncio.CancelledError:
        raise
    except Exception:
        log.exception("background task failed", extra={"job": name})
