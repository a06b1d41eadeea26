"""Writes the rows of an import through the routes that create and change records, so that their checks and rules apply.

A row with the id, or the code, of a record that the person sees changes that record, if they may change it; any other
row is a new record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection
from handlers.data.store import Store
from handlers.lifecycle import refusal
from handlers.ports import Authorizer
from handlers.request import Request
from handlers.route import Route
from handlers.schema.errors import ApiError, FieldError, ValidationFailed
from handlers.schema.fields import Field
from handlers.schema.values import Record, RecordId
from handlers.service import Service
from handlers.tables.columns import ID, TableColumn
from handlers.tables.conversion import parse_row, row_body, same_as_shown
from handlers.tables.dry_run import DryRun
from handlers.tables.lookups import find_called, key_fields, resolve
from handlers.tables.report import ImportReport, RowFailed, TableRows
from handlers.tables.table import Table
from handlers.tables.values import ValueLabels

YIELD_EVERY = 10
_REHEARSED = "rehearsed"  # not a fault: without the dry run the record would exist


def find_route(catalogue: Catalogue, body: Field) -> Route | None:
    """Return the route with this body, whose checks also apply to rows."""
    return next((route for route in catalogue.routes if route.body is body), None)


class RecordWriter:
    """Writes rows with the handlers of the collection's routes."""

    rows_at_once = checks_at_once = 50

    def __init__(self, service: Service, table: Table, columns: Sequence[TableColumn]) -> None:
        catalogue = service.part(Catalogue)
        self._service = service
        self._table = table
        self._columns = columns
        self._create = find_route(catalogue, table.collection.create)
        self._update = find_route(catalogue, table.collection.update)
        self._labels: ValueLabels | None = None
        # rows of the file may refer to rows above them, by their ids in the installation that the file comes from
        self._written: dict[str, Any] = {}
        self._dry_run = DryRun(unique_code(table.collection), table.collection.indexes)
        self._rehearsed: set[str] = set()  # ids, codes and names of rows of a dry run, whose records do not exist

    async def write(self, req: Request, rows: TableRows, *, dry_run: bool) -> ImportReport:
        """Write these rows, as `RowWriter` describes."""
        report = ImportReport()
        self._dry_run.begin()
        self._labels = self._labels or await ValueLabels.load(self._service, self._table.columns)
        zone = self._service.settings.zone
        values = [parse_row(self._columns, cells, zone) for _, cells in rows]
        references = await TableReferences.load(req, self._columns, values)
        known = await _Known.load(req, self._table.collection, values)
        for place, ((line, _), row) in enumerate(zip(rows, values, strict=True)):
            if place % YIELD_EVERY == 0:
                await asyncio.sleep(0)  # yield to other requests
            try:
                outcome = await self._write_row(req, place, row, references, known, dry_run)
                if dry_run:
                    outcome = await self._rehearse(req, row, known, outcome)
            except ValidationFailed as failure:
                report.add_failure(line, failure, self._columns)
            else:
                report.counts[outcome] += 1
        self._dry_run.end()
        return report

    async def _write_row(
        self, req: Request, place: int, row: Record, references: TableReferences, known: _Known, dry_run: bool
    ) -> str:
        """Write a row, and return `created`, `updated` or `unchanged`.

        Raises `ValidationFailed` before the handler runs, and `RowFailed` if the handler raises an error.
        """
        existing = known.find(row)
        given, faults, pending = await self._resolve(req, row, references)
        route = self._create if existing is None else self._update
        if route is None or route.check_body is None:
            raise ValidationFailed([FieldError(known.key(row), "duplicate")])
        body = row_body({name: value for name, value in given.items() if self._is_written(name)})
        checked = self._check(req, route, body, faults, existing)
        if existing is not None:
            checked = {name: value for name, value in checked.items() if not same_as_shown(value, existing.get(name))}
            if not checked:
                return "unchanged"
            await self._check_permission(req, route, known.key(row))
        if not pending:
            result = await handle(req, route, place, checked, existing)
            self._note(row, known, result if isinstance(result, dict) else {}, dry_run)
        return "created" if existing is None else "updated"

    async def _rehearse(self, req: Request, row: Record, known: _Known, outcome: str) -> str:
        """Note a row of a dry run, and return its outcome after the rows above it. Raises `ValidationFailed`."""
        counted = self._dry_run.outcome(row, outcome)
        if counted != outcome:
            if self._update is None:
                raise ValidationFailed([FieldError(known.key(row), "duplicate")])
            if counted == "updated":
                await self._check_permission(req, self._update, known.key(row))
        if outcome != "unchanged":
            named = (ID, *key_fields(self._table.collection))
            self._rehearsed |= {str(row[name]) for name in named if name in row}
        return counted

    def _note(self, row: Record, known: _Known, result: Record, dry_run: bool) -> None:
        known.add(result)
        if "id" not in result:
            return
        if dry_run:
            self._dry_run.note(result)
        elif ID in row:
            self._written[str(row[ID])] = result["id"]

    def _is_written(self, name: str) -> bool:
        column = self._table.columns.by_name.get(name)
        return column is None or column.writable  # cells beyond the headers are unknown fields

    def _check(
        self, req: Request, route: Route, body: Record, faults: Sequence[FieldError], existing: Record | None
    ) -> Record:
        version = {} if existing is None else {"version": existing["version"]}
        found = list(faults)
        checked: Any = None
        try:
            checked = req.checked(route.check_body, {**body, **version}, existing) if route.check_body else body
        except ValidationFailed as failure:
            columns = {fault.field for fault in faults}
            found += [fault for fault in failure.errors if fault.field not in columns]
        if found:
            raise ValidationFailed(found)
        return {name: value for name, value in checked.items() if not (existing and name == "version")}

    async def _check_permission(self, req: Request, route: Route, key: str) -> None:
        if await refusal(req.actor, route, req.service.parts[Authorizer]) is not None:
            raise ValidationFailed([FieldError(key, "permission")])

    async def _resolve(
        self, req: Request, row: Record, references: TableReferences
    ) -> tuple[Record, list[FieldError], bool]:
        """Return the row with values for labels and ids for references, and the faults of these.

        The last item says whether one of the references is to a record of a dry run.
        """
        given, faults, pending = dict(row), [], False
        for column in self._columns:
            if column.name not in row or column.name == ID or column.as_json:
                continue
            if column.ref is not None and column.writable:
                found, rule = await self._refer(req, column, row[column.name], references)
                if rule == _REHEARSED:
                    pending = True
                elif rule:
                    faults.append(FieldError(column.name, rule))
                given[column.name] = found
                if found is None:
                    given.pop(column.name)
            elif self._labels is not None:
                given[column.name] = self._labels.value(column, row[column.name])
        return given, faults, pending

    async def _refer(
        self, req: Request, column: TableColumn, cell: object, references: TableReferences
    ) -> tuple[object, str | None]:
        if column.ref == self._table.collection.name and isinstance(cell, str):
            if cell in self._written:
                return column.as_id(self._written[cell]), None
            if cell in self._rehearsed:
                return None, _REHEARSED
        return await references.find(req, column, cell)


