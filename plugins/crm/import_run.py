"""Writes the rows of an import in chunks. Any instance can continue where another one stopped.

A chunk, its counts and its removal from the queue are one transaction, so no row is written twice. A bad row fails
alone, unless the import is `atomic`.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from plugins.api import (
    DUPLICATE,
    NOT_FOUND,
    ApiError,
    Catalogue,
    DatabaseUnavailable,
    Field,
    FieldError,
    Lease,
    Message,
    Request,
    Route,
    Service,
    ValidationFailed,
    utc_now,
)
from plugins.crm.customer_columns import locate_errors, parse_row
from plugins.crm.customers import build_customer, change
from plugins.crm.import_records import IMPORT_ROWS, IMPORTS, MAX_FAULTS
from plugins.crm.ownership import check_enabled_user, may_change_owner, may_edit
from plugins.crm.records import CUSTOMERS
from plugins.rbac.api import Directory, Policy

Record = dict[str, Any]
Rows = Sequence[tuple[int, list[str]]]
IMPORTED_EVENT = "crm.customer.imported"
NOTIFICATION_EVENT, PROGRESS_EVENT = "notification.send", "notification.progress"
_KIND = "import_progress"
DONE = Message(
    "客户导入完成：新增 {created}，更新 {updated}，失败 {failed}",
    "Customers imported: {created} new, {updated} changed, {failed} failed",
)
_LEASE_SECONDS = 60
_MAX_READING = timedelta(hours=6)
_TRIES = 3
_INSERT_SIZE, _YIELD_EVERY = 100, 20
_ID = re.compile(r"^[0-9a-f]{24}$")
log = logging.getLogger("tradewind.crm")


async def resume(service: Service) -> None:
    """Continue imports that no instance works on. Imports whose file was never received completely have failed."""
    lost = {"status": "reading", "created_at": {"$lt": utc_now() - _MAX_READING}}
    while await service.database.store(IMPORTS).update_unversioned(lost, {"$set": {"status": "failed"}}):
        log.warning("import given up: its file was not read to the end")
    for record in await service.database.store(IMPORTS).find({"status": "running"}, limit=100):
        await run(service, record["id"], notify=True)


async def run(service: Service, id: Any, *, notify: bool = False) -> None:
    """Write the remaining rows of an import, unless another instance does. `notify`: notify its creator at the end."""
    lease = Lease(service.database, f"crm.import:{id}", _LEASE_SECONDS)
    if not await lease.acquire():
        return
    try:
        record = await service.database.store(IMPORTS).get(id)
        if record["status"] == "running":
            work = _Import(await _build_request(service, record), record, lease, notify)
            await (work.all_or_none() if record["atomic"] else work.row_by_row())
            await _finish(work.req, id, notify)
    except (DatabaseUnavailable, _TakenOver) as reason:
        # the status stays `running`: `resume` continues
        log.warning("import interrupted", extra={"import_id": str(id), "reason": str(reason)[:300]})
    except Exception:
        log.exception("import failed", extra={"import_id": str(id)})
        await service.database.store(IMPORTS).update_unversioned({"_id": id}, {"$set": {"status": "failed"}})
    finally:
        await lease.release()


async def _build_request(service: Service, record: Record) -> Request:
    """A request of the import's creator, with their current permissions."""
    directory = service.part(Directory)
    user = await directory.user(record["creator_id"])
    if user is None or user["status"] != "enabled":
        raise ApiError(NOT_FOUND)
    actor = await directory.actor(user, "")
    scope = await service.part(Policy).scope_of(actor)
    id = f"import-{record['id']}"
    return Request(service, "POST", "/import", id, {}, "", actor=actor, scope=scope)


async def _finish(req: Request, id: Any, notify: bool) -> None:
    imports = req.system_store(IMPORTS)
    end = {"status": "finished", "finished_at": utc_now()}
    record = await imports.update_unversioned({"_id": id, "status": "running"}, {"$set": end}) or await imports.get(id)
    await req.emit(IMPORTED_EVENT, customer_import=record)
    if notify:
        counts = {name: record[name] for name in ("created", "updated", "failed")}
        await req.emit(
            NOTIFICATION_EVENT,
            user_ids=[record["creator_id"]],
            kind=_KIND,
            title=DONE.filled(**counts),
            link="/crm/customers",
            data={"import_id": str(id)},
            key=f"crm.import:{id}",
        )
        await _send_progress(req, record, over=True)


