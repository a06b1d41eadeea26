"""Cells of tables, and tables as CSV. Worker processes load this: it imports nothing of the service.

A cell that a spreadsheet would run as a formula gets an apostrophe in front; reading takes it off again, so what was
written is read back as it was.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

Cells = Sequence[str | float | None]
CSV_MEDIA = "text/csv; charset=utf-8"
XLSX_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# UTF-8 with this mark at its beginning, without which Excel takes it for another encoding
CSV_MARK = "\ufeff".encode()
# OWASP: CSV injection. Full-width signs are read as plain ones in East Asian editions, blanks before them are skipped
_FORMULA = r"[=+\-@\t\r\n＝＋－＠]"
_RUN = re.compile(rf"['\s]*{_FORMULA}")
_GUARDED = re.compile(rf"'['\s]*{_FORMULA}")


def harmless(cell: str | float | None) -> str | float | None:
    """A cell that no spreadsheet runs."""
    if not isinstance(cell, str):
        return cell
    guarded = _RUN_INSIDE.sub(r"\1'\2", cell)
    return f"'{guarded}" if _RUN.match(guarded) else guarded


# where lists are separated by `;` a spreadsheet splits a CSV there whatever is quoted, and at ends of lines
_INSIDE = r"((?:'|[^\S\r\n])*[=+\-@＝＋－＠])"
_RUN_INSIDE = re.compile(rf"([;\r\n]){_INSIDE}")
_GUARDED_INSIDE = re.compile(rf"([;\r\n])'{_INSIDE}")


def plain(cell: str) -> str:
    """What `harmless` was given."""
    bare = cell[1:] if _GUARDED.match(cell) else cell
    return _GUARDED_INSIDE.sub(r"\1\2", bare)


def as_csv(rows: Sequence[Cells]) -> bytes:
    """Rows as CSV in UTF-8, every cell harmless."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([harmless(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def as_text(value: Any) -> str:
    """A cell of a workbook as the text that a person sees."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
