"""Imports: a file is received, its rows are queued in the database, and running.py writes them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from handlers.confined.pool import TooCostly, WorkFailed
from handlers.data.collection import new_id
from handlers.data.lists.filters import Page
from handlers.data.transitions import try_transition
from handlers.http.multipart import Form, FormFile
from handlers.idempotency import respond_once
from handlers.lifecycle import Response
from handlers.operations.jobs import Jobs
from handlers.request import Request
from handlers.schema.errors import MEDIA_TYPE, NOT_FOUND, TOO_LARGE, ApiError, invalid
from handlers.schema.messages import Message
from handlers.schema.values import Record
from handlers.tables.archives import MAX_ROWS, NoWorkbook, TooLargeUnpacked, check_archive, is_archive
from handlers.tables.cells import Cells
from handlers.tables.columns import ID
from handlers.tables.exporting import table_response
from handlers.tables.lanes import Lanes
from handlers.tables.report import in_language
from handlers.tables.running import run
from handlers.tables.table import Table

TOO_MANY_ROWS = Message("文件超过 {rows} 行", "The file has more than {rows} rows")
TABLE_TOO_LARGE = Message("表格过大，请拆分为多个文件", "The table is too large: split it into several files")
UNREADABLE = Message(
    "文件无法读取：须为 CSV（UTF-8 或 GB 18030 编码）或 XLSX",
    "The file cannot be read: it must be CSV (in UTF-8 or GB 18030) or XLSX",
)
Row = tuple[int, list[str]]
MAX_ATOMIC, MAX_ATOMIC_BYTES = 5000, 32 << 20


@dataclass(frozen=True)
class _Upload:
    """The values of a form. The content of its file is in `path`."""

    path: Path
    file_name: str
    digest: str
    flags: dict[str, bool]
    names_only: bool


@dataclass(frozen=True)
class _Lines:
    """The rows that were read from a file. The first line of `path` has the headers; `total` is the number of rows."""

    path: Path
    total: int


async def start_import(req: Request, table: Table) -> Record:
    """Start an import. A small one is finished when this returns; a large one continues in the background."""
    with tempfile.TemporaryDirectory(prefix="tradewind-import-") as folder:
        form = Form(req, table.limits(req.service).bytes)
        upload = await _receive(form, Path(folder) / "table")
        return await _begin(req, table, upload, await _read(req, table, upload))


async def list_imports(req: Request, table: Table) -> Page:
    """Return a page of the imports that the caller may see, with their counts but without the errors of rows."""
    fields = tuple(table.summary.fields or ())
    return await req.store(table.imports).page(req.query, table.of_imports, fields=fields)


async def read_import(req: Request, table: Table) -> Record:
    """Return one import with its progress, and its errors in the caller's language. Raises 40400."""
    record = await _find_import(req, table)
    told = ("errors", "warnings")
    return {**record, **{name: [in_language(one, req.language) for one in record[name] or ()] for name in told}}


async def _find_import(req: Request, table: Table) -> Record:
    id = table.imports.parse_id(req.path["id"])
    record = await req.store(table.imports).find_one({"_id": id, **table.of_imports})
    if record is None:
        raise ApiError(NOT_FOUND)
    return record


async def export_faulty(req: Request, table: Table) -> Response:
    """Return a table of the rows of an import that have errors, as they were read. Raises 40400 if none are kept."""
    record = await _find_import(req, table)
    store, of_import = req.system_store(table.rows), {"import_id": record["id"], "faulty": True}
    first = await store.find(of_import, sort="id", limit=1)
    if not first:
        raise ApiError(NOT_FOUND)
    req.note_rows(record["failed"])

    async def rows() -> AsyncIterator[list[Cells]]:
        yield [record["headers"]]
        found = first
        while found:
            yield [cells for _, cells in found[0]["rows"]]
            found = await store.find({**of_import, "_id": {"$gt": found[0]["id"]}}, sort="id", limit=1)

    return await table_response(req, f"{table.file_name}-faulty", req.query["format"], rows())


