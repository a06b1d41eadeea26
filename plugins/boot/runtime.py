"""A running service: starts the plugins in order, listens, and stops them in reverse order."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from config.database import RESTORING, DatabaseRefused, DatabaseUnavailable, Driver, TracedDriver
from config.embedded.diagnosis import explain_os_error
from config.local_secrets import demo_password, local_secret
from config.settings import Settings
from config.tracing import Tracing, TracingMissing, open_tracing
from handlers.access.rate_limit import RateLimit
from handlers.catalogue.custom_fields import CustomFields
from handlers.catalogue.declarations import Catalogue
from handlers.catalogue.dictionaries import Dictionaries
from handlers.catalogue.pickers import Pickers
from handlers.catalogue.searching import Searches
from handlers.confined.pool import Confined
from handlers.data.database import PREPARE_SECONDS, AlikeRecords, Database, Lease
from handlers.data.indexing import SearchIndexing
from handlers.data.references.record_names import RecordNames
from handlers.data.sync.orphans import end_orphans_for_ever
from handlers.data.visible.owner_moves import OwnerMoves
from handlers.docs.response_checks import ResponseChecks
from handlers.docs.system import Description, Readiness
from handlers.http.app import Front
from handlers.operations.certificates import CertificateWatch
from handlers.operations.jobs import Jobs
from handlers.operations.metrics import Metrics
from handlers.operations.migrations import Migrations, find_newer
from handlers.operations.operation_log import OPERATION_LOGS, OperationLog, expiring_after
from handlers.operations.process_metrics import register_metrics
from handlers.operations.processes import Processes
from handlers.operations.scheduled_backups import LOOK_SECONDS, back_up_if_due
from handlers.operations.tracing import traced_routes
from handlers.routing import Router
from handlers.schema.messages import Message
from handlers.service import Service
from handlers.tables.handlers import imported_tables
from handlers.tables.lanes import Lanes
from handlers.tables.records import TABLE_IMPORTS
from handlers.tables.running import resume_imports
from plugins.boot.connect import connected
from plugins.boot.known_plugins import holders_of, note_plugins
from plugins.boot.listen import StartError, start_listening
from plugins.boot.registry import freeze
from plugins.checks.events import SHARED_EVENTS
from plugins.plugin import Job, Plugin
from plugins.records.transitions import listen_to_approvals

log = logging.getLogger("tradewind")
MARKS = "core_marks"


@dataclass(frozen=True)
class Running:
    """A service that listens at `url`."""

    service: Service
    front: Front
    host: str
    port: int
    certificate: CertificateWatch | None = None  # of its own TLS

    @property
    def catalogue(self) -> Catalogue:
        """The declarations of its plugins."""
        return self.service.part(Catalogue)

    @property
    def url(self) -> str:
        """Its URL, without a slash at the end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}"


@asynccontextmanager
async def running(
    settings: Settings,
    plugins: Sequence[Plugin],
    uri: str,
    options: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
    catalogue: Catalogue | None = None,
    sockets: Sequence[socket.socket] = (),
    backup: Sequence[str] = (),
) -> AsyncIterator[Running]:
    """Start `plugins` on the MongoDB at `uri` and serve until the block ends, then drain.

    `options` are settings of plugins by name, which override the environment. `catalogue` is the result of
    `catalogue_of` for these plugins, if the caller has it. `sockets` listen already; without any, those of the settings
    are opened. `backup` are the arguments of Python for scheduled backups. Raises `StartError` and `RegistryError`.
    """
    async with AsyncExitStack() as stack:
        with _start_errors(settings):
            tracing = _open_tracing(settings, stack)
            driver = await _connect(settings, uri, stack)
            if tracing is not None:
                driver = TracedDriver(driver)
            known = catalogue or catalogue_of(settings, plugins)
            await _refuse_newer(driver, known)
            service = _assemble(settings, plugins, known, driver, options or {}, say, tracing)
            await _start(service, plugins, stack)
            await _prepare(service, plugins)
            _run_jobs(service, plugins, backup)
            at = await start_listening(service, stack, list(sockets))
        yield Running(service, at.front, settings.host, at.port, at.certificate)


@asynccontextmanager
async def started(
    settings: Settings, plugins: Sequence[Plugin], uri: str, *, reads_only: bool = False
) -> AsyncIterator[Service]:
    """Start `plugins` for a command, which neither serves requests nor runs jobs. Raises as `running` does.

    With `reads_only` nothing is written: indexes stay as they are, and no plugin starts.
    """
    async with AsyncExitStack() as stack:
        with _start_errors(settings):
            driver, catalogue = await _connect(settings, uri, stack), catalogue_of(settings, plugins)
            await _refuse_newer(driver, catalogue)
            service = _assemble(settings, plugins, catalogue, driver, {}, print)
            if reads_only:
                await service.part(CustomFields).load()
                await service.part(SearchIndexing).look()
            else:
                await _start(service, plugins, stack)
        yield service