async def handle(req: Request, route: Route, place: int, checked: Record, existing: Record | None) -> Any:
    """Return what the handler of a route makes of the checked body of a row. Raises `RowFailed`."""
    version = {} if existing is None else {"version": existing["version"]}
    path = {} if existing is None else {"id": str(existing["id"])}
    try:
        return await route.handler(replace(req, route=route, path=path, body={**checked, **version}))
    except ApiError as error:
        raise RowFailed(place, error) from error


# by column, the ids of the records that each text may mean
FoundIds: TypeAlias = dict[str, dict[str, set[RecordId]]]


class TableReferences:
    """The records that the cells of some rows refer to."""

    def __init__(self, found: FoundIds) -> None:
        self._found = found

    @classmethod
    async def load(cls, req: Request, columns: Sequence[TableColumn], rows: Sequence[Record]) -> TableReferences:
        """Look up those that the caller sees, with a few queries for each column."""
        found: FoundIds = {}
        for column in columns:
            target = target_of(req.service, column)
            if target is not None and column.writable:
                texts = {text for row in rows for text in _texts(row.get(column.name))}
                found[column.name] = dict(await resolve(_store_of(req, target), texts))
        return cls(found)

    async def find(self, req: Request, column: TableColumn, cell: object) -> tuple[object, str | None]:
        """Return the id, or ids, for a cell, and the rule that the cell breaks, if any."""
        if column.name not in self._found:
            return cell, None  # the plugin of that collection is not loaded
        ids, rules = [], []
        for text in _texts(cell):
            fitting = self._found[column.name].get(text) or await self._find_again(req, column, text)
            rules += [] if len(fitting) == 1 else ["ambiguous" if fitting else "reference"]
            ids += [column.as_id(id) for id in fitting]
        if rules:
            return None, rules[0]
        return (ids if column.field.kind == "array" else ids[0]), None

    async def _find_again(self, req: Request, column: TableColumn, text: str) -> set[RecordId]:
        """Look up a text once more, because an earlier row may have created the record."""
        target = target_of(req.service, column)
        found = await find_called(_store_of(req, target), [text]) if target is not None else {}
        fitting = found.get(text, set())
        if fitting:
            self._found[column.name][text] = fitting
        return fitting