async def _send_progress(req: Request, record: Record, *, over: bool = False) -> None:
    """Push the progress of an import to the clients of its creator."""
    counts = {name: record[name] for name in ("done", "total", "created", "updated", "unchanged", "failed")}
    data = {"import_id": str(record["id"]), **counts}
    await req.emit(
        PROGRESS_EVENT,
        user_ids=[record["creator_id"]],
        kind=_KIND,
        key=f"crm.import:{record['id']}",
        data=None if over else data,
    )


class _TakenOver(Exception):
    """The lease was lost: another instance works on the import."""


@dataclass
class _Report:
    """Counts and errors of some rows."""

    counts: Counter[str] = field(default_factory=Counter)
    errors: list[Record] = field(default_factory=list)

    def add_errors(self, row: int, found: Sequence[tuple[str, str]]) -> None:
        self.counts["failed"] += 1
        self.errors += [{"row": row, "column": column, "rule": rule} for column, rule in found]

    @property
    def change(self) -> Record:
        """The update operators for the import's record."""
        errors = {"$each": self.errors, "$slice": MAX_FAULTS}
        return {"$inc": dict(self.counts), **({"$push": {"errors": errors}} if self.errors else {})}


class _Import:
    """One import that this instance works on."""

    def __init__(self, req: Request, record: Record, lease: Lease, notify: bool) -> None:
        self.req = req
        self._notify = notify
        self._record = record
        self._lease = lease
        self._create = _find_route(req.service, CUSTOMERS.create)
        self._update = _find_route(req.service, CUSTOMERS.update)
        self._update_permission = self._update.access

    async def row_by_row(self) -> None:
        """Write chunk after chunk; a bad row fails alone."""
        while chunk := await self._next_chunk():
            for attempt in range(_TRIES):
                try:
                    await self.req.transaction(lambda chunk=chunk: self._write_chunk(chunk))  # type: ignore[misc]
                    break
                except ApiError as error:
                    # another request took a code meanwhile: the next attempt sees it
                    if error.kind is not DUPLICATE or attempt == _TRIES - 1:
                        raise
            if self._notify:
                await _send_progress(self.req, await self.req.system_store(IMPORTS).get(self._record["id"]))
            if not await self._lease.renew():
                raise _TakenOver("another instance continues it")

    async def _next_chunk(self) -> Record | None:
        rows = await self.req.system_store(IMPORT_ROWS).find({"import_id": self._record["id"]}, sort="id", limit=1)
        return rows[0] if rows else None

    async def _write_chunk(self, chunk: Record) -> None:
        report = await self._process_rows(chunk["rows"], write=not self._record["dry_run"])
        await self.req.system_store(IMPORT_ROWS).remove({"_id": chunk["id"]})
        await self.req.system_store(IMPORTS).update_unversioned({"_id": self._record["id"]}, report.change)

    async def all_or_none(self) -> None:
        """Check all rows first, and write nothing if one is bad."""
        of_import = {"import_id": self._record["id"]}
        rows = [
            row
            for chunk in await self.req.system_store(IMPORT_ROWS).find(of_import, sort="id")
            for row in chunk["rows"]
        ]
        checked = await self._process_rows(rows, write=False)
        if checked.errors:
            checked.counts = Counter(done=len(rows), failed=checked.counts["failed"])

        async def work() -> None:
            write = not self._record["dry_run"] and not checked.errors
            report = await self._process_rows(rows, write=True) if write else checked
            status = {"$set": {"status": "failed", "finished_at": utc_now()}} if checked.errors else {}
            await self.req.system_store(IMPORTS).update_unversioned(
                {"_id": self._record["id"]}, {**report.change, **status}
            )
            await self.req.system_store(IMPORT_ROWS).remove(of_import)

        await self.req.transaction(work)

    async def _process_rows(self, rows: Rows, *, write: bool) -> _Report:
        req = replace(self.req, now=utc_now())
        report = _Report(Counter(done=len(rows)))
        zone = req.service.settings.zone
        bodies = [(line, parse_row(self._record["headers"], cells, zone)) for line, cells in rows]
        known = await _Known.load(req, [body for _, body in bodies])
        for number, (line, body) in enumerate(bodies):
            if number % _YIELD_EVERY == 0:
                await asyncio.sleep(0)  # yield to other requests
            try:
                outcome = await self._process_row(req, body, known, write)
            except ValidationFailed as failure:
                report.add_errors(line, locate_errors(failure, self._record["headers"]))
            else:
                report.counts[outcome] += 1
        if write:
            await known.insert_new(req)
        return report

    async def _process_row(self, req: Request, body: Record, known: _Known, write: bool) -> str:
        """`created`, `updated` or `unchanged`. Raises `ValidationFailed`."""
        if write and known.is_new(body):
            await known.insert_new(req)  # an earlier row creates the customer that this one changes
        existing = known.find_target(body)
        values = {name: value for name, value in body.items() if name != "id"}
        if existing is None:
            checked = req.checked(self._create.check_body, values) if self._create.check_body else values
            await _check_owner(req, checked, req.actor.user_id)
            known.add_new(build_customer(req, checked))
            return "created"
        checked = req.checked(self._update.check_body, {**values, "version": 1}) if self._update.check_body else values
        changes = {name: value for name, value in checked.items() if name != "version" and value != existing.get(name)}
        if not changes:
            return "unchanged"
        if not await req.part(Policy).holds(req.actor, self._update_permission):
            raise ValidationFailed([FieldError("id" if "id" in body else "code", "permission")])
        known.refuse_taken_code(changes, existing)
        if not may_edit(req, existing):
            raise ValidationFailed([FieldError("name", "invalid")])
        await _check_owner(req, changes, existing["owner_id"])
        if "owner_id" in changes and not await may_change_owner(req, changes["owner_id"]):
            raise ValidationFailed([FieldError("owner_id", "invalid")])
        known.add(await change(req, existing, changes, existing["version"]) if write else {**existing, **changes})
        return "updated"


