"""Writes a workbook in a worker process, because the writer is pure Python and would block the event loop.

This module imports nothing of the service.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import xlsxwriter  # type: ignore[import-untyped]

from plugins.crm.workbooks import MAX_ROWS


def write_workbook(pieces: Iterator[bytes], target: str) -> None:
    """Write rows, given as JSON arrays, to a file as they arrive. Memory does not grow with their number."""
    options = {"constant_memory": True, "tmpdir": str(Path(target).parent)}
    with xlsxwriter.Workbook(target, options) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(row for piece in pieces for row in orjson.loads(piece)):
            if number == MAX_ROWS:
                # the writer would drop further rows silently
                raise ValueError(f"a worksheet holds no more than {MAX_ROWS} rows")
            for column, cell in enumerate(row):
                if isinstance(cell, str) or (cell is not None and float(f"{cell:.16G}") != cell):
                    # the writer keeps only 16 digits of a number
                    sheet.write_string(number, column, str(cell))
                elif cell is not None:
                    sheet.write_number(number, column, cell)