@contextmanager
def _start_errors(settings: Settings) -> Iterator[None]:
    """Translate errors of the environment during a start, which are not bugs, into `StartError`."""
    try:
        yield
    except DatabaseRefused as error:
        raise StartError(
            f"MongoDB does not let the user of TRADEWIND_MONGODB_URI do what a start needs: {error}"
        ) from error
    except DatabaseUnavailable as error:
        raise StartError(f"MongoDB went away while the service started: {error}") from error
    except OSError as error:
        folder = settings.data_dir.absolute()
        if not error.filename or not Path(error.filename).absolute().is_relative_to(folder):
            raise
        raise StartError(explain_os_error(error, folder)) from error


async def _start(service: Service, plugins: Sequence[Plugin], stack: AsyncExitStack) -> None:
    """Start what both requests and commands need, in order; `stack` stops it in reverse order."""
    jobs = service.part(Jobs)
    stack.push_async_callback(service.database.changes.stop)
    stack.push_async_callback(service.database.history.stop)
    stack.push_async_callback(service.part(Confined).close)
    stack.push_async_callback(jobs.stop)
    # first, because the transactions of an instance that was killed may block this start
    jobs.spawn("orphans", end_orphans_for_ever(service.database.driver))
    await service.part(CustomFields).load()  # their indexes are among those to create
    await _create_indexes(service.database)
    jobs.spawn("custom-fields", service.part(CustomFields).follow())
    await service.database.changes.start()
    await service.part(SearchIndexing).look()
    operations = service.part(OperationLog)
    operations.start()
    stack.push_async_callback(operations.stop)
    listen_to_approvals(service, service.part(Catalogue).routes)
    service.events.declare(SHARED_EVENTS)
    for plugin in plugins:
        service.events.declare(plugin.emits)
        for listener in plugin.listens:
            service.events.listen(listener.event, partial(listener.call, service))
    for plugin in plugins:
        if plugin.start is not None:
            await stack.enter_async_context(plugin.start(service))


def _run_jobs(service: Service, plugins: Sequence[Plugin], backup: Sequence[str]) -> None:
    """Start the jobs."""
    jobs = service.part(Jobs)
    register_metrics(service)
    jobs.spawn("search", service.part(SearchIndexing).run())
    jobs.spawn("owners", OwnerMoves(service.database).run())
    resumed = [table for table in imported_tables(service.part(Catalogue).routes) if table.imports is TABLE_IMPORTS]
    seconds, imports = service.settings.import_resume_seconds, partial(resume_imports, service, resumed)
    jobs.every(seconds, "imports", imports, Message("继续中断的表格导入", "Resume interrupted table imports"))
    if service.settings.backup_hours and backup:
        title = Message("按计划备份", "Take scheduled backups")
        jobs.every(LOOK_SECONDS, "backup", partial(back_up_if_due, service, backup), title)
    for plugin in plugins:
        for job in plugin.jobs:
            jobs.every(_seconds(service, plugin, job), job.name, partial(job.work, service), job.title)
    jobs.spawn("migrations", service.part(Migrations).run())


def _seconds(service: Service, plugin: Plugin, job: Job) -> float:
    """Return the period of a job in seconds."""
    if isinstance(job.every, str) and plugin.settings is not None:
        return float(getattr(service.settings_of(plugin.settings), job.every))
    return float(job.every)


async def _connect(settings: Settings, uri: str, stack: AsyncExitStack) -> Driver:
    """Open a driver of a database that can be used. `stack` closes it."""
    driver = await stack.enter_async_context(connected(settings, uri))
    if await driver.find(RESTORING, {}, limit=1):
        raise StartError(
            f"A restore into the database {settings.mongodb_database} is running or was killed: wait for its end, or "
            "drop the database and restore again."
        )
    return driver


def _open_tracing(settings: Settings, stack: AsyncExitStack) -> Tracing | None:
    """Return a `Tracing` if the settings ask for one; `stack` sends the last spans. Raises `StartError`."""
    if not settings.traces:
        return None
    try:
        tracing = open_tracing()
    except TracingMissing as error:
        raise StartError("TRADEWIND_TRACES needs OpenTelemetry: pip install 'tradewind[otel]'.") from error
    stack.push_async_callback(asyncio.to_thread, tracing.close)
    return tracing


async def _refuse_newer(driver: Driver, catalogue: Catalogue) -> None:
    names = [migration.name for _, migration in catalogue.migrations]
    newer = await find_newer(driver, catalogue.plugins, names)
    if newer is not None:
        raise StartError(newer)


async def _create_indexes(database: Database) -> None:
    try:
        await database.prepare()
    except AlikeRecords as error:
        raise StartError(str(error)) from error


