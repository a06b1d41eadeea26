"""Templates: empty tables to fill in, with the columns that an import takes."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from handlers.lifecycle import Response
from handlers.request import Request
from handlers.schema.messages import Language, Message
from handlers.tables.cells import CSV_MARK, as_csv
from handlers.tables.columns import TableColumn
from handlers.tables.conversion import NO, YES
from handlers.tables.exporting import MEDIA
from handlers.tables.lanes import Lanes
from handlers.tables.table import Table
from handlers.tables.values import ValueLabels

_NOTES = Message("填写说明", "Notes")
_REQUIRED = Message("必填", "Required")
_REFERENCE = Message("填写编码或名称", "Enter the code or name of a record")
_SEVERAL = Message("多个值以英文分号分隔", "Separate several values with semicolons")
_KINDS = {
    "day": Message("日期，如 2026-11-20", "A date, such as 2026-11-20"),
    "timestamp": Message("时间，如 2026-11-20 09:30", "A time, such as 2026-11-20 09:30"),
    "money": Message("金额，最多 {places} 位小数", "An amount with up to {places} decimal places"),
    "quantity": Message("数量，最多 {places} 位小数", "A quantity with up to {places} decimal places"),
    "integer": Message("整数", "A whole number"),
    "number": Message("数字", "A number"),
}
_JSON = Message("JSON", "JSON")


async def make_template(req: Request, table: Table) -> Response:
    """Return the response with an empty table."""
    language = req.language if req.query["headers"] == "labels" else None
    form = req.query["format"]
    headers = {"Content-Disposition": f'attachment; filename="{table.file_name}-template.{form}"'}
    conditions = {one.field.only_with for one in table.columns.writable if one.field.only_with is not None}
    idle = await req.service.database.find_empty(conditions)
    columns = [one for one in table.columns.writable if one.field.only_with not in idle]
    if form == "csv":
        content = CSV_MARK + as_csv([[column.header(language) for column in columns]])
    else:
        labels = await ValueLabels.load(req.service, table.columns)
        described = [_describe(column, labels.choices(column, language), language, req.language) for column in columns]
        content = await _write(req, described, _NOTES.text(req.language))
    return Response(200, content, headers, MEDIA[form])


def _describe(
    column: TableColumn, choices: list[str], header: Language | None, language: Language
) -> dict[str, object]:
    field = column.field
    if field.kind == "boolean":
        choices = [YES.text(language), NO.text(language)]
    words = [_REQUIRED] if column.required else []
    words += [_REFERENCE] if column.ref is not None else []
    words += [_JSON] if column.as_json else [_SEVERAL] if field.kind == "array" else []
    words += [_KINDS[field.kind].filled(places=field.places)] if field.kind in _KINDS and column.ref is None else []
    texts = [word.text(language) for word in words]
    if choices:
        texts.append(" / ".join(choices))
    return {
        "header": column.header(header),
        "required": column.required,
        "text": field.kind in ("text", "object_id") or column.ref is not None,
        "choices": choices,
        "note": ("；" if language == "zh" else "; ").join(texts),
    }


async def _write(req: Request, columns: list[dict[str, object]], notes: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="tradewind-template-") as folder:
        path = Path(folder) / "table.xlsx"
        function = "handlers.tables.writing:write_template"
        await req.part(Lanes).writing.run(function, b"", str(path), columns, notes, request=req)
        return await asyncio.to_thread(path.read_bytes)
