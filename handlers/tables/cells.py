"""Cells of tables, and tables as CSV. Worker processes load this module, so it imports nothing of the service.

A cell that a spreadsheet would run as a formula gets an apostrophe in front. Reading removes it again, so an export
can be imported unchanged.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

Cell = str | float | Decimal | None
Cells = Sequence[Cell]
CSV_MEDIA = "text/csv; charset=utf-8"
XLSX_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# the byte order mark of UTF-8, without which Excel assumes another encoding
CSV_MARK = "\ufeff".encode()
# OWASP, CSV injection. East Asian editions read full-width signs as plain ones; blanks before them are skipped
_FORMULA = r"[=+\-@\t\r\n＝＋－＠]"
_RUN = re.compile(rf"['\s]*{_FORMULA}")
_GUARDED = re.compile(rf"'['\s]*{_FORMULA}")


def escape_cell(cell: Cell) -> Cell:
    """Escape a cell so that no spreadsheet runs it as a formula."""
    if not isinstance(cell, str):
        return cell
    guarded = _RUN_INSIDE.sub(r"\1'\2", cell)
    return f"'{guarded}" if _RUN.match(guarded) else guarded


# in locales with `;` as separator, spreadsheets split cells at it and at line ends, quoted or not
_INSIDE = r"((?:'|[^\S\r\n])*[=+\-@＝＋－＠])"
_RUN_INSIDE = re.compile(rf"([;\r\n]){_INSIDE}")
_GUARDED_INSIDE = re.compile(rf"([;\r\n])'{_INSIDE}")


def unescape_cell(cell: str) -> str:
    """Undo `escape_cell`."""
    bare = cell[1:] if _GUARDED.match(cell) else cell
    return _GUARDED_INSIDE.sub(r"\1\2", bare)


def header_key(header: str) -> str:
    """Return a header for comparison: without case, surrounding blanks, and the asterisk that marks it as required."""
    return header.strip().rstrip("*＊").rstrip().casefold()


def as_csv(rows: Sequence[Cells]) -> bytes:
    """Return rows as CSV in UTF-8, with every cell escaped."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([escape_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def as_text(value: Any) -> str:
    """Return a cell of a workbook as the text that people see."""
    if value is None:
        return ""
    if isinstance(value, float):
        # spreadsheets show and mean 15 significant digits; the others are remains of binary arithmetic
        return format(Decimal(format(value, ".15g")), "f")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