class _Known:
    """The customers that some rows refer to: those that the caller may see, and the codes of all others."""

    def __init__(self, seen: Sequence[Record], taken: Sequence[Record]) -> None:
        self._new: list[Record] = []
        self._new_codes: set[str] = set()
        self._by_id = {record["id"]: record for record in seen}
        self._by_code = {record["code"]: record["id"] for record in [*taken, *seen] if record["code"] is not None}

    @classmethod
    async def load(cls, req: Request, bodies: Sequence[Mapping[str, Any]]) -> _Known:
        """Load the customers that the rows refer to."""
        codes = [body["code"] for body in bodies if "code" in body]
        ids = [CUSTOMERS.parse_id(body["id"]) for body in bodies if _ID.match(body.get("id", ""))]
        mine, all_of_them = req.store(CUSTOMERS), req.system_store(CUSTOMERS)
        # two queries: for an `$or` the planner does not use the index of codes
        # sorted by the indexed field: otherwise the planner may scan another index
        seen = await mine.find({"_id": {"$in": ids}}, sort="id") if ids else []
        seen += await mine.find({"code": {"$in": codes}}, sort="code") if codes else []
        taken = await all_of_them.find({"code": {"$in": codes}}, sort="code", fields=["code"]) if codes else []
        return cls(seen, taken)

    def find_target(self, body: Mapping[str, Any]) -> Record | None:
        """The customer that a row changes, by `id` or else by `code`; None for a new customer."""
        if "id" in body and not _ID.match(body["id"]):
            raise ValidationFailed([FieldError("id", "pattern")])
        by_id = self._by_id.get(CUSTOMERS.parse_id(body["id"])) if "id" in body else None
        if by_id is not None or body.get("code") not in self._by_code:
            return by_id
        existing = self._by_id.get(self._by_code[body["code"]])
        if existing is None:
            raise _duplicate_code()
        return existing

    def refuse_taken_code(self, changes: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        """Raise if a row gives a customer the code of another one."""
        if self._by_code.get(changes.get("code"), record["id"]) != record["id"]:
            raise _duplicate_code()

    def is_new(self, body: Mapping[str, Any]) -> bool:
        """Whether the row has the code of a customer that is not inserted yet."""
        return body.get("code") in self._new_codes

    def add_new(self, values: Record) -> None:
        """Queue a new customer for `insert_new`."""
        self._new.append(values)
        self._new_codes |= {values["code"]} if values.get("code") is not None else set()

    async def insert_new(self, req: Request) -> None:
        """Insert the queued customers."""
        new, self._new, self._new_codes = self._new, [], set()
        for start in range(0, len(new), _INSERT_SIZE):
            # without data scope, as in `customers.create`: the owner of each row was checked
            for record in await req.system_store(CUSTOMERS).create_many(new[start : start + _INSERT_SIZE]):
                self.add(record)

    def add(self, record: Record) -> None:
        """Note a created or changed customer: later rows may refer to it."""
        self._by_id[record["id"]] = record
        if record["code"] is not None:
            self._by_code[record["code"]] = record["id"]


def _duplicate_code() -> ValidationFailed:
    return ValidationFailed([FieldError("code", "duplicate")])


def _find_route(service: Service, body: Field) -> Route:
    """The route with this body, whose checks also apply to rows."""
    return next(route for route in service.part(Catalogue).routes if route.body is body)


async def _check_owner(req: Request, values: Mapping[str, Any], present: int | None) -> None:
    if values.get("owner_id", present) not in (None, present):
        await check_enabled_user(req, "owner_id", values["owner_id"])
