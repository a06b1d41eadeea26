"""Writes a workbook in a worker process, because the writer is pure Python and would block the event loop.

This module imports nothing of the service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import xlsxwriter  # type: ignore[import-untyped]

from handlers.tables.archives import MAX_CELL, MAX_ROWS

_LIST_CHARACTERS = 255  # of all choices of a cell together: the limit of Excel
_TEXT_FORMAT = "@"  # keeps leading zeros and long numbers


def write_workbook(pieces: Iterator[bytes], target: str) -> None:
    """Write rows, given as JSON arrays, to a file as they arrive. Memory does not grow with their number."""
    with _open(target) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(row for piece in pieces for row in orjson.loads(piece)):
            if number == MAX_ROWS:
                # the writer would drop further rows silently
                raise ValueError(f"a worksheet holds no more than {MAX_ROWS} rows")
            for column, cell in enumerate(row):
                if isinstance(cell, str) and len(cell) > MAX_CELL:
                    raise ValueError(f"a cell holds no more than {MAX_CELL} characters")
                if isinstance(cell, str) or (cell is not None and float(f"{cell:.15G}") != cell):
                    # spreadsheets keep only 15 digits of a number
                    sheet.write_string(number, column, str(cell))
                elif cell is not None:
                    sheet.write_number(number, column, cell)


def write_template(pieces: Iterator[bytes], target: str, columns: Sequence[Mapping[str, Any]], notes: str) -> None:
    """Write an empty table: required headers stand out, and cells with few values offer them.

    Each of `columns` has `header`, `required`, `text` (whether its cells are texts), `choices` and `note`. A second
    sheet, called `notes`, describes them.
    """
    with _open(target) as book:
        sheet, described = book.add_worksheet(), book.add_worksheet(notes)
        plain, required = book.add_format({"bold": True}), book.add_format({"bold": True, "font_color": "#C00000"})
        as_text = book.add_format({"num_format": _TEXT_FORMAT})
        sheet.freeze_panes(1, 0)
        for place, column in enumerate(columns):
            width = max(12, min(40, 2 * len(column["header"])))
            sheet.set_column(place, place, width, as_text if column["text"] else None)
            sheet.write_string(0, place, column["header"], required if column["required"] else plain)
            choices = column["choices"]
            if choices and len(",".join(choices)) <= _LIST_CHARACTERS and not any("," in one for one in choices):
                sheet.data_validation(1, place, MAX_ROWS - 1, place, {"validate": "list", "source": choices})
        described.set_column(0, 0, 30)
        described.set_column(1, 1, 80)
        for number, column in enumerate(columns):
            described.write_string(number, 0, column["header"], required if column["required"] else plain)
            described.write_string(number, 1, column["note"])


def _open(target: str) -> Any:
    return xlsxwriter.Workbook(target, {"constant_memory": True, "tmpdir": str(Path(target).parent)})
