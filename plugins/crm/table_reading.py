"""Reads a table out of a file of any kind, in a worker process: what reads workbooks holds all of them.

It writes a file of lines that are JSON: the headers, then lists of `[number, cells]`. The service reads it a line at a
time, so nothing here may make a long line. It imports nothing of the service.
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

from plugins.crm.sheets import as_text, plain
from plugins.crm.workbooks import MAX_CELL, MAX_COLUMNS, MAX_ROWS, is_archive

AT_ONCE = 200  # rows of a line: they are written in one transaction
_LINE_BYTES = 256 << 10
_CUT = "…"  # what is longer than its column takes is refused by its row, and need not be kept
_TEXTS = "sharedstrings.xml"
_CHUNK = 64 << 10
Row = tuple[int, list[str]]


class Unreadable(ValueError):
    """The file is neither CSV nor XLSX."""


class TooManyRows(ValueError):
    """The table has more rows than a worksheet."""


def read_table(pieces: Iterator[bytes], source: str, target: str, widths: Mapping[str, int]) -> bytes:
    """Write the rows of `source` to `target`; how many there are.

    `widths` says of each column that is known how long a cell may be. With a header that is unknown or comes twice
    nothing but the headers is written. Raises `Unreadable`, `TooManyRows`.
    """
    rows = _rows(Path(source))
    headers = _headers(next(rows, None), len(widths))
    total = 0
    with Path(target).open("wb") as file:
        file.write(orjson.dumps(headers) + b"\n")
        if set(headers) <= set(widths) and len(set(headers)) == len(headers):
            for line, count in _lines(_narrowed(rows, [widths[header] for header in headers])):
                file.write(line)
                total += count
    return b"%d" % total


def _headers(first: Row | None, known: int) -> list[str]:
    headers = [header.strip() for header in first[1]] if first else []
    while headers and not headers[-1]:
        headers.pop()
    # among one more than there are, one is unknown or comes twice
    return [header[:100] for header in headers[: known + 1]]


def _narrowed(rows: Iterator[Row], widths: Sequence[int]) -> Iterator[Row]:
    """Rows whose cells are no longer than their columns take, by one character at most."""
    known = len(widths)
    for number, cells in rows:
        while len(cells) > known and not cells[-1].strip():
            cells.pop()
        kept = [cell if len(cell) <= width else cell[:width] + _CUT for cell, width in zip(cells, widths, strict=False)]
        # what stands beyond the headers is told by its place
        beyond = [cell.strip()[:1] for cell in cells[known:MAX_COLUMNS]]
        if len(cells) > MAX_COLUMNS:
            beyond[-1] = _CUT
        yield number, kept + beyond


def _lines(rows: Iterator[Row]) -> Iterator[tuple[bytes, int]]:
    """Lines of so many rows or bytes, and how many rows each has."""
    waiting: list[bytes] = []
    size = 0
    for total, row in enumerate(rows, 1):
        if total > MAX_ROWS:
            raise TooManyRows
        waiting.append(orjson.dumps(row))
        size += len(waiting[-1])
        if len(waiting) == AT_ONCE or size > _LINE_BYTES:
            yield _line(waiting), len(waiting)
            waiting, size = [], 0
    if waiting:
        yield _line(waiting), len(waiting)


def _line(rows: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(rows) + b"]\n"


def _rows(path: Path) -> Iterator[Row]:
    """Line numbers and cells, empty lines left out."""
    for number, cells in _read_workbook(path) if is_archive(path) else _read_csv(path):
        if any(cell.strip() for cell in cells):
            yield number, [plain(cell) for cell in cells]


def _read_csv(path: Path) -> Iterator[Row]:
    with _opened(path) as text:
        try:
            # counted as a spreadsheet does: a cell may have lines of its own
            yield from enumerate(csv.reader(text, strict=True), start=1)
        except csv.Error as error:
            raise Unreadable(str(error)) from error


def _opened(path: Path) -> IO[str]:
    """As UTF-8, or as GB 18030, in which Chinese editions of Excel write CSV."""
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
    """That no text is longer than a cell takes: one may stand in every cell, and is unpacked for each."""
    try:
        with zipfile.ZipFile(path) as archive:
            for part in archive.infolist():
                if part.filename.lower().endswith(_TEXTS):
                    with archive.open(part) as xml:
                        _Texts().read(xml)
    except (zipfile.BadZipFile, expat.ExpatError, NotImplementedError, OSError) as error:
        raise Unreadable("xlsx") from error


class _Texts:
    """Measures the texts that the cells of a workbook share."""

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