def _assemble(
    settings: Settings,
    plugins: Sequence[Plugin],
    catalogue: Catalogue,
    driver: Driver,
    options: Mapping[str, Any],
    say: Callable[[str], None],
    tracing: Tracing | None = None,
) -> Service:
    service = Service(
        settings=settings,
        database=Database(driver, catalogue.collections.values()),
        plugin_settings={kind: _settings(kind, options) for plugin in plugins if (kind := plugin.settings) is not None},
        signing_secrets=_signing_secrets(settings),
        demo_password=partial(demo_password, settings.data_dir),
        say=say,
    )
    service.provide(Catalogue, catalogue)
    service.provide(Dictionaries, Dictionaries({one.type: one.entries for one in catalogue.dictionaries}))
    service.provide(CustomFields, CustomFields(service, catalogue))
    _derive(service, catalogue, tracing is not None)
    service.provide(RecordNames, RecordNames(service.database))
    service.provide(Jobs, Jobs(service.database, tracing))
    if tracing is not None:
        service.provide(Tracing, tracing)
    service.provide(Confined, Confined(settings.confined_processes, settings.confined_megabytes << 20))
    service.provide(Lanes, Lanes.open(service.part(Confined)))
    service.provide(Metrics, Metrics())
    service.provide(Processes, Processes(service.part(Metrics)))
    indexing = SearchIndexing(service.database)
    service.provide(SearchIndexing, indexing)
    migrations = (("core", indexing.migration), *catalogue.migrations)
    service.provide(Migrations, Migrations(service, migrations, catalogue.plugins))
    service.provide(RateLimit, RateLimit(settings.requests_per_minute, settings.rate_limits == "on"))
    service.provide(
        OperationLog, OperationLog(driver, catalogue.collections[OPERATION_LOGS.name], settings.operation_log_queue)
    )
    service.provide(Readiness, Readiness(service.database, service.readiness))
    return service


def _derive(service: Service, catalogue: Catalogue, traced: bool) -> None:
    """Provide what is made from the catalogue."""
    service.derive(Pickers, Pickers, catalogue)
    service.derive(Searches, Searches, catalogue)
    service.derive(Router, lambda known: Router(traced_routes(known.routes) if traced else known.routes), catalogue)
    checks_all = service.settings.checks_every_response
    service.derive(ResponseChecks, lambda _: ResponseChecks(every=checks_all), catalogue)
    service.derive(Description, Description, catalogue)


def catalogue_of(settings: Settings, plugins: Sequence[Plugin], check: bool = True) -> Catalogue:
    """Return the catalogue of the plugins with these settings. With `check` it raises `RegistryError`."""
    catalogue = freeze(plugins, check)
    operation_logs = expiring_after(settings.operation_log_days)
    return replace(catalogue, collections={**catalogue.collections, OPERATION_LOGS.name: operation_logs})


def _settings(kind: Any, options: Mapping[str, Any]) -> Any:
    return kind(**{name: value for name, value in options.items() if name in kind.model_fields})


def _signing_secrets(settings: Settings) -> tuple[str, ...]:
    current = settings.jwt_secret.get_secret_value() or local_secret(settings.data_dir, "demo-secret")
    return (current, *(secret.get_secret_value() for secret in settings.jwt_old_secrets))


async def _prepare(service: Service, plugins: Sequence[Plugin]) -> None:
    """Run `prepare` of the plugins, and load demo data; one instance at a time does so, the others wait."""
    async with Lease(service.database, "start", seconds=PREPARE_SECONDS):
        service.database.heed(holders_of(await note_plugins(service.database.driver, plugins)))
        for plugin in plugins:
            if plugin.prepare is not None:
                await plugin.prepare(service)
        for plugin in plugins if service.settings.demo else ():
            if plugin.demo is not None:
                await _load_demo(service, plugin.name, plugin.demo)


async def _load_demo(service: Service, name: str, demo: Callable[[Service], Awaitable[None]]) -> None:
    """Load the demo data of a plugin in one transaction. That of other plugins stays if it fails."""
    try:
        await _run_once(service, f"demo:{name}", demo)
    except DatabaseUnavailable as error:
        raise StartError(
            f"The demo data of {name} could not be entered: {error}. Start again. Where a transaction took too long, "
            "raise transactionLifetimeLimitSeconds of MongoDB, or start without demo data."
        ) from error


async def _run_once(service: Service, mark: str, work: Callable[[Service], Awaitable[None]]) -> None:
    """Run `work` and store `mark` in one transaction, unless the mark exists."""

    async def store_mark_and_work() -> None:
        await driver.insert(MARKS, [{"_id": mark}])
        await work(service)

    driver = service.database.driver
    if not await driver.find(MARKS, {"_id": mark}, limit=1):
        await service.database.transaction(store_mark_and_work)