async def _read(req: Request, table: Table, upload: _Upload) -> _Lines:
    """Read a table in a worker process. Raises 41500 for a file of another kind, 41300 for one that is too large."""
    path, target = upload.path, upload.path.with_suffix(".lines")
    widths = table.columns.widths(names_only=upload.names_only)
    keys = [*table.columns.of_document] if table.lines else None
    try:
        if await asyncio.to_thread(is_archive, path):
            await asyncio.to_thread(check_archive, path)
        function = "handlers.tables.reading:read_table"
        total = await req.part(Lanes).reading.run(function, b"", str(path), str(target), widths, keys, request=req)
    except NoWorkbook as error:
        raise ApiError(MEDIA_TYPE, UNREADABLE) from error
    except (TooLargeUnpacked, TooCostly) as error:
        raise ApiError(TOO_LARGE, TABLE_TOO_LARGE) from error
    except WorkFailed as failure:
        raise _errors_by_name().get(failure.kind, failure) from failure
    return _Lines(target, int(total))


def _errors_by_name() -> dict[str, Exception]:
    """Return the errors to raise, by the name of the exception in the worker process."""
    return {
        "Unreadable": ApiError(MEDIA_TYPE, UNREADABLE),
        "TooManyRows": ApiError(TOO_LARGE, TOO_MANY_ROWS.filled(rows=MAX_ROWS)),
        "DocumentTooLarge": ApiError(TOO_LARGE, TABLE_TOO_LARGE),
        "OSError": ApiError(TOO_LARGE, TABLE_TOO_LARGE),  # the worker process reached its limit of file size
    }


async def _begin(req: Request, table: Table, upload: _Upload, read: _Lines) -> Record:
    lines = _read_lines(read.path)
    headers: list[str] = await asyncio.to_thread(next, lines)
    if not headers:
        raise invalid("file", "required")
    columns = table.columns.match(headers, names_only=upload.names_only)
    if upload.flags["atomic"] and (read.total > MAX_ATOMIC or read.path.stat().st_size > MAX_ATOMIC_BYTES):
        raise invalid("atomic", "maxItems")
    values = {"file_name": upload.file_name[:255], "headers": headers, **upload.flags, **table.of_imports}
    if "ignored" in table.imports.fields:
        read_only = (one.name != ID and not one.writable for one in columns)
        values["ignored"] = [header for header, ignored in zip(headers, read_only, strict=True) if ignored]
    new = new_id()

    async def once() -> bytes:
        await req.system_store(table.imports).create(values, id=new)
        return str(new).encode()

    # stands in for the body when idempotency keys are compared, and in the operation log
    summary = {"file_name": upload.file_name, "sha256": upload.digest, **upload.flags}
    req.raw_body = json.dumps(summary, ensure_ascii=False).encode()
    id = (await respond_once(req, once) if "Idempotency-Key" in req.headers else await once()).decode()
    req.path = {"id": id}
    req.note_rows(read.total)
    if id == str(new):
        await _queue_and_run(req, table, new, lines, read.total)
    return await read_import(req, table)


def _read_lines(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        yield from map(orjson.loads, file)


async def _queue_and_run(req: Request, table: Table, id: Any, lines: Iterator[list[Row]], total: int) -> None:
    imports = req.system_store(table.imports)
    try:
        await _keep_rows(req, table, id, lines)
    except BaseException:
        await try_transition(imports, {"_id": id}, "fail")
        raise
    await try_transition(imports, {"_id": id}, "run", total=total)
    if total <= table.limits(req.service).waits_rows:
        await run(req.service, table, id)
    else:
        req.part(Jobs).spawn(f"import:{id}", run(req.service, table, id, notify=True))


async def _keep_rows(req: Request, table: Table, id: Any, lines: Iterator[list[Row]]) -> None:
    store = req.system_store(table.rows)
    while (rows := await asyncio.to_thread(next, lines, None)) is not None:
        await store.create({"import_id": id, "at": req.now, "rows": rows})


async def _receive(form: Form, path: Path) -> _Upload:
    file_name, digest = "", hashlib.sha256()
    with path.open("wb") as file:
        async for piece in form:
            if isinstance(piece, FormFile):
                file_name = piece.name or "table"
            else:
                digest.update(piece)
                await asyncio.to_thread(file.write, piece)
    flags = dict(form.values)
    return _Upload(path, file_name, digest.hexdigest(), flags, flags.pop("headers") == "names")
