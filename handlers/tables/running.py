"""Writes the rows of an import a few at a time. Any instance can continue where another one stopped.

Writing some rows, counting them and removing them from the queue is one transaction, so no row is written twice. A bad
row fails alone, unless the import is `atomic`. The transactions of a dry run are rolled back.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from config.database import DatabaseUnavailable
from handlers.data.database import Lease, utc_now
from handlers.data.transitions import try_transition
from handlers.ports import Accounts, Authorizer
from handlers.request import Request
from handlers.schema.errors import DUPLICATE, NOT_FOUND, ApiError
from handlers.schema.values import Record
from handlers.service import Service
from handlers.tables.report import ImportReport, RowFailed, TableRows
from handlers.tables.table import Table

_LEASE_SECONDS = 60
_MAX_READING = timedelta(hours=6)
_TRIES = 3
log = logging.getLogger("tradewind.tables")


async def resume_imports(service: Service, tables: Iterable[Table]) -> None:
    """Continue imports that no instance works on; mark those whose file was not read within six hours as failed."""
    for table in (one.current(service.database) for one in tables):
        imports = service.database.store(table.imports)
        lost = {**table.of_imports, "created_at": {"$lt": utc_now() - _MAX_READING}}
        while await try_transition(imports, lost, "give-up"):
            log.warning("import given up: its file was not read to the end")
        for record in await imports.find({**table.of_imports, "status": "running"}, limit=100):
            await run(service, table, record["id"], notify=True)


async def run(service: Service, table: Table, id: Any, *, notify: bool = False) -> None:
    """Write the remaining rows of an import, unless another instance does so.

    With `notify`, its creator is kept informed of the progress and of the end.
    """
    lease = Lease(service.database, f"import:{id}", _LEASE_SECONDS)
    if not await lease.acquire():
        return
    imports = service.database.store(table.imports)
    try:
        record = await imports.get(id)
        if record["status"] == "running":
            work = _Import(await _build_request(service, record), table, record, lease, notify)
            await (work.all_or_none() if record["atomic"] else work.row_by_row())
            await _finish(work.req, table, id, notify)
    except (DatabaseUnavailable, _Interrupted) as reason:
        # the status stays `running`: `resume_imports` continues
        log.warning("import interrupted", extra={"import_id": str(id), "reason": str(reason)[:300]})
    except Exception:
        log.exception("import failed", extra={"import_id": str(id)})
        await try_transition(imports, {"_id": id}, "fail")
    finally:
        await lease.release()


async def _build_request(service: Service, record: Record) -> Request:
    """Return a request of the import's creator, with their current permissions."""
    actor = await service.part(Accounts).actor_of(record["creator_id"])
    if actor is None:
        raise ApiError(NOT_FOUND)
    scope = await service.part(Authorizer).scope_of(actor)
    return Request(service, "POST", "/import", f"import-{record['id']}", {}, "", actor=actor, scope=scope)


async def _finish(req: Request, table: Table, id: Any, notify: bool) -> None:
    imports = req.system_store(table.imports)
    ended = await try_transition(imports, {"_id": id}, "finish", finished_at=utc_now())
    record = ended or await imports.get(id)
    await table.tell.finished(req, table, record, notify=notify)


class _Interrupted(Exception):
    """The import must continue later, or continues on another instance."""


class _RolledBack(Exception):
    """Ends a transaction whose writes must not stay, and carries its report."""

    def __init__(self, report: ImportReport) -> None:
        super().__init__("rolled back")
        self.report = report


def _interrupt(failure: RowFailed) -> None:
    """Raise `_Interrupted` if the service was at fault: the import continues later."""
    if failure.error.kind.status >= 500:
        raise _Interrupted(str(failure)) from failure


