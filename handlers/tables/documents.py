"""Writes documents with lines from tables with a row for each line, through the route that creates one.

Rows that follow one another and have the same text in the column `Columns.document`, or none, are a document. That text
is a number of a document only where clients give them numbers: the indexes of the collection then say which is taken.
Elsewhere one that a document has already is refused, so that a table which was exported is not written again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from handlers.request import Request
from handlers.schema.errors import FieldError, ValidationFailed
from handlers.schema.messages import Message
from handlers.schema.values import Record
from handlers.service import Service
from handlers.tables.columns import TableColumn
from handlers.tables.conversion import locate_errors, parse_row, row_body
from handlers.tables.report import FaultsOfRows, ImportReport, RowFailed
from handlers.tables.rows import YIELD_EVERY, RecordWriter, TableReferences, handle
from handlers.tables.table import Table
from handlers.tables.values import ValueLabels

_LIKE_A_LINE = Message(
    "表中没有“{column}”列，每行各为一张单据；本行与上一行除明细外相同",
    'The table has no column "{column}", so each row is a document of its own; this one says the same as the row before, '
    "but for its line",
)
_IN_LINE = re.compile(r"\[(\d+)\]\.?([^.\[]*)")
Rows = Sequence[tuple[int, Record]]  # of a document: numbers and values


class DocumentWriter(RecordWriter):
    """Writes the documents of an import; its rows are documents, each with its rows."""

    rows_at_once = checks_at_once = 10

    def __init__(self, service: Service, table: Table, columns: Sequence[TableColumn]) -> None:
        super().__init__(service, table, columns)
        self._lines, self._key = table.lines, table.columns.document
        body = self._create.body if self._create is not None else None
        self._numbered = body is not None and self._key in (body.fields or {})
        self._first_rows: dict[str, int] = {}  # of the documents so far, by what names them
        self._before: Record | None = None  # what the document before says besides its lines

    async def write(self, req: Request, rows: Sequence[tuple[int, Any]], *, dry_run: bool) -> ImportReport:
        """Write these documents, as `RowWriter` describes."""
        report, zone = ImportReport(), self._service.settings.zone
        self._dry_run.begin()
        self._labels = self._labels or await ValueLabels.load(self._service, self._table.columns)
        documents = [[(number, parse_row(self._columns, cells, zone)) for number, cells in of] for _, of in rows]
        every = [row for document in documents for _, row in document]
        references = await TableReferences.load(req, self._columns, every)
        keys = [] if self._numbered else [row[self._key] for row in every if self._key in row]
        taken = await self._find_taken(req, keys)
        for place, document in enumerate(documents):
            if place % YIELD_EVERY == 0:
                await asyncio.sleep(0)  # yield to other requests
            try:
                made = await self._write_document(req, place, document, references, taken)
                if dry_run:
                    self._dry_run.note(made)
            except ValidationFailed as failure:
                report.add_failure(document[0][0], failure, self._columns)
            else:
                report.counts["created"] += 1
            self._warn(report, *document[0])
        self._dry_run.end()
        return report

    def _warn(self, report: ImportReport, number: int, row: Record) -> None:
        """Warn of a document that may have been meant as a line of the one before, where no column joins rows."""
        if any(column.name == self._key for column in self._columns):
            return
        whole = {name: value for name, value in row.items() if name.partition(".")[0] != self._lines}
        if whole and whole == self._before:
            (key,) = [column for column in self._table.columns.all if column.name == self._key]
            named = {"zh": key.label.zh, "en": key.label.en}
            words = Message(*(_LIKE_A_LINE.text(one, column=named[one]) for one in ("zh", "en")))
            report.add_warning(number, "", "possible_line", words)
        self._before = whole

    async def _find_taken(self, req: Request, keys: Sequence[str]) -> set[str]:
        found = await req.system_store(self._table.collection).find(
            {self._key: {"$in": list(keys)}}, fields=[self._key]
        )
        return {record[self._key] for record in found}

    async def _write_document(
        self, req: Request, place: int, rows: Rows, references: TableReferences, taken: set[str]
    ) -> Record:
        """Create a document, and return it.

        Raises `FaultsOfRows` before the handler runs, and `RowFailed` if that raises an error.
        """
        body, faults = await self._join(req, rows, references)
        (first, row), route = rows[0], self._create
        key = str(row.get(self._key, ""))
        repeated = key and not self._numbered and self._first_rows.setdefault(key, first) != first
        if key in taken or repeated:
            faults.append((first, self._key, "duplicate"))
        checked: Record = {}
        try:
            if route is not None:
                checked = self._check(req, route, body, [], None)
        except ValidationFailed as failure:
            known = {fault[:2] for fault in faults}
            faults += [fault for fault in self._locate(failure, rows) if fault[:2] not in known]
        if faults or route is None:
            raise FaultsOfRows(faults)
        try:
            made: Record = await handle(req, route, place, checked, None)
        except RowFailed as failed:
            if isinstance(failed.error, ValidationFailed):
                raise RowFailed(place, FaultsOfRows(self._locate(failed.error, rows))) from failed
            raise
        return made

    async def _join(
        self, req: Request, rows: Rows, references: TableReferences
    ) -> tuple[Record, list[tuple[int, str, str]]]:
        """Return the body of a document, and the faults of its cells.

        A row below the first one may repeat what is no part of a line, but not say anything else.
        """
        whole, lines, faults = dict[str, Any](), list[Record](), list[tuple[int, str, str]]()
        for number, row in rows:
            given, wrong, _ = await self._resolve(req, row, references)
            faults += [(number, fault.field, fault.rule) for fault in wrong]
            lines.append({})
            for name, value in given.items():
                of, _, part = name.partition(".")
                if of == self._lines and self._is_written(name):
                    lines[-1][part] = value
                elif name != self._key and self._is_written(name) and whole.setdefault(name, value) != value:
                    faults.append((number, name, "invalid"))
        key = rows[0][1].get(self._key)
        own = {self._key: key} if self._numbered and key is not None else {}
        # a document that may be without lines is, where no cell says anything of one
        written = any(lines) or self._table.collection.fields[self._lines].required
        return {**row_body(whole), **own, **({self._lines: lines} if written else {})}, faults

    def _locate(self, failure: ValidationFailed, rows: Rows) -> list[tuple[int, str, str]]:
        """Return row, column and rule of each fault of a body."""
        found = []
        for fault in failure.errors:
            of, within = fault.field.partition("[")[0], _IN_LINE.search(fault.field)
            if of == self._lines and within is not None and int(within[1]) < len(rows):
                number, name = rows[int(within[1])][0], f"{of}.{within[2]}"
            else:
                number = rows[0][0]
                ((name, _),) = locate_errors(ValidationFailed([FieldError(fault.field, fault.rule)]), self._columns)
            found.append((number, name, fault.rule))
        return found
