"""Conversion between values and the cells of a table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from handlers.schema.envelope import to_json
from handlers.schema.errors import ValidationFailed
from handlers.schema.fields import Field
from handlers.schema.messages import Language, Message
from handlers.schema.money import exact
from handlers.schema.values import ReadOnlyRecord, Record
from handlers.tables.cells import Cell
from handlers.tables.columns import TableColumn

_SEPARATOR = ";"
_REPORTED_COLUMNS = 20
# numbers as JSON writes them; Python also accepts `1_0` and `٣`
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,16}\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?\s*", re.ASCII)
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?", re.ASCII)
# as in ISO 8601, as Chinese editions of Excel write days, and as those for the United States do: never with a zero
_YEAR_FIRST = r"(?P<year>[0-9]{4})[-/.](?P<month>[0-9]{1,2})[-/.](?P<day>[0-9]{1,2})"
_MONTH_FIRST = r"(?P<month>[1-9][0-9]?)/(?P<day>[1-9][0-9]?)/(?P<year>[0-9]{4})"
_DAYS = tuple(re.compile(form, re.ASCII) for form in (_YEAR_FIRST, _MONTH_FIRST))
_MIDNIGHT = re.compile(r"[T ]0?0:00(:00)?", re.ASCII)
_CLOCK = re.compile(r"(?P<hour>[0-9]):(?P<rest>[0-5][0-9].*)", re.ASCII)
_FULL_CLOCK = re.compile(r"([0-9]{1,2}:[0-9]{2}):00", re.ASCII)
YES, NO = Message("是", "Yes"), Message("否", "No")
_BOOLEANS = {
    **dict.fromkeys(("true", "1", "y", *(text.casefold() for text in YES)), True),
    **dict.fromkeys(("false", "0", "n", *(text.casefold() for text in NO)), False),
}
Row = tuple[int, list[str]]


def value_at(record: Mapping[str, Any], column: str) -> Any:
    """Return the value of a column in a record."""
    name, _, part = column.partition(".")
    return (record.get(name) or {}).get(part) if part else record.get(name)


def to_cell(column: TableColumn, value: Any, zone: ZoneInfo | None, language: Language | None) -> Cell:
    """Return the cell of a value; with a `language`, as people read it: moments in `zone`, booleans as yes and no."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower() if language is None else (YES if value else NO).text(language)
    if column.as_json:
        return to_json(value).decode()
    if isinstance(value, int | float):
        return value
    if isinstance(value, list):
        return _join([str(one) for one in value])
    if column.field.kind in ("money", "quantity"):
        return exact(value)
    if isinstance(value, datetime):
        return value.isoformat() if zone is None else _local(value, zone)
    return value.isoformat() if isinstance(value, date) else str(value)


def _local(moment: datetime, zone: ZoneInfo) -> str:
    # to the second: of a finer time, Excel shows and keeps the minutes and seconds alone
    return moment.astimezone(zone).replace(tzinfo=None).isoformat(" ", "seconds")


def _join(texts: Sequence[str]) -> str:
    plain = not any(_SEPARATOR in one or one != one.strip() or one.startswith("[") for one in texts)
    return _SEPARATOR.join(texts) if plain and all(texts) else json.dumps(texts, ensure_ascii=False)


def parse_row(columns: Sequence[TableColumn], cells: Sequence[str], zone: ZoneInfo) -> Record:
    """Convert a row to values by the names of columns. Empty cells are left out.

    A time without a zone, as spreadsheets write it, is taken in the business time zone. A cell beyond the headers gets
    the number of its column as its name, which validation refuses as an unknown field.
    """
    values: Record = dict(islice(_find_cells_beyond(columns, cells), _REPORTED_COLUMNS))
    for column, text in zip(columns, cells, strict=False):
        if text.strip():
            values[column.name] = _convert(column, text, zone)
    return values


def row_body(values: ReadOnlyRecord) -> Record:
    """Return the body of a creation: columns for the parts of an object become that object."""
    body: Record = {}
    for column, value in values.items():
        name, _, part = column.partition(".")
        if part:
            body.setdefault(name, {})[part] = value
        else:
            body[name] = value
    return body


