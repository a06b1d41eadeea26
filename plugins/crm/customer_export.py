"""Export of customers as a table. Rows within the caller's scope and filters are streamed, a page at a time."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from plugins.api import (
    TOO_LARGE,
    ApiError,
    DatabaseUnavailable,
    Lane,
    Page,
    Request,
    Response,
    Route,
    TooCostly,
    Work,
    choice,
    day_of,
    route,
)
from plugins.crm.customer_columns import COLUMNS, to_cells
from plugins.crm.lanes import Lanes
from plugins.crm.records import CUSTOMERS
from plugins.crm.sheets import CSV_MARK, CSV_MEDIA, XLSX_MEDIA, Cells, as_csv, escape_cell

_PAGE_SIZE = 500
_CHUNK = 64 << 10
_ATTEMPTS = 3
_EXPORTED_FIELDS = tuple(CUSTOMERS.writable)
_PAGING = ("page", "page_size", "with_total", "cursor")
QUERY = {
    "format": choice("csv", "xlsx", default="csv", nullable=False, example="csv"),
    **{name: field for name, field in CUSTOMERS.list_query.items() if name not in _PAGING},
}
MEDIA = {"csv": CSV_MEDIA, "xlsx": XLSX_MEDIA}


async def export(req: Request) -> Response:
    """Stream the table. The first page is read before the response begins, so that a bad query fails cleanly."""
    query = dict(req.query)
    form = query.pop("format")
    first = await _read_page(req, query, None)
    name = f"customers-{day_of(req.now, req.service.settings.zone):%Y%m%d}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    rows = _read_rows(req, query, first)
    stream = _encode_csv(rows) if form == "csv" else await Workbook.begin(req.part(Lanes).writing, req, rows)
    return Response(200, b"", headers, MEDIA[form], stream=stream)


async def _read_rows(req: Request, query: dict[str, Any], page: Page) -> AsyncIterator[list[Cells]]:
    yield [list(COLUMNS)]
    while True:
        yield [to_cells(record) for record in page.items]
        if page.next_cursor is None:
            return
        # by cursor, each page is a query of its own: no query runs for long, and no rows are skipped
        page = await _read_next_page(req, query, page.next_cursor)


async def _encode_csv(rows: AsyncIterator[list[Cells]]) -> AsyncIterator[bytes]:
    yield CSV_MARK
    async for some in rows:
        yield await asyncio.to_thread(as_csv, some)


class Workbook:
    """Streams a workbook that a worker process writes. `aclose` ends the process, however far it is."""

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
            work = await lane.begin("plugins.crm.table_writing:write_workbook", path, request=req)
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
        await self._bytes.aclose()
        self._work.close()
        await asyncio.to_thread(self._folder.cleanup)


def _as_json(rows: list[Cells]) -> bytes:
    return orjson.dumps([[escape_cell(cell) for cell in row] for row in rows])


async def _read_next_page(req: Request, query: dict[str, Any], cursor: str) -> Page:
    """Read a page, and retry it if a rebuilt index ended the query: a table that has begun cannot report an error."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(DatabaseUnavailable):
            return await _read_page(req, query, cursor)
    return await _read_page(req, query, cursor)


async def _read_page(req: Request, query: dict[str, Any], cursor: str | None) -> Page:
    page_query = {**query, "page": 1, "page_size": _PAGE_SIZE, "with_total": False, "cursor": cursor}
    return await req.store(CUSTOMERS).page(page_query, fields=_EXPORTED_FIELDS)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/crm/customers/export",
        export,
        summary="Export customers as a table",
        access="crm:customer:export",
        query=QUERY,
        bare=", ".join(MEDIA.values()),
    ),
)