def target_of(service: Service, column: TableColumn) -> Collection | None:
    """Return the collection that a column refers to, if its plugin is loaded."""
    return service.database.referred.get(column.ref) if column.ref is not None else None


def _store_of(req: Request, target: Collection) -> Store:
    """Return a store of what a caller may refer to: all people and departments, otherwise what they see."""
    return req.system_store(target) if target.alias else req.store(target)


def _texts(cell: object) -> list[str]:
    if isinstance(cell, list):
        return [str(one) for one in cell]
    return [] if cell is None else [str(cell)]


class _Known:
    """The records whose id or code some rows have: those that the caller may see, and the codes of all others."""

    def __init__(self, code: str, seen: Sequence[Record], taken: Sequence[Record]) -> None:
        self._code = code
        self._by_id = {str(record["id"]): record for record in seen}
        self._ids = {record[code]: str(record["id"]) for record in (*taken, *seen)} if code else {}

    @classmethod
    async def load(cls, req: Request, collection: Collection, rows: Sequence[Mapping[str, Any]]) -> _Known:
        """Load the records that `rows` name."""
        code = unique_code(collection)
        mine = req.store(collection)
        ids = []
        for row in rows:
            with suppress(ApiError):  # not an id of this service: another column identifies the record
                ids += [collection.parse_id(row[ID])] if ID in row else []
        seen = await mine.find({"_id": {"$in": ids}}, sort="id") if ids else []
        codes = [row[code] for row in rows if code in row]
        if not codes:
            return cls(code, seen, [])
        having = {code: {"$in": codes}}
        seen += await mine.find(having)
        return cls(code, seen, await req.system_store(collection).find(having, fields=[code]))

    def key(self, row: Record) -> str:
        """Return the column by which a row names a record."""
        return ID if str(row.get(ID)) in self._by_id else self._code

    def find(self, row: Record) -> Record | None:
        """Return the record that a row changes, by `id` or else by code; None for a new one.

        Raises `ValidationFailed` if the code belongs to a record that the caller does not see.
        """
        by_id = self._by_id.get(str(row[ID])) if ID in row else None
        code = row.get(self._code)
        if by_id is not None or code not in self._ids:
            return by_id
        existing = self._by_id.get(self._ids[code])
        if existing is None:
            raise ValidationFailed([FieldError(self._code, "duplicate")])
        return existing

    def add(self, record: Record) -> None:
        """Note a created or changed record: later rows may name it."""
        if "id" not in record or "version" not in record:
            return
        self._by_id[str(record["id"])] = record
        if self._code and record.get(self._code) is not None:
            self._ids[record[self._code]] = str(record["id"])


def unique_code(collection: Collection) -> str:
    """Return the field with a code that only one record has; empty if there is none."""
    code = collection.code_field
    return code if any(index.unique and index.keys == (code,) for index in collection.indexes) else ""