def _find_cells_beyond(columns: Sequence[TableColumn], cells: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((str(place), text) for place, text in enumerate(cells, 1) if place > len(columns) and text.strip())


def _convert(column: TableColumn, text: str, zone: ZoneInfo) -> Any:
    if column.as_json:
        return _parse_json(text)
    if column.field.kind == "array":
        items = column.field.items if column.ref is None else None
        return [_convert_item(items, one, zone) if items else one for one in split_list(text)]
    if column.ref is not None:
        return text.strip()
    try:
        return _convert_plain(column.field, text, zone)
    except ValueError:
        return text  # validation reports what is wrong with it


def _convert_item(items: Field, value: Any, zone: ZoneInfo) -> Any:
    try:
        return _convert_plain(items, value, zone) if isinstance(value, str) else value
    except ValueError:
        return value


def _convert_plain(field: Field, text: str, zone: ZoneInfo) -> Any:
    match field.kind:
        case "integer":
            return int(text) if _INTEGER.fullmatch(text) else text
        case "number":
            return float(text) if _NUMBER.fullmatch(text) else text
        case "boolean":
            return _BOOLEANS.get(text.strip().casefold(), text)
        case "money" | "quantity":
            bare = text.strip()
            return bare.replace(",", "") if _GROUPED.fullmatch(bare) else bare
        case "day":
            written, rest = _split_day(text.strip())
            return written if not rest or _MIDNIGHT.fullmatch(rest) else text
        case "timestamp":
            written, rest = _split_day(text.strip())
            moment = datetime.fromisoformat(f"{written}{rest[:1]}{_two_digits(rest[1:].lstrip())}")
            return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).isoformat()
        case "text" if "pattern" in field.rules:
            return _clock_of(field.rules["pattern"], text)
    return text


def _split_day(text: str) -> tuple[str, str]:
    """Return the day with which a text begins, as in ISO 8601, and what follows it; all of a text without one.

    Raises ValueError for a day that does not exist.
    """
    found = next(filter(None, (form.match(text) for form in _DAYS)), None)
    if found is None:
        return text, ""
    return date(*(int(found[part]) for part in ("year", "month", "day"))).isoformat(), text[found.end() :]


def _two_digits(clock: str) -> str:
    """Return a time of day with two digits for the hour."""
    return _CLOCK.sub(r"0\g<hour>:\g<rest>", clock, count=1) if _CLOCK.match(clock) else clock


def _clock_of(pattern: str, text: str) -> str:
    """Return the time of day that a field accepts, where a spreadsheet wrote `9:00` or `09:00:00` for it."""
    whole = _FULL_CLOCK.fullmatch(text.strip())
    clock = _two_digits(whole[1] if whole else text.strip())
    return clock if clock != text and not re.search(pattern, text) and re.search(pattern, clock) else text


def same_as_shown(value: Any, stored: Any) -> bool:
    """Return whether an imported value is the stored one, of which spreadsheets show times to the minute or second."""
    if not (isinstance(value, datetime) and isinstance(stored, datetime)):
        return bool(value == stored)
    aware = stored.astimezone(value.tzinfo) if stored.tzinfo else stored.replace(tzinfo=value.tzinfo)
    return value in (aware, aware.replace(microsecond=0), aware.replace(second=0, microsecond=0))


def _parse_json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        return text


def split_list(text: str) -> list[Any]:
    """Return the texts of a cell that holds several."""
    if text.startswith("["):
        try:
            values: list[Any] = json.loads(text)
        except (ValueError, RecursionError):
            return [text]
        return values
    return [part.strip() for part in text.split(_SEPARATOR) if part.strip()]


def locate_errors(failure: ValidationFailed, columns: Sequence[TableColumn]) -> list[tuple[str, str]]:
    """Return column and rule of each validation error: an error in `tags[2]` belongs to the column `tags`."""
    names = {column.name for column in columns}
    found = []
    for error in failure.errors:
        name = error.field.partition("[")[0]
        found.append((name if name in names else name.partition(".")[0], error.rule))
    return found


def as_number(amount: Decimal) -> float | str:
    """Return an exact amount as a number that spreadsheets add up, or as text if the number would be another amount."""
    number = float(amount)
    return number if Decimal(repr(number)) == amount else str(amount)
