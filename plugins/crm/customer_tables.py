"""Tables of customers. Rows are written in batches, because a company may import all of its customers at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from plugins.api import Event, Field, Record, Request, Route, Service, tables
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.records import Catalogue
from plugins.api.spreadsheets import (
    DryRun,
    ImportLimits,
    ImportNotices,
    ImportReport,
    RecordWriter,
    RowWriter,
    Table,
    TableColumn,
    TableReferences,
    TableRows,
    ValueLabels,
    import_rows_of,
    imported_tables,
    imports_of,
    parse_row,
    resume_imports,
    row_body,
)
from plugins.api.values import ReadOnlyRecord, Values
from plugins.crm.customers import build_customer, change
from plugins.crm.duplicates import SameRows, find_known
from plugins.crm.options import CrmSettings
from plugins.crm.ownership import check_enabled_user, may_change_owner, may_edit
from plugins.crm.record_types import Customer
from plugins.crm.records import CUSTOMERS
from plugins.rbac.api import Policy

IMPORTS = imports_of("crm_imports", "CustomerImport", noun=("客户导入", "customer import"))
IMPORT_ROWS = import_rows_of("crm_import_rows", "CustomerImportRows", noun=("待导入客户", "customers to import"))


IMPORTED_EVENT = Event("crm.customer.imported", customer_import=dict)
_INSERT_SIZE, _YIELD_EVERY = 100, 20
_ID = re.compile(r"^[0-9a-f]{24}$")


class CustomerWriter:
    """Writes rows of customers. New customers are inserted in batches."""

    rows_at_once, checks_at_once = 200, 5000

    def __init__(self, service: Service, table: Table, columns: Sequence[TableColumn]) -> None:
        self._service = service
        self._table = table
        self._columns = columns
        self._create = _find_route(service, table.collection.create)
        self._update = _find_route(service, table.collection.update)
        self._update_permission = self._update.access
        self._dry_run = DryRun("code")
        self._same = SameRows()

    async def write(self, req: Request, rows: TableRows, *, dry_run: bool) -> ImportReport:
        """Write these rows, or only check them if `dry_run` is set."""
        report = ImportReport()
        self._dry_run.begin()
        bodies = await self._parse(req, rows)
        known = await _Known.load(req, [body for _, body, _ in bodies])
        alike = await find_known(req, [body for _, body, _ in bodies])
        for number, (line, body, faults) in enumerate(bodies):
            if number % _YIELD_EVERY == 0:
                await asyncio.sleep(0)  # yield to other requests
            try:
                if faults:
                    raise ValidationFailed(faults)
                outcome = await self._process_row(req, body, known, not dry_run)
                if dry_run:
                    outcome = await self._rehearse(req, body, outcome)
            except ValidationFailed as failure:
                report.add_failure(line, failure, self._columns)
            else:
                report.counts[outcome] += 1
                if outcome == "created":
                    for name, message in self._same.note(line, body, alike):
                        report.add_warning(line, name, "possible_duplicate", message)
        if not dry_run:
            await known.insert_new(req)
        self._dry_run.end()
        return report

    async def _rehearse(self, req: Request, body: Record, outcome: str) -> str:
        """Note a row of a dry run, and return its outcome after the rows above it. Raises `ValidationFailed`."""
        outcome = self._dry_run.outcome(body, outcome)
        if outcome == "updated":
            await self._check_permission(req, body)
        return outcome

    async def _check_permission(self, req: Request, body: Record) -> None:
        if not await req.part(Policy).holds(req.actor, self._update_permission):
            raise ValidationFailed([FieldError("id" if "id" in body else "code", "permission")])

    async def _parse(self, req: Request, rows: TableRows) -> list[tuple[int, Record, list[FieldError]]]:
        """Return the number of each row, its body, and its references to records that there are not."""
        zone = req.service.settings.zone
        labels = await ValueLabels.load(self._service, self._table.columns)
        values = [parse_row(self._columns, cells, zone) for _, cells in rows]
        people = await TableReferences.load(req, self._columns, values)
        faults: list[list[FieldError]] = [[] for _ in values]
        for row, of_row in zip(values, faults, strict=True):
            for column in self._columns:
                if column.name not in row:
                    continue
                if column.ref is not None:
                    found, rule = await people.find(req, column, row[column.name])
                    if not rule:
                        row[column.name] = found
                    elif column.field.kind != "integer":  # a text is no number, which validation rejects
                        of_row.append(FieldError(column.name, rule))
                else:
                    row[column.name] = labels.value(column, row[column.name])
        numbers = (line for line, _ in rows)
        return [(*one,) for one in zip(numbers, map(row_body, values), faults, strict=True)]

    async def _process_row(self, req: Request, body: Record, known: _Known, write: bool) -> str:
        """Process a row and return `created`, `updated` or `unchanged`. Raises `ValidationFailed` if it is invalid."""
        if write and known.is_new(body):
            await known.insert_new(req)  # an earlier row creates the customer that this one changes
        existing = known.find_target(body)
        values = {name: value for name, value in body.items() if name != "id"}
        if existing is None:
            checked = req.checked(self._create.check_body, values) if self._create.check_body else values
            await _check_owner(req, checked, req.actor.user_id)
            known.add_new(build_customer(req, checked))
            return "created"
        change_body = {**values, "version": 1}
        checked = req.checked(self._update.check_body, change_body, existing) if self._update.check_body else values
        changes = {name: value for name, value in checked.items() if name != "version" and value != existing.get(name)}
        if not changes:
            return "unchanged"
        await self._check_permission(req, body)
        known.refuse_taken_code(changes, existing)
        if not may_edit(req, existing):
            raise ValidationFailed([FieldError("name", "invalid")])
        await _check_owner(req, changes, existing["owner_id"])
        if "owner_id" in changes and not await may_change_owner(req, changes["owner_id"]):
            raise ValidationFailed([FieldError("owner_id", "invalid")])
        known.add(
            await change(req, existing, changes, existing["version"])
            if write
            else cast(Customer, {**existing, **changes})
        )
        return "updated"


class _Known:
    """The customers that some rows refer to: the ones that the caller may see, and the codes of the others."""

    def __init__(self, seen: Sequence[Customer], taken: Sequence[Customer]) -> None:
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
        # two queries, because for an `$or` the planner does not use the index of codes
        # sorted by the indexed field: otherwise the planner may scan another index
        seen = await mine.find({"_id": {"$in": ids}}, sort="id") if ids else []
        seen += await mine.find({"code": {"$in": codes}}, sort="code") if codes else []
        taken = await all_of_them.find({"code": {"$in": codes}}, sort="code", fields=["code"]) if codes else []
        return cls(seen, taken)

    def find_target(self, body: ReadOnlyRecord) -> Customer | None:
        """Return the customer that a row changes, found by `id` or else by `code`, or None for a new customer.

        Raises `ValidationFailed` for a malformed id and for the code of a customer that the caller may not see.
        """
        if "id" in body and not _ID.match(body["id"]):
            raise ValidationFailed([FieldError("id", "pattern")])
        by_id = self._by_id.get(CUSTOMERS.parse_id(body["id"])) if "id" in body else None
        if by_id is not None or body.get("code") not in self._by_code:
            return by_id
        existing = self._by_id.get(self._by_code[body["code"]])
        if existing is None:
            raise _duplicate_code()
        return existing

    def refuse_taken_code(self, changes: Values, record: Customer) -> None:
        """Raise `ValidationFailed` if a row gives a customer the code of another one."""
        if self._by_code.get(changes.get("code", ""), record["id"]) != record["id"]:
            raise _duplicate_code()

    def is_new(self, body: Mapping[str, Any]) -> bool:
        """Return whether the row has the code of a queued customer that is not inserted yet."""
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

    def add(self, record: Customer) -> None:
        """Remember a created or changed customer, because later rows may refer to it."""
        self._by_id[record["id"]] = record
        if record["code"] is not None:
            self._by_code[record["code"]] = record["id"]


def _duplicate_code() -> ValidationFailed:
    return ValidationFailed([FieldError("code", "duplicate")])


def _find_route(service: Service, body: Field) -> Route:
    """Return the route with this body, whose checks also apply to rows."""
    return next(route for route in service.part(Catalogue).routes if route.body is body)


async def _check_owner(req: Request, values: Mapping[str, Any], present: int | None) -> None:
    if values.get("owner_id", present) not in (None, present):
        await check_enabled_user(req, "owner_id", values["owner_id"])


class CustomerNotices(ImportNotices):
    """The notices of an import, with an event for other plugins."""

    async def finished(self, req: Request, table: Table, record: Record, *, notify: bool) -> None:
        """Emit `crm.customer.imported` as well."""
        await req.emit(IMPORTED_EVENT, customer_import=record)
        await super().finished(req, table, record, notify=notify)


def _writer(service: Service, table: Table, columns: Sequence[TableColumn]) -> RowWriter:
    """Return what writes rows of customers; where an own field refers to other customers, rows refer to rows above."""
    writer = RecordWriter if table.below_itself else CustomerWriter
    return writer(service, table, columns)


def _limits(service: Service) -> ImportLimits:
    settings = service.settings_of(CrmSettings)
    return ImportLimits(settings.crm_import_bytes, settings.crm_import_waits_rows)


async def resume(service: Service) -> None:
    """Continue the imports of customers that no instance is working on."""
    await resume_imports(service, imported_tables(ROUTES))


ROUTES: tuple[Route, ...] = (
    *tables(
        CUSTOMERS,
        at="/api/v1/crm/customers",
        resource="crm:customer",
        imports=IMPORTS,
        rows=IMPORT_ROWS,
        writer=_writer,
        tell=CustomerNotices(),
        limits=_limits,
        strict=True,
        plain_ids=True,
    ),
)
