"""Reads a table from a CSV or XLSX file in a worker process, because reading a workbook holds all of it in memory.

The result is a file of JSON lines: the headers, then lists of `[number, cells]`. The service reads it line by line, so
lines must stay short. This module imports nothing of the service.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO
from xml.parsers import expat

import orjson
from python_calamine import CalamineError, CalamineWorkbook

from handlers.tables.archives import MAX_CELL, MAX_COLUMNS, MAX_ROWS, is_archive
from handlers.tables.cells import as_text, header_key, unescape_cell

ROWS_PER_LINE = 200  # the most rows that one transaction writes
_LINE_BYTES = 256 << 10
_CUT = "…"  # marks a cell that is too long: its row is refused, so the rest need not be kept
_TEXTS = "sharedstrings.xml"
_CHUNK = 64 << 10
_DOCUMENT_CHARACTERS = 2 << 20  # in UTF-8 fewer bytes than a record of the database may have
MAX_LINES = 1_000  # of a document
Row = tuple[int, list[str]]
Document = tuple[int, list[Row]]


class Unreadable(ValueError):
    """The file is neither CSV nor XLSX."""


class TooManyRows(ValueError):
    """The table has more rows than a worksheet can have."""


class DocumentTooLarge(ValueError):
    """The rows of one document are more than can be kept together."""


def read_table(
    pieces: Iterator[bytes],
    source: str,
    target: str,
    widths: Mapping[str, int],
    document: Sequence[str] | None = None,
) -> bytes:
    """Write the rows of `source` to `target`, and return the number of rows.

    `widths` maps each known header, as `header_key` gives it, to the maximum number of characters of a cell. If a
    header is unknown or duplicate, only the headers are written. With `document`, the headers of the column that says to
    which document a row belongs, documents are written and counted: each the number of its first row, and its rows. Raises
    `Unreadable`, `TooManyRows` and `DocumentTooLarge`.
    """
    rows = _read_rows(Path(source))
    headers = _trim_headers(next(rows, None), len(widths))
    keys = [header_key(header) for header in headers]
    total = 0
    with Path(target).open("wb") as file:
        file.write(orjson.dumps(headers) + b"\n")
        if set(keys) <= set(widths) and len(set(keys)) == len(keys):
            limited = _limit_widths(rows, [widths[key] for key in keys])
            found = limited if document is None else _join_documents(limited, _find(keys, document))
            for line, count in _batch_lines(found):
                file.write(line)
                total += count
    return b"%d" % total


def _find(keys: Sequence[str], wanted: Sequence[str]) -> int | None:
    return next((place for place, key in enumerate(keys) if key in wanted), None)


def _trim_headers(first: Row | None, known: int) -> list[str]:
    headers = [header.strip() for header in first[1]] if first else []
    while headers and not headers[-1]:
        headers.pop()
    # one more than the known columns suffices: then one of them is unknown or duplicate
    return [header[:100] for header in headers[: known + 1]]


def _limit_widths(rows: Iterator[Row], widths: Sequence[int]) -> Iterator[Row]:
    """Yield rows with cells cut to one character more than their columns allow."""
    known = len(widths)
    for number, cells in rows:
        while len(cells) > known and not cells[-1].strip():
            cells.pop()
        kept = [cell if len(cell) <= width else cell[:width] + _CUT for cell, width in zip(cells, widths, strict=False)]
        # cells beyond the headers are reported by their position only
        beyond = [cell.strip()[:1] for cell in cells[known:MAX_COLUMNS]]
        if len(cells) > MAX_COLUMNS:
            beyond[-1] = _CUT
        yield number, kept + beyond


def _join_documents(rows: Iterator[Row], place: int | None) -> Iterator[Document]:
    """Yield the documents of rows that follow one another with the same cell at `place`, or with none there.

    Without a place each row is a document. Of a document that has too many lines to be accepted, not all are kept.
    """
    key, size, joined = "", 0, list[Row]()
    for number, cells in rows:
        own = cells[place].strip() if place is not None and place < len(cells) else ""
        if joined and (place is None or own not in ("", key)):
            yield joined[0][0], joined
            joined = []
        if not joined:
            key, size = own, 0
        size += sum(map(len, cells))
        if size > _DOCUMENT_CHARACTERS:
            raise DocumentTooLarge
        if len(joined) <= MAX_LINES:
            joined.append((number, cells))
    if joined:
        yield joined[0][0], joined


def _batch_lines(rows: Iterator[Row | Document]) -> Iterator[tuple[bytes, int]]:
    """Yield lines with a limited number of rows and bytes, each with its number of rows."""
    waiting: list[bytes] = []
    size = 0
    for total, row in enumerate(rows, 1):
        if total > MAX_ROWS:
            raise TooManyRows
        waiting.append(orjson.dumps(row))
        size += len(waiting[-1])
        if len(waiting) == ROWS_PER_LINE or size > _LINE_BYTES:
            yield _encode_line(waiting), len(waiting)
            waiting, size = [], 0
    if waiting:
        yield _encode_line(waiting), len(waiting)


def _encode_line(rows: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(rows) + b"]\n"


def _read_rows(path: Path) -> Iterator[Row]:
    """Yield row numbers and cells, without empty rows."""
    for number, cells in _read_workbook(path) if is_archive(path) else _read_csv(path):
        if any(cell.strip() for cell in cells):
            yield number, [unescape_cell(cell) for cell in cells]


def _read_csv(path: Path) -> Iterator[Row]:
    with _open_text(path) as text:
        try:
            # numbered like a spreadsheet: a cell may contain line breaks
            yield from enumerate(csv.reader(text, strict=True), start=1)
        except csv.Error as error:
            raise Unreadable(str(error)) from error


def _open_text(path: Path) -> IO[str]:
    """Open a file as UTF-8, or as GB 18030, which Chinese editions of Excel write."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            with path.open(encoding=encoding) as text:
                while text.read(_CHUNK):
                    pass
            return path.open(encoding=encoding, newline="")
        except UnicodeDecodeError:
            continue
    raise Unreadable("encoding")


def _read_workbook(path: Path) -> Iterator[Row]:
    _check_texts(path)
    try:
        sheet = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0)
    except CalamineError as error:
        raise Unreadable("xlsx") from error
    first = (sheet.start or (0, 0))[0]
    for number, row in enumerate(sheet.iter_rows(), start=1 if sheet.start is None else first + 1):
        yield number, [as_text(value) for value in row]


def _check_texts(path: Path) -> None:
    """Check that no shared text is longer than a cell may be: it would be copied into every cell that refers to it."""
    try:
        with zipfile.ZipFile(path) as archive:
            for part in archive.infolist():
                if part.filename.lower().endswith(_TEXTS):
                    with archive.open(part) as xml:
                        _Texts().read(xml)
    except (zipfile.BadZipFile, expat.ExpatError, NotImplementedError, OSError) as error:
        raise Unreadable("xlsx") from error


class _Texts:
    """Measures the shared texts of a workbook."""

    def __init__(self) -> None:
        self._length = 0

    def read(self, xml: IO[bytes]) -> None:
        """Raise `Unreadable` for a text that is too long."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.CharacterDataHandler = self._text
        parser.ParseFile(xml)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "si":
            self._length = 0

    def _text(self, text: str) -> None:
        self._length += len(text)
        if self._length > MAX_CELL:
            raise Unreadable("a text longer than a cell")