class _Import:
    """One import that this instance works on."""

    def __init__(self, req: Request, table: Table, record: Record, lease: Lease, notify: bool) -> None:
        self.req = req
        self._table = table
        self._record = record
        self._headers: list[str] = record["headers"]
        self._columns = table.columns.match(self._headers)
        self._lease = lease
        self._notify = notify
        self._writer = table.writer(req.service, table, self._columns)

    async def row_by_row(self) -> None:
        """Write the rows in batches; a bad row fails alone."""
        while chunk := await self._next_chunk():
            rows, some = chunk["rows"], self._writer.rows_at_once
            for start in range(0, len(rows), some):
                await self._write(chunk["id"], rows[start : start + some], rows[start + some :])
                await self._go_on()

    async def _go_on(self) -> None:
        """Report the progress, and raise `_Interrupted` if another instance has taken over the import."""
        if self._notify:
            record = await self.req.system_store(self._table.imports).get(self._record["id"])
            await self._table.tell.progress(self.req, self._table, record, over=False)
        if not await self._lease.renew():
            raise _Interrupted("another instance continues it")

    async def _next_chunk(self) -> Record | None:
        of_import = {"import_id": self._record["id"], "faulty": None}
        rows = await self.req.system_store(self._table.rows).find(of_import, sort="id", limit=1)
        return rows[0] if rows else None

    async def _write(self, chunk: Any, rows: TableRows, following: TableRows) -> None:
        """Write some rows of a chunk. If one fails, those before it are written again without it."""
        while rows:
            try:
                await self._attempt(rows, partial(self._note, chunk=chunk, rows=rows, following=following))
                return
            except RowFailed as failure:
                place = failure.place
                before, bad, rest = rows[:place], rows[place], rows[place + 1 :]
                if before:
                    await self._write(chunk, before, [bad, *rest, *following])
                failed = self._failed(bad[0], failure.error)
                await self.req.transaction(partial(self._note, failed, chunk, [bad], [*rest, *following]))
                rows = rest

    async def _attempt(self, rows: TableRows, note: Callable[[ImportReport], Awaitable[None]]) -> None:
        """Write rows, and note their outcome, in one transaction."""
        for attempt in range(_TRIES):
            try:
                report = await self._run(rows, note, dry_run=self._record["dry_run"])
                if self._record["dry_run"]:
                    await self.req.transaction(partial(note, report))
                return
            except ApiError as error:
                # another request took a code meanwhile: the next attempt sees it
                if error.kind is not DUPLICATE or attempt == _TRIES - 1:
                    raise

    async def _run(
        self, rows: TableRows, note: Callable[[ImportReport], Awaitable[None]] | None = None, *, dry_run: bool
    ) -> ImportReport:
        req = replace(self.req, now=utc_now())

        async def work() -> ImportReport:
            report = await self._writer.write(req, rows, dry_run=dry_run)
            report.counts["done"] += len(rows)
            if dry_run:
                raise _RolledBack(report)
            if note is not None:
                await note(report)
            return report

        try:
            return await self.req.transaction(work)
        except _RolledBack as undone:
            return undone.report
        except RowFailed as failure:
            _interrupt(failure)
            raise

    def _report_of(self, rows: TableRows, failure: RowFailed) -> ImportReport:
        """Return the report of the one row that failed. Raises `_Interrupted` if the service was at fault."""
        _interrupt(failure)
        return self._failed(rows[failure.place][0], failure.error)

    def _failed(self, row: int, error: ApiError) -> ImportReport:
        report = ImportReport(Counter(done=1))
        report.add_failure(row, error, self._columns)
        return report

    async def _note(self, report: ImportReport, chunk: Any, rows: TableRows, following: TableRows) -> None:
        """Count the outcome of rows of a chunk, which then has those `following`, and keep the faulty ones."""
        queue = self.req.system_store(self._table.rows)
        if faulty := report.find_faulty(rows):
            of_import = {"import_id": self._record["id"], "at": self.req.now}
            await queue.create({**of_import, "faulty": True, "rows": faulty})
        if following:
            await queue.update_unversioned({"_id": chunk}, {"$set": {"rows": list(following)}})
        else:
            await queue.remove({"_id": chunk})
        await self._count(report)

    async def _count(self, report: ImportReport) -> None:
        change = report.change(self._columns, self._headers)
        await self.req.system_store(self._table.imports).update_unversioned({"_id": self._record["id"]}, change)

    async def all_or_none(self) -> None:
        """Check all rows first, and write nothing if one is bad."""
        queue, of_import = self.req.system_store(self._table.rows), {"import_id": self._record["id"]}
        rows = [row for chunk in await queue.find(of_import, sort="id") for row in chunk["rows"]]
        checked = await self._check(rows)
        if checked.errors:
            checked.counts = Counter(done=len(rows), failed=checked.counts["failed"])

        async def work() -> None:
            report = checked
            if not self._record["dry_run"] and not checked.errors:
                report = await self._writer.write(replace(self.req, now=utc_now()), rows, dry_run=False)
                if report.errors:
                    raise _RolledBack(report)
                report.counts["done"] += len(rows)
            await self._count(report)
            if report.errors:
                imports = self.req.system_store(self._table.imports)
                await try_transition(imports, {"_id": self._record["id"]}, "fail", finished_at=utc_now())
            await queue.remove(of_import)

        try:
            await self.req.transaction(work)
        except (_RolledBack, RowFailed) as failure:  # something changed since the check
            checked = failure.report if isinstance(failure, _RolledBack) else self._report_of(rows, failure)
            checked.counts = Counter(done=len(rows), failed=checked.counts["failed"])
            await self.req.transaction(work)

    async def _check(self, rows: TableRows) -> ImportReport:
        """Return the outcome that writing the rows would have; nothing is written."""
        total, some = ImportReport(), self._writer.checks_at_once
        waiting = [rows[start : start + some] for start in range(0, len(rows), some)]
        while waiting:
            following = waiting.pop(0)
            try:
                total.add(await self._run(following, dry_run=True))
            except RowFailed as failure:
                place = failure.place
                failed = self._failed(following[place][0], failure.error)
                total.add(failed)
                waiting[:0] = [part for part in (following[:place], following[place + 1 :]) if part]
            if not await self._lease.renew():
                raise _Interrupted("another instance continues it")
        return total
