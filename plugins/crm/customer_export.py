"""Customers as a table, streamed: what the caller's scope and filters show, some hundred rows at a time."""

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
    Answer,
    ApiError,
    DatabaseUnavailable,
    Lane,
    Page,
    Request,
    Route,
    TooCostly,
    Work,
    choice,
    day_of,
    route,
)
from plugins.crm.customer_columns import COLUMNS, cells_of
from plugins.crm.lanes import Lanes
from plugins.crm.records import CUSTOMERS
from plugins.crm.sheets import CSV_MARK, CSV_MEDIA, XLSX_MEDIA, Cells, as_csv, harmless

_AT_ONCE = 500
_CHUNK = 64 << 10
_ATTEMPTS = 3
_READ = tuple(CUSTOMERS.writable)
_PAGING = ("page", "page_size", "with_total", "cursor")
QUERY = {
    "format": choice("csv", "xlsx", default="csv", nullable=False, example="csv"),
    **{name: field for name, field in CUSTOMERS.list_query.items() if name not in _PAGING},
}
MEDIA = {"csv": CSV_MEDIA, "xlsx": XLSX_MEDIA}


async def export(req: Request) -> Answer:
    """The table. Its first page is read before the answer begins, so that a bad query is an error and no broken file."""
    query = dict(req.query)
    form = query.pop("format")
    first = await _page(req, query, None)
    name = f"customers-{day_of(req.now, req.service.settings.zone):%Y%m%d}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    rows = _rows(req, query, first)
    stream = _csv(rows) if form == "csv" else await Workbook.begin(req.part(Lanes).writing, req, rows)
    return Answer(200, b"", headers, MEDIA[form], stream=stream)


async def _rows(req: Request, query: dict[str, Any], page: Page) -> AsyncIterator[list[Cells]]:
    yield [list(COLUMNS)]
    while True:
        yield [cells_of(record) for record in page.items]
        if page.next_cursor is None:
            return
        # by cursor, so that each page is a query of its own: none runs for long, and none skips rows
        page = await _next_page(req, query, page.next_cursor)


async def _csv(rows: AsyncIterator[list[Cells]]) -> AsyncIterator[bytes]:
    yield CSV_MARK
    async for some in rows:
        yield await asyncio.to_thread(as_csv, some)


class Workbook:
    """The bytes of a workbook that a worker process writes. `aclose` ends the process wherever it is."""

    def __init__(self, work: Work, folder: tempfile.TemporaryDirectory[str], rows: AsyncIterator[list[Cells]]) -> None:
        self._work = work
        self._folder = folder
        self._bytes = self._made(rows)

    @classmethod
    async def begin(cls, lane: Lane, req: Request | None, rows: AsyncIterator[list[Cells]]) -> Workbook:
        """Begin to write; refusals as in `Lane.begin`."""
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

    async def _made(self, rows: AsyncIterator[list[Cells]]) -> AsyncGenerator[bytes, None]:
        try:
            async for some in rows:
                await self._work.send(await asyncio.to_thread(_as_json, some))
            await self._work.result()
        except TooCostly as error:
            raise ApiError(TOO_LARGE) from error
        self._work.close()  # a client that is slow to take the file keeps nobody from writing another
        with (Path(self._folder.name) / "table.xlsx").open("rb") as file:
            while chunk := await asyncio.to_thread(file.read, _CHUNK):
                yield chunk

    async def aclose(self) -> None:
        """Leave nothing behind."""
        await self._bytes.aclose()
        self._work.close()
        await asyncio.to_thread(self._folder.cleanup)


def _as_json(rows: list[Cells]) -> bytes:
    return orjson.dumps([[harmless(cell) for cell in row] for row in rows])


async def _next_page(req: Request, query: dict[str, Any], cursor: str) -> Page:
    """As `_page`; a table that has begun cannot say that it failed, so what a rebuilt index ends is asked for again."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(DatabaseUnavailable):
            return await _page(req, query, cursor)
    return await _page(req, query, cursor)


async def _page(req: Request, query: dict[str, Any], cursor: str | None) -> Page:
    asked = {**query, "page": 1, "page_size": _AT_ONCE, "with_total": False, "cursor": cursor}
    return await req.store(CUSTOMERS).page(asked, fields=_READ)


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
