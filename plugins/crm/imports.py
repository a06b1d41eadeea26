"""Import of customers from a table. The file is received, its rows are queued in the database, and import_run.py writes
them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from plugins.api import (
    MEDIA_TYPE,
    RULES,
    TOO_LARGE,
    ApiError,
    FieldError,
    Form,
    FormFile,
    Jobs,
    Page,
    Request,
    Route,
    TooCostly,
    ValidationFailed,
    WorkFailed,
    invalid,
    new_id,
    respond_once,
    route,
)
from plugins.crm.customer_columns import COLUMNS, WIDTHS
from plugins.crm.import_records import FORM, IMPORT_ROWS, IMPORT_SUMMARY, IMPORTS
from plugins.crm.import_run import run
from plugins.crm.lanes import Lanes
from plugins.crm.messages import TABLE_TOO_LARGE, TOO_MANY_ROWS, UNREADABLE
from plugins.crm.settings import CrmSettings
from plugins.crm.workbooks import MAX_ROWS, NoWorkbook, TooLargeUnpacked, check_archive, is_archive

Record = dict[str, Any]
Row = tuple[int, list[str]]
MAX_ATOMIC, MAX_ATOMIC_BYTES = 5000, 32 << 20


@dataclass(frozen=True)
class _Upload:
    """The values of a form. The content of its file is in `path`."""

    path: Path
    file_name: str
    digest: str
    flags: dict[str, bool]


@dataclass(frozen=True)
class _Table:
    """A table that was read from a file. The first line of `path` has the headers; `total` is the number of rows."""

    path: Path
    total: int


async def start(req: Request) -> Record:
    """Start an import. A small one is finished when this returns; a large one continues in the background."""
    with tempfile.TemporaryDirectory(prefix="tradewind-import-") as folder:
        max_bytes = req.service.settings_of(CrmSettings).crm_import_bytes
        upload = await _receive(Form(req, max_bytes), Path(folder) / "table")
        return await _begin(req, upload, await _read(req, upload.path))


async def list_imports(req: Request) -> Page:
    """A page of the imports that the caller may see, with their counts but without the errors of rows."""
    return await req.store(IMPORTS).page(req.query, fields=tuple(IMPORT_SUMMARY.fields or ()))


async def read(req: Request) -> Record:
    """One import with its progress, and its errors in the caller's language."""
    record = await req.store(IMPORTS).get(req.path["id"])
    return {**record, "errors": [{**one, "message": RULES[one["rule"]].text(req.language)} for one in record["errors"]]}


async def _read(req: Request, path: Path) -> _Table:
    """Read a table in a worker process. Raises 41500 for other files, 41300 for too large ones."""
    target = path.with_suffix(".lines")
    try:
        if await asyncio.to_thread(is_archive, path):
            await asyncio.to_thread(check_archive, path)
        function = "plugins.crm.table_reading:read_table"
        total = await req.part(Lanes).reading.run(function, b"", str(path), str(target), WIDTHS, request=req)
    except NoWorkbook as error:
        raise ApiError(MEDIA_TYPE, UNREADABLE) from error
    except (TooLargeUnpacked, TooCostly) as error:
        raise ApiError(TOO_LARGE, TABLE_TOO_LARGE) from error
    except WorkFailed as failure:
        raise _errors_by_name().get(failure.kind, failure) from failure
    return _Table(target, int(total))


def _errors_by_name() -> dict[str, Exception]:
    """The error to raise, by the name of the exception in the worker process."""
    return {
        "Unreadable": ApiError(MEDIA_TYPE, UNREADABLE),
        "TooManyRows": ApiError(TOO_LARGE, TOO_MANY_ROWS.filled(rows=MAX_ROWS)),
        "OSError": ApiError(TOO_LARGE, TABLE_TOO_LARGE),  # the worker process reached its limit of file size
    }


async def _begin(req: Request, upload: _Upload, table: _Table) -> Record:
    lines = _read_lines(table.path)
    headers = _check_headers(await asyncio.to_thread(next, lines))
    if upload.flags["atomic"] and (table.total > MAX_ATOMIC or table.path.stat().st_size > MAX_ATOMIC_BYTES):
        raise invalid("atomic", "maxItems")
    new = new_id()

    async def once() -> bytes:
        values = {"file_name": upload.file_name[:255], "headers": headers, **upload.flags}
        await req.system_store(IMPORTS).create(values, id=new)
        return str(new).encode()

    # in place of the body: what the idempotency key is compared by, and what the operation log shows
    summary = {"file_name": upload.file_name, "sha256": upload.digest, **upload.flags}
    req.raw_body = json.dumps(summary, ensure_ascii=False).encode()
    id = (await respond_once(req, once) if "Idempotency-Key" in req.headers else await once()).decode()
    req.path = {"id": id}
    if id == str(new):
        await _queue_and_run(req, new, lines, table.total)
    return await read(req)


def _read_lines(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        yield from map(orjson.loads, file)


async def _queue_and_run(req: Request, id: Any, lines: Iterator[list[Row]], total: int) -> None:
    imports = req.system_store(IMPORTS)
    try:
        await _keep_rows(req, id, lines)
    except BaseException:
        await imports.update_unversioned({"_id": id}, {"$set": {"status": "failed"}})
        raise
    await imports.update_unversioned({"_id": id}, {"$set": {"status": "running", "total": total}})
    if total <= req.service.settings_of(CrmSettings).crm_import_waits_rows:
        await run(req.service, id)
    else:
        req.part(Jobs).spawn(f"crm.import:{id}", run(req.service, id, notify=True))


async def _keep_rows(req: Request, id: Any, lines: Iterator[list[Row]]) -> None:
    store = req.system_store(IMPORT_ROWS)
    while (rows := await asyncio.to_thread(next, lines, None)) is not None:
        await store.create({"import_id": id, "at": req.now, "rows": rows})


def _check_headers(headers: list[str]) -> list[str]:
    if not headers:
        raise invalid("file", "required")
    times = Counter(headers)
    faults = [FieldError(header or "file", "unknown") for header in times if header not in COLUMNS]
    faults += [FieldError(header, "duplicate") for header, count in times.items() if count > 1 and header in COLUMNS]
    if faults:
        raise ValidationFailed(faults)
    return headers


async def _receive(form: Form, path: Path) -> _Upload:
    file_name, digest = "", hashlib.sha256()
    with path.open("wb") as file:
        async for piece in form:
            if isinstance(piece, FormFile):
                file_name = piece.name or "table"
            else:
                digest.update(piece)
                await asyncio.to_thread(file.write, piece)
    return _Upload(path, file_name, digest.hexdigest(), form.values)


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/crm/customers/import",
        start,
        summary="Import customers from a table",
        access="crm:customer:import",
        streamed=True,
        form=FORM,
        returns=IMPORTS.read,
        errors=(MEDIA_TYPE, TOO_LARGE),
    ),
    route(
        "GET /api/v1/crm/customers/imports",
        list_imports,
        summary="List imports",
        access="crm:customer:import",
        paged=True,
        query=IMPORTS.list_query,
        returns=IMPORT_SUMMARY,
    ),
    route(
        "GET /api/v1/crm/customers/imports/{id}",
        read,
        summary="Read how far an import is",
        access="crm:customer:import",
        record=IMPORTS,
    ),
)
