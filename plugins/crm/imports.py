"""Customers from a table: the file is taken in, its rows are put into the database, and import_run.py writes them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from plugins.api import (
    MEDIA_TYPE,
    RULES,
    ApiError,
    FieldError,
    Form,
    FormFile,
    Jobs,
    Page,
    Request,
    ValidationFailed,
    answer_once,
    invalid,
    new_id,
)  # fmt: skip
from plugins.crm.customer_columns import COLUMNS
from plugins.crm.import_records import IMPORT_ROWS, IMPORT_SUMMARY, IMPORTS
from plugins.crm.import_run import run
from plugins.crm.messages import UNREADABLE
from plugins.crm.settings import CrmSettings
from plugins.crm.sheets import Unreadable, read_table

Record = dict[str, Any]
Row = tuple[int, list[str]]
MAX_ATOMIC = 5000
AT_ONCE = 200  # rows that are written in one transaction


@dataclass(frozen=True)
class _Given:
    """What a form holds; the file's content is in `path`."""

    path: Path
    file_name: str
    digest: str
    flags: dict[str, bool]


async def start(req: Request) -> Record:
    """Take a file in. A small one is done when this answers, a large one goes on behind: read its progress."""
    with tempfile.TemporaryDirectory(prefix="tradewind-import-") as folder:
        most = req.service.settings_of(CrmSettings).crm_import_bytes
        given = await _receive(Form(req, most), Path(folder) / "table")
        try:
            return await _begin(req, given)
        except Unreadable as error:
            raise ApiError(MEDIA_TYPE, UNREADABLE) from error


async def list_imports(req: Request) -> Page:
    """A page of the imports that the caller sees: their counts, without what was wrong row by row."""
    return await req.store(IMPORTS).page(req.query, fields=tuple(IMPORT_SUMMARY.fields or ()))


async def read(req: Request) -> Record:
    """How far an import is, and what was wrong, in the caller's language."""
    record = await req.store(IMPORTS).get(req.path["id"])
    return {**record, "errors": [{**one, "message": RULES[one["rule"]].text(req.language)} for one in record["errors"]]}


async def _begin(req: Request, given: _Given) -> Record:
    rows = read_table(given.path)
    headers = _checked_headers(await asyncio.to_thread(next, rows, None))
    mine = new_id()

    async def once() -> bytes:
        values = {"file_name": given.file_name[:255], "headers": headers, **given.flags}
        await req.system_store(IMPORTS).create(values, id=mine)
        return str(mine).encode()

    # what the idempotency key stands for, and what the operation log tells
    said = {"file_name": given.file_name, "sha256": given.digest, **given.flags}
    req.raw_body = json.dumps(said, ensure_ascii=False).encode()
    id = (await answer_once(req, once) if "Idempotency-Key" in req.headers else await once()).decode()
    req.path = {"id": id}
    if id == str(mine):
        await _run(req, mine, rows, atomic=given.flags["atomic"])
    return await read(req)


async def _run(req: Request, id: Any, rows: Iterator[Row], *, atomic: bool) -> None:
    imports = req.system_store(IMPORTS)
    try:
        total = await _keep_rows(req, id, rows, MAX_ATOMIC if atomic else None)
    except BaseException:
        await imports.change_quietly({"_id": id}, {"$set": {"status": "failed"}})
        raise
    await imports.change_quietly({"_id": id}, {"$set": {"status": "running", "total": total}})
    if total <= req.service.settings_of(CrmSettings).crm_import_waits_rows:
        await run(req.service, id)
    else:
        req.part(Jobs).spawn(f"crm.import:{id}", run(req.service, id, notify=True))


async def _keep_rows(req: Request, id: Any, rows: Iterator[Row], most: int | None) -> int:
    total = 0
    store = req.system_store(IMPORT_ROWS)
    while chunk := await asyncio.to_thread(lambda: list(islice(rows, AT_ONCE))):
        total += len(chunk)
        if most is not None and total > most:
            await store.remove({"import_id": id})
            raise invalid("atomic", "maxItems")
        await store.create({"import_id": id, "at": req.now, "rows": [list(row) for row in chunk]})
    return total


def _checked_headers(first: Row | None) -> list[str]:
    headers = [header.strip() for header in first[1]] if first else []
    if not headers:
        raise invalid("file", "required")
    while headers and not headers[-1]:
        headers.pop()
    faults = [FieldError(header[:100] or "file", "unknown") for header in headers if header not in COLUMNS]
    faults += [FieldError(header, "duplicate") for place, header in enumerate(headers) if header in headers[:place]]
    if faults:
        raise ValidationFailed(faults)
    return headers


async def _receive(form: Form, path: Path) -> _Given:
    file_name, digest = "", hashlib.sha256()
    with path.open("wb") as file:
        async for piece in form:
            if isinstance(piece, FormFile):
                file_name = piece.name or "table"
            else:
                digest.update(piece)
                await asyncio.to_thread(file.write, piece)
    return _Given(path, file_name, digest.hexdigest(), form.values)
