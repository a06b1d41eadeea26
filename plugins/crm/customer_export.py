"""Customers as a table, streamed: what the caller's scope and filters show, a thousand rows at a time."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from plugins.api import Answer, Page, Request, choice, day_of
from plugins.crm.customer_columns import COLUMNS, cells_of
from plugins.crm.records import CUSTOMERS
from plugins.crm.sheets import CSV_MEDIA, XLSX_MEDIA, CsvWriter, Writer, XlsxWriter

_AT_ONCE = 500
_READ = tuple(CUSTOMERS.writable)
_PAGING = ("page", "page_size", "with_total", "cursor")
QUERY = {
    "format": choice("csv", "xlsx", default="csv", nullable=False, example="csv"),
    **{name: field for name, field in CUSTOMERS.list_query.items() if name not in _PAGING},
}
MEDIA = {"csv": CSV_MEDIA, "xlsx": XLSX_MEDIA}


async def export(req: Request) -> Answer:
    """The table; its first page is read before the answer begins, so that a bad query is an error and no broken file."""
    query = dict(req.query)
    form = query.pop("format")
    first = await _page(req, query, None)
    name = f"customers-{day_of(req.now, req.service.settings.zone):%Y%m%d}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Answer(200, b"", headers, MEDIA[form], stream=_table(req, query, form, first))


async def _table(req: Request, query: dict[str, Any], form: str, page: Page) -> AsyncIterator[bytes]:
    with tempfile.TemporaryDirectory(prefix="tradewind-export-") as folder:
        writer: Writer = CsvWriter() if form == "csv" else await asyncio.to_thread(XlsxWriter, Path(folder))
        try:
            if head := await asyncio.to_thread(writer.add, [list(COLUMNS)]):
                yield head
            while True:
                if sent := await asyncio.to_thread(_add, writer, page.items):
                    yield sent
                if page.next_cursor is None:
                    break
                # by cursor, so that each page is a query of its own: none runs for long, and none skips rows
                page = await _page(req, query, page.next_cursor)
            rest = writer.end()
            while chunk := await asyncio.to_thread(next, rest, None):
                yield chunk
        finally:
            writer.close()


def _add(writer: Writer, records: list[dict[str, Any]]) -> bytes:
    return writer.add([cells_of(record) for record in records])


async def _page(req: Request, query: dict[str, Any], cursor: str | None) -> Page:
    asked = {**query, "page": 1, "page_size": _AT_ONCE, "with_total": False, "cursor": cursor}
    return await req.store(CUSTOMERS).page(asked, fields=_READ)
