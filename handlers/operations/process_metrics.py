"""The metrics of the core about a process: its event loop, connections, queues, jobs and migrations.

All values are read when somebody requests the metrics, except how late the event loop runs, which is measured all the
time.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial

from config.database import Driver
from config.version import VERSION
from handlers.confined.pool import Confined
from handlers.data.database import Database
from handlers.data.sync.changes import Changes
from handlers.operations.jobs import JobRuns, Jobs
from handlers.operations.metrics import Durations, Kind, Metrics, Read
from handlers.operations.migrations import STATES, Migrations
from handlers.operations.operation_log import OperationLog
from handlers.service import Service

BACKUPS = "core_backups"  # when the last backup was taken
_LAG_SECONDS = 0.5


def register_metrics(service: Service) -> None:
    """Register the metrics of this process, and start to measure how late its event loop runs."""
    metrics = service.part(Metrics)
    metrics.figure("tradewind_build_info", "The version that runs", lambda: {VERSION: 1}, "version")
    _register_database(metrics, service.database)
    _register_queues(metrics, service)
    _register_jobs(metrics, service.part(Jobs).runs)
    metrics.gauge("tradewind_migrations", "Collections of migrations, by their state", _states(service), "state")
    backup = "When the last backup was taken, in seconds since 1970; none yet: 0"
    metrics.gauge("tradewind_backup_last_success_timestamp_seconds", backup, _last_backup(service))
    late = metrics.histogram("tradewind_event_loop_lag_seconds", "How late the event loop runs what is due")
    service.part(Jobs).spawn("event loop lag", _measure_lag(late))


def _register_database(metrics: Metrics, database: Database) -> None:
    driver, changes = database.driver, database.changes
    connections = "Connections to MongoDB of the direct driver"
    metrics.figure("tradewind_database_connections", connections, driver.connections, "state")
    for name, help, read, kind in _of_database(driver, changes):
        metrics.figure(name, help, partial(_one, read), kind=kind)


def _of_database(driver: Driver, changes: Changes) -> Iterator[tuple[str, str, Callable[[], float], Kind]]:
    transactions = "Transactions that are open"
    yield "tradewind_database_transactions", transactions, lambda: len(driver.open_sessions), "gauge"
    slow = "Operations of MongoDB that took longer than a second"
    yield "tradewind_database_slow_operations_total", slow, lambda: driver.slow_operations, "counter"
    is_open = "Whether the change stream is open, by which other instances invalidate what is cached"
    yield "tradewind_change_stream_open", is_open, lambda: changes.is_open, "gauge"
    yield "tradewind_change_stream_losses_total", "Losses of the change stream", lambda: changes.losses, "counter"


def _one(read: Callable[[], float]) -> Mapping[str, float]:
    return {"": read()}


def _register_queues(metrics: Metrics, service: Service) -> None:
    log, lanes = service.part(OperationLog), service.part(Confined)
    waiting = "Operation-log entries not yet written"
    metrics.figure("tradewind_operation_log_waiting", waiting, lambda: {"": log.waiting})
    running = "Jobs of worker processes that run or wait, by kind of work"
    metrics.figure("tradewind_worker_jobs", running, lanes.loads, "lane")


def _register_jobs(metrics: Metrics, runs: Mapping[str, JobRuns]) -> None:
    def by_job(name: str) -> Mapping[str, float]:
        return {job: getattr(one, name) for job, one in runs.items()}

    for name, help, field, is_counter in (
        ("tradewind_job_runs_total", "Runs of periodic jobs in this process", "runs", True),
        ("tradewind_job_failures_total", "Runs of periodic jobs that failed", "failures", True),
        ("tradewind_job_duration_seconds_total", "How long the runs of periodic jobs took", "seconds", True),
        ("tradewind_job_last_success_timestamp_seconds", "When a job last succeeded here", "succeeded_at", False),
    ):
        kind: Kind = "counter" if is_counter else "gauge"
        metrics.figure(name, help, partial(by_job, field), "job_name", kind)


def _states(service: Service) -> Read:
    async def count() -> Mapping[str, float]:
        counted = Counter(one.state for one in await service.part(Migrations).states())
        return {state: counted[state] for state in STATES}

    return count


async def last_backup(driver: Driver) -> datetime | None:
    """Return when the last backup that was written completely was taken, or None if there is none."""
    rows = await driver.find(BACKUPS, {"_id": "last"}, limit=1)
    return rows[0]["at"] if rows else None


def _last_backup(service: Service) -> Read:
    async def read() -> Mapping[str, float]:
        at = await last_backup(service.database.driver)
        return {"": at.timestamp() if at is not None else 0.0}

    return read


async def _measure_lag(late: Durations) -> None:
    """Measure twice a second how much longer than requested a sleep took."""
    while True:
        due = time.monotonic() + _LAG_SECONDS
        await asyncio.sleep(_LAG_SECONDS)
        late.observe(max(0.0, time.monotonic() - due))
