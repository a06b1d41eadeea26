"""Conversion between customers and rows of a table. Headers are field names, with a dot for parts of an object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from plugins.api import Field, ValidationFailed
from plugins.crm.records import CUSTOMERS
from plugins.crm.sheets import Cells

ID = "id"
_SEPARATOR = ";"
_LIST_CELL, _SHORT_CELL = 4000, 100
# numbers as JSON writes them; Python also accepts `1_0` and `٣`
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,16}\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?\s*", re.ASCII)


def _width(field: Field) -> int:
    if field.kind == "text":
        return int(field.rules["maxLength"])
    return _LIST_CELL if field.kind == "array" else _SHORT_CELL


def _build_columns() -> dict[str, Field]:
    columns: dict[str, Field] = {ID: CUSTOMERS.id_field}
    for name, field in CUSTOMERS.writable.items():
        parts = {f"{name}.{part}": child for part, child in (field.fields or {}).items()}
        columns |= parts or {name: field}
    return columns


COLUMNS = _build_columns()
# the most characters of a cell; a row with a longer one is refused
WIDTHS = {name: _width(field) for name, field in COLUMNS.items()}
_REPORTED_COLUMNS = 20


def to_cells(record: Mapping[str, Any]) -> Cells:
    """The cells of a customer's row."""
    return [_to_cell(_get_value(record, name)) for name in COLUMNS]


def _get_value(record: Mapping[str, Any], column: str) -> Any:
    name, _, part = column.partition(".")
    return (record[name] or {}).get(part) if part else record[name]


def _to_cell(value: Any) -> str | float | None:
    if value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, list):
        plain = not any(_SEPARATOR in one or one != one.strip() or one.startswith("[") for one in value)
        return _SEPARATOR.join(value) if plain else json.dumps(value, ensure_ascii=False)
    return value.isoformat() if isinstance(value, datetime) else str(value)


def parse_row(headers: list[str], cells: list[str], zone: ZoneInfo) -> dict[str, Any]:
    """Convert a row to the body of a creation. Empty cells are left out.

    A time without a zone, as spreadsheets have it, is taken in the business time zone. A cell beyond the headers gets
    the number of its column as its name, which validation refuses as an unknown field.
    """
    body: dict[str, Any] = {
        str(place): text for place, text in islice(_find_cells_beyond(headers, cells), _REPORTED_COLUMNS)
    }
    for column, text in zip(headers, cells, strict=False):
        if not text.strip():
            continue
        name, _, part = column.partition(".")
        value = _convert(COLUMNS[column], text, zone)
        if part:
            body.setdefault(name, {})[part] = value
        else:
            body[name] = value
    return body


def _find_cells_beyond(headers: list[str], cells: list[str]) -> Iterator[tuple[int, str]]:
    return ((place, text) for place, text in enumerate(cells, 1) if place > len(headers) and text.strip())


def _convert(field: Field, text: str, zone: ZoneInfo) -> Any:
    try:
        if field.kind == "integer":
            return int(text) if _INTEGER.fullmatch(text) else text
        if field.kind == "number":
            return float(text) if _NUMBER.fullmatch(text) else text
        if field.kind == "timestamp":
            moment = datetime.fromisoformat(text.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).isoformat()
    except ValueError:
        return text  # validation reports what is wrong with it
    if field.kind == "array":
        return _split_list(text)
    return text


def _split_list(text: str) -> Any:
    if text.startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return [text]
    return [part.strip() for part in text.split(_SEPARATOR) if part.strip()]


def locate_errors(failure: ValidationFailed, headers: list[str]) -> list[tuple[str, str]]:
    """Column and rule of each validation error: an error in `tags[2]` belongs to the column `tags`."""
    found = []
    for error in failure.errors:
        name = error.field.partition("[")[0]
        found.append((name if name in headers else name.partition(".")[0], error.rule))
    return found
