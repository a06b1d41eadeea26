"""Exports: the rows within the caller's scope and filters are streamed as a table, a page at a time."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, cast

import orjson

from config.database import DatabaseUnavailable
from handlers.confined.pool import Lane, TooCostly, Work
from handlers.data.lists.filters import Page
from handlers.lifecycle import Response
from handlers.request import Request
from handlers.schema.calendar import day_of
from handlers.schema.errors import TOO_LARGE, ApiError
from handlers.schema.messages import Language
from handlers.schema.values import Record
from handlers.tables.cells import CSV_MARK, CSV_MEDIA, XLSX_MEDIA, Cells, as_csv, escape_cell
from handlers.tables.columns import TableColumn
from handlers.tables.conversion import as_number, to_cell, value_at
from handlers.tables.lanes import Lanes
from handlers.tables.lookups import Callings
from handlers.tables.rows import target_of
from handlers.tables.table import Table
from handlers.tables.values import ValueLabels

_PAGE_SIZE = 500
_CHUNK = 64 << 10
_ATTEMPTS = 3
MEDIA = {"csv": CSV_MEDIA, "xlsx": XLSX_MEDIA}


async def export_table(req: Request, table: Table) -> Response:
    """Stream the table. The first page is read before the response begins, so that a bad query fails cleanly."""
    query = dict(req.query)
    form, headers = query.pop("format"), query.pop("headers")
    columns = [table.columns.by_name[name] for name in query.pop("fields", ())] or table.shown
    source = _Source(req, table, columns, query)
    first = await source.read(None)
    req.note_rows(first.total or len(first.items))
    writer = await CellWriter.make(req, table, columns, req.language if headers == "labels" else None)
    return await table_response(req, table.file_name, form, _rows(source, writer, first))


async def table_response(req: Request, name: str, form: str, rows: AsyncIterator[list[Cells]]) -> Response:
    """Return the response that streams rows, some at a time, as a file of this format whose name begins with `name`."""
    if form == "csv":
        return csv_response(req, name, rows)
    stream = await Workbook.begin(req.part(Lanes).writing, req, rows)
    return Response(200, b"", _attachment(req, name, form), MEDIA[form], stream=stream)


def csv_response(req: Request, name: str, rows: AsyncIterator[Sequence[Cells]]) -> Response:
    """Return the response that streams rows, some at a time, as a CSV file whose name begins with `name`."""
    return Response(200, b"", _attachment(req, name, "csv"), CSV_MEDIA, stream=_encode_csv(rows))


def _attachment(req: Request, name: str, form: str) -> dict[str, str]:
    day = day_of(req.now, req.service.settings.zone)
    return {"Content-Disposition": f'attachment; filename="{name}-{day:%Y%m%d}.{form}"'}


async def _rows(source: _Source, writer: CellWriter, page: Page) -> AsyncIterator[list[Cells]]:
    yield [writer.headers]
    while True:
        yield await writer.rows(page.items)
        if page.next_cursor is None:
            return
        # each page is a separate query, by cursor: no query runs for long, and no rows are skipped
        page = await source.read(page.next_cursor)


class _Source:
    """The records of an export, a page at a time."""

    def __init__(self, req: Request, table: Table, columns: Sequence[TableColumn], query: dict[str, Any]) -> None:
        self._req = req
        self._table = table
        self._query = query
        self._fields = sorted({column.name.partition(".")[0] for column in columns} - {"id"}) or ["id"]

    async def read(self, cursor: str | None) -> Page:
        """Read a page; only the first one has the total.

        A later one is retried if a rebuilt index ended the query: a table that has begun cannot report an error.
        """
        for _ in range(_ATTEMPTS - 1 if cursor is not None else 0):
            with suppress(DatabaseUnavailable):
                return await self._read(cursor)
        return await self._read(cursor)

    async def _read(self, cursor: str | None) -> Page:
        # parents before the records below them, so that an import finds them
        order = {"sort": "id"} if self._table.below_itself else {}
        query = {
            **order,
            **self._query,
            "page": 1,
            "page_size": _PAGE_SIZE,
            "with_total": cursor is None,
            "cursor": cursor,
        }
        if self._table.lister is not None:
            return cast(Page, await self._table.lister(replace(self._req, query=query)))
        return await self._req.store(self._table.collection).page(query, fields=self._fields)


class CellWriter:
    """Makes the cells of records. With a `language`, headers and values are labels in it."""

    def __init__(
        self,
        req: Request,
        table: Table,
        columns: Sequence[TableColumn],
        language: Language | None,
        labels: ValueLabels | None,
    ) -> None:
        self.headers: list[str] = [column.header(language) for column in columns]
        self._columns = columns
        self._language = language
        self._labels = labels
        self._lines = table.lines
        self._zone = req.service.settings.zone if language is not None else None
        self._callings: dict[str, Callings] = {}

    @classmethod
    async def make(
        cls, req: Request, table: Table, columns: Sequence[TableColumn], language: Language | None
    ) -> CellWriter:
        """Make a writer for a request."""
        labels = await ValueLabels.load(req.service, table.columns) if language is not None else None
        made = cls(req, table, columns, language, labels)
        if language is None and table.plain_ids:
            return made
        for column in columns:
            target = target_of(req.service, column)
            if target is not None and not column.as_json:
                # the names of records are no secret, even of those that the caller does not see
                made._callings[column.name] = Callings(req.system_store(target), by_name=language is not None)
        return made

    async def rows(self, records: Sequence[Record]) -> list[Cells]:
        """Return the cells of each record, or of each of its lines."""
        if self._lines:
            records = [{**one, self._lines: line} for one in records for line in one[self._lines] or [{}]]
        texts = {}
        for name, callings in self._callings.items():
            found = (value_at(record, name) for record in records)
            texts[name] = await callings.load(
                id for value in found for id in (value if isinstance(value, list) else [value])
            )
        return [[self._cell(column, record, texts.get(column.name)) for column in self._columns] for record in records]

    def _cell(self, column: TableColumn, record: Record, texts: Any) -> Any:
        value = value_at(record, column.name)
        if texts is not None and value is not None:
            value = [texts[id] for id in value] if isinstance(value, list) else texts[value]
        elif self._labels is not None and self._language is not None:
            label = partial(self._labels.text, column, language=self._language)
            value = {label(key): one for key, one in value.items()} if isinstance(value, Mapping) else label(value)
        return to_cell(column, value, self._zone, self._language)


async def _encode_csv(rows: AsyncIterator[Sequence[Cells]]) -> AsyncIterator[bytes]:
    yield CSV_MARK
    async for some in rows:
        yield await asyncio.to_thread(as_csv, some)


class Workbook:
    """Streams a workbook that a worker process writes. `aclose` ends the process, even before it has finished."""

    def __init__(self, work: Work, folder: tempfile.TemporaryDirectory[str], rows: AsyncIterator[list[Cells]]) -> None:
        self._work = work
        self._folder = folder
        self._bytes = self._stream(rows)

    @classmethod
    async def begin(cls, lane: Lane, req: Request | None, rows: AsyncIterator[list[Cells]]) -> Workbook:
        """Start writing. Raises what `Lane.begin` raises."""
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="tradewind-export-")
        try:
            path = str(Path(folder.name) / "table.xlsx")
            work = await lane.begin("handlers.tables.writing:write_workbook", path, request=req)
        except BaseException:
            folder.cleanup()
            raise
        return cls(work, folder, rows)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._bytes

    async def _stream(self, rows: AsyncIterator[list[Cells]]) -> AsyncGenerator[bytes, None]:
        try:
            async for some in rows:
                await self._work.send(await asyncio.to_thread(_as_json, some))
            await self._work.result()
        except TooCostly as error:
            raise ApiError(TOO_LARGE) from error
        self._work.close()  # frees the lane: a slow download does not block other exports
        with (Path(self._folder.name) / "table.xlsx").open("rb") as file:
            while chunk := await asyncio.to_thread(file.read, _CHUNK):
                yield chunk

    async def aclose(self) -> None:
        """End the worker process and remove its files."""
        try:
            await self._bytes.aclose()
        finally:
            self._work.close()
            await asyncio.to_thread(self._folder.cleanup)


def _as_json(rows: list[Cells]) -> bytes:
    return orjson.dumps(
        [[as_number(cell) if isinstance(cell, Decimal) else escape_cell(cell) for cell in row] for row in rows]
    )
